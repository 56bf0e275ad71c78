import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { array, assert, asyncProperty, nat, tuple } from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { InferyardError } from "../contract/errors.ts";
import { writeSafetensors } from "../formats/safetensors/write-safetensors.ts";
import { type LogitsRun, readRecording, writeRecording } from "./recording.ts";
import { referenceKind } from "./reference-kind.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-recording-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run: LogitsRun = {
  facts: {
    model: "./m",
    variant: "fp32",
    digest: "sha256:ab",
    target: "native:cpu",
    library: { name: "inferyard", version: "0.1.0" },
  },
  speed: { prefill: 1250.5, decode: null },
  prompt: { tokens: [1, 2], source: [7] },
  tokens: [1, 2, 0],
  logits: [Float32Array.of(0.5, -1, 2), Float32Array.of(3, 4, 5), Float32Array.of(6, 7, 8)],
  chosenBy: "reference",
  tokenizerDigest: "cd",
};

describe("recordings of logits", () => {
  it("are read as they were written", async () => {
    const path = join(folder, "run.safetensors");
    await writeRecording(path, run);
    expect(await readRecording(path)).toEqual({ ...run, facts: { ...run.facts, recording: path } });
    expect(await referenceKind(path)).toBe("recording");
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    "with a logit of %s are refused: no comparison with it means anything",
    async (value) => {
      const path = join(folder, "not-finite.safetensors");
      await writeRecording(path, { ...run, logits: run.logits.with(1, Float32Array.of(3, value, 5)) });
      await expect(readRecording(path)).rejects.toMatchObject({
        code: "VERIFICATION_FAILED",
        message: expect.stringContaining(`the logit of token 1 at position 1 is ${value}`) as string,
      });
    },
  );

  const tokens = { dataType: "int32", shape: [2], data: Int32Array.of(1, 2) } as const;
  const logits = { dataType: "float32", shape: [2, 1], data: Float32Array.of(1, 2) } as const;
  const metadata = {
    format: "inferyard-logits",
    format_version: "1",
    model: "m",
    variant: "",
    model_digest: "",
    tokenizer_digest: "",
    prompt_tokens: "1",
    chosen_by: "reference",
    target: "native:cpu",
    library: "x",
    library_version: "1",
    prefill_tokens_per_second: "",
    decode_tokens_per_second: "",
  };
  it.each([
    ["another format", { tokens, logits }, { ...metadata, format: "pt" }, 'no format "inferyard-logits"'],
    ["a later version", { tokens, logits }, { ...metadata, format_version: "2" }, "version 2, and this program reads 1"],
    ["more prompt than tokens", { tokens, logits }, { ...metadata, prompt_tokens: "3" }, "prompt_tokens is 3"],
    ["another chooser", { tokens, logits }, { ...metadata, chosen_by: "nobody" }, 'chosen_by is "nobody"'],
    ["too few logits", { tokens, logits: { ...logits, shape: [1, 2] } }, metadata, "shape [1, 2], and there are 2 tokens"],
    ["negative tokens", { tokens: { ...tokens, data: Int32Array.of(1, -2) }, logits }, metadata, '"tokens" is not a list'],
    ["tokens of another type", { tokens: logits, logits }, metadata, '"tokens" is not a list'],
  ] as const)("with %s are refused", async (_what, tensors, fields, message) => {
    const path = join(folder, "wrong.safetensors");
    await writeSafetensors(path, tensors, fields);
    await expect(readRecording(path)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(message) as string,
    });
  });

  it("whatever bytes change, they are read or refused", async () => {
    const path = join(folder, "whole.safetensors");
    await writeRecording(path, run);
    const whole = readFileSync(path);
    const damaged = join(folder, "damaged.safetensors");
    await assert(
      asyncProperty(array(tuple(nat(whole.length - 1), nat(255)), { minLength: 1, maxLength: 3 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [place, value] of changes) bytes[place] = value;
        writeFileSync(damaged, bytes);
        const outcome = await readRecording(damaged).then(
          () => "read",
          (error: unknown) => (error instanceof InferyardError ? "refused" : error),
        );
        expect(["read", "refused"]).toContain(outcome);
      }),
    );
  });
});

describe("what a model is held against", () => {
  it("is a target, a library by its first bytes, or a recording", async () => {
    const library = join(folder, "libllama.so");
    writeFileSync(library, Buffer.from("7f454c4602010100", "hex"));
    expect(await referenceKind("llamacpp:cpu")).toBe("target");
    expect(await referenceKind(library)).toBe("library");
    await expect(referenceKind("cpu")).rejects.toMatchObject({ code: "INPUT_INVALID", remedy: "did you mean onnx:cpu?" });
    await expect(referenceKind("./none.safetensors")).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(referenceKind(folder)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const text = join(folder, "text.bin");
    for (const content of ["", "{", "some text, and no recording"]) {
      writeFileSync(text, content);
      await expect(referenceKind(text)).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: `${text} is neither a recording nor a shared library`,
      });
    }
  });
});
