/** Copies of a model in one memory: what one has packed the others read, and what each computes is its own. */
import { describe, expect, it } from "vitest";
import { integer, message, model, node, value } from "../../../test/fixtures/models/onnx-bytes.ts";
import { features } from "../../../test/engine/kernel-memory.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import type { ByteSource } from "../../formats/byte-source.ts";
import { readOnnxModel } from "../onnx/read-model.ts";
import { onnxSource } from "../onnx/trace-model.ts";
import { EngineMemory } from "../memory/engine-memory.ts";
import { EngineModel } from "./engine-model.ts";
import type { EngineReplica, SharedEngineState } from "./engine-replicas.ts";

const width = 128;
const floats = (length: number, step: number): Float32Array =>
  Float32Array.from({ length }, (_, index) => ((index * step) % 23) / 16 - 0.7);

function tensor(name: string, type: number, shape: readonly number[], data: ArrayBufferView): Buffer {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return message(5, ...shape.map((size) => integer(1, size)), integer(2, type), message(8, name), message(9, bytes));
}

/** Rows of a table by their numbers, times 8-bit weights with a zero point for each column, times float weights that stand turned. */
function bytesOfModel(step = 31): Buffer {
  const eighths = Int8Array.from({ length: width * width }, (_, index) => ((index * 37) % 255) - 127);
  const graph = [
    value(11, "ids", 7, ["n"]),
    tensor("table", 1, [300, width], floats(300 * width, step)),
    tensor("small", 3, [width, width], eighths),
    tensor("scales", 1, [width], floats(width, 5)),
    tensor("turned", 1, [width, width], floats(width * width, 7)),
    node({ operator: "Gather", inputs: ["table", "ids"], outputs: ["rows"] }),
    node({ operator: "DequantizeLinear", inputs: ["small", "scales"], outputs: ["weights"] }),
    node({ operator: "MatMul", inputs: ["rows", "weights"], outputs: ["product"] }),
    node({ operator: "Transpose", inputs: ["turned"], outputs: ["straight"] }),
    node({ operator: "MatMul", inputs: ["product", "straight"], outputs: ["y"] }),
    value(12, "y"),
  ];
  return model({ opsets: { "": 17 }, graph });
}

/** A file that counts what is read of it. */
function fileOf(bytes: Uint8Array): ByteSource & { read: ByteSource["read"]; done: number } {
  const file = {
    size: bytes.length,
    done: 0,
    read(target: Uint8Array, position: number): void {
      target.set(bytes.subarray(position, position + target.length));
      file.done += target.length;
    },
  };
  return file;
}

interface Copy {
  readonly engine: EngineModel;
  /** Bytes of weights that were read for it. */
  readonly read: number;
}

const members = (): Int32Array<SharedArrayBuffer> => {
  const words = new Int32Array(new SharedArrayBuffer(32));
  words.set([1, 2, 3, 4, 5, 6, 7, 8]);
  return words;
};

function load(replica?: EngineReplica, bytes: Uint8Array = bytesOfModel()): Copy {
  const file = fileOf(bytes);
  const { model: read, loadRemaining } = readOnnxModel(file, "made up");
  const before = file.done;
  const engine = new EngineModel(onnxSource(read), { features, ...(replica === undefined ? {} : { replica }) });
  engine.prepare([{ name: "ids", dataType: "int64", shape: ["n"] }]);
  engine.publishWeights();
  loadRemaining();
  return { engine, read: file.done - before };
}

/** As a thread receives it. */
const posted = (share: SharedEngineState | undefined): SharedEngineState => {
  const { memory, modules, ...rest } = share!;
  return { ...structuredClone(rest), memory, modules };
};

const inputs = (rows: number): TensorMap => ({
  ids: { dataType: "int64", shape: [rows], data: BigInt64Array.from({ length: rows }, (_, index) => BigInt((index * 71) % 300)) },
});

async function bits(engine: EngineModel, rows: number): Promise<string> {
  const { y } = await engine.run(inputs(rows));
  return Buffer.from((y!.data as Float32Array).buffer).toString("base64");
}

const sizes = [1, 3, 16, 200, 128, 7, 450];

describe("replicas of a model in one memory", () => {
  it("give the bits of a model alone, side by side, and of whichever copy they were given the weights", async () => {
    const alone = load().engine;
    const all = members();
    const first = load({ replicaIds: all, index: 0 }).engine;
    const second = load({ replicaIds: all, index: 1, from: posted(first.exportState()) }).engine;
    const third = load({ replicaIds: all, index: 2, from: posted(second.exportState()) }).engine;
    for (const rows of sizes) {
      const wanted = await bits(alone, rows);
      expect(await Promise.all([first, second, third].map((each) => bits(each, rows)))).toEqual([wanted, wanted, wanted]);
    }
    await first.dispose();
    all[0] = 0;
    expect(await bits(third, 33)).toBe(await bits(alone, 33));
  });

  it("read nothing of the weights again, fold nothing and take no memory for them", () => {
    const all = members();
    const first = load({ replicaIds: all, index: 0 });
    const second = load({ replicaIds: all, index: 1, from: posted(first.engine.exportState()) });
    expect(first.read).toBeGreaterThan(300 * width * 4);
    expect(second.read).toBe(0);
    expect(first.engine.bytes).toBeGreaterThan(300 * width * 4);
    expect(second.engine.bytes).toBeLessThan(65_536 + 2000); // a page for its arena
  });

  it("take no more however often they come and go", async () => {
    const all = members();
    const { engine: first } = load({ replicaIds: all, index: 0 });
    await bits(first, 5);
    const taken: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      all[1] = 10 + round;
      const { engine } = load({ replicaIds: all, index: 1, from: posted(first.exportState()) });
      for (const rows of sizes) await bits(engine, rows);
      if (round % 2 === 0) await engine.dispose(); // else its thread dies
      all[1] = 0;
      taken.push(first.bytes);
    }
    expect(taken.at(-1)).toBe(taken[1]);
  });

  it("refuse weights of another model, and pack for themselves what others have not", async () => {
    const all = members();
    const first = load({ replicaIds: all, index: 0 }).engine;
    const share = posted(first.exportState());
    const other = model({
      opsets: { "": 17 },
      graph: [
        value(11, "ids", 1, ["n", 96]),
        tensor("w", 1, [96, 96], floats(96 * 96, 3)),
        node({ operator: "MatMul", inputs: ["ids", "w"], outputs: ["y"] }),
        value(12, "y"),
      ],
    });
    expect(() => load({ replicaIds: all, index: 1, from: share }, other)).toThrow(
      expect.objectContaining({ code: "CONTRACT_VIOLATION" }),
    );
    const [some] = share.packed;
    const folds = { ...share.folds, results: new Map([...share.folds.results].slice(0, 1)) };
    for (const less of [
      { ...share, places: new Map([some!]) },
      { ...share, folds },
    ]) {
      const copy = load({ replicaIds: all, index: 1, from: less }).engine;
      expect(await bits(copy, 9)).toBe(await bits(first, 9));
    }
  });

  it("export no state before weights are packed, and none for a model that is no replica", () => {
    const { model: read } = readOnnxModel(bytesOfModel(), "made up");
    const replica = { replicaIds: members(), index: 0 };
    expect(new EngineModel(onnxSource(read), { features, replica }).exportState()).toBeUndefined();
    expect(load().engine.exportState()).toBeUndefined();
  });
});

describe("arenas of replicas", () => {
  it("that grow alternately by small steps leave behind no more than they use", () => {
    const all = members();
    const first = new EngineMemory({ shared: true, replica: { replicaIds: all, index: 0 } });
    const second = new EngineMemory({ shared: true, replica: { replicaIds: all, index: 1 }, from: first.share() });
    for (let bytes = 100_000; bytes < 8e6; bytes += 60_000) for (const each of [first, second]) each.reserveArena(bytes);
    expect(first.bytes + second.bytes).toBeLessThan(5 * 2 * 8e6); // each power once, and the last up to half too large
  });
});

/** A convolution of images [n, 1, height, width] with a window of 3 x 3; free sizes, or those given. */
function convolution(height: number | string, columns: number | string): EngineModel {
  const graph = [
    value(11, "x", 1, ["n", 1, height, columns]),
    tensor("window", 1, [8, 1, 3, 3], floats(72, 5)),
    node({
      operator: "Conv",
      inputs: ["x", "window"],
      outputs: ["y"],
      attributes: [[message(1, "pads"), ...[1, 1, 1, 1].map((pad) => integer(8, pad)), integer(20, 7)]],
    }),
    value(12, "y"),
  ];
  const { model: read } = readOnnxModel(fileOf(model({ opsets: { "": 17 }, graph })), "made up");
  const engine = new EngineModel(onnxSource(read), { features, replica: { replicaIds: members(), index: 0 } });
  engine.prepare([{ name: "x", dataType: "float32", shape: ["n", 1, height, columns] }]);
  return engine;
}

describe("what is compiled before the first run", () => {
  const image = { x: { dataType: "float32", shape: [1, 1, 5, 7], data: floats(35, 3) } } as const;
  const modules = (engine: EngineModel): number | undefined => engine.exportState()?.modules.length;

  it("of images of free sizes: weights are packed, and kernels wait for the size of a run", async () => {
    const engine = convolution("height", "width");
    expect(modules(engine)).toBe(0);
    const { y } = await engine.run(image);
    expect(modules(engine)).toBe(1);
    const fixed = convolution(5, 7);
    expect(modules(fixed)).toBe(1);
    expect((await fixed.run(image))["y"]).toEqual(y);
  });

  it("runs of the prepared size compile what was put off", async () => {
    const engine = convolution("height", "width");
    const prepared = {
      x: { dataType: "float32", shape: [1, 1, 64, 64], data: new Float32Array(64 * 64).fill(2, 0, 1) },
    } as const;
    const { y } = await engine.run(prepared);
    expect(y?.data[0]).toBeCloseTo(2 * (floats(72, 5)[4] ?? 0));
    expect(modules(engine)).toBe(1);
  });
});
