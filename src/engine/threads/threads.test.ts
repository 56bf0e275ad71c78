import { afterEach, describe, expect, it } from "vitest";
import { spawnFromSource } from "../../../test/engine/fixtures/source-thread.ts";
import { features, randomFloats } from "../../../test/engine/kernel-memory.ts";
import type { I32 } from "../codegen/wasm/assembler/expression.ts";
import type { FunctionBuilder } from "../codegen/wasm/assembler/function-builder.ts";
import { i32 } from "../codegen/wasm/assembler/scalar.ts";
import { type WasmMemory, wasmHost } from "../codegen/wasm/assembler/webassembly.ts";
import { compileKernels } from "../codegen/wasm/compile.ts";
import { type Kernel, defineKernel } from "../codegen/wasm/kernel.ts";
import { batchedMatmul } from "../codegen/wasm/kernels/matmul/batched-matmul.ts";
import { matmul } from "../codegen/wasm/kernels/matmul/matmul.ts";
import { ThreadPool } from "./thread-pool.ts";

const running: ThreadPool[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((threads) => threads.end()));
});

/** These calls are far too short to be worth sharing. */
const alwaysSharing = { prefersSerial: false, record: () => {} };

function start(count: number, memory: WasmMemory, kernels: readonly Kernel[]): ThreadPool {
  const threads = new ThreadPool({ threads: count, memory, spawn: spawnFromSource, governor: alwaysSharing });
  running.push(threads);
  threads.add(compileKernels(kernels, memory, features));
  return threads;
}

const shared = (pages: number) => new (wasmHost().Memory)({ initial: pages, maximum: pages, shared: true });

/** Each piece adds its number to a word, and notes in another that it was computed once more. */
const count = defineKernel({
  family: "count",
  request: {},
  inputs: [],
  outputs: ["sums", "times"],
  pieces: 1000,
  pieceNanoseconds: 100,
  emit: (f, { sums, times }, from, to) =>
    f.range(from, to, 1, (piece) => {
      f.repeat(300, () => f.run(i32.store(sums, i32.load(sums)))); // long enough to be shared; piece 0 adds nothing to the first sum
      const at = f.value(i32.shl(piece, i32.const(2)));
      f.run(i32.store(i32.add(sums, at), i32.add(i32.load(i32.add(sums, at)), piece)));
      f.run(i32.store(i32.add(times, at), i32.add(i32.load(i32.add(times, at)), i32.const(1))));
    }),
});

/** Some microseconds of work for each piece, at an address that it leaves as it is. */
function work(f: FunctionBuilder, address: I32, from: I32, to: I32): void {
  f.range(from, to, 1, () => f.repeat(5000, () => f.run(i32.store(address, i32.load(address)))));
}

/** Waits until a worker has taken part: they start while the caller computes. */
async function started(threads: ThreadPool, memory: WasmMemory): Promise<void> {
  const probe = defineKernel({ ...spin, outputs: ["who"] });
  threads.add(compileKernels([probe], memory, features));
  for (let attempt = 0; attempt < 5000; attempt += 1) {
    threads.run(probe, [0], 4);
    if (new Int32Array(memory.buffer, 0, 4).subarray(1).some((word) => word !== 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error("no thread took part");
}

/** Long pieces that mark the word of the thread that computes them: `who` is moved on by the scratch stride. */
const spin = {
  family: "spin",
  request: {},
  inputs: [],
  pieces: 16,
  pieceNanoseconds: 1e6,
  emit: (f: Parameters<Kernel["emit"]>[0], { who }: { readonly who: ReturnType<typeof i32.const> }) => {
    f.repeat(200_000, () => f.run(i32.store(who, i32.const(1))));
  },
} as const;

describe("threads", () => {
  it("compute every piece of every call once, whoever takes it", async () => {
    const memory = shared(4);
    const threads = start(3, memory, [count]);
    await started(threads, memory);
    for (let call = 0; call < 500; call += 1) expect(threads.run(count, [4096, 16_384])).toBe(0);
    const [sums, times] = [4096, 16_384].map((offset) => new Int32Array(memory.buffer, offset, 1000));
    expect([...times!]).toEqual(Array(1000).fill(500));
    expect([...sums!]).toEqual(Array.from({ length: 1000 }, (_, piece) => piece * 500));
  });

  it("give the same bits as one, with scratch memory of their own", async () => {
    const memory = shared(64);
    const size = 96;
    const strides = { row: size, column: 1, batch: [] };
    const product = batchedMatmul({
      m: size,
      n: size,
      k: size,
      batch: [],
      a: strides,
      b: { ...strides, row: 1, column: size },
      c: strides,
    });
    const kernel: Kernel = { ...product, pieceNanoseconds: 1e6 };
    new Float32Array(memory.buffer, 65_536, size * size).set(randomFloats(size * size, 1));
    const results = [1, 2].map(async (number) => {
      const threads = start(number, memory, [kernel]);
      if (number > 1) await started(threads, memory);
      const result = new Float32Array(memory.buffer, 1 << 20, size * size);
      for (let call = 0; call < 8; call += 1) {
        result.fill(0); // the first calls are computed alone, to see how long that takes
        threads.run(kernel, [...kernel.dynamicSizes, 65_536, 65_536, 1 << 20, 2 << 20], product.scratchBytes);
      }
      return result.slice();
    });
    const [alone, together] = [await results[0], await results[1]];
    expect(together).toEqual(alone);
    expect(alone?.some((value) => value !== 0)).toBe(true);
  });

  it("are never given an empty range", async () => {
    const memory = shared(4);
    const empty = defineKernel({
      family: "empty",
      request: {},
      inputs: [],
      outputs: ["found"],
      pieces: 130, // of 62 chunks of 3 pieces the last 18 would be empty
      pieceNanoseconds: 10_000,
      emit: (f, { found }, from, to) => {
        f.when(i32.leU(to, from), () => f.run(i32.store(found, i32.const(1))));
        work(f, found, from, to);
      },
    });
    const threads = start(2, memory, [empty]);
    await started(threads, memory);
    for (let call = 0; call < 50; call += 1) threads.run(empty, [4096]);
    expect(new Int32Array(memory.buffer, 4096, 1)[0]).toBe(0);
  });

  it("are given whole tiles of pieces", async () => {
    const memory = shared(4);
    const tiled = defineKernel({
      family: "tiled",
      request: {},
      inputs: [],
      outputs: ["ends"],
      pieces: 52,
      pieceNanoseconds: 10_000,
      tilePieces: 5,
      emit: (f, { ends }, from, to) => {
        f.run(i32.store(i32.add(ends, i32.shl(from, i32.const(2))), to));
        work(f, i32.add(ends, i32.const(1024)), from, to);
      },
    });
    const threads = start(2, memory, [tiled]);
    await started(threads, memory);
    for (let call = 0; call < 10; call += 1) {
      new Int32Array(memory.buffer, 4096, 52).fill(0);
      threads.run(tiled, [4096]);
    }
    const starts = [...new Int32Array(memory.buffer, 4096, 52).entries()].filter(([, end]) => end !== 0);
    expect(starts.length).toBeGreaterThan(1);
    for (const [index, [from, end]] of starts.entries()) {
      expect(from % 5).toBe(0);
      expect(end).toBe(starts[index + 1]?.[0] ?? 52);
    }
  });

  it("compute alone what is small, and before the others are there", () => {
    const memory = shared(4);
    const kernel = matmul({ m: 4, n: 64, k: 4 });
    const threads = start(2, memory, [kernel, count]);
    expect(threads.run(kernel, [...kernel.dynamicSizes, 4096, 8192, 16_384])).toBe(0);
    threads.run(count, [4096, 16_384]);
    expect([...new Int32Array(memory.buffer, 16_384, 1000)]).toEqual(Array(1000).fill(1));
  });

  it("report statuses, and a trap as an error, and go on", async () => {
    const memory = shared(4);
    const failing = defineKernel({
      family: "failing",
      request: {},
      inputs: ["far"],
      outputs: [],
      pieces: 64,
      pieceNanoseconds: 50_000,
      emit(f, { far }, from) {
        f.run(i32.store(far, from));
        return i32.const(4);
      },
    });
    const threads = start(2, memory, [failing, count]);
    await started(threads, memory);
    expect(threads.run(failing, [4096])).toBe(4);
    expect(() => threads.run(failing, [1 << 30])).toThrow(/failing trapped/);
    expect(threads.run(count, [4096, 16_384])).toBe(0);
    expect([...new Int32Array(memory.buffer, 16_384, 1000)]).toEqual(Array(1000).fill(1));
  });

  it("refuse memory that is not shared, and kernels that were not added", () => {
    const plain = new (wasmHost().Memory)({ initial: 1 });
    expect(() => start(2, plain, [])).toThrow(/shared memory/);
    expect(() => start(1, plain, []).run(count, [])).toThrow(/was not added/);
  });
});
