/** Kernels that are preferred for a model while a runtime runs: which ones then really run, and what they compute. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type KernelCount, type Runtime, createRuntime } from "inferyard";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("gguf-tiny-llama");
const folder = `${sharedData}gguf-tiny-llama`;

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ threads: 1, host: "inline", target: "native:cpu" })));
afterAll(() => runtime.dispose());

interface Outcome {
  readonly logits: Float32Array;
  readonly counts: readonly KernelCount[];
  readonly evidence: string;
}

async function decode(path: string, options: { readonly kernels?: readonly string[] } = {}): Promise<Outcome> {
  const handle = await runtime.load(path, { kind: "language", ...options });
  try {
    const sequence = await handle.language.createSequence();
    const [logits] = await handle.language.decode([{ sequence, tokens: [1, 17, 42, 99] }]);
    const evidence = handle.decision.selected?.evidence.join("\n") ?? "";
    return { logits: logits!, counts: (await handle.kernelCounts()) ?? [], evidence };
  } finally {
    await handle.dispose();
  }
}

const idsOf = ({ counts }: Outcome): readonly string[] => counts.map(({ id }) => id);

function cosine(left: Float32Array, right: Float32Array): number {
  const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
}

describe.skipIf(skip).each([
  ["tiny-llama-256-q4_k.gguf", "Q4_K", 0.999_99],
  ["tiny-llama-256-ternary-tq2_0.gguf", "TQ2_0", 0.999],
  ["tiny-llama-q8_0.gguf", "Q8_0", 0.999_99],
] as const)(`%s ${title}`, (file, format, minCosine) => {
  const path = `${folder}/${file}`;

  it("is run by the generated kernel, then by the scalar one, then by the generated one again, with the same result", async () => {
    const first = await decode(path);
    const isGenerated = (id: string): boolean => new RegExp(`^${format}_(?:Wasm|AVX\\w+)$`).test(id);
    expect(idsOf(first).some(isGenerated)).toBe(true);
    expect(idsOf(first)).not.toContain(`${format}_Scalar`);
    expect(first.evidence).toMatch(
      new RegExp(`^kernel for ${format}: ${format}_(?:Wasm|AVX\\w+) \\(its self-test passed\\)`, "m"),
    );

    await runtime.setKernelPreference([`${format}_Scalar`], { model: path });
    const scalar = await decode(path);
    expect(idsOf(scalar)).toContain(`${format}_Scalar`);
    expect(idsOf(scalar).some(isGenerated)).toBe(false);
    expect(idsOf(scalar)).not.toContain("Interpreter");
    expect(scalar.evidence).toContain(`kernel for ${format}: ${format}_Scalar (it is preferred; its self-test passed)`);
    expect(cosine(first.logits, scalar.logits)).toBeGreaterThan(minCosine);

    await runtime.setKernelPreference(["*_Scalar"], { model: path });
    const byPattern = await decode(path);
    expect(byPattern.evidence).toContain(`kernel for ${format}: ${format}_Scalar (it is preferred; its self-test passed)`);
    expect(byPattern.logits).toEqual(scalar.logits);

    await runtime.setKernelPreference([], { model: path });
    const again = await decode(path);
    expect(idsOf(again)).not.toContain(`${format}_Scalar`);
    expect(again.logits).toEqual(first.logits);
  });

  it("takes the kernels of a request before those that are set for the model", async () => {
    await runtime.setKernelPreference([`${format}_Scalar`], { model: path });
    expect(idsOf(await decode(path, { kernels: [`${format}_Wasm`] }))).toContain(`${format}_Wasm`);
    await runtime.setKernelPreference([], { model: path });
  });
});

describe.skipIf(skip)(`a list of kernels ${title}`, () => {
  const path = `${folder}/tiny-llama-256-q4_k.gguf`;

  it("is one of fallbacks: the first that is there runs, and the evidence says why those before it do not", async () => {
    const { evidence, counts } = await decode(path, { kernels: ["I2S_QK256_CUDA", "TL1_ARM_NEON", "Q4_K_Scalar"] });
    expect(counts.map(({ id }) => id)).toContain("Q4_K_Scalar");
    expect(evidence).toMatch(/kernel for Q4_K: Q4_K_Scalar \(it is preferred; .*not I2S_QK256_CUDA: /);
  });

  it("that multiply none of its weights is refused for this model, and is for others where the runtime has it", async () => {
    const refused = { code: "INPUT_INVALID", message: expect.stringContaining("its weights are in Q4_K") as string };
    await expect(runtime.load(path, { kind: "language", kernels: ["Q8_0_Scalar"] })).rejects.toMatchObject(refused);
    await expect(runtime.setKernelPreference(["Q8_0_Scalar"], { model: path })).rejects.toMatchObject(refused);
    await using other = await createRuntime({ threads: 1, host: "inline", kernels: ["Q8_0_Scalar"] });
    await using handle = await other.load("builtin");
    expect(handle.target).toBe("native:cpu");
  });
});

describe("a preference", () => {
  const model = "builtin";

  it("for a model without such weights is refused", async () => {
    await expect(runtime.setKernelPreference(["Q4_K_Wasm"], { model })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("kernels changes nothing of builtin: it is for weights in blocks") as string,
    });
  });

  it("for a kernel that does not exist is refused, with those that can be used", async () => {
    const refused = runtime.setKernelPreference(["Q4_K_Fast"], { model });
    await expect(refused).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "the kernel Q4_K_Fast cannot be used: there is no kernel with this id",
      remedy: expect.stringMatching(/^prefer one of .*Q4_K_Wasm, Q4_K_Scalar/) as string,
    });
  });

  it("for a kernel that is not built is refused as such", async () => {
    const refused = runtime.setKernelPreference(["I2S_QK256_CUDA"], { model });
    await expect(refused).rejects.toMatchObject({
      code: "NOT_BUILT",
      message: expect.stringContaining("not built yet") as string,
    });
  });

  it("for the kernels of llama.cpp names its backend", async () => {
    await expect(runtime.setKernelPreference(["Llama_CPU"], { model })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("the backend llamacpp") as string,
    });
  });
});
