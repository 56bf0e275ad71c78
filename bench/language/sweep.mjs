// How fast threads read memory and do nothing else: the bound of decoding, which reads all weights for every token.
import { Worker } from "node:worker_threads";
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { openAssembler, vectorTarget } from "../../src/engine/codegen/x64/vector-target.ts";

/** Bytes of one pass of the loop, and how far ahead they are fetched. */
const passBytes = 1024;
const prefetchBytes = 8192;
const lineBytes = 64;
const rounds = 7;

/** A function that reads `bytes` bytes once, in machine code of the highest level. */
export function createSweep(bytes) {
  const { level, create } = openMachineCode();
  const machineCode = create();
  const target = vectorTarget(level);
  const { asm } = openAssembler(target);
  const sums = 8;
  for (let sum = 0; sum < sums; sum += 1) asm.clear(sum);
  asm.loadImmediate("rcx", Math.ceil(bytes / passBytes));
  asm.countDown("rcx", () => {
    for (let at = 0; at < passBytes; at += target.bytes) {
      if (at % lineBytes === 0) asm.prefetch("all", { base: "rdi", displacement: at + prefetchBytes });
      asm.vector("vpaddd", (at / target.bytes) % sums, (at / target.bytes) % sums, { base: "rdi", displacement: at });
    }
    asm.add("rdi", passBytes);
  });
  asm.return();
  const address = { kind: "address", operand: 0, pieceBytes: 0 };
  const [installed] = machineCode.install([{ key: "sweep", level, code: asm.code, arguments: [address] }]);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65_536) + 1 });
  new Uint8Array(memory.buffer).fill(1);
  const call = machineCode.bind(installed, memory);
  return () => call(0, 0, 1);
}

/** Milliseconds in which `threads` threads read `bytes` bytes together once: the best of several rounds. Undefined where there is no machine code. */
export async function measureSweep(bytes, threads) {
  const share = Math.ceil(bytes / threads);
  const words = new Int32Array(new SharedArrayBuffer(8 * (1 + threads)));
  try {
    const sweep = createSweep(share);
    const workers = Array.from(
      { length: threads - 1 },
      () => new Worker(new URL("sweep-thread.mjs", import.meta.url), { workerData: { share, words } }),
    );
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once("message", resolve))));
    let best = Number.POSITIVE_INFINITY;
    for (let round = 1; round <= rounds; round += 1) {
      const start = performance.now();
      Atomics.store(words, 0, round);
      Atomics.notify(words, 0);
      sweep();
      while (Atomics.load(words, 1) < round * workers.length); // the others end at nearly the same time
      best = Math.min(best, performance.now() - start);
    }
    await Promise.all(workers.map((worker) => worker.terminate()));
    return best;
  } catch {
    return undefined; // another system
  }
}
