/** genai_config.json of onnxruntime-genai. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../../../test/fixtures/shared-data.ts";
import { languageVariants } from "../manifest/language-variants.ts";
import { readHuggingFace } from "./read-huggingface.ts";

const [skip, title] = needsData("genai_config.json");
const root = mkdtempSync(join(tmpdir(), "inferyard-genai-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(skip)(title, () => {
  it("stands for config.json and generation_config.json, and names the decoder", async () => {
    const path = join(root, "gpt2");
    cpSync(`${sharedData}gpt2-tiny-random`, path, { recursive: true });
    cpSync(join(path, "past.onnx"), join(path, "another.onnx"));
    const manifest = await readHuggingFace({ path, displayName: "gpt2" });
    expect(manifest.tasks).toEqual(["text-generation"]);
    expect(manifest.variants[0]).toMatchObject({ path: join(path, "past.onnx"), config: { max_position_embeddings: 512 } });
    expect(manifest.generation).toEqual({ bos_token_id: 98, eos_token_id: 98, pad_token_id: 98 });
  });

  it("keeps the length and the settings of the search, and joins encoder and decoder", async () => {
    const path = `${sharedData}marian-tiny-random`;
    const { tasks, variants, generation } = await readHuggingFace({ path, displayName: "marian" });
    expect(tasks).toEqual(["text2text-generation"]);
    expect(generation).toMatchObject({
      max_length: 448,
      eos_token_id: 0,
      bos_token_id: 32000,
      early_stopping: true,
      num_beams: 1,
    });
    expect(languageVariants(variants)).toMatchObject([{ path: `${path}/decoder.onnx`, encoder: `${path}/encoder.onnx` }]);
  });

  it("yields to config.json and generation_config.json; a maximum length of the whole context states nothing", async () => {
    const path = join(root, "both");
    cpSync(`${sharedData}gpt2-tiny-random`, path, { recursive: true });
    const write = (file: string, content: object): void => writeFileSync(join(path, file), JSON.stringify(content));
    write("genai_config.json", {
      model: { type: "phi3", context_length: 4096, eos_token_id: [5, 7], decoder: { filename: "past.onnx" } },
      search: { max_length: 4096, top_k: 50, past_present_share_buffer: true },
    });
    write("config.json", { architectures: ["Phi3ForCausalLM"], eos_token_id: 5 });
    const folder = { path, displayName: "both" };
    expect((await readHuggingFace(folder)).generation).toEqual({ eos_token_id: [5, 7], top_k: 50 });
    write("generation_config.json", { eos_token_id: [5, 7, 9] });
    expect((await readHuggingFace(folder)).generation).toEqual({ eos_token_id: [5, 7, 9] });
  });

  it("claims no task for models of images or sound, and refuses a file without a decoder", async () => {
    const path = join(root, "wrong");
    cpSync(`${sharedData}gpt2-tiny-random`, path, { recursive: true });
    const folder = { path, displayName: "wrong" };
    const write = (model: unknown): void => writeFileSync(join(path, "genai_config.json"), JSON.stringify({ model }));
    write({ type: "phi3v", vision: {}, decoder: { filename: "past.onnx" } });
    expect((await readHuggingFace(folder)).tasks).toEqual([]);
    for (const model of [undefined, 5, {}, { decoder: "x" }]) {
      write(model);
      await expect(readHuggingFace(folder)).rejects.toMatchObject({ code: "MODEL_INVALID" });
    }
  });
});
