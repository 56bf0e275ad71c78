import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { type Manifest, readManifest } from "../index.ts";
import type { ReadOptions } from "../manifest/variants.ts";

let root = "";
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "inferyard-termite-"));
});
afterAll(() => rm(root, { recursive: true }));

/** A protobuf field of bytes or of a number below 128. */
function field(number: number, content: Buffer | number): Buffer {
  if (typeof content === "number") return Buffer.from([number * 8, content]);
  return Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
}

/** The smallest ONNX file with a weight of 32 bits. */
const graph = ((): Buffer => {
  const weight = Buffer.concat([field(1, 1), field(2, 1), field(9, Buffer.alloc(4))]);
  return Buffer.concat([field(1, 8), field(7, field(5, weight)), field(8, field(2, 17))]);
})();

type Files = Readonly<Record<string, Buffer | string>>;

/** As Termite states a file. */
function stated(name: string, content: Buffer | string = graph): { name: string; digest: string; size: number } {
  const bytes = Buffer.from(content);
  return { name, digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, size: bytes.length };
}

const embedder = { schemaVersion: 2, name: "small", type: "embedder", files: [stated("model.onnx")] };

/** A folder with these files, and the manifest. */
async function folder(manifest: unknown, files: Files = { "model.onnx": graph }): Promise<string> {
  const path = await mkdtemp(join(root, `${(folders += 1)}-`));
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content);
  await writeFile(join(path, "model_manifest.json"), JSON.stringify(manifest));
  return path;
}

async function read(manifest: unknown, files?: Files, options?: ReadOptions): Promise<Manifest> {
  return readManifest(await folder(manifest, files), options);
}

async function refusal(manifest: unknown, files?: Files, options?: ReadOptions): Promise<InferyardError> {
  return read(manifest, files, options).then(
    () => expect.fail("it was read"),
    (error: unknown) => {
      expect(error).toBeInstanceOf(InferyardError);
      return error as InferyardError;
    },
  );
}

describe("a Termite folder", () => {
  it("is read as it is", async () => {
    const manifest = await read({
      ...embedder,
      source: "BAAI/small",
      owner: "BAAI",
      description: "it is small",
      capabilities: null,
      backends: ["onnx", "go"],
      provenance: { downloadedFrom: "huggingface", huggingfaceCommit: "abc" },
    });
    expect(manifest).toMatchObject({
      source: "termite",
      name: "small",
      tasks: ["feature-extraction"],
      selection: { backends: ["onnx", "wasm", "native"], fallbacks: [] },
    });
    expect(manifest.provenance).toEqual({
      source: "BAAI/small",
      owner: "BAAI",
      description: "it is small",
      capabilities: [],
      provenance: { downloadedFrom: "huggingface", huggingfaceCommit: "abc" },
    });
    expect(manifest.variants).toMatchObject([
      { name: "fp32", aliases: ["f32"], precision: "fp32", sha256: stated("model.onnx").digest.slice(7) },
    ]);
  });

  it("accepts our names of variants and Termite's, in any spelling", async () => {
    const names = ["f16", "bf16", "i8", "i8-st", "i4"];
    const file = (id: string) => stated(`model_${id}.onnx`);
    const variants = {
      f16: file("f16"),
      bf16: [file("bf16")],
      i8: { files: [file("i8")] },
      "i8-st": [file("i8-st"), stated("model_i8-st.onnx_data", "")],
      i4: file("i4"),
    };
    // A second 8-bit file, which no variant names: the registry's own manifests have them.
    const files = [...embedder.files, stated("model_quantized.onnx")];
    const there = ["model", "model_quantized", ...names.map((id) => `model_${id}`)].map((name) => [`${name}.onnx`, graph]);
    const manifest = await read({ ...embedder, files, variants }, Object.fromEntries(there) as Files);
    expect(manifest.variants.map(({ name, aliases, precision }) => [name, aliases, precision])).toEqual([
      ["fp32", ["f32"], "fp32"],
      ["fp16", ["f16"], "fp16"],
      ["bf16", [], "bf16"],
      ["int8", ["i8"], "int8"],
      ["int8-static", ["i8-st"], "int8"],
      ["quantized", ["q8"], "int8"],
      ["int4", ["i4"], "int4"],
    ]);
  });

  it("has the variants that were pulled, though its manifest names more", async () => {
    const variants = { i8: stated("model_i8.onnx"), f16: stated("model_f16.onnx") };
    const manifest = await read({ ...embedder, variants }, { "model_i8.onnx": graph });
    expect(manifest.variants.map(({ name }) => name)).toEqual(["int8"]);
    expect((await refusal({ ...embedder, variants }, {})).message).toContain("none of the weights it names are in the folder");
  });

  it("lists the parts of a model as separate variants", async () => {
    const towers = ["visual_model.onnx", "text_model.onnx"];
    const small = ["visual_model_i8.onnx", "text_model_i8.onnx"];
    const json = {
      ...embedder,
      capabilities: ["image"],
      files: towers.map((name) => stated(name)),
      variants: { i8: small.map((name) => stated(name)) },
    };
    const manifest = await read(json, Object.fromEntries([...towers, ...small].map((name) => [name, graph])));
    expect(manifest.tasks).toEqual(["feature-extraction", "zero-shot-image-classification"]);
    expect(manifest.variants.map(({ name }) => name)).toEqual(["visual_model", "text_model", "visual_model_i8", "text_model_i8"]);
  });

  it.each([
    ["Embedders", [], ["feature-extraction"]],
    ["embedder", ["sparse"], ["fill-mask"]],
    ["chunker", [], ["token-classification"]],
    ["reranker", [], ["text-ranking"]],
    ["generator", [], ["text-generation"]],
    ["recognizer", ["labels", "zeroshot", "answers"], ["token-classification", "question-answering"]],
    ["classifier", [], ["zero-shot-classification"]],
    ["reader", ["document_qa", "paddleocr"], ["image-to-text", "document-question-answering"]],
    ["transcriber", [], ["automatic-speech-recognition"]],
  ])("the type %s with %j serves %j", async (type, capabilities, tasks) => {
    expect((await read({ ...embedder, type, capabilities })).tasks).toEqual(tasks);
  });

  it.each(["rewriter", "recognizer"])("a %s with an encoder and a decoder writes text", async (type) => {
    const names = ["encoder.onnx", "decoder.onnx"];
    const files = Object.fromEntries(names.map((name) => [name, graph]));
    const manifest = await read({ ...embedder, type, files: names.map((name) => stated(name)) }, files);
    expect(manifest.tasks).toEqual(["text2text-generation"]);
  });

  it("a model for CoreML alone prefers it", async () => {
    expect((await read({ ...embedder, backends: ["coreml"] })).selection).toEqual({
      backends: ["onnx"],
      preferred: "onnx:coreml",
      fallbacks: [],
    });
  });

  it("takes its text settings from the Hugging Face files, and guesses no pooling where their folder was left behind", async () => {
    const modules = ["Transformer", "Pooling", "Normalize"].map((type, index) => {
      return {
        idx: index,
        name: String(index),
        path: index === 0 ? "" : `${index}_${type}`,
        type: `sentence_transformers.models.${type}`,
      };
    });
    const files = {
      "model.onnx": graph,
      "tokenizer.json": "{}",
      "modules.json": JSON.stringify(modules),
      "sentence_bert_config.json": '{"max_seq_length":128}',
    };
    const manifest = await read(embedder, files);
    expect(manifest.text).toMatchObject({ maxTokens: 128, normalize: true });
    expect(manifest.text?.pooling).toBeUndefined();
  });

  it("yields to inferyard.json for the fields that it states", async () => {
    const own = JSON.stringify({ name: "ours", backends: ["wasm"] });
    const manifest = await read({ ...embedder, backends: ["go"] }, { "model.onnx": graph, "inferyard.json": own });
    expect(manifest).toMatchObject({ name: "ours", selection: { backends: ["wasm"] }, tasks: ["feature-extraction"] });
    expect(manifest.variants).toMatchObject([{ name: "fp32", aliases: ["f32"] }]);
  });

  it("a path to one of its files is that file, with what the manifest says of it", async () => {
    const variants = { i8: stated("model_i8.onnx") };
    const path = await folder({ ...embedder, variants }, { "model.onnx": graph, "model_i8.onnx": graph });
    const manifest = await readManifest(join(path, "model_i8.onnx"));
    expect(manifest).toMatchObject({ source: "file", tasks: ["feature-extraction"], variants: [{ name: "int8" }] });
    expect(manifest.variants).toHaveLength(1);
  });
});

describe("a Termite folder is refused", () => {
  const needs = (type: string, capabilities: readonly string[] = [], backends?: readonly string[]) => {
    return { ...embedder, type, capabilities, backends: backends ?? null, files: [stated("other.onnx")] };
  };
  it.each<[string, unknown, RegExp]>([
    ["of another version", { ...embedder, schemaVersion: 3 }, /schemaVersion: must be 1 or 2/],
    ["without a name", { ...embedder, name: undefined }, /name: /],
    ["of an unknown type", { ...embedder, type: "dreamer" }, /type: must be one of embedder, chunker/],
    ["without files", { ...embedder, files: [] }, /files: must name at least one file/],
    ["with an unknown key", { ...embedder, backend: [] }, /unknown key "backend" \(did you mean "backends"\?\)/],
    [
      "with another digest",
      { ...embedder, files: [{ ...stated("model.onnx"), digest: "md5:1" }] },
      /files\.0\.digest: must be "sha256:"/,
    ],
    ["with a file outside", { ...embedder, files: [...embedder.files, stated("../x")] }, /files: "\.\.\/x" lies outside/],
    ["with a file twice", { ...embedder, files: [...embedder.files, ...embedder.files] }, /model\.onnx is named twice/],
    ["with an unknown variant", { ...embedder, variants: { q4: stated("model.onnx") } }, /"q4" is not a variant of Termite/],
    ["with a variant of nothing", { ...embedder, variants: { i8: [] } }, /variants\.i8: must name at least one file/],
    ["with a variant outside", { ...embedder, variants: { i8: stated("/x.onnx") } }, /variants\.i8: "\/x\.onnx" lies outside/],
    ["with an unknown backend", { ...embedder, backends: ["onxx"] }, /"onxx" is not a backend of Termite/],
    ["an embedder without its graph", needs("embedder"), /a model of type embedder needs model\.onnx/],
    ["images without a tower", needs("embedder", ["image"]), /needs visual_model\.onnx and text_model\.onnx/],
    ["images without onnx", needs("embedder", ["image"], ["go"]), /runs on onnx only/],
    ["audio without a tower", needs("embedder", ["audio"]), /needs audio_model\.onnx and text_model\.onnx/],
    ["a rewriter without its halves", needs("rewriter"), /a rewriter needs encoder\.onnx and decoder\.onnx/],
    ["a generator without a graph", { ...embedder, type: "generator", files: [stated("a.txt")] }, /there is no \.onnx file/],
  ])("%s", async (_name, manifest, message) => {
    const error = await refusal(manifest);
    expect(error.code).toBe("MODEL_INVALID");
    expect(error.message).toMatch(message);
  });

  it("with every problem in one error", async () => {
    const error = await refusal({
      ...needs("embedder", ["image"], ["go"]),
      schemaVersion: 9,
      variants: { q4: { name: "x", digest: "none" } },
    });
    expect(error.data["problems"]).toHaveLength(5);
    expect(error.message).toContain("model_manifest.json has 5 problems: ");
  });

  it("by name when it is a predictor of tables", async () => {
    const error = await refusal({ ...embedder, type: "predictor", files: [stated("tabular_model.json")] });
    expect(error).toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("a predictor of tables") as string,
    });
  });

  it("when files are not what is stated, each of them", async () => {
    const files = [stated("model.onnx"), { ...stated("config.json", "{}"), size: 3 }, stated("tokenizer.json", "{}")];
    const error = await refusal({ ...embedder, files }, { "model.onnx": graph, "config.json": "{}" });
    expect(error.data["problems"]).toEqual([
      expect.stringMatching(/config\.json has 2 bytes, and 3 are stated$/),
      expect.stringMatching(/tokenizer\.json is missing$/),
    ]);
  });

  it("when a digest is wrong and verification was asked for", async () => {
    const files = [stated("model.onnx"), stated("config.json", "{ }")];
    const there = { "model.onnx": graph, "config.json": "[ ]" };
    await expect(
      read(
        { ...embedder, files: [stated("model.onnx"), stated("config.json", "{}")] },
        { ...there, "config.json": "{}" },
        { verify: true },
      ),
    ).resolves.toBeDefined();
    const error = await refusal({ ...embedder, files }, { ...there, "config.json": "{\t}" }, { verify: true });
    expect(error.message).toMatch(/config\.json has the SHA-256 [0-9a-f]{64}, and [0-9a-f]{64} is stated/);
  });
});
