/** The self-test of engines for GGUF files: its reference agrees with an engine, and it sees an engine that computes one thing otherwise. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { native } from "inferyard/backends/native";
import { afterAll, describe, expect, it } from "vitest";
import { InferyardError } from "../../src/contract/errors.ts";
import { decodeTensor } from "../../src/formats/gguf/blocks/index.ts";
import type { LanguageModel, LanguageModelFiles } from "../../src/contract/backend.ts";
import {
  type SelfTestArchitecture,
  type SelfTestKind,
  getKind,
  makeModel,
  selfTestSizes,
  usualSelfTestKind,
} from "../../src/backends/gguf/self-test-model.ts";
import { isSelfTestType, randomNumbers, randomTensor } from "../../src/backends/gguf/self-test-weights.ts";
import { proveEngine, runSelfTest } from "../../src/backends/gguf/self-test.ts";
import { PassedTests } from "../../src/storage/passed-tests.ts";
import { readManifest } from "../../src/models/index.ts";

function kindIn(architecture: SelfTestArchitecture, type = "F32"): SelfTestKind {
  const types = Object.fromEntries(
    Object.keys(usualSelfTestKind.types).map((name) => [name, [type]]),
  ) as unknown as SelfTestKind["types"];
  return { architecture, types };
}

/** Loads a file on native, after `change` has changed its bytes. */
function open(change: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes, kind: SelfTestKind = kindIn("llama")) {
  return async (files: LanguageModelFiles): Promise<LanguageModel> => {
    writeFileSync(files.path, change(makeModel(kind).file));
    const { variants } = await readManifest(files.path);
    return await native().loadLanguage!(variants[0] as LanguageModelFiles, { type: "cpu", index: 0 }, { threads: 1 });
  };
}

/** A change of the bytes of one tensor in single precision. */
function changed(
  name: string,
  change: (values: Float32Array) => void,
  kind = kindIn("llama"),
): (bytes: Uint8Array) => Uint8Array {
  const weights = makeModel(kind).weights.get(name)!;
  const before = Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength);
  return (bytes) => {
    const copy = Buffer.from(bytes);
    const at = copy.indexOf(before);
    expect(at).toBeGreaterThan(0);
    const values = Float32Array.from(weights);
    change(values);
    copy.set(new Uint8Array(values.buffer), at);
    return copy;
  };
}

/** Another value of a setting in single precision. */
const setting =
  (name: string, value: number) =>
  (bytes: Uint8Array): Uint8Array => {
    const copy = Buffer.from(bytes);
    const at = copy.indexOf(name);
    expect(at).toBeGreaterThan(0);
    copy.writeFloatLE(value, at + name.length + 4);
    return copy;
  };

function swapHeads(values: Float32Array): void {
  const head = selfTestSizes.headSize * selfTestSizes.width;
  const first = values.slice(0, head);
  values.copyWithin(0, head, 2 * head);
  values.set(first, head);
}

const folder = mkdtempSync(join(tmpdir(), "inferyard-self-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the self-test of engines for GGUF files", () => {
  it.each(["llama", "qwen2", "qwen3"] as const)("has a reference of %s that agrees with native", async (architecture) => {
    const { difference } = await runSelfTest(kindIn(architecture), open(undefined, kindIn(architecture)));
    expect(difference).toBeLessThan(1e-5);
  });

  it("has a reference for weights in blocks that agrees with native", async () => {
    const { difference } = await runSelfTest(usualSelfTestKind, open(undefined, usualSelfTestKind));
    expect(difference).toBeLessThan(1e-3);
  });

  // What an engine does that mistakes one thing is what a right engine does with a file that says so.
  it.each([
    ["two heads swapped", changed("blk.0.attn_q.weight", swapHeads)],
    ["another base of rotation", setting("llama.rope.freq_base", 1e30)],
    ["no attention", changed("blk.0.attn_output.weight", (values) => values.fill(0))],
  ])("sees %s", async (_name, change) => {
    await expect(runSelfTest(kindIn("llama"), open(change))).rejects.toMatchObject({
      code: "VERIFICATION_FAILED",
      message: expect.stringMatching(/wrong logits after a prompt/),
    });
  });

  it("is remembered by the types of a model's weights, and refuses an engine whose calls fail", async () => {
    const record = new PassedTests(join(folder, "record"), { tests: "none" });
    const tensors = new Map([
      ["blk.0.attn_q.weight", { type: "Q4_K" }],
      ["blk.1.attn_q.weight", { type: "Q6_K" }],
      ["blk.0.attn_norm.weight", { type: "F32" }],
      ["token_embd.weight", { type: "NVFP4" }],
    ]);
    const model = { architecture: "phi3", tensors } as unknown as Parameters<typeof getKind>[0] &
      Parameters<typeof proveEngine>[0];
    const kind = getKind(model);
    expect(kind).toMatchObject({
      architecture: "qwen2",
      types: { attn_q: ["Q4_K", "Q6_K"], ffn_up: ["Q4_K"], token_embd: ["Q4_K"] },
    });
    let opened = 0;
    const counted = async (files: LanguageModelFiles): Promise<LanguageModel> => {
      opened += 1;
      return open(undefined, kind)(files);
    };
    expect(await proveEngine(model, record, counted)).toMatch(
      /a tiny qwen2 with weights in Q4_K, Q6_K gives the right logits \(largest/,
    );
    expect(await proveEngine(model, record, counted)).toMatch(/\(remembered from 20/);
    expect(opened).toBe(1);
    const refusing = async (files: LanguageModelFiles): Promise<LanguageModel> => {
      const right = await counted(files);
      return {
        ...right,
        createSequence: () => right.createSequence(),
        dispose: () => right.dispose(),
        decode: () => Promise.reject(new InferyardError("RUN_FAILED", "no memory of positions")),
      };
    };
    await expect(proveEngine(model, undefined, refusing)).rejects.toMatchObject({
      code: "VERIFICATION_FAILED",
      message: expect.stringContaining("cannot be decoded"),
    });
  });

  it("makes up weights of every type in blocks, with elements of the size that is asked for", () => {
    const types = [
      "F32",
      "F16",
      "BF16",
      "Q4_0",
      "Q4_1",
      "Q5_0",
      "Q5_1",
      "Q8_0",
      "Q2_K",
      "Q3_K",
      "Q4_K",
      "Q5_K",
      "Q6_K",
      "TQ1_0",
      "TQ2_0",
    ];
    const looked = ["IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "MXFP4"];
    for (const type of [...types, ...looked]) {
      expect(isSelfTestType(type)).toBe(true);
      const values = decodeTensor(type, randomTensor(type, 1024, 0.1, randomNumbers(7)), 1024);
      const size = Math.sqrt(values.reduce((sum, each) => sum + each * each, 0) / 1024);
      expect(size, type).toBeGreaterThan(0.06);
      expect(size, type).toBeLessThan(0.15);
      expect(Math.abs(values.reduce((sum, each) => sum + each, 0)) / 1024, type).toBeLessThan(0.05);
    }
    expect(isSelfTestType("NVFP4")).toBe(false);
  });
});
