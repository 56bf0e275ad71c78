/** Kernel calls, counted where they run: on each host, on threads, and on the replicas of a model. */
import { afterEach, describe, expect, it } from "vitest";
import { type KernelCount, type ModelHandle, type Runtime, type RuntimeSettings, createRuntime } from "inferyard";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("gguf-tiny-llama");
const path = `${sharedData}gguf-tiny-llama/tiny-llama-256-q4_k.gguf`;
/** Products with the weights of one token: 7 in the model's one layer, and the output layer. */
const productsPerToken = 8;

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose()));
});

async function load(settings: RuntimeSettings): Promise<ModelHandle> {
  const runtime = await createRuntime({ threads: 1, ...settings });
  runtimes.push(runtime);
  return runtime.load(path, { target: "native:cpu", kind: "language" });
}

/** The kernel of products with the weights: machine code where there is some, otherwise WebAssembly. */
const product = /^Q4_K_(?:Wasm|AVX\w+)$/;
const callsOf = (counts: readonly KernelCount[] | undefined, id: string | RegExp): number =>
  counts?.find((count) => (typeof id === "string" ? count.id === id : id.test(count.id)))?.calls ?? 0;

describe.skipIf(skip).each(["inline", "worker", "process"] as const)(`a model on the host %s ${title}`, (host) => {
  it("counts each call of a kernel once", async () => {
    const handle = await load({ host });
    const sequence = await handle.language.createSequence();
    await handle.language.decode([{ sequence, tokens: [1] }]);
    const before = await handle.kernelCounts();
    for (const token of [2, 3, 4]) await handle.language.decode([{ sequence, tokens: [token] }]);
    const after = await handle.kernelCounts();
    expect(callsOf(after, product) - callsOf(before, product)).toBe(3 * productsPerToken);
    expect(callsOf(after, "Interpreter")).toBe(0);
  });
});

describe.skipIf(skip)(`a model ${title}`, () => {
  it("counts a call that threads share once", async () => {
    const handle = await load({ host: "worker", threads: 2 });
    const sequence = await handle.language.createSequence();
    await handle.language.decode([{ sequence, tokens: [1] }]);
    const before = callsOf(await handle.kernelCounts(), product);
    await handle.language.decode([{ sequence, tokens: [2] }]);
    expect(callsOf(await handle.kernelCounts(), product) - before).toBe(productsPerToken);
  });

  it("begins anew when it is loaded again", async () => {
    const runtime = await createRuntime({ threads: 1, host: "inline" });
    runtimes.push(runtime);
    const counts: number[] = [];
    for (const count of [5, 1]) {
      const handle = await runtime.load(path, { target: "native:cpu", kind: "language" });
      const sequence = await handle.language.createSequence();
      for (let token = 0; token < count; token += 1) await handle.language.decode([{ sequence, tokens: [token] }]);
      counts.push(callsOf(await handle.kernelCounts(), product));
      await handle.dispose();
      await runtime.unload(path);
    }
    expect(counts[0]! - counts[1]!).toBe(4 * productsPerToken);
  });
});
