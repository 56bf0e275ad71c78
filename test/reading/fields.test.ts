/** Fields with Donut, captions, and models that do not read: tiny models with random weights, and what PyTorch makes of them (scripts/goldens/images/donut.py, caption.py). */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Runtime, createRuntime, pipeline } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inferyard } from "../fixtures/processes/command-line.ts";

const model = fileURLToPath(new URL("fixtures/donut", import.meta.url));
const picture = join(model, "receipt.png");
const { samples } = JSON.parse(readFileSync(join(model, "goldens.json"), "utf8")) as {
  readonly samples: readonly { readonly prompt: string | null; readonly ids: readonly number[]; readonly fields: unknown }[];
};
const folder = mkdtempSync(join(tmpdir(), "inferyard-fields-"));
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true });
});

describe("reading fields", () => {
  it.each(["onnx:cpu", "native:cpu", "wasm:cpu"])("gives the fields of PyTorch on %s", async (target) => {
    for (const { prompt, ids, fields } of samples) {
      const options = { model, target, maxNewTokens: ids.length, ...(prompt === null ? {} : { prompt }) };
      const read = await runtime.read(picture, options);
      expect(read).toMatchObject({ target, width: 120, height: 80 });
      expect(read.fields).toEqual(fields);
    }
  });

  it("ends at the decoder's context, and refuses what has no effect", async () => {
    const read = (options: object) => runtime.read(picture, { model, target: "onnx:cpu", ...options });
    const { prompt } = samples[1]!;
    const [short, long] = [await read({ prompt, maxNewTokens: 3 }), await read({ prompt })];
    expect(short.lines[0]!.text.length).toBeLessThan(long.lines[0]!.text.length);
    expect(long.lines[0]!.text.length).toBeLessThanOrEqual(64);
    await expect(read({ prompt: "" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(read({ prompt: "a".repeat(80) })).rejects.toMatchObject({ code: "INPUT_TOO_LONG" });
    await expect(read({ words: true })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("prints them, on the command line and as JSON", async () => {
    const { prompt, ids, fields } = samples[1]!;
    const flags = ["read", picture, "--model", model, "--prompt", prompt!, "--max-new-tokens", String(ids.length), "--quiet"];
    const text = await inferyard(flags);
    expect([text.code, JSON.parse(text.stdout)]).toEqual([0, fields]);
    expect(JSON.parse((await inferyard([...flags, "--json"])).stdout)).toMatchObject({ fields });
  });
});

describe("captions of ViT and GPT-2, whose decoder keeps its own tokens alone", () => {
  const caption = fileURLToPath(new URL("fixtures/caption", import.meta.url));

  it.each(["onnx:cpu", "native:cpu", "wasm:cpu"])("are PyTorch's on %s", async (target) => {
    const { ids, text } = JSON.parse(readFileSync(join(caption, "goldens.json"), "utf8")) as { ids: number[]; text: string };
    const read = await runtime.read(picture, { model: caption, target, maxNewTokens: ids.length });
    expect(read).toMatchObject({ target, lines: [{ text }] });
    const describePicture = await pipeline("image-to-text", caption, { host: "inline", target });
    expect(await describePicture(picture, { maxNewTokens: ids.length })).toEqual([{ generated_text: text }]);
    await describePicture.dispose();
    await expect(runtime.read(picture, { model: caption, target, prompt: "a" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("models of other types", () => {
  /** The Donut under the config.json of another model. */
  function withConfig(name: string, config: object): string {
    const path = join(folder, name);
    cpSync(model, path, { recursive: true });
    writeFileSync(join(path, "config.json"), JSON.stringify(config));
    return path;
  }

  it.each(["florence2", "blip", "pix2struct", "got_ocr2", "qwen2_vl"])(
    "%s is refused by name where text is read",
    async (type) => {
      const other = withConfig(type, { model_type: type, architectures: ["OtherForConditionalGeneration"] });
      await expect(runtime.read(picture, { model: other })).rejects.toMatchObject({
        code: "MODEL_UNSUPPORTED",
        message: expect.stringContaining(type) as string,
      });
    },
  );
});
