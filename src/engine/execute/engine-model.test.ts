import { describe, expect, it } from "vitest";
import { integer, message, model, node, tensorOf, value } from "../../../test/fixtures/models/onnx-bytes.ts";
import { features } from "../../../test/engine/kernel-memory.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { toByteSource } from "../../formats/byte-source.ts";
import { readOnnxModel } from "../onnx/read-model.ts";
import { Builder } from "../build/builder.ts";
import { onnxSource } from "../onnx/trace-model.ts";
import { EngineModel } from "./engine-model.ts";

const width = 96;
const wide = (length: number): Float32Array => Float32Array.from({ length }, (_, index) => ((index * 31) % 17) / 8 - 1);

/**
 * x [n, 96] times weights of 8 bits, plus rows of a table, as many as x has; then times as many of the table's columns as x has rows: weights
 * that depend on the shape.
 */
function bytesOfModel(): Buffer {
  const numbers = (name: string, ...values: bigint[]): Buffer =>
    tensorOf(name, "int64", [values.length], BigInt64Array.from(values));
  const graph = [
    value(11, "x", 1, ["n", width]),
    tensorOf(
      "small",
      "int8",
      [width, width],
      Int8Array.from({ length: width * width }, (_, index) => ((index * 37) % 255) - 127),
    ),
    tensorOf("scale", "float32", [], Float32Array.of(0.01)),
    tensorOf("table", "float32", [width, width], wide(width * width)),
    numbers("zero", 0n),
    numbers("one", 1n),
    node({ operator: "DequantizeLinear", inputs: ["small", "scale"], outputs: ["weights"] }),
    node({ operator: "MatMul", inputs: ["x", "weights"], outputs: ["product"] }),
    node({ operator: "Shape", inputs: ["x"], outputs: ["shape"] }),
    node({ operator: "Slice", inputs: ["shape", "zero", "one"], outputs: ["rows"] }),
    node({ operator: "Slice", inputs: ["table", "zero", "rows", "zero"], outputs: ["part"] }),
    node({ operator: "Add", inputs: ["product", "part"], outputs: ["sum"] }),
    node({ operator: "Slice", inputs: ["table", "zero", "rows", "one"], outputs: ["columns"] }),
    node({ operator: "MatMul", inputs: ["sum", "columns"], outputs: ["y"] }),
    value(12, "y"),
  ];
  return model({ opsets: { "": 17 }, graph });
}

function load(): {
  engine: EngineModel;
  weights: readonly { readonly storage?: { readonly residentBytes: number } }[];
  keep(): void;
} {
  const { model: read, loadRemaining } = readOnnxModel(toByteSource(bytesOfModel()), "made up");
  const engine = new EngineModel(onnxSource(read), { features });
  return { engine, weights: [...read.graph.initializers.values()], keep: loadRemaining };
}

const inputs = (rows: number): TensorMap => ({ x: { dataType: "float32", shape: [rows, width], data: wide(rows * width) } });
const declared = [{ name: "x", dataType: "float32", shape: ["n", width] }] as const;

async function bits(engine: EngineModel, rows: number): Promise<string> {
  const { y } = await engine.run(inputs(rows));
  return Buffer.from((y!.data as Float32Array).buffer).toString("base64");
}

describe("a model in the engine", () => {
  it("gives for every shape the bits that a model gives which sees that shape alone, in any order", async () => {
    const { engine } = load();
    engine.prepare(declared);
    for (const rows of [7, 1, 64, 7, 33, 16, 2, 64]) {
      const alone = load().engine;
      expect(await bits(engine, rows), `${rows} rows`).toBe(await bits(alone, rows));
    }
  });

  it("keeps no more memory however many shapes it is asked for", async () => {
    const { engine } = load();
    const after: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      for (let rows = 1; rows <= 40; rows += 1) await engine.run(inputs(rows));
      after.push(engine.bytes);
    }
    expect(after[4]).toBe(after[2]);
    expect(after[4]).toBeLessThan(3_000_000);
  });

  it("holds weights once: packed, and not as the file has them", async () => {
    const { engine, weights, keep } = load();
    engine.prepare(declared);
    keep();
    const [small, , table] = weights;
    // The table is the operand of no kernel: what is cut from it is. What is folded from the 8-bit weights would be folded from them again.
    expect([small!.storage!.residentBytes, table!.storage!.residentBytes]).toEqual([width * width, width * width * 4]);
    const before = engine.bytes;
    await engine.run(inputs(3));
    expect(engine.bytes - before).toBeLessThan(65_536 + width * 4 * 16);
  });

  it("has the weights of its nodes for every executable, also after most executables are evicted", async () => {
    const [large, little] = [wide(96 * 96), wide(96 * 8)];
    const constant = (name: string, shape: readonly number[], data: Float32Array): Buffer => {
      const fields = [...shape.map((size) => integer(1, size)), integer(2, 1), message(9, Buffer.from(data.buffer))];
      return node({
        operator: "Constant",
        outputs: [name],
        attributes: [[message(1, "value"), message(5, ...fields), integer(20, 4)]],
      });
    };
    const graph = [
      value(11, "x", 1, ["n", 96]),
      constant("w", [96, 96], large),
      constant("v", [96, 8], little),
      node({ operator: "MatMul", inputs: ["x", "w"], outputs: ["y"] }),
      node({ operator: "MatMul", inputs: ["x", "v"], outputs: ["z"] }),
      value(12, "y"),
      value(12, "z"),
    ];
    const { model: read } = readOnnxModel(toByteSource(model({ opsets: { "": 17 }, graph })), "made up");
    const engine = new EngineModel(onnxSource(read), { features });
    for (let rows = 1; rows <= 80; rows += 1) {
      const { y, z } = await engine.run({
        x: { dataType: "float32", shape: [rows, 96], data: new Float32Array(rows * 96).fill(1, 0, 1) },
      });
      expect((y!.data as Float32Array).slice(0, 96), `${rows} rows`).toEqual(large.slice(0, 96));
      expect((z!.data as Float32Array).slice(0, 8), `${rows} rows`).toEqual(little.slice(0, 8));
    }
  });

  it("packs weights once for each shape they are read in", async () => {
    const graph = [
      value(11, "x", 1, ["n", 96]),
      value(11, "z", 1, ["n", 48]),
      tensorOf("w", "float32", [96, 96], wide(96 * 96)),
      tensorOf("flat", "int64", [2], BigInt64Array.of(48n, 192n)),
      node({ operator: "Reshape", inputs: ["w", "flat"], outputs: ["v"] }),
      node({ operator: "MatMul", inputs: ["x", "w"], outputs: ["y"] }),
      node({ operator: "MatMul", inputs: ["z", "v"], outputs: ["u"] }),
      value(12, "y"),
      value(12, "u"),
    ];
    const { model: read } = readOnnxModel(model({ opsets: { "": 17 }, graph }), "made up");
    const one = (size: number): TensorMap[string] => ({
      dataType: "float32",
      shape: [1, size],
      data: new Float32Array(size).fill(1, 1, 2),
    });
    const { y, u } = await new EngineModel(onnxSource(read), { features }).run({ x: one(96), z: one(48) });
    const w = wide(96 * 96);
    expect(y!.data).toEqual(w.slice(96, 192));
    expect(u!.data).toEqual(w.slice(192, 384));
  });

  it("lets packed weights go, and has them again to the bit", () => {
    const data = wide(128 * 70);
    const graph = [
      value(11, "x", 1, ["n", 128]),
      tensorOf("w", "float32", [128, 70], data),
      node({ operator: "MatMul", inputs: ["x", "w"], outputs: ["y"] }),
      value(12, "y"),
    ];
    const { model: read } = readOnnxModel(model({ opsets: { "": 17 }, graph }), "made up");
    new EngineModel(onnxSource(read), { features }).prepare([{ name: "x", dataType: "float32", shape: ["n", 128] }]);
    const weights = read.graph.initializers.get("w")!;
    expect(weights.storage!.residentBytes).toBe(0);
    expect(weights.data).toEqual(data);
  });
});

describe("a caller that leaves", () => {
  it("throws ABORTED for an abort with any reason, also while tracing; the model is not at fault", async () => {
    const signal = AbortSignal.abort(new Error("a reason of its own"));
    await expect(load().engine.run(inputs(2), { signal })).rejects.toMatchObject({ code: "ABORTED" });
    const { model: read } = readOnnxModel(toByteSource(bytesOfModel()), "made up");
    const build = new Builder({ signal });
    const x = { type: { dataType: "float32", shape: [2, width] } } as const;
    expect(() => onnxSource(read).trace(new Map([["x", x]]), build)).toThrow(expect.objectContaining({ code: "ABORTED" }));
  });
});
