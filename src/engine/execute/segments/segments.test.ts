/** Models whose shapes depend on values: against the interpreter, against onnxruntime, and in what they make again. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { describe, expect, it, vi } from "vitest";
import { withSuppression } from "../../../../test/engine/fixtures/detector.ts";
import { float32, GraphWriter, int64, randomStages } from "../../../../test/engine/fixtures/random-stages.ts";
import { features } from "../../../../test/engine/kernel-memory.ts";
import { needsData, sharedData, worst } from "../../../../test/fixtures/shared-data.ts";
import { amount, onRequest, runsAll, sampled } from "../../../../test/fixtures/slow.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { elementCount, type Tensor, type TensorMap, zeros } from "../../../contract/tensor.ts";
import { type Literal, zeroLiteral } from "../../ir/literal.ts";
import type { OnnxAttribute, OnnxModel } from "../../onnx/onnx-model.ts";
import { readOnnxModel } from "../../onnx/read-model.ts";
import { Builder } from "../../build/builder.ts";
import { TraceBudget } from "../../build/trace-budget.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import { onnxSource, traceModel } from "../../onnx/trace-model.ts";
import { isTensor } from "../../build/traced-value.ts";
import { EngineModel } from "../engine-model.ts";

/** Counts what is traced. */
class CountedSource implements GraphSource {
  traces = 0;
  readonly #source: GraphSource;

  constructor(model: OnnxModel) {
    this.#source = onnxSource(model);
  }

  get weights(): readonly Literal[] {
    return this.#source.weights;
  }

  trace(...args: Parameters<GraphSource["trace"]>): ReturnType<GraphSource["trace"]> {
    this.traces += 1;
    return this.#source.trace(...args);
  }
}

function load(model: OnnxModel): { readonly engine: EngineModel; readonly source: CountedSource } {
  const source = new CountedSource(model);
  return { engine: new EngineModel(source, { features }), source };
}

function interpreted(model: OnnxModel, inputs: TensorMap): TensorMap {
  const build = new Builder({}, "eager");
  const given = new Map(Object.entries(inputs).map(([name, tensor]) => [name, build.constant(tensor)]));
  return Object.fromEntries(
    [...traceModel(model, given, build)].map(([name, value]) => {
      if (!isTensor(value) || value.constant === undefined) throw new Error(`"${name}" is no tensor`);
      const { dataType, shape, data } = value.constant;
      return [name, { dataType, shape, data } as Tensor];
    }),
  );
}

const vector = (...values: number[]): Tensor => float32([values.length], ...values) as Tensor;

/** Loop: `carried` times `weights` while the sum is below 100, as many rounds as `max` says at most; rows are the sums. */
function growingLoop(weights: Literal, max?: Literal): OnnxModel {
  const g = new GraphWriter();
  const inner = new GraphWriter("inner");
  const product = inner.add("MatMul", ["carried", "w"]);
  const sum = inner.sum(product);
  const goes = inner.add("Less", [sum, inner.constant(float32([], 100))]);
  const body: OnnxAttribute = { kind: "graph", value: inner.graph(["round", "going", "carried"], [goes, product, sum]) };
  const first = g.add("Loop", [max === undefined ? "" : g.constant(max), "", "x"], { body }, 2);
  const model = g.model(["x"], [first, `${first}.1`]);
  return { ...model, graph: { ...model.graph, initializers: new Map([["w", weights]]) } };
}

const size = 64;
/** Every element becomes the sum of itself and its neighbour: whole numbers stay whole. */
const neighbours = float32(
  [size, size],
  ...Array.from({ length: size * size }, (_, at) => Number([0, 1].includes(((at % size) - Math.floor(at / size) + size) % size))),
);
const row = (value: number, rows = 16): Tensor =>
  float32([rows, size], ...Array.from({ length: rows * size }, (_, at) => (at === 3 ? value : 0))) as Tensor;

describe("a model whose shapes depend on values", () => {
  it("gives what the interpreter gives, whatever it asks and in whatever order inputs come", async () => {
    const numbers = fc.integer({ min: 0, max: 2 ** 12 });
    const values = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(numbers, { minLength: 3, maxLength: 24 }),
        fc.array(fc.tuple(values, values), { minLength: 1, maxLength: 4 }),
        async (steps, runs) => {
          const model = randomStages(steps);
          const { engine } = load(model);
          for (const [a, b] of [...runs, ...runs]) {
            const inputs = { a: vector(...a), b: vector(...b) };
            expect(await engine.run(inputs)).toEqual(interpreted(model, inputs));
          }
        },
      ),
      { numRuns: Number(process.env["RUNS"] ?? amount(60, 12)), interruptAfterTimeLimit: 60_000 },
    );
  });

  it("traces nothing for answers it met before, and keeps what others made of the same arrays out of it", async () => {
    const g = new GraphWriter();
    const kept = g.add("Compress", ["x", g.add("Greater", ["x", g.constant(float32([], 0))])]);
    const model = g.model(["x"], [g.add("Expand", [kept, g.count("x")]), "x"]);
    const { engine, source } = load(model);
    const inputs = [vector(1, 0, -2), vector(0, 1, -2), vector(3, 0, 0)];
    const first = await Promise.all(inputs.map((x) => engine.run({ x })));
    const { traces } = source;
    for (const [index, x] of inputs.entries()) expect(await engine.run({ x })).toEqual(first[index]);
    expect(source.traces).toBe(traces);
    const [x, result] = [inputs[0]!, (await engine.run({ x: inputs[0]! }))["x"]!];
    (result.data as Float32Array)[0] = 7;
    expect(x.data[0]).toBe(1);
    expect(await engine.run({ x })).toEqual(first[0]);
  });

  it("traces nothing for a loop whose body depends on its counter and that ran before", async () => {
    const g = new GraphWriter();
    const inner = new GraphWriter("inner");
    const one = inner.constant(int64([1], 1));
    const start = inner.add("Reshape", ["round", one]);
    const item = inner.add("Slice", ["carried", start, inner.add("Add", [start, one]), inner.constant(int64([1], 0))]);
    const body: OnnxAttribute = { kind: "graph", value: inner.graph(["round", "going", "carried"], ["going", "carried", item]) };
    const first = g.add("Loop", ["n", "", "x"], { body }, 2);
    const { engine } = load(g.model(["x", "n"], [`${first}.1`]));
    const inputs = { x: vector(...Array.from({ length: 400 }, (_, index) => index + 1)), n: int64([], 300) as Tensor };
    const traced = vi.spyOn(TraceBudget.prototype, "countOperation");
    const results = await engine.run(inputs);
    expect(Object.values(results)[0]!.data).toEqual(inputs.x.data.slice(0, 300));
    expect(traced.mock.calls.length).toBeGreaterThan(1000);
    traced.mockClear();
    expect(await engine.run(inputs)).toEqual(results);
    expect(traced).not.toHaveBeenCalled();
    traced.mockRestore();
  });

  it("keeps no more memory however many answers there are", async () => {
    const g = new GraphWriter();
    const wide = g.constant(neighbours);
    const end = g.add("Reshape", ["n", g.constant(int64([1], 1))]);
    const part = g.add("Slice", [wide, g.constant(int64([1], 0)), end, g.constant(int64([1], 1))]);
    const { engine } = load(g.model(["x", "n"], [g.add("MatMul", ["x", part])]));
    const after: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (let n = 1; n <= size; n += 1) {
        const results = await engine.run({ x: row(5, 32), n: int64([], n) as Tensor });
        expect(Object.values(results)[0]!.shape).toEqual([32, n]);
      }
      after.push(engine.bytes);
    }
    expect(after[2]).toBe(after[1]);
  });

  it("leaves out of a branch what the other one needs, and computes it with kernels", async () => {
    const g = new GraphWriter();
    const product = g.add("MatMul", ["x", g.constant(neighbours)]);
    const branch = (title: string, from: string): OnnxAttribute => {
      const inner = new GraphWriter(title);
      return { kind: "graph", value: inner.graph([], [inner.add("MatMul", [from, inner.constant(neighbours)])]) };
    };
    const branches = { then_branch: branch("then", product), else_branch: branch("else", "x") };
    const model = g.model(["x"], [g.add("If", [g.isAbove(product, 9)], branches)]);
    const { engine } = load(model);
    for (const value of [2, 8, 3]) {
      expect(await engine.run({ x: row(value) })).toEqual(interpreted(model, { x: row(value) }));
      expect(engine.describe()).toMatch(/^2 executables of \d steps: \d generated kernels, 0 interpreted$/);
    }
  });
});

describe("a branch that is taken after others were", () => {
  it("has its weights folded and packed once for all shapes", async () => {
    const wide = 256;
    const branch = (title: string, build: (inner: GraphWriter) => string): OnnxAttribute => {
      const inner = new GraphWriter(title);
      return { kind: "graph", value: inner.graph([], [build(inner)]) };
    };
    const g = new GraphWriter();
    const output = g.add("If", ["choice"], {
      then_branch: branch("then", (inner) => inner.add("MatMul", ["x", inner.add("DequantizeLinear", ["small", "scale"])])),
      else_branch: branch("else", (inner) => inner.add("Add", ["x", "x"])),
    });
    const made = g.model(["x", "choice"], [output]);
    const small = { dataType: "int8", shape: [wide, wide], data: new Int8Array(wide * wide).fill(3) } as const;
    const initializers = new Map<string, Literal>([
      ["small", small],
      ["scale", float32([], 0.5)],
    ]);
    const { engine } = load({ ...made, graph: { ...made.graph, initializers } });
    const run = async (choice: number, rows: number): Promise<number> => {
      const x = { ...zeros("float32", [rows, wide]), data: new Float32Array(rows * wide).fill(1) } as Tensor;
      const results = await engine.run({ x, choice: { dataType: "bool", shape: [1], data: Uint8Array.of(choice) } });
      expect(Object.values(results)[0]!.data[0]).toBe(choice === 1 ? wide * 1.5 : 2);
      return engine.bytes;
    };
    for (const rows of [1, 2, 3]) await run(0, rows);
    const before = await run(1, 1);
    for (const rows of [2, 3, 4, 5, 6]) expect((await run(1, rows)) - before).toBeLessThan(wide * wide * 4);
  });
});

describe("what is asked in the middle", () => {
  /** Each row of x [n, 3] that has a sum above 0 as it is, the others turned around; by a Scan, whose rows are asked for one by one. */
  function turnedRows(): OnnxModel {
    const g = new GraphWriter();
    const inner = new GraphWriter("inner");
    const branch = (title: string, factor: number): OnnxAttribute => {
      const part = new GraphWriter(title);
      return { kind: "graph", value: part.graph([], [part.add("Mul", ["row", part.constant(float32([], factor))])]) };
    };
    const branches = { then_branch: branch("then", 1), else_branch: branch("else", -1) };
    const turned = inner.add("If", [inner.isAbove("row", 0)], branches);
    const body: OnnxAttribute = { kind: "graph", value: inner.graph(["row"], [turned]) };
    return g.model(["x"], [g.add("Scan", ["x"], { body, num_scan_inputs: { kind: "int", value: 1 } })]);
  }

  it("may be more than is kept, and costs no memory then", async () => {
    const model = turnedRows();
    const engine = new EngineModel(onnxSource(model), { features, limits: { trace: { bytes: 2 ** 17 } } });
    const x = float32([90, 3], ...Array.from({ length: 270 }, (_, at) => ((at * 7) % 5) - 2)) as Tensor;
    const after: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      expect(await engine.run({ x })).toEqual(interpreted(model, { x }));
      after.push(engine.bytes);
    }
    expect(after[2]).toBe(after[1]);
  });

  it("leaves random numbers as they were drawn", async () => {
    const g = new GraphWriter();
    const drawn = g.add("RandomUniformLike", ["x"]);
    const isLarge = g.add("Greater", [drawn, g.constant(float32([], 0.5))]);
    const large = g.add("Compress", [drawn, isLarge]);
    const { engine } = load(g.model(["x"], [drawn, large, g.add("Add", [large, large])]));
    const draw = async (): Promise<number[][]> => {
      const results = Object.values(await engine.run({ x: vector(...Array.from({ length: 50 }, () => 0)) }));
      return results.map(({ data }) => Array.from(data as Float32Array));
    };
    const [first, second] = [await draw(), await draw()];
    for (const [all, some, doubled] of [first, second]) {
      expect(some).toEqual(all!.filter((each) => each > 0.5));
      expect(doubled).toEqual(some!.map((each) => each * 2));
    }
    expect(first[0]).not.toEqual(second[0]);
  });

  it("may be a list, in a function of the model", async () => {
    const g = new GraphWriter();
    const inner = new GraphWriter("inner");
    const parts = inner.add("SplitToSequence", ["given", inner.add("Unique", ["sizes"])]);
    const last = inner.add("SequenceAt", [parts, inner.constant(int64([], -1))]);
    g.nodes.push({
      name: "",
      domain: "own",
      operator: "lastPart",
      inputs: ["x", "sizes"],
      outputs: ["y"],
      attributes: new Map(),
    });
    const own = { domain: "own", name: "lastPart", inputs: ["given", "sizes"], outputs: [last], nodes: inner.nodes };
    const functions = new Map([["own:lastPart", { ...own, opsets: new Map([["", 17]]), defaults: new Map() }]]);
    const model = { ...g.model(["x", "sizes"], ["y", g.add("Add", ["y", "y"])]), functions };
    const { engine } = load(model);
    for (const sizes of [[2, 4, 2, 4], [6], [3, 3, 1, 2]]) {
      const inputs = { x: vector(1, 2, 3, 4, 5, 6), sizes: int64([sizes.length], ...sizes) as Tensor };
      expect(await engine.run(inputs)).toEqual(interpreted(model, inputs));
    }
  });

  it("is refused where no answer is possible, each time it is tried", async () => {
    const g = new GraphWriter();
    const model = g.model(
      ["x"],
      [g.add("Reshape", ["x", g.add("Cast", [g.add("Add", ["x", "x"])], { to: { kind: "int", value: 7 } })])],
    );
    const { engine } = load(model);
    for (let round = 0; round < 2; round += 1) {
      await expect(engine.run({ x: vector(3, 5) })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
      expect(Object.values(await engine.run({ x: vector(0.5, 1) }))[0]!.shape).toEqual([1, 2]);
    }
  });
});

describe("a loop whose end depends on values", () => {
  it("compiles one executable for all iterations, and none when it runs again with another trip count", async () => {
    const model = growingLoop(neighbours);
    const { engine, source } = load(model);
    for (const value of [1, 40, 3, 200]) {
      expect(await engine.run({ x: row(value) })).toEqual(interpreted(model, { x: row(value) }));
      expect(engine.describe()).toMatch(/^executable of \d steps: \d generated kernels, 0 interpreted$/);
    }
    expect(source.traces).toBe(5); // up to the loop, and behind it for each number of rows: nothing is left to compute there
  });

  it("runs no iteration, or at most the maximum trip count", async () => {
    for (const max of [0, 1, 3]) {
      const model = growingLoop(neighbours, int64([], max));
      const { engine } = load(model);
      const x = row(1);
      const results = Object.values(await engine.run({ x }));
      expect(results).toEqual(Object.values(interpreted(model, { x })));
      expect(results[1]!.shape[0]).toBe(max);
    }
  });

  it("is refused where it runs no round and nothing says what its rows would be", async () => {
    const g = new GraphWriter();
    const inner = new GraphWriter("inner");
    const graph = inner.graph(["round", "going"], ["going", inner.add("Add", ["x", "x"])]);
    const outputs = graph.outputs.map(
      ({ name: output }) => ({ name: output, type: { kind: "other", name: "nothing" } }) as const,
    );
    const { engine } = load(
      g.model(["x", "n"], [g.add("Loop", ["n", ""], { body: { kind: "graph", value: { ...graph, outputs } } })]),
    );
    const run = async (n: number): Promise<TensorMap> => await engine.run({ x: vector(1, 2), n: int64([], n) as Tensor });
    expect(Object.values(await run(2))[0]!.shape).toEqual([2, 2]);
    await expect(run(0)).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
  });

  it("that does not end is left at once by a caller who leaves", async () => {
    const { engine } = load(growingLoop(float32([1, 1], 0)));
    await expect(engine.run({ x: vector(1) }, { signal: AbortSignal.timeout(300) })).rejects.toMatchObject({ code: "ABORTED" });
  });

  const [isEndSkipped, endName] = onRequest("is refused where it does not end", "it runs some 300,000 rounds");
  it.skipIf(isEndSkipped)(endName, async () => {
    const { engine } = load(growingLoop(float32([1, 1], 0)));
    await expect(engine.run({ x: vector(1) })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("operations"),
    });
  });
});

describe("texts", () => {
  it("are steps of an executable whose other steps are kernels", async () => {
    const g = new GraphWriter();
    const texts = g.add("StringConcat", ["text", "text"]);
    const found = g.add("Equal", [texts, g.constant({ dataType: "string", shape: [], data: ["aa"] })]);
    const product = g.add("MatMul", ["x", g.constant(neighbours)]);
    const kept = g.add("Reshape", [texts, g.constant(int64([2], 1, -1))]);
    const whole = g.model(["text", "x"], [kept, found, product, "text"]);
    const model = { ...whole, opsets: new Map([["", 20]]) };
    const { engine } = load(model);
    const inputs = { text: { dataType: "string", shape: [2], data: ["a", "b"] } as const, x: row(3) };
    expect(await engine.run(inputs)).toEqual(interpreted(model, inputs));
    expect(engine.describe()).toBe("executable of 4 steps: 1 generated kernels, 3 interpreted");
  });
});

const [skip, name] = needsData("models of the shared data");

describe.skipIf(skip)(name, () => {
  async function expectSame(bytes: Buffer, inputs: TensorMap, tolerance: number, of?: InferenceSession): Promise<string> {
    const { engine } = load(readOnnxModel(bytes, "a model").model);
    const results = await engine.run(inputs);
    const session = of ?? (await InferenceSession.create(bytes));
    const given = Object.entries(inputs).map(([key, { dataType, shape, data }]): [string, OrtTensor] => [
      key,
      new OrtTensor(dataType as "float32", data as Float32Array, shape),
    ]);
    for (const [key, wanted] of Object.entries(await session.run(Object.fromEntries(given)))) {
      expect(results[key]!.shape, key).toEqual(wanted.dims);
      if (elementCount(wanted.dims) === 0) continue;
      const [one, other] = [results[key]!.data, wanted.data].map((data) => Float32Array.from(data as Float32Array, Number));
      expect(worst(one!, other!), key).toBeLessThan(tolerance);
    }
    return engine.describe();
  }

  it.each([
    "loop11",
    "loop16_seq_none",
    "if",
    "nonmaxsuppression_two_classes",
    "compress_0",
    "nonzero_example",
    "unique_sorted_with_axis",
    "scan9_multi_state",
    "split_to_sequence_1",
    "center_crop_pad_crop_negative_axes_hwc_expanded",
    "strnormalizer_export_monday_casesensintive_lower",
  ])("%s, damaged in some bytes, ends in an answer or a typed error", async (folder) => {
    const file = readFileSync(`${sharedData}onnx-conformance/node/test_${folder}/model.onnx`);
    let state = 7;
    const random = (limit: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
    for (let attempt = 0; attempt < amount(30, 10); attempt += 1) {
      const bytes = Uint8Array.from(file);
      for (let count = random(4); count > 0; count -= 1) bytes[random(bytes.length)] = random(256);
      let problem: unknown;
      try {
        const { model } = readOnnxModel(bytes, folder);
        const inputs = model.graph.inputs.flatMap(({ name: key, type }): [string, Tensor][] => {
          if (type.kind !== "tensor") return [];
          const sizes = (type.shape ?? []).map((each) => (typeof each === "number" && each <= 64 ? each : 2));
          return [[key, zeroLiteral(type.dataType, sizes) as Tensor]];
        });
        await load(model).engine.run(Object.fromEntries(inputs));
      } catch (error) {
        problem = error;
      }
      expect(problem === undefined || problem instanceof InferyardError, String(problem)).toBe(true);
    }
  });

  it.each([...(runsAll ? [0.05] : []), 0.02, 0.9])(
    "a face detector drops overlapping boxes as onnxruntime does, above a score of %d",
    async (minScore) => {
      const file = readFileSync(`${sharedData}vision/version-RFB-320_simplified.onnx`);
      const picture = Float32Array.from({ length: 3 * 240 * 320 }, (_, at) => Math.sin(at * 0.37) + Math.sin(at * 0.011));
      const input: Tensor = { dataType: "float32", shape: [1, 3, 240, 320], data: picture };
      const described = await expectSame(withSuppression(file, minScore), { input }, 2e-4);
      expect(described).toMatch(/ generated kernels, /);
    },
  );

  const merged = sampled(
    "%s: both branches of its merged decoder are executables, and give what onnxruntime gives",
    ["tiny-random-t5", "tiny-random-bart", "tiny-random-whisper", "tiny-random-trocr"],
    (folder) => /t5|whisper/.test(folder),
  );
  for (const [isSkipped, title, folders] of merged) {
    it.skipIf(isSkipped).each(folders)(title, async (folder) => {
      const session = await InferenceSession.create(`${sharedData}${folder}/onnx/decoder_model_merged.onnx`);
      const file = readFileSync(`${sharedData}${folder}/onnx/decoder_model_merged.onnx`);
      const { model } = readOnnxModel(file, folder);
      const sizes: Record<string, number> = { batch_size: 1, encoder_sequence_length: 7, "encoder_sequence_length / 2": 7 };
      for (const usesCache of [false, true]) {
        const inputs = model.graph.inputs.map(({ name: key, type }): [string, Tensor] => {
          if (type.kind !== "tensor") throw new Error(`"${key}" is no tensor`);
          const past = usesCache ? 3 : 0;
          const shape = (type.shape ?? []).map((each) => {
            if (typeof each === "number") return each;
            return sizes[String(each)] ?? (/past/.test(String(each)) ? past : /encoder/.test(String(each)) ? 7 : 1);
          });
          const empty = zeros(type.dataType as "float32", shape);
          if (key === "use_cache_branch") return [key, { ...empty, data: Uint8Array.of(Number(usesCache)) }];
          if (type.dataType === "int64")
            return [key, { ...empty, data: BigInt64Array.from(empty.data as BigInt64Array, () => 1n) }];
          return [key, { ...empty, data: Float32Array.from(empty.data as Float32Array, (_, at) => Math.sin(at)) }];
        });
        expect(await expectSame(file, Object.fromEntries(inputs), 1e-4, session)).toMatch(/^executable of .* 0 interpreted$/);
      }
    });
  }
});
