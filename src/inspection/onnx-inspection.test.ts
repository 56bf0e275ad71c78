import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as write from "../../test/fixtures/models/onnx-bytes.ts";
import { needsData, sharedData } from "../../test/fixtures/shared-data.ts";
import type { InferyardError } from "../contract/errors.ts";
import { inspectFile } from "./index.ts";
import type { OnnxInspection } from "./onnx-inspection.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-onnx-"))));
afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function inspect(bytes: Buffer): Promise<OnnxInspection> {
  await writeFile(join(folder, "x.onnx"), bytes);
  return (await inspectFile(join(folder, "x.onnx"), { displayName: "./x.onnx" })) as OnnxInspection;
}

async function refusal(bytes: Buffer): Promise<string> {
  return await inspect(bytes).then(
    () => "read",
    (error: InferyardError) => `${error.code} ${error.message}`,
  );
}

const abs = write.node({ operator: "Abs", inputs: ["x"], outputs: ["y"] });
const ends = [write.value(11, "x", 1, ["batch", 3]), write.value(12, "y", 1)];

describe("an ONNX file", () => {
  it("is described by what it takes and gives, its operator sets and its metadata", async () => {
    const entry = write.message(14, write.message(1, "author"), write.message(2, "me"));
    const inspection = await inspect(
      write.model({
        irVersion: 9,
        opsets: { "": 17, "com.microsoft": 1 },
        graph: [abs, ...ends, write.value(11, "free", 7, []), write.value(11, "unnamed", 10, [""])],
        model: [write.message(2, "maker"), write.message(3, "1.2"), entry],
      }),
    );
    expect(inspection).toMatchObject({
      irVersion: 9,
      producer: "maker 1.2",
      opsets: { "ai.onnx": 17, "com.microsoft": 1 },
      inputs: [
        { name: "x", type: "float32", shape: ["batch", 3] },
        { name: "free", type: "int64", shape: [] },
        { name: "unnamed", type: "float16", shape: [null] },
      ],
      outputs: [{ name: "y", type: "float32" }],
      metadata: { author: { value: "me", bytes: 2 } },
    });
    expect(inspection.outputs[0]).not.toHaveProperty("shape");
  });

  it.each([74_946, 5_000_000, 2 ** 26 + 1])("may have texts of %i bytes in its metadata, and as a name", async (bytes) => {
    const entry = write.message(14, write.message(1, "character"), write.message(2, "字".repeat(bytes / 3)));
    const long = "x".repeat(Math.min(bytes, 1_000_000));
    const graph = [abs, ...ends, write.value(11, long, 7, []), write.node({ operator: long })];
    const inspection = await inspect(write.model({ opsets: { "": 17 }, graph, model: [entry] }));
    const shown = inspection.metadata["character"];
    expect(shown?.bytes).toBe(3 * Math.floor(bytes / 3));
    expect(shown?.value).toBe("字".repeat(4096));
    expect(inspection.inputs.map(({ name: input }) => input)).toContain(long);
  });

  it("counts operators of subgraphs, and of functions it defines itself", async () => {
    const body = write.message(6, write.node({ operator: "Mul" }), write.weight("inner", 1, [2]));
    const branch = write.node({ operator: "If", attributes: [[write.message(1, "then_branch"), body]] });
    const call = write.node({ operator: "Twice", domain: "mine" });
    const twice = write.message(25, write.message(1, "Twice"), write.node({ operator: "Add" }, 7), write.message(10, "mine"));
    const { operators, nodes, backends, parameters } = await inspect(
      write.model({ opsets: { "": 17, mine: 1 }, graph: [abs, abs, branch, call, ...ends], model: [twice] }),
    );
    expect(operators).toEqual([
      { domain: "ai.onnx", name: "Abs", count: 2 },
      { domain: "ai.onnx", name: "Add", count: 1 },
      { domain: "ai.onnx", name: "If", count: 1 },
      { domain: "ai.onnx", name: "Mul", count: 1 },
      { domain: "mine", name: "Twice", count: 1, local: true },
    ]);
    expect({ nodes, parameters }).toEqual({ nodes: 5, parameters: 2 });
    expect(backends[0]).toMatchObject({ backend: "onnx", verdict: "expected" });
  });

  it("leaves values that are weights out of its inputs, and keeps tensors in nodes apart", async () => {
    const constant = write.node({ operator: "Constant", attributes: [[write.message(1, "value"), write.weight("", 1, [5], 5)]] });
    const inspection = await inspect(
      write.model({
        opsets: { "": 17 },
        graph: [abs, constant, write.weight("w", 1, [2, 3]), write.value(11, "w", 1, [2, 3]), ...ends],
      }),
    );
    expect(inspection.inputs.map(({ name }) => name)).toEqual(["x"]);
    expect(inspection.types).toEqual([{ type: "float32", tensors: 1, parameters: 6, bytes: 24 }]);
    expect(inspection.constants).toEqual([{ type: "float32", tensors: 1, parameters: 5, bytes: 20 }]);
    expect(inspection.tensors).toEqual([{ name: "w", type: "float32", shape: [2, 3], bytes: 24 }]);
  });

  it("says which files beside it hold weights, and looks at none outside its folder", async () => {
    await writeFile(join(folder, "there.bin"), Buffer.alloc(40));
    const external = (name: string, location: string, length: number): Buffer => {
      const entry = (key: string, value: string): Buffer => write.message(13, write.message(1, key), write.message(2, value));
      const dims = write.integer(1, 2);
      return write.message(
        5,
        dims,
        write.integer(2, 1),
        write.message(8, name),
        entry("location", location),
        entry("length", String(length)),
      );
    };
    const { externalFiles, backends } = await inspect(
      write.model({
        opsets: { "": 17 },
        graph: [
          abs,
          ...ends,
          external("a", "there.bin", 8),
          external("b", "there.bin", 40),
          external("c", "gone.bin", 8),
          external("d", "../../etc/passwd", 8),
        ],
      }),
    );
    expect(externalFiles).toEqual([
      { name: "there.bin", state: "present", neededBytes: 40, bytes: 40 },
      { name: "gone.bin", state: "missing", neededBytes: 8 },
      { name: "../../etc/passwd", state: "outside the folder", neededBytes: 8 },
    ]);
    expect(backends[0]).toEqual({ backend: "onnx", verdict: "no", reason: "its weights are in gone.bin, which is missing" });
    const short = await inspect(write.model({ opsets: { "": 17 }, graph: [abs, ...ends, external("a", "there.bin", 41)] }));
    expect(short.externalFiles[0]?.state).toBe("too short");
  });

  it.each<[string, readonly Buffer[], string]>([
    ["sequence", [write.message(4, write.message(1, write.message(1, write.integer(1, 1))))], "sequence(float32)"],
    [
      "map",
      [write.message(5, write.integer(1, 7), write.message(2, write.message(1, write.integer(1, 1))))],
      "map(int64, float32)",
    ],
    ["optional", [write.message(9, write.message(1, write.message(1, write.integer(1, 8))))], "optional(string)"],
    ["sparse tensor", [write.message(8, write.integer(1, 11))], "sparse(float64)"],
    ["type of a later version", [write.message(1, write.integer(1, 99))], "type 99"],
  ])("names a %s", async (_name, type, words) => {
    const input = write.message(11, write.message(1, "x"), write.message(2, ...type));
    expect((await inspect(write.model({ opsets: { "": 17 }, graph: [abs, input] }))).inputs[0]?.type).toBe(words);
  });
});

describe("an ONNX file that is refused", () => {
  const withGraph = (...graph: Buffer[]): Buffer => write.model({ opsets: { "": 17 }, graph });
  const nested = (depth: number, of: (inner: Buffer) => Buffer, seed: Buffer): Buffer => {
    let inner = seed;
    for (let index = 0; index < depth; index += 1) inner = of(inner);
    return inner;
  };

  it.each<[string, Buffer, RegExp]>([
    ["no graph", Buffer.concat([write.integer(1, 8), write.message(8, write.integer(2, 17))]), /it holds no graph/],
    ["no operator sets", Buffer.concat([write.integer(1, 8), write.message(7)]), /its end is missing/],
    [
      "a weight that stores less than its shape says",
      withGraph(
        write.message(5, write.integer(1, 1_000_000), write.integer(2, 1), write.message(8, "w"), write.message(9, "abcd")),
      ),
      /"w" has the shape \[1000000\] of float32, and stores 4 bytes/,
    ],
    [
      "a weight of a million numbers with room for two",
      withGraph(write.message(5, write.integer(1, 1_000_000), write.integer(2, 1), write.message(4, Buffer.alloc(8)))),
      /\[1000000\] of float32, and stores at most 2$/,
    ],
    [
      "an impossible shape",
      withGraph(write.message(5, ...Array.from({ length: 9 }, () => write.integer(1, 2 ** 30)), write.integer(2, 1))),
      /impossible shape/,
    ],
    [
      "graphs without end",
      withGraph(nested(500, (inner) => write.message(1, write.message(5, write.message(6, inner))), abs)),
      /nests more than 200 messages/,
    ],
    [
      "types without end",
      withGraph(
        write.message(
          11,
          write.message(
            2,
            nested(500, (inner) => write.message(4, write.message(1, inner)), Buffer.alloc(0)),
          ),
        ),
      ),
      /nests more than 200 messages/,
    ],
  ])("%s", async (_name, bytes, reason) => {
    expect(await refusal(bytes)).toMatch(/^MODEL_INVALID \.\/x\.onnx is not a whole ONNX file: /);
    expect(await refusal(bytes)).toMatch(reason);
  });

  it("more names than any model has, in one or in many", async () => {
    const bound = /^MODEL_UNSUPPORTED the header of \.\/x\.onnx has more than 67108864 bytes of names/;
    expect(await refusal(withGraph(write.value(11, "x".repeat(2 ** 26 + 1), 1)))).toMatch(bound);
    const megabyte = write.value(11, "x".repeat(2 ** 20), 1);
    expect(await refusal(withGraph(...Array.from({ length: 65 }, () => megabyte)))).toMatch(bound);
  });

  it("more nodes than any model has, before they are read", async () => {
    const empty = Buffer.alloc(6_000_000, Buffer.from([0x0a, 0]));
    expect(await refusal(withGraph(empty))).toMatch(/^MODEL_UNSUPPORTED the header of \.\/x\.onnx has more than 500000 messages/);
  });
});

const [skip, name] = needsData("ONNX files of others");

describe.skipIf(skip)(name, () => {
  it("SqueezeNet 1.1 has its published 1,235,496 parameters", async () => {
    const inspection = (await inspectFile(`${sharedData}vision/SqueezeNet_fp16.onnx`)) as OnnxInspection;
    expect(inspection.parameters).toBe(1_235_496);
    expect(inspection.types[0]).toMatchObject({ type: "float16", bytes: 2 * 1_235_496 });
  });

  it("MiniLM has the parameters of its safetensors file, but for the pooler that the export leaves out", async () => {
    const onnx = (await inspectFile(`${sharedData}all-MiniLM-L6-v2/onnx/model.onnx`)) as OnnxInspection;
    const safetensors = await inspectFile(`${sharedData}all-MiniLM-L6-v2/model.safetensors`);
    expect(onnx.parameters).toBe(safetensors.parameters - (384 * 384 + 384));
    expect(onnx.inputs).toEqual(
      ["input_ids", "attention_mask", "token_type_ids"].map((input) => ({
        name: input,
        type: "int64",
        shape: ["batch_size", "sequence_length"],
      })),
    );
    expect(onnx.backends.map(({ verdict }) => verdict)).toEqual(["expected", "unknown", "no", "expected", "expected", "no"]);
  });

  it("a loop's body is counted", async () => {
    const { operators } = (await inspectFile(`${sharedData}onnx-conformance/node/test_loop11/model.onnx`)) as OnnxInspection;
    expect(operators.map(({ name: operator }) => operator)).toEqual(expect.arrayContaining(["Loop", "Add", "Slice"]));
  });
});
