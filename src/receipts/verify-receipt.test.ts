import { generateKeyPairSync } from "node:crypto";
import { constantFrom, assert, asyncProperty, integer, nat, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { digest, good, goodKernels as kernels, verifiedAt as now, ownLibrary } from "../../test/fixtures/good-receipt.ts";
import { amount } from "../../test/fixtures/slow.ts";
import { namesKernel } from "../kernels/kernel-ids.ts";
import { getComputePath, expectedKernel } from "./kernel-class.ts";
import { toSha256 } from "../storage/sha256.ts";
import { bandwidthBound, measureBandwidth } from "./memory-bandwidth.ts";
import type { Receipt } from "./receipt.ts";
import { signReceipt } from "./signature.ts";
import { formatReceipt, verifyReceipt, type VerifyReceiptOptions } from "./verify-receipt.ts";

const pem = { type: "pkcs8", format: "pem" } as const;
const keys = generateKeyPairSync("ed25519", { privateKeyEncoding: pem, publicKeyEncoding: { type: "spki", format: "pem" } });
const others = generateKeyPairSync("ed25519", { privateKeyEncoding: pem, publicKeyEncoding: { type: "spki", format: "pem" } });
const signed = signReceipt(good, keys.privateKey);

const codes = async (receipt: unknown, options: VerifyReceiptOptions = {}): Promise<string[]> =>
  (await verifyReceipt(receipt, { now, ...options })).refusals.map(({ code }) => code);
const figures = (changed: Partial<Receipt["figures"]>): Receipt => ({ ...good, figures: { ...good.figures, ...changed } });
const withKernels = (list: Receipt["kernels"]): Receipt => ({
  ...good,
  kernels: list,
  computePath: getComputePath("native:cpu", list),
});

describe("a receipt", () => {
  it("is accepted as it was written, and says what was not checked", async () => {
    expect(await verifyReceipt(formatReceipt(good), { now })).toEqual({
      accepted: true,
      refusals: [],
      held: [],
      unchecked: [
        "it is not signed: anybody can have written it",
        "the model /none/model.gguf is not on this machine: its digests were not compared",
        "the receipt names no file of a library",
      ],
    });
    const { accepted, held } = await verifyReceipt(formatReceipt(signed), { now, publicKey: keys.publicKey });
    expect([accepted, held.length]).toEqual([true, 1]);
    expect((await verifyReceipt(signed, { now })).unchecked[0]).toContain("whose key that is was not checked");
  });

  const { text: _text, ...withoutText } = good.output;
  const slow = [
    { id: "I2S_QK256_Scalar", calls: 15 },
    { id: "Interpreter", calls: 2 },
  ];
  const later = (time: string): Partial<Receipt> => ({
    startedAt: time,
    finishedAt: time,
    decision: { ...good.decision, at: time },
  });
  it("of llama.cpp on any device lists the kernel of that device, which the registry does not have", async () => {
    const { selected } = good.decision;
    const vulkan = [{ id: "Llama_VULKAN", calls: 15 }];
    expect(
      await codes({
        ...good,
        kernels: vulkan,
        computePath: getComputePath("llamacpp:vulkan", vulkan),
        decision: {
          ...good.decision,
          candidates: [{ target: "llamacpp:vulkan", verdict: "selected", stage: "verify", reason: "inferyard 0.1.0, Q4_K" }],
          selected: { ...selected, target: "llamacpp:vulkan", device: "vulkan" },
        },
      }),
    ).toEqual([]);
  });

  it("of the kernel in machine code lists the gather of rows beside it, which the registry does not have", async () => {
    const list = [
      { id: "Q4_K_AVX2", calls: 15 },
      { id: "GatherRows_Scalar", calls: 2 },
    ];
    const machine = { ...good.machine, features: ["AVX2", "FMA"] };
    expect(await codes({ ...withKernels(list), machine })).toEqual([]);
  });

  it("of ggml's kernels is refused of this version, which does not build them", async () => {
    expect(await codes(withKernels([{ id: "Q4_K_GGML_CPU", calls: 15 }]))).toContain("impossible-kernel");
  });

  it("of a later version may have kernels that this one has not built", async () => {
    const later = {
      ...withKernels([
        { id: "Q4_K_Wasm", calls: 15 },
        { id: "I2S_QK256_NEON", calls: 15 },
      ]),
      inferyardVersion: "9.0.0",
      model: { ...good.model, weightTypes: [...good.model.weightTypes, { type: "I2_S", bytes: 1e5 }] },
      library: { ...good.library, version: "9.0.0" },
      decision: {
        ...good.decision,
        candidates: [{ target: "native:cpu", verdict: "selected", stage: "verify", reason: "inferyard 9.0.0" }],
        selected: good.decision.selected && { ...good.decision.selected, library: { name: "inferyard", version: "9.0.0" } },
      },
    };
    const onArm = { ...later, machine: { ...good.machine, architecture: "arm64", features: ["NEON", "DOTPROD"] } };
    expect(await codes(onArm)).toEqual([]);
  });

  it.each<readonly [string, unknown, readonly string[]]>([
    ["of no schema", {}, ["unknown-schema"]],
    ["of a later schema", { ...good, schemaVersion: "2.0.0" }, ["unknown-schema"]],
    ["that is no object", null, ["unknown-schema"]],
    ["that lacks a member", { ...good, output: withoutText }, ["invalid-schema"]],
    ["that has one too many", { ...good, compute_path: "real" }, ["invalid-schema"]],
    ["without kernels", withKernels([]), ["no-kernels"]],
    ["of scalar code alone", withKernels(slow), ["slow-kernels", "expected-kernel"]],
    ["of fallbacks that claims to be fast", { ...good, kernels: slow }, ["slow-kernels", "compute-path", "expected-kernel"]],
    ["of instructions that its machine lacks", withKernels([{ id: "Q4_K_AVX512", calls: 15 }]), ["impossible-kernel"]],
    [
      "of a kernel that is not built",
      withKernels([
        { id: "Q4_K_Wasm", calls: 15 },
        { id: "I2S_QK256_CUDA", calls: 15 },
      ]),
      ["impossible-kernel"],
    ],
    [
      "of a kernel that there is not",
      withKernels([
        { id: "Q4_K_Wasm", calls: 15 },
        { id: "Magic", calls: 15 },
      ]),
      ["impossible-kernel"],
    ],
    [
      "of a GPU that its machine lacks",
      withKernels([
        { id: "Q4_K_Wasm", calls: 15 },
        { id: "Llama_CUDA", calls: 15 },
      ]),
      ["impossible-kernel"],
    ],
    ["without the kernel of its format", withKernels([{ id: "F32_Wasm", calls: 15 }]), ["expected-kernel"]],
    ["with a kernel that is listed twice", withKernels([...kernels, { id: "Q4_K_Wasm", calls: 1 }]), ["compute-path"]],
    ["whose decision selected nothing", { ...good, decision: { ...good.decision, selected: null } }, ["compute-path"]],
    [
      "whose decision selected something else",
      { ...good, computePath: { ...good.computePath, target: "native:gpu" } },
      ["compute-path"],
    ],
    ["of another library than its decision", { ...good, library: { ...good.library, version: "9" } }, ["compute-path"]],
    ["with a failed test", { ...good, tests: [{ name: "x", passed: false, detail: "no" }] }, ["failed-tests"]],
    ["without tests", { ...good, tests: [] }, ["failed-tests"]],
    [
      "that claims to be deterministic, and is not",
      {
        ...good,
        determinism: {
          deterministic: true,
          runs: [...good.determinism.runs, { tokensSha256: toSha256("[4,5,6]"), logitsSha256: digest("3") }],
        },
      },
      ["nondeterministic"],
    ],
    [
      "that is deterministic after one run",
      { ...good, determinism: { deterministic: true, runs: good.determinism.runs.slice(1) } },
      ["nondeterministic"],
    ],
    ["that denies it", { ...good, determinism: { ...good.determinism, deterministic: false } }, ["nondeterministic"]],
    ["with another output", { ...good, output: { ...good.output, tokens: [4, 5, 7] } }, ["output-digest"]],
    [
      "from the future",
      { ...good, ...later("2026-11-26T08:05:01.000Z") },
      ["in-the-future", "in-the-future", "impossible-times"],
    ],
    ["that ends before it begins", { ...good, startedAt: "2026-11-26T07:00:11.000Z" }, ["impossible-times", "impossible-times"]],
    [
      "whose decision came later",
      { ...good, decision: { ...good.decision, at: "2026-11-26T07:01:00.000Z" } },
      ["impossible-times"],
    ],
    ["that took longer than it lasted", figures({ loadMs: 20_000 }), ["impossible-times"]],
    [
      "that took no time",
      figures({ prefillMs: 0, decodeMs: 0, prefillTokensPerSecond: 1e5, decodeTokensPerSecond: 4 }),
      ["impossible-times", "impossible-times"],
    ],
    ["whose parts exceed the whole", figures({ totalMs: 900 }), ["impossible-times"]],
    ["with a token before the prompt was read", figures({ timeToFirstTokenMs: 5 }), ["impossible-times"]],
    ["with a first token after the last", figures({ timeToFirstTokenMs: 2000 }), ["impossible-times"]],
    ["with more tokens than its output", figures({ generatedTokens: 300 }), ["impossible-times", "impossible-times"]],
    ["with more prompt than its input", figures({ promptTokens: 6, prefillTokensPerSecond: 10 }), ["impossible-times"]],
    ["whose rate is not that of its times", figures({ decodeTokensPerSecond: 5000 }), ["impossible-times", "impossible-speed"]],
    ["that is faster than its memory", figures({ decodeMs: 20, decodeTokensPerSecond: 100 }), ["impossible-speed"]],
    [
      "that reads more weights than there are",
      { ...good, model: { ...good.model, weightBytesPerToken: 6e9 } },
      ["impossible-speed"],
    ],
    ["that keeps its weights for itself", { ...good, model: { ...good.model, weightBytesPerToken: null } }, ["impossible-speed"]],
  ])("%s is refused", async (_what, receipt, expected) => {
    // Most changed receipts also contradict themselves, which check-agreement.test.ts tests.
    expect((await codes(receipt)).filter((code) => code !== "contradiction")).toEqual(expected);
  });

  it("is refused for all its faults at once", async () => {
    const wrong = { ...withKernels([]), tests: [], output: { ...good.output, sha256: digest("0") } };
    expect(await codes(wrong, { publicKey: keys.publicKey, requireKernels: ["I2S_*"] })).toEqual([
      "unsigned",
      "no-kernels",
      "required-kernel",
      "failed-tests",
      "output-digest",
      "contradiction",
    ]);
  });

  it("has the kernels that are required, by a pattern, and slow ones do not count", async () => {
    expect(await codes(good, { requireKernels: ["Q4_K_*", "q4_k_wasm", "*"] })).toEqual([]);
    expect(await codes(good, { requireKernels: ["Interpreter"] })).toEqual(["required-kernel"]);
    expect(namesKernel("I2S_QK256_*", "I2S_QK256_AVX2")).toBe(true);
    expect(namesKernel("I2S", "I2S_QK256_AVX2")).toBe(false);
    expect(namesKernel("Q4.K.Wasm", "Q4_K_Wasm")).toBe(false);
    for (const pattern of ["q4_k_wasm", "*", "**", "Q4*Wasm", "*_K_*", "*4*K*W*m", "Q4_K_Wasm*"])
      expect(namesKernel(pattern, "Q4_K_Wasm"), pattern).toBe(true);
    for (const pattern of ["", "Q4*K_K*", "*_K", "Q4_K_Wasm_*", "Wasm*", "Q4_K_W*_Wasm"])
      expect(namesKernel(pattern, "Q4_K_Wasm"), pattern).toBe(false);
    expect(namesKernel(`${"*a".repeat(40)}Z`, "a".repeat(200))).toBe(false); // at once
  });

  it("is expected to have run a kernel of its format, whoever wrote that", () => {
    const of = (type: string, target = "native:cpu"): readonly string[] | undefined =>
      expectedKernel({
        ...good,
        computePath: { ...good.computePath, target },
        model: { ...good.model, weightTypes: [{ type, bytes: 1 }] },
      })?.patterns;
    expect(of("IQ2_S")).toEqual(["IQ2_S_*", "IQ2S_*"]);
    expect(of("I2_S")).toEqual(["I2S_QK256_*", "I2S_*"]);
    expect(of("Q4_K", "llamacpp:cpu")).toEqual(["Llama_CPU"]);
    expect(of("F32")).toEqual(["F32_*"]);
    expect(of("Q9_9")).toBeUndefined();
    expect(of("Q4_K", "onnx:cpu")).toBeUndefined();
  });

  it("that names other files of this machine is not read as a failure of the verifier", async () => {
    const odd = {
      ...ownLibrary,
      model: { ...good.model, reference: "/etc/passwd" },
      library: { ...ownLibrary.library, path: "/dev/zero" },
    };
    const { unchecked } = await verifyReceipt(odd, { now });
    expect(unchecked.slice(1)).toEqual([
      expect.stringMatching(/^the model \/etc\/passwd of this machine cannot be read: /),
      expect.stringMatching(/^the library of the receipt was not compared: \/dev\/zero cannot be read: .*no regular file/),
    ]);
    await expect(verifyReceipt(odd, { now, model: "/etc/passwd" })).rejects.toMatchObject({ code: expect.any(String) as string });
  });

  it("is verified with a public key alone", async () => {
    await expect(verifyReceipt(signed, { now, publicKey: keys.privateKey })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "this is a private key, and receipts are verified with the public one",
    });
  });

  it("of a text that is not JSON, or spelled otherwise, is refused", async () => {
    expect(await codes("{")).toEqual(["invalid-schema"]);
    expect(await codes(JSON.stringify(good))).toEqual(["altered-form"]);
    expect(await codes(formatReceipt(good).replace('"loadMs": 2000', '"loadMs": 1, "loadMs": 2000'))).toEqual(["altered-form"]);
  });

  it("of an engine that did not tell a format is checked for what is possible at all", async () => {
    const onnx = {
      ...good,
      model: { ...good.model, weightBytesPerToken: null },
      decision: { ...good.decision, model: { ...good.decision.model, format: "onnx" } },
    };
    const { refusals, unchecked } = await verifyReceipt(onnx, { now });
    expect(refusals).toEqual([]);
    expect(unchecked.join()).toContain("does not say how many bytes a token needs");
    const fast = figures({ decodeMs: 0.001, decodeTokensPerSecond: 2e6 });
    expect((await verifyReceipt({ ...onnx, figures: fast.figures }, { now })).refusals[0]?.reason).toContain(
      "no engine reaches 1000000",
    );
  });
});

describe("a signature", () => {
  it("of another key is refused, with a key or without", async () => {
    expect(await codes(signed, { publicKey: others.publicKey })).toEqual(["wrong-key"]);
    const forged = { ...signed, signature: { ...signed.signature, publicKey: others.publicKey } };
    expect(await codes(forged)).toEqual(["altered"]);
    expect(await codes({ ...signed, machine: { ...signed.machine, processor: "\ud800" } })).toEqual(["altered"]); // it has no canonical form
    expect(
      await codes(signReceipt({ ...signed, signature: undefined } as never, others.privateKey), { publicKey: keys.publicKey }),
    ).toEqual(["wrong-key"]);
  });

  it("is the same for the same receipt and key, since Ed25519 draws no random number", () => {
    expect(signReceipt(good, keys.privateKey)).toEqual(signed);
  });

  it.each([
    ["no key", "hello", "this is no private key in PEM"],
    [
      "an RSA key",
      generateKeyPairSync("rsa", {
        modulusLength: 1024,
        privateKeyEncoding: pem,
        publicKeyEncoding: { type: "spki", format: "pem" },
      }).privateKey,
      "of type rsa",
    ],
    ["a public key", keys.publicKey, "this is no private key in PEM"],
  ])("with %s is refused", (_what, key, message) => {
    expect(() => signReceipt(good, key)).toThrow(message);
  });

  it("is void when any character of the file changes", async () => {
    const text = formatReceipt(signed);
    await assert(
      asyncProperty(nat(text.length - 1), integer({ min: 1, max: 255 }), async (position, by) => {
        const code = (text.charCodeAt(position) + by) % 256;
        const altered = text.slice(0, position) + String.fromCharCode(code) + text.slice(position + 1);
        expect((await verifyReceipt(altered, { now })).accepted).toBe(false);
      }),
      { numRuns: amount(1000, 200) },
    );
  });

  it("is void when any field changes, is added or is left out", async () => {
    const paths = pathsOf(signed);
    await assert(
      asyncProperty(
        constantFrom(...paths),
        constantFrom("change", "remove", "add"),
        tuple(nat(), nat()),
        async (path, kind, [a, b]) => {
          const copy = JSON.parse(JSON.stringify(signed)) as Receipt;
          if (!alter(copy, path, kind, a + b)) return;
          expect((await verifyReceipt(copy, { now })).accepted, path.join(".")).toBe(false);
        },
      ),
      { numRuns: amount(1000, 200) },
    );
  });
});

/** Paths of all values of a tree. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [[...path]];
  return Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]));
}

function alter(root: object, path: readonly string[], kind: string, by: number): boolean {
  let parent = root as Record<string, unknown>;
  for (const step of path.slice(0, -1)) parent = parent[step] as Record<string, unknown>;
  const name = path.at(-1)!;
  const before = parent[name];
  if (kind === "remove" && !Array.isArray(parent)) delete parent[name];
  else if (kind === "add" && !Array.isArray(parent)) parent[`${name}2`] = before;
  else if (typeof before === "number") parent[name] = before + 1 + (by % 7);
  else if (typeof before === "string") parent[name] = `${before}x`;
  else if (typeof before === "boolean") parent[name] = !before;
  else return false;
  return true;
}

describe("memory bandwidth", () => {
  it("is measured, faster within the cache than without", () => {
    const { memory, cache } = measureBandwidth();
    expect(memory).toBeGreaterThan(1e8);
    expect(cache).toBeGreaterThan(memory);
  });

  it("bounds small weights by the caches, large ones by the memory, and accelerators by what there is", () => {
    expect(bandwidthBound(good, 1e6).bytesPerSecond).toBe(4 * 8 * 60e9);
    expect(bandwidthBound(good, 5e9).bytesPerSecond).toBe(4 * 8 * 10e9);
    const many = { ...good, machine: { ...good.machine, cores: 256, bandwidth: { memory: 100e9, cache: 900e9 } } };
    expect(bandwidthBound(many, 5e9).bytesPerSecond).toBe(2e12);
    expect(bandwidthBound(many, 1e6).bytesPerSecond).toBe(256 * 512e9);
    const { selected } = good.decision;
    const cuda = { ...good, decision: { ...good.decision, selected: selected && { ...selected, device: "cuda:1" } } };
    expect(bandwidthBound(cuda, 5e9).bytesPerSecond).toBe(20e12);
  });
});
