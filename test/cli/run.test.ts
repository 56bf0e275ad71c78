/** Plain tensors: graphs without a tokenizer, through the library and the command line, against the answers of ONNX's own test cases. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, type Tensor, createRuntime } from "inferyard";
import { type CommandResult, inferyard, useDirectory } from "../fixtures/processes/command-line.ts";
import { float, integer, message, model, node, value } from "../fixtures/models/onnx-bytes.ts";
import { readTensorProto } from "../fixtures/models/tensor-proto.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-run-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Contents of AttributeProto: name 1, i 3, s 4, floats 7, ints 8, strings 9, type 20. */
const floats = (name: string, values: readonly number[]): Buffer[] => [
  message(1, name),
  ...values.map((one) => float(7, one)),
  integer(20, 6),
];
const ints = (name: string, values: readonly number[]): Buffer[] => [
  message(1, name),
  ...values.map((one) => integer(8, one)),
  integer(20, 7),
];
const strings = (name: string, values: readonly string[]): Buffer[] => [
  message(1, name),
  ...values.map((one) => message(9, one)),
  integer(20, 8),
];

/** What skl2onnx makes of a classifier when nobody tells it otherwise: a label, and probabilities as a sequence of maps. */
function classifier(): string {
  const path = join(folder, "classifier.onnx");
  const floatTensor = message(1, integer(1, 1));
  const map = message(5, integer(1, 7), message(2, floatTensor));
  const sequence = message(12, message(1, "output_probability"), message(2, message(4, message(1, map))));
  const graph = [
    node({
      operator: "LinearClassifier",
      domain: "ai.onnx.ml",
      inputs: ["float_input"],
      outputs: ["output_label", "scores"],
      attributes: [ints("classlabels_ints", [10, 20]), floats("coefficients", [1, 0, 0, 1]), floats("intercepts", [0, 0.5])],
    }),
    node({
      operator: "ZipMap",
      domain: "ai.onnx.ml",
      inputs: ["scores"],
      outputs: ["output_probability"],
      attributes: [ints("classlabels_int64s", [10, 20])],
    }),
    value(11, "float_input", 1, ["N", 2]),
    value(12, "output_label", 7, ["N"]),
    sequence,
  ];
  writeFileSync(path, model({ irVersion: 8, opsets: { "": 13, "ai.onnx.ml": 1 }, graph }));
  return path;
}

/** Columns of a table, as strings and whole numbers, of any number of rows. */
function table(): string {
  mkdirSync(join(folder, "table"));
  const path = join(folder, "table", "model.onnx");
  const graph = [
    node({
      operator: "LabelEncoder",
      domain: "ai.onnx.ml",
      inputs: ["city"],
      outputs: ["code"],
      attributes: [strings("keys_strings", ["Berlin", "Paris"]), ints("values_int64s", [100, 200])],
    }),
    node({ operator: "Add", inputs: ["code", "id"], outputs: ["sum"] }),
    value(11, "city", 8, ["rows"]),
    value(11, "id", 7, ["rows"]),
    value(12, "sum", 7, ["rows"]),
  ];
  writeFileSync(path, model({ irVersion: 8, opsets: { "": 13, "ai.onnx.ml": 2 }, graph }));
  return join(folder, "table");
}

/** y = 1 / x: zeros give what is no number, and the model is sound all the same. */
function reciprocal(): string {
  const path = join(folder, "reciprocal.onnx");
  const graph = [
    node({ operator: "Reciprocal", inputs: ["x"], outputs: ["y/0:0"] }),
    value(11, "x", 1, [2]),
    value(12, "y/0:0", 1, [2]),
  ];
  writeFileSync(path, model({ opsets: { "": 13 }, graph }));
  return path;
}

/** y = max(0, x), for an x of which the file does not say how many dimensions it has. */
function shapeless(): string {
  const path = join(folder, "shapeless.onnx");
  const graph = [node({ operator: "Relu", inputs: ["x"], outputs: ["y"] }), value(11, "x", 1), value(12, "y", 1)];
  writeFileSync(path, model({ opsets: { "": 13 }, graph }));
  return path;
}

const classifierPath = classifier();
const shapelessPath = shapeless();
const tablePath = table();
const reciprocalPath = reciprocal();
const rows: Tensor = { dataType: "float32", shape: [2, 2], data: Float32Array.of(3, 1, 1, 1) };

describe.each(["onnx:cpu", "wasm:cpu"])("plain tensors on %s", (target) => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ target, host: "inline", threads: 1 })));
  afterAll(() => runtime.dispose());

  it("columns of strings and of whole numbers, with any number of rows", async () => {
    for (const cities of [["Paris"], ["Berlin", "Paris", "Berlin"]]) {
      const { outputs, decision, milliseconds, ...run } = await runtime.run(tablePath, {
        city: { dataType: "string", shape: [cities.length], data: cities },
        id: { dataType: "int64", shape: [cities.length], data: new BigInt64Array(cities.length).fill(7n) },
      });
      expect(run).toEqual({ model: tablePath, target });
      expect(decision.selected?.target).toBe(target);
      expect(milliseconds).toBeGreaterThan(0);
      const sums = BigInt64Array.from(cities, (city) => (city === "Paris" ? 207n : 107n));
      expect(outputs).toEqual({ sum: { dataType: "int64", shape: [cities.length], data: sums } });
    }
  });

  it("an output that is a sequence of maps is refused by name, and the others are to be had", async () => {
    const handle = await runtime.load(classifierPath);
    expect(handle.outputs).toEqual([{ name: "output_label", dataType: "int64", shape: ["N"] }]);
    const tensors = { float_input: rows };
    const refusal = { code: "MODEL_UNSUPPORTED", message: expect.stringContaining('output "output_probability"') };
    await expect(runtime.run(handle, tensors)).rejects.toMatchObject(refusal);
    await expect(runtime.run(handle, tensors)).rejects.toMatchObject({ remedy: expect.stringContaining("output_label") });
    await expect(runtime.run(handle, tensors, { outputs: ["output_probability"] })).rejects.toMatchObject(refusal);
    const { outputs } = await runtime.run(handle, tensors, { outputs: ["output_label"] });
    expect(outputs).toEqual({ output_label: { dataType: "int64", shape: [2], data: BigInt64Array.of(10n, 20n) } });
    expect(rows.data).toEqual(Float32Array.of(3, 1, 1, 1)); // what was given is still there
    await handle.dispose();
  });

  it("a model that gives no number for zeros is loaded, and gives what it computes", async () => {
    const x: Tensor = { dataType: "float32", shape: [2], data: Float32Array.of(0, 4) };
    const { outputs } = await runtime.run(reciprocalPath, { x });
    expect(outputs["y/0:0"]?.data).toEqual(Float32Array.of(Number.POSITIVE_INFINITY, 0.25));
  });

  it("an input whose shape the file does not state takes any shape that its data fill", async () => {
    for (const shape of [[], [1], [1, 1, 1]]) {
      const { outputs } = await runtime.run(shapelessPath, { x: { dataType: "float32", shape, data: Float32Array.of(2) } });
      expect(outputs).toEqual({ y: { dataType: "float32", shape, data: Float32Array.of(2) } });
    }
    const wrong: Tensor = { dataType: "float32", shape: [2], data: Float32Array.of(2) };
    await expect(runtime.run(shapelessPath, { x: wrong })).rejects.toThrow(/has 1 elements, and its shape \[2\] needs 2/);
  });

  it("inputs that do not fit are INPUT_INVALID, and every problem is named", async () => {
    const city: Tensor = { dataType: "string", shape: [1], data: ["Paris"] };
    const id: Tensor = { dataType: "int64", shape: [1], data: BigInt64Array.of(1n) };
    const refused: readonly (readonly [tensors: unknown, message: RegExp])[] = [
      [{ city, ID: id }, /unknown input "ID" \(this model takes city, id\); missing input "id" \(int64 \[rows\]\)/],
      [{ city, id: { ...id, dataType: "int32", data: Int32Array.of(1) } }, /input "id" is int32, and the model takes int64/],
      [{ city, id: { ...id, shape: [1, 1] } }, /input "id" has shape \[1, 1\], and the model takes int64 \[rows\]/],
      [{ city, id: { ...id, shape: [2] } }, /"rows" is 1 in "city" and 2 in "id"/],
      [{ city, id: { ...id, data: [1] } }, /does not hold int64 data/],
      [{ city: { ...city, data: [1] }, id }, /input "city" does not hold string data/],
      [{ city, id: { dataType: "int64", data: id.data } }, /input "id" has no shape/],
      [{ city, id: null }, /missing input "id"/],
      [{ city, id: { ...id, data: () => 1 } }, /cannot be sent|does not hold/],
      [null, /no tensors/],
    ];
    for (const [tensors, problem] of refused) {
      const run = runtime.run(tablePath, tensors as Record<string, Tensor>);
      await expect(run, String(problem)).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: expect.stringMatching(problem),
      });
    }
  });

  it("outputs, options and signals: what is not known is refused, and a cancelled run is ABORTED", async () => {
    const tensors = { float_input: rows };
    const run = (request: object): Promise<unknown> => runtime.run(classifierPath, tensors, request);
    await expect(run({ outputs: ["none"] })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: 'the model has no output "none"',
    });
    await expect(run({ outputs: [] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(run({ output: ["output_label"] })).rejects.toThrow(/run has no option "output"/);
    await expect(run({ model: classifierPath })).rejects.toThrow(/run has no option "model"/);
    await expect(run({ outputs: ["output_label"], signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    const handle = await runtime.load(classifierPath);
    await expect(runtime.run(handle, tensors, { target: "native" })).rejects.toThrow(/loaded already/);
    await handle.dispose();
  });
});

const [skip, name] = needsData("the cases of ai.onnx.ml");
const cases = skip
  ? []
  : readdirSync(`${sharedData}onnx-conformance/node`).filter((one) => one.startsWith("test_ai_onnx_ml") || one.includes("_seq"));

describe.skipIf(skip).each(["onnx:cpu", "wasm:cpu"])(`${name} on %s`, (target) => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ target, host: "inline", threads: 1 })));
  afterAll(() => runtime.dispose());
  const tensorsOf = (one: string, role: string): (readonly [string, Tensor | undefined])[] => {
    const data = `${sharedData}onnx-conformance/node/${one}/test_data_set_0/`;
    const files = readdirSync(data).filter((file) => file.startsWith(role));
    return files.map((file) => readTensorProto(readFileSync(`${data}${file}`)));
  };

  it.each(cases.filter((one) => one.startsWith("test_ai_onnx_ml")))("%s gives ONNX's own answer", async (one) => {
    const inputs = Object.fromEntries(tensorsOf(one, "input_"));
    const path = `${sharedData}onnx-conformance/node/${one}`;
    for (const reference of [path, `${path}/model.onnx`]) {
      const { outputs } = await runtime.run(reference, inputs as Record<string, Tensor>);
      for (const [output, tensor] of tensorsOf(one, "output_")) expect(outputs[output], output).toEqual(tensor);
    }
  });

  it("a model with sequences alone is refused by the name of the input or output", async () => {
    for (const [one, words] of [
      ["test_identity_sequence", 'input "x" of the model is a sequence or a map'],
      ["test_split_to_sequence_1", 'output "seq" of the model is a sequence or a map'],
    ]) {
      await expect(runtime.load(`${sharedData}onnx-conformance/node/${one}`)).rejects.toMatchObject({
        code: "MODEL_UNSUPPORTED",
        message: expect.stringContaining(words!),
      });
    }
  });
});

describe("inferyard run", () => {
  useDirectory(folder);
  const run = (...args: string[]): Promise<CommandResult> => inferyard(["run", ...args]);

  it("reads JSON, prints a table, writes .npy and reads it back", async () => {
    const given = ["--input", 'city=["Paris", "Berlin"]', "--input", 'id=["9007199254740993", 1]'];
    const { stdout: table } = await run("./table", ...given);
    expect(table).toBe(
      "./table · onnx:cpu\n  output  type   shape  first values\n  sum     int64  [2]    9007199254741193, 101\n",
    );
    const json = JSON.parse((await run("./table", ...given, "--json")).stdout) as {
      results: unknown;
      target: string;
      decision: object;
    };
    expect(json).toMatchObject({
      model: "./table",
      target: "onnx:cpu",
      results: { sum: { dtype: "int64", shape: [2], data: ["9007199254741193", 101] } },
      decision: { selected: { target: "onnx:cpu" } },
    });
    expect((await run("./table", ...given, "--npy", "out")).stdout).toContain(join("out", "sum.npy"));
    const again = await run("./table", "--input", 'city=["Paris", "Paris"]', "--input", "id=@out/sum.npy", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ results: { sum: { data: ["9007199254741393", 301] } } });
  });

  it("takes a lone file, JSON files and odd names, and chooses outputs", async () => {
    writeFileSync(join(folder, "x.json"), '[0.5, "Infinity"]');
    expect(JSON.parse((await run("reciprocal.onnx", "--input", "x=@x.json", "--json")).stdout)).toMatchObject({
      results: { "y/0:0": { dtype: "float32", shape: [2], data: [2, 0] } },
    });
    expect((await run("reciprocal.onnx", "--input", "x=[1, 2]", "--npy", "odd", "--output", "y/0:0")).code).toBe(0);
    expect(readdirSync(join(folder, "odd"))).toEqual(["y_0_0.npy"]);
    const label = await run("classifier.onnx", "--input", "float_input=[[3, 1]]", "--output", "output_label");
    expect(label.stdout).toContain("output_label  int64  [1]    10");
  });

  it.each<[string, string[], number, RegExp]>([
    ["no equals sign", ["reciprocal.onnx", "--input", "x"], 2, /--input x names no input/],
    ["no JSON", ["reciprocal.onnx", "--input", "x=hello"], 2, /input "x" is not JSON/],
    ["no such file", ["reciprocal.onnx", "--input", "x=@none.npy"], 2, /none\.npy cannot be read/],
    ["another kind of file", ["reciprocal.onnx", "--input", "x=@x.csv"], 2, /neither \.npy nor \.json/],
    ["a name twice", ["reciprocal.onnx", "--input", "x=1", "--input", "x=2"], 2, /given twice/],
    [
      "names that do not fit",
      ["table", "--input", "town=[]"],
      2,
      /unknown input "town"; missing input "city"; missing input "id".*\n.*takes city string \[rows\], id int64 \[rows\]/,
    ],
    [
      "a shape that does not fit",
      ["reciprocal.onnx", "--input", "x=[1, 2, 3]"],
      2,
      /input "x" has 3 at axis 0, and the model takes float32 \[2\]/,
    ],
    ["ragged rows", ["classifier.onnx", "--input", "float_input=[[1, 2], [3]]"], 2, /ragged/],
    ["two forms of output", ["reciprocal.onnx", "--input", "x=[1, 2]", "--json", "--npy", "out"], 2, /exclude each other/],
    [
      "a map",
      ["classifier.onnx", "--input", "float_input=[[1, 2]]"],
      1,
      /output "output_probability" .*\[MODEL_UNSUPPORTED\]\n.*output_label/,
    ],
    ["a folder that cannot be", ["reciprocal.onnx", "--input", "x=[1, 2]", "--npy", "classifier.onnx/out"], 1, /OUTPUT_FAILED/],
  ])("%s is refused with something to do", async (_name, args, code, words) => {
    const result = await run(...args);
    expect(result.stderr).toMatch(words);
    expect(result.code).toBe(code);
    expect(result.stderr).not.toMatch(/^\s+at /m);
  });
});
