/** Cross-validation of real models: engines against each other, against recordings, and against a model with a wrong weight. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRuntime, type Runtime } from "inferyard";
import { type CrossValidationOptions, crossValidate, type LanguageCrossValidation, recordLogits } from "inferyard/crossval";
import { createReceipt, verifyReceipt } from "inferyard/receipts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readGguf } from "../../src/formats/gguf/read-gguf.ts";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest, sampled } from "../fixtures/slow.ts";

const [skip, title] = needsData("cross-validation");
const tiny = (type: string): string => `${sharedData}gguf-tiny-llama/tiny-llama-${type}.gguf`;
const builds = fileURLToPath(new URL("../../node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/", import.meta.url));
const build = existsSync(builds) ? readdirSync(builds).find((name) => /^libllama\.v[\d.]+so$/.test(name)) : undefined;
const libllama = build === undefined ? undefined : join(builds, build);
const tinyllm = `${sharedData}tinyllm/tinyllm.gguf`;
const folder = mkdtempSync(join(tmpdir(), "inferyard-crossval-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => void (runtime = await createRuntime({ threads: 1 })));
  afterAll(() => runtime.dispose());

  const compare = async (options: CrossValidationOptions): Promise<LanguageCrossValidation> => {
    const result = await crossValidate(runtime, options);
    if (result.kind !== "language") throw new Error("it compared vectors");
    return result;
  };

  const types = [
    ["f32", 1e-4, 0.999_999],
    ["q8_0", 1, 0.999],
    ["q4_0", 1, 0.99],
  ] as const;
  const agree = "native and llamacpp agree on %s within what the type allows";
  const expectAgreement = async (type: string, maxError: number, minCosine: number): Promise<void> => {
    const options = { model: tiny(type), target: "native", against: "llamacpp:cpu", prompt: "small jump", tokens: 12 };
    const { summary, failures, positions, promptTokens, tested, reference } = await compare({ ...options, maxError, minCosine });
    expect(failures).toEqual([]);
    expect(positions.length).toBe(promptTokens + 11);
    expect(positions.map(({ position }) => position)).toEqual([...positions.keys()]);
    expect(summary.maxError.value).toBe(Math.max(...positions.map((each) => each.maxError)));
    expect([tested.target, reference.target]).toEqual(["native:cpu", "llamacpp:cpu"]);
    expect(tested.digest).toBe(reference.digest);
    for (const { speed } of [tested, reference])
      for (const rate of [speed.prefill, speed.decode]) expect(rate).toBeGreaterThan(0);
  };
  for (const [skips, title, rows] of sampled(agree, types, ([type]) => type === "q8_0"))
    it.skipIf(skips).each(rows)(title, async (...row) => await expectAgreement(...row));

  const [skipGreedy, greedyTitle] = onRequest("greedy text is that of generate, on both engines");
  it.skipIf(skipGreedy)(greedyTitle, async () => {
    const { tested, reference, summary } = await compare({
      model: tinyllm,
      target: "native",
      against: "llamacpp:cpu",
      tokens: 5,
    });
    expect([tested.text, reference.text]).toEqual([", there was a little", ", there was a little"]);
    expect(summary.firstDivergence).toBeNull();
  });

  it("an ONNX model agrees between onnx and native", async () => {
    const llama = { model: `${sharedData}tiny-random-llama`, target: "onnx", against: "native", tokens: 8, maxError: 1e-4 };
    expect((await compare(llama)).failures).toEqual([]);
  });

  const [skipWasm, withEncoder] = onRequest("a model with an encoder agrees between onnx and wasm");
  it.skipIf(skipWasm)(withEncoder, async () => {
    const { failures, promptTokens } = await compare({
      model: `${sharedData}tiny-random-t5`,
      target: "onnx",
      against: "wasm",
      prompt: "world",
      tokens: 6,
      maxError: 1e-3,
    });
    expect([failures, promptTokens]).toEqual([[], 1]);
  });

  it("a continuation is read as it is given, and no text is anybody's choice", async () => {
    const { chosenBy, positions, promptTokens, tested } = await compare({
      model: tinyllm,
      target: "native",
      against: "llamacpp:cpu",
      prompt: "Tom and",
      continuation: " Lily went home",
    });
    expect(chosenBy).toBe("caller");
    expect(positions.length).toBeGreaterThan(promptTokens);
    expect([tested.greedyTokens, tested.text]).toEqual([null, null]);
  });

  it("quantized weights are held against their originals, where the texts part", async () => {
    const { summary, tested, reference } = await compare({
      model: tiny("q4_0"),
      target: "native",
      against: "native",
      againstModel: tiny("f32"),
      tokens: 24,
    });
    expect(summary.cosine.worst.value).toBeLessThan(0.999);
    const { firstDivergence } = summary;
    expect(firstDivergence?.reference.token).not.toBe(firstDivergence?.tested.token);
    expect(firstDivergence?.reference.margin).toBeGreaterThan(0);
    expect(tested.text).not.toBe(reference.text);
    const { results } = await runtime.generate("Once upon a time", {
      model: tiny("q4_0"),
      target: "native",
      temperature: 0,
      maxNewTokens: 24,
    });
    expect(tested.greedyTokens).toEqual(results[0]?.tokens);
  });

  it("one wrong weight is found, at the position where it is first read", async () => {
    const { path, token } = await withWrongWeight();
    const prompt = [5, 9, 300, token, 17, 21];
    const options = { target: "native", against: "llamacpp:cpu", prompt, tokens: 0 };
    expect((await compare({ ...options, model: tiny("f32"), maxError: 1e-4 })).failures).toEqual([]);
    const { positions, failures } = await compare({ ...options, model: path, againstModel: tiny("f32"), maxError: 1e-4 });
    expect(positions.findIndex(({ maxError }) => maxError > 1e-4)).toBe(3);
    expect(failures[0]).toMatch(/^the maximum error is .* at position [345], and the limit is 0.0001$/);
    const models = ["--model", path, "--target", "native", "--against", "native", "--against-model", tiny("f32")];
    const limits = ["--prompt", "small jump", "--tokens", "0", "--max-error", "0", "--min-cosine", "1"];
    const { code, stdout, stderr } = await inferyard(["crossval", ...models, ...limits]);
    expect(code, stdout).toBe(0); // the prompt does not have the token
    expect(stderr).toBe("");
  });

  /** tiny-llama-f32 with one weight of the embedding of a token altered. */
  async function withWrongWeight(): Promise<{ path: string; token: number }> {
    const token = 441;
    const header = await readGguf(tiny("f32"), "tiny-llama-f32.gguf");
    const embeddings = header.tensors.find(({ name }) => name === "token_embd.weight");
    if (embeddings === undefined) throw new Error("there is no token_embd.weight");
    const bytes = readFileSync(tiny("f32"));
    const at = embeddings.start + (token * 64 + 11) * 4;
    bytes.writeFloatLE(bytes.readFloatLE(at) + 1, at);
    const path = join(folder, "wrong-weight.gguf");
    writeFileSync(path, bytes);
    return { path, token };
  }

  describe("recordings", () => {
    const record = join(folder, "tinyllm.safetensors");
    beforeAll(async () => {
      await recordLogits(runtime, { model: tinyllm, target: "llamacpp", tokens: 6, record });
    });

    it("stand for the engine that wrote them", async () => {
      const { failures, reference, positions } = await compare({
        model: tinyllm,
        target: "native",
        against: record,
        maxError: 1e-3,
      });
      expect(failures).toEqual([]);
      expect(positions.length).toBe(10);
      expect(reference).toMatchObject({ target: "llamacpp:cpu", recording: record, text: ", there was a little g" });
    });

    it("of the tested run hold what it computed", async () => {
      const second = join(folder, "second.safetensors");
      await compare({ model: tinyllm, target: "native", against: record, record: second });
      const { summary } = await compare({ model: tinyllm, target: "native", against: second });
      expect(summary.maxError.value).toBe(0);
      expect(summary.cosine.worst.value).toBeCloseTo(1, 12);
    });

    it("of another tokenizer, or of other weights, are refused by name", async () => {
      await expect(compare({ model: tiny("f32"), against: record })).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: `${record} was recorded from ${tinyllm}, which has other tokens than ${tiny("f32")}`,
      });
      const other = join(folder, "f32.safetensors");
      await recordLogits(runtime, { model: tiny("f32"), target: "native", tokens: 3, record: other });
      await expect(compare({ model: tiny("q8_0"), target: "native", against: other })).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: expect.stringContaining("was recorded from other weights") as string,
      });
      const named = { model: tiny("q8_0"), target: "native", against: other, againstModel: tiny("f32"), minCosine: 0.99 };
      expect((await compare(named)).failures).toEqual([]);
    });

    it("have their own tokens", async () => {
      await expect(compare({ model: tinyllm, against: record, prompt: "x" })).rejects.toMatchObject({
        message: `prompt is given together with ${record}, which has its own tokens`,
      });
    });
  });

  const [skipLibrary, ownLibrary] = onRequest("a library of the user's own is what a model is held against");
  it.skipIf(skipLibrary || libllama === undefined)(
    `${ownLibrary} (${libllama ?? "there is no build for this machine"})`,
    async () => {
      const against = libllama ?? "";
      const { reference, failures } = await compare({
        model: tinyllm,
        target: "native",
        against,
        tokens: 6,
        maxError: 1e-3,
        threads: 1,
      });
      expect(failures).toEqual([]);
      expect(reference).toMatchObject({ target: "library:cpu", libraryPath: against, text: ", there was a little g" });
      const own = await createRuntime({ library: against, threads: 1 });
      try {
        const receipt = await createReceipt(own, { model: tinyllm, target: "library", tokens: 4 });
        expect(receipt.library).toMatchObject({
          path: against,
          sha256: createHash("sha256").update(readFileSync(against)).digest("hex"),
        });
        expect((await verifyReceipt(receipt, { requireKernels: ["Llama_CPU"] })).refusals).toEqual([]);
      } finally {
        await own.dispose();
      }
    },
  );

  it("models with different tokens are refused before anything is loaded", async () => {
    await expect(compare({ model: tinyllm, against: "native", againstModel: tiny("f32") })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringMatching(
        /tinyllm\.gguf and .*f32\.gguf have different tokens: token \d+ is ".*", and ".*"/,
      ) as string,
    });
  });

  it("vectors are compared text by text", async () => {
    const model = `${sharedData}all-MiniLM-L6-v2`;
    const texts = ["a cat", "stocks fall"];
    const result = await crossValidate(runtime, { model, target: "native", against: "onnx:cpu", texts, maxError: 1e-5 });
    expect(result).toMatchObject({ kind: "vectors", failures: [], texts: [{ text: "a cat" }, { text: "stocks fall" }] });
    const int8 = await crossValidate(runtime, {
      model,
      variant: "int8",
      againstVariant: "fp32",
      target: "onnx",
      against: "onnx:cpu",
      texts,
      minCosine: 0.999_999,
    });
    expect(int8.failures).toEqual([expect.stringMatching(/^the cosine is 0\.9\d+ at text [01], and the limit is 0\.999999$/)]);
    await expect(crossValidate(runtime, { model, against: "onnx", tokens: 3 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("what makes no sense is refused", async () => {
    const refused = (options: Omit<CrossValidationOptions, "model">): Promise<unknown> =>
      crossValidate(runtime, { model: tinyllm, ...options }).then(
        () => "accepted",
        (error: { message: string }) => error.message,
      );
    expect(await refused({ against: "native", tokens: -1 })).toBe("tokens is -1");
    expect(await refused({ against: "native", tokens: 3, continuation: "x" })).toContain(
      "tokens and continuation are both given",
    );
    expect(await refused({ against: "native", maxError: Number.NaN })).toBe("maxError is NaN");
    expect(await refused({ against: "native", minCosine: 2 })).toBe("minCosine is 2");
    expect(await refused({ against: "native", texts: ["x"] })).toContain("texts are given");
    expect(await refused({ against: "native", prompt: [999_999] })).toBe("the prompt has the token 999999");
    expect(await refused({ against: "native", target: "native", tokens: 100_000 })).toMatch(
      /tokens are to be compared, and the context of .* is \d+/,
    );
    expect(await refused({ against: "onnx:cpu" })).toContain("onnx:cpu cannot run tinyllm.gguf");
    const model = `${sharedData}all-MiniLM-L6-v2`;
    await expect(recordLogits(runtime, { model, record: join(folder, "x") })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});
