import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InferyardError } from "../contract/errors.ts";
import { writeSafetensors } from "../formats/safetensors/write-safetensors.ts";
import { emptyGguf } from "../../test/fixtures/models/gguf-bytes.ts";
import { readManifest } from "./index.ts";
import { inferyardJsonSchema } from "./inferyard-json/schema.ts";
import type { Manifest } from "./index.ts";

const shared = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const absent = existsSync(shared) ? "" : ` (skipped: ${shared} is not there)`;
const variantsOf = (manifest: Manifest) =>
  manifest.variants.map(({ name, aliases, precision, format }) => [name, aliases, precision, format]);

describe.skipIf(absent)(`real folders${absent}`, () => {
  it("MiniLM: its variants, and what its reference implementation does with text", async () => {
    const manifest = await readManifest(join(shared, "all-MiniLM-L6-v2"));
    expect(variantsOf(manifest)).toEqual([
      ["fp32", [], "fp32", "onnx"],
      ["int8", ["quantized", "q8"], "int8", "onnx"],
      ["fp16", [], "fp16", "safetensors"],
    ]);
    expect(manifest).toMatchObject({ name: "all-MiniLM-L6-v2", source: "huggingface", tasks: ["feature-extraction"] });
    expect(manifest.variants[0]).toMatchObject({ bytes: 90405214, architecture: "BertModel", config: { hidden_size: 384 } });
    const { tokenizerConfig, tokenizerPath, tokenizerShown, ...text } = manifest.text!;
    expect(text).toEqual({
      maxTokens: 256,
      maxTokensSource: "sentence_bert_config.json max_seq_length",
      specialTokens: true,
      dropUnknown: false,
      lowercase: false,
      pooling: "mean",
      poolPrompt: true,
      normalize: true,
      prompts: {},
    });
    expect(tokenizerConfig["model_max_length"]).toBe(512);
    expect([tokenizerPath, tokenizerShown]).toEqual([
      join(shared, "all-MiniLM-L6-v2/tokenizer.json"),
      join(shared, "all-MiniLM-L6-v2/tokenizer.json"),
    ]);
  });

  it("shows paths as they were written", async () => {
    const reference = relative(process.cwd(), join(shared, "all-MiniLM-L6-v2"));
    const manifest = await readManifest(reference);
    expect([manifest.reference, manifest.text?.tokenizerShown]).toEqual([reference, `${reference}/tokenizer.json`]);
  });

  it("static embeddings: no special tokens, no unknown tokens, model2vec's limit", async () => {
    const manifest = await readManifest(join(shared, "static-embeddings/test-model-int8"));
    expect(variantsOf(manifest)).toEqual([["int8", [], "int8", "safetensors"]]);
    expect(manifest.variants[0]?.architecture).toBe("StaticModel");
    expect(manifest.text).toMatchObject({
      specialTokens: false,
      dropUnknown: true,
      pooling: "mean",
      normalize: true,
      maxTokens: 512,
    });
  });

  it("a plain export states no pooling, and its limit is the tokenizer's", async () => {
    const manifest = await readManifest(join(shared, "tiny-random-bert"));
    expect(manifest.text).toMatchObject({ maxTokens: 64, normalize: false });
    expect(manifest.text?.pooling).toBeUndefined();
    expect(manifest.variants.map(({ name }) => name)).toEqual(["fp32", "safetensors-fp32"]);
  });

  it("a model is called by the precision of its weights, whatever its file is called", async () => {
    const manifest = await readManifest(join(shared, "minilm-l3-ner"));
    expect(variantsOf(manifest)).toEqual([["int8", [], "int8", "onnx"]]);
    expect(manifest.tasks).toEqual(["token-classification"]);
  });

  it("weights kept in another file count", async () => {
    const manifest = await readManifest(join(shared, "transformer-dummies/external_data"));
    expect(manifest.variants[0]).toMatchObject({ name: "add_with_external_data", bytes: 323 + 4 });
    expect(manifest.text).toBeUndefined();
  });

  it("a single file: its own weights, and the text settings of its folder", async () => {
    const manifest = await readManifest(join(shared, "all-MiniLM-L6-v2/onnx/model_quantized.onnx"));
    expect(manifest).toMatchObject({ source: "file", name: "model_quantized.onnx", text: { maxTokens: 256, pooling: "mean" } });
    expect(variantsOf(manifest)).toEqual([["int8", ["quantized", "q8"], "int8", "onnx"]]);
    const gguf = await readManifest(join(shared, "gguf-tiny-llama/tiny-llama-q8_0.gguf"));
    expect(variantsOf(gguf)).toEqual([["tiny-llama-q8_0", ["q8_0"], undefined, "gguf"]]);
  });
});

/** A protobuf field of bytes or of a number below 128. */
function field(number: number, content: Buffer | number): Buffer {
  if (typeof content === "number") return Buffer.from([number * 8, content]);
  const length = content.length < 128 ? [content.length] : [(content.length % 128) + 128, Math.floor(content.length / 128)];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), content]);
}

/** The smallest ONNX file with a weight: 1 float, 3 int8, 10 float16. */
function onnx(dataType = 1, external = ""): Buffer {
  const entry = Buffer.concat([field(1, Buffer.from("location")), field(2, Buffer.from(external))]);
  const weight = [field(1, 1), field(2, dataType), external === "" ? field(9, Buffer.alloc(4)) : field(13, entry)];
  return Buffer.concat([field(1, 8), field(7, field(5, Buffer.concat(weight))), field(8, field(2, 17))]);
}

const bertModules = ["Transformer", "Pooling", "Normalize"].map((type, idx) => {
  return { idx, name: String(idx), path: idx === 0 ? "" : `${idx}_${type}`, type: `sentence_transformers.models.${type}` };
});

/** A folder like those of sentence-transformers. */
const sentenceTransformer = {
  "config.json": { model_type: "bert", architectures: ["BertModel"], max_position_embeddings: 512 },
  "modules.json": bertModules,
  "sentence_bert_config.json": { max_seq_length: 128 },
  "1_Pooling/config.json": { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
  "tokenizer.json": {},
  "tokenizer_config.json": { model_max_length: 512 },
  "model.onnx": onnx(),
};

describe("folders", () => {
  let root: string;
  let folders = 0;
  beforeAll(async () => void (root = await mkdtemp(join(tmpdir(), "inferyard-models-"))));
  afterAll(async () => await rm(root, { recursive: true, force: true }));

  /** Objects are written as JSON; undefined takes a file of the base away. */
  async function folderWith(files: Readonly<Record<string, unknown>>): Promise<string> {
    folders += 1;
    const folder = join(root, `model-${folders}`);
    await mkdir(folder);
    for (const [file, content] of Object.entries(files)) {
      if (content === undefined) continue;
      await mkdir(dirname(join(folder, file)), { recursive: true });
      const text = typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content);
      await writeFile(join(folder, file), text);
    }
    return folder;
  }

  const read = async (files: Readonly<Record<string, unknown>>): Promise<Manifest> => await readManifest(await folderWith(files));

  async function failure(reading: Promise<unknown>): Promise<InferyardError> {
    const error = await reading.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(InferyardError);
    expect((error as InferyardError).remedy).toBeTruthy();
    return error as InferyardError;
  }

  describe("variants", () => {
    it("are named by their suffix, fp32 first, ONNX before others", async () => {
      const names = [
        "model_q4",
        "model_uint8",
        "model_fp16",
        "model",
        "model_bnb4",
        "model_q4f16",
        "model_O4",
        "model_int8",
        "model_quantized",
      ];
      const files = Object.fromEntries(names.map((name) => [`onnx/${name}.onnx`, onnx()]));
      const manifest = await read({ ...files, "extra.gguf": emptyGguf() });
      expect(variantsOf(manifest)).toEqual([
        ["fp32", [], "fp32", "onnx"],
        ["fp16", [], "fp16", "onnx"],
        ["int8", [], "int8", "onnx"],
        ["uint8", [], "int8", "onnx"],
        ["quantized", ["q8"], "int8", "onnx"],
        ["q4", [], "int4", "onnx"],
        ["q4f16", [], "int4", "onnx"],
        ["bnb4", [], "int4", "onnx"],
        ["model_O4", [], "fp32", "onnx"],
        ["extra", [], undefined, "gguf"],
      ]);
    });

    it("have different names even where files have not", async () => {
      const manifest = await read({
        "onnx/model.onnx": onnx(),
        "model.onnx": onnx(),
        "onnx/model_quantized.onnx": onnx(3),
        "model_quantized.onnx": onnx(3),
      });
      const words = manifest.variants.flatMap(({ name, aliases }) => [name, ...aliases]);
      expect(new Set(words).size).toBe(words.length);
      expect(manifest.variants.map(({ name }) => name)).toEqual(["fp32", "int8", "model", "model_quantized"]);
    });

    it("follow links, as the cache of huggingface_hub makes them", async () => {
      const folder = await folderWith({ "blobs/abc": onnx(10), "snapshot/config.json": {} });
      await symlink("../blobs/abc", join(folder, "snapshot/model.onnx"));
      expect(variantsOf(await readManifest(join(folder, "snapshot")))).toEqual([["fp16", [], "fp16", "onnx"]]);
    });

    it("of a static model are its safetensors, in the folder that modules.json names", async () => {
      const modules = [{ idx: 0, name: "0", path: "0_StaticEmbedding", type: "sentence_transformers.models.StaticEmbedding" }];
      const folder = await folderWith({
        "modules.json": modules,
        "0_StaticEmbedding/tokenizer.json": {},
        "onnx/model.onnx": onnx(),
      });
      await writeSafetensors(join(folder, "0_StaticEmbedding/model.safetensors"), {
        "embedding.weight": { dataType: "float32", shape: [1, 2], data: new Float32Array(2) },
      });
      const manifest = await readManifest(folder);
      expect(variantsOf(manifest)).toEqual([["fp32", [], "fp32", "safetensors"]]);
      // sentence-transformers' own static models keep unknown tokens, have no limit and do not normalize by themselves.
      expect(manifest.text).toMatchObject({ specialTokens: false, dropUnknown: false, pooling: "mean", normalize: false });
      expect(manifest.text?.maxTokens).toBeUndefined();
      expect(manifest.text?.tokenizerPath).toBe(join(folder, "0_StaticEmbedding/tokenizer.json"));
    });
  });

  describe("text settings", () => {
    it.each<[string, Record<string, unknown>, number | undefined, string | undefined]>([
      ["sentence_bert_config.json comes first", {}, 128, "sentence_bert_config.json max_seq_length"],
      [
        "its newer spelling",
        { "sentence_bert_config.json": { processor_kwargs: { model_max_length: 99 } } },
        99,
        "sentence_bert_config.json processor_kwargs.model_max_length",
      ],
      [
        "its older names",
        { "sentence_bert_config.json": undefined, "sentence_roberta_config.json": { max_seq_length: 77 } },
        77,
        "sentence_roberta_config.json max_seq_length",
      ],
      [
        "null says nothing",
        { "sentence_bert_config.json": { max_seq_length: null } },
        512,
        "tokenizer_config.json model_max_length",
      ],
      [
        "the smaller of tokenizer and positions",
        { "sentence_bert_config.json": {}, "tokenizer_config.json": { model_max_length: 600 } },
        512,
        "config.json max_position_embeddings",
      ],
      [
        "1e30 means none",
        { "sentence_bert_config.json": {}, "tokenizer_config.json": { model_max_length: 1e30 } },
        512,
        "config.json max_position_embeddings",
      ],
      [
        "RoBERTa keeps two positions back",
        {
          "sentence_bert_config.json": {},
          "tokenizer_config.json": {},
          "config.json": { model_type: "xlm-roberta", max_position_embeddings: 514, pad_token_id: 1 },
        },
        512,
        "config.json max_position_embeddings, less the 2 that xlm-roberta keeps back",
      ],
      [
        "no limit at all",
        { "sentence_bert_config.json": {}, "tokenizer_config.json": {}, "config.json": { max_position_embeddings: -1 } },
        undefined,
        undefined,
      ],
    ])("length limit: %s", async (_what, changes, maxTokens, source) => {
      const { text } = await read({ ...sentenceTransformer, ...changes });
      expect([text?.maxTokens, text?.maxTokensSource]).toEqual([maxTokens, source]);
    });

    it.each<[object, string]>([
      [{ pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }, "cls"],
      [{ pooling_mode_max_tokens: true, pooling_mode_mean_tokens: false }, "max"],
      [{ pooling_mode_lasttoken: true, pooling_mode_mean_tokens: false }, "last"],
      [{ word_embedding_dimension: 8 }, "mean"],
      [{ pooling_mode: "lasttoken" }, "last"],
      [{ pooling_mode: ["cls"], pooling_mode_mean_tokens: true }, "cls"],
    ])("pooling %j is %s", async (config, pooling) => {
      expect((await read({ ...sentenceTransformer, "1_Pooling/config.json": config })).text?.pooling).toBe(pooling);
    });

    it.each<[object, string]>([
      [{ pooling_mode_mean_sqrt_len_tokens: true }, "mean_sqrt_len_tokens"],
      [{ pooling_mode: "weightedmean" }, "weightedmean"],
      [{ pooling_mode_mean_tokens: true, pooling_mode_max_tokens: true }, "max + mean"],
    ])("pooling %j is refused by name", async (config, named) => {
      const error = await failure(read({ ...sentenceTransformer, "1_Pooling/config.json": config }));
      expect(error).toMatchObject({ code: "MODEL_UNSUPPORTED", message: expect.stringContaining(named) as string });
    });

    it("prompts, the default among them, and whether they take part in pooling", async () => {
      const prompts = { query: "query: ", document: "", other: null };
      const manifest = await read({
        ...sentenceTransformer,
        "config_sentence_transformers.json": { prompts, default_prompt_name: "query" },
        "1_Pooling/config.json": { pooling_mode: "mean", include_prompt: false },
      });
      expect(manifest.text).toMatchObject({
        prompts: { query: "query: ", document: "" },
        defaultPrompt: "query",
        poolPrompt: false,
      });
    });

    it("the model's files may lie in the folder of its first module", async () => {
      const modules = bertModules.map((module, index) => (index === 0 ? { ...module, path: "0_Transformer" } : module));
      const inner = ["config.json", "sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json"] as const;
      const moved = Object.fromEntries(
        inner.flatMap((file) => [
          [`0_Transformer/${file}`, sentenceTransformer[file]],
          [file, undefined],
        ]),
      );
      const manifest = await read({
        ...sentenceTransformer,
        ...moved,
        "modules.json": modules,
        "sentence_bert_config.json": undefined,
      });
      expect(manifest.text).toMatchObject({ maxTokens: 128, pooling: "cls", normalize: true });
      expect(manifest.text?.tokenizerShown).toMatch(/0_Transformer\/tokenizer\.json$/);
      expect(manifest.variants[0]?.architecture).toBe("BertModel");
    });

    it("text that is lowercased by sentence_bert_config.json", async () => {
      const manifest = await read({
        ...sentenceTransformer,
        "sentence_bert_config.json": { max_seq_length: 9, do_lower_case: true },
      });
      expect(manifest.text?.lowercase).toBe(true);
    });

    it("model2vec: its own config.json wins over modules.json, and its limit may be none", async () => {
      const modules = [
        { path: ".", type: "sentence_transformers.models.StaticEmbedding" },
        { path: "1_Normalize", type: "sentence_transformers.models.Normalize" },
      ];
      const config = { model_type: "model2vec", normalize: false, max_length: null };
      const folder = await folderWith({ "modules.json": modules, "config.json": config, "tokenizer.json": {} });
      await writeSafetensors(join(folder, "model.safetensors"), {
        embeddings: { dataType: "int8", shape: [1, 2], data: new Int8Array(2) },
      });
      const { text } = await readManifest(folder);
      expect(text).toMatchObject({ normalize: false, dropUnknown: true });
      expect(text?.maxTokens).toBeUndefined();
    });

    describe("modules after pooling", () => {
      const f32 = (shape: number[]) => ({
        dataType: "float32" as const,
        shape,
        data: new Float32Array(shape.reduce((product, size) => product * size, 1)),
      });
      const types = ["Transformer", "Pooling", "Normalize", "Dense", "LayerNorm", "Normalize"];
      const modules = types.map((type, idx) => ({
        path: idx === 0 ? "" : `${idx}_${type}`,
        type: `sentence_transformers.models.${type}`,
      }));
      const activation = "torch.nn.modules.activation.ReLU";

      async function withModules(dense: object, layerNorm: object, weight: number[]): Promise<string> {
        const folder = await folderWith({
          ...sentenceTransformer,
          "modules.json": modules,
          "3_Dense/config.json": dense,
          "4_LayerNorm/config.json": layerNorm,
        });
        await writeSafetensors(join(folder, "3_Dense/model.safetensors"), {
          "linear.weight": f32(weight),
          "linear.bias": f32([weight[0]!]),
        });
        await writeSafetensors(join(folder, "4_LayerNorm/model.safetensors"), { "norm.weight": f32([2]), "norm.bias": f32([2]) });
        return folder;
      }

      it("are read in their order; the Normalize at the end is the model's normalization", async () => {
        const folder = await withModules(
          { in_features: 3, out_features: 2, activation_function: activation },
          { dimension: 2 },
          [2, 3],
        );
        const { text } = await readManifest(folder);
        const weightsOf = (module: string) => ({
          path: join(folder, `${module}/model.safetensors`),
          displayName: expect.any(String),
        });
        expect(text?.normalize).toBe(true);
        expect(text?.vectorModules).toEqual([
          { kind: "normalize" },
          { kind: "dense", inFeatures: 3, outFeatures: 2, bias: true, activation: "ReLU", weights: weightsOf("3_Dense") },
          { kind: "layer-norm", features: 2, weights: weightsOf("4_LayerNorm") },
        ]);
      });

      it("that do not fit each other or their weights are refused", async () => {
        const unlike = await withModules({ in_features: 3, out_features: 2 }, { dimension: 2 }, [2, 4]);
        const wrong = await failure(readManifest(unlike));
        expect([wrong.code, wrong.message]).toEqual([
          "MODEL_INVALID",
          expect.stringContaining("linear.weight is [2, 4], and [2, 3] is"),
        ]);
        const longer = await withModules({ in_features: 3, out_features: 4 }, { dimension: 2 }, [4, 3]);
        expect((await failure(readManifest(longer))).message).toMatch(
          /takes vectors of 2 numbers, and the module before it gives 4/,
        );
      });

      it("without an activation named it is Tanh, as in sentence-transformers; null is none", async () => {
        const silent = await withModules({ in_features: 3, out_features: 2 }, { dimension: 2 }, [2, 3]);
        expect((await readManifest(silent)).text?.vectorModules?.[1]).toMatchObject({ activation: "Tanh" });
        const none = { in_features: 3, out_features: 2, activation_function: null };
        const linear = await withModules(none, { dimension: 2 }, [2, 3]);
        expect((await readManifest(linear)).text?.vectorModules?.[1]).toMatchObject({ activation: "Identity" });
      });
    });

    it("a CrossEncoder that has modules: the class with its head, and its task", async () => {
      const config = { architectures: ["BertForSequenceClassification"], model_type: "bert", id2label: { 0: "LABEL_0" } };
      const read = async (sentence: object): Promise<Manifest> =>
        readManifest(
          await folderWith({
            "config.json": config,
            "modules.json": bertModules.slice(0, 1),
            "sentence_bert_config.json": sentence,
            "model.onnx": onnx(1),
          }),
        );
      const scorer = await read({ transformer_task: "sequence-classification" });
      expect([scorer.variants[0]?.architecture, scorer.tasks]).toEqual([
        "BertForSequenceClassification",
        ["text-classification"],
      ]);
      const encoder = await read({});
      expect([encoder.variants[0]?.architecture, encoder.tasks]).toEqual(["BertModel", ["feature-extraction"]]);
    });

    it("a licence in the front matter of the model card", async () => {
      const manifest = await read({
        ...sentenceTransformer,
        "README.md": "---\ntags: [x]\nlicense: apache-2.0\n---\n# Model\nlicense: mit",
      });
      expect(manifest.license).toBe("apache-2.0");
    });
  });

  describe("refused with one error, the path as it was written, and a remedy", () => {
    const withDense = (config: object | undefined) => ({
      "modules.json": [...bertModules, dense],
      "3_Dense/config.json": config,
    });
    const dense = { idx: 3, name: "3", path: "3_Dense", type: "sentence_transformers.models.Dense" };
    it.each<[string, Record<string, unknown>, string, RegExp]>([
      ["a folder without a model", { "README.md": "hello" }, "MODEL_NOT_FOUND", /holds no model/],
      ["weights of another framework", { "pytorch_model.bin": "x" }, "MODEL_UNSUPPORTED", /pytorch_model\.bin/],
      ["an index of weights without its map", { "model.safetensors.index.json": "{}" }, "MODEL_INVALID", /no weight_map/],
      [
        "an index of weights that are not there",
        { "model.safetensors.index.json": JSON.stringify({ weight_map: { a: "model-00001-of-00001.safetensors" } }) },
        "MODEL_INVALID",
        /there is no such file/,
      ],
      ["an empty file", { "model.onnx": "" }, "MODEL_INVALID", /model\.onnx is empty/],
      [
        "a pointer of Git LFS",
        { "model.onnx": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n" },
        "MODEL_INVALID",
        /Git LFS pointer/,
      ],
      ["text in place of a graph", { "model.onnx": "<!doctype html>" }, "MODEL_INVALID", /model\.onnx is not a whole ONNX file/],
      ["a file that was cut off", { "model.onnx": onnx().subarray(0, 12) }, "MODEL_INVALID", /ends too early/],
      ["a broken safetensors file", { "model.safetensors": "{}" }, "MODEL_INVALID", /model\.safetensors/],
      [
        "weights that were not downloaded with it",
        { "model.onnx": onnx(1, "model.onnx_data") },
        "MODEL_INVALID",
        /model\.onnx_data is missing/,
      ],
      [
        "weights outside the folder",
        { "model.onnx": onnx(1, "../secret") },
        "MODEL_INVALID",
        /"\.\.\/secret", which lies outside/,
      ],
      ["broken config.json", { "config.json": "{" }, "MODEL_INVALID", /config\.json is not JSON/],
      ["config.json that is a list", { "config.json": "[]" }, "MODEL_INVALID", /config\.json holds no JSON object/],
      ["broken modules.json", { "modules.json": "[{}]" }, "MODEL_INVALID", /modules\.json is broken/],
      ["empty modules.json", { "modules.json": "[]" }, "MODEL_INVALID", /modules\.json is broken/],
      ["broken tokenizer_config.json", { "tokenizer_config.json": "?" }, "MODEL_INVALID", /tokenizer_config\.json is not JSON/],
      ["no pooling module", { "1_Pooling/config.json": undefined }, "MODEL_INVALID", /1_Pooling\/config\.json is missing/],
      [
        "a module that is not computed",
        { "modules.json": [...bertModules, { ...dense, type: "sentence_transformers.models.LSTM" }] },
        "MODEL_UNSUPPORTED",
        /module LSTM/,
      ],
      [
        "Dense before Pooling",
        { "modules.json": [bertModules[0], dense, bertModules[1]] },
        "MODEL_UNSUPPORTED",
        /module Dense with no Pooling right after the Transformer/,
      ],
      ["Dense without its config.json", withDense(undefined), "MODEL_INVALID", /3_Dense\/config\.json is missing/],
      [
        "Dense without its weights",
        withDense({ in_features: 2, out_features: 1 }),
        "MODEL_INVALID",
        /3_Dense\/model\.safetensors is missing/,
      ],
      [
        "Dense with pickled weights",
        { ...withDense({ in_features: 2, out_features: 1 }), "3_Dense/pytorch_model.bin": "x" },
        "MODEL_UNSUPPORTED",
        /weights of .*3_Dense are in pytorch_model\.bin/,
      ],
      ["Dense without sizes", withDense({ in_features: 2 }), "MODEL_INVALID", /"out_features" is no size/],
      [
        "Dense on token vectors",
        withDense({ in_features: 2, out_features: 1, module_input_name: "token_embeddings" }),
        "MODEL_UNSUPPORTED",
        /works on "token_embeddings"/,
      ],
      [
        "Dense with a residual that has no weights",
        withDense({ in_features: 2, out_features: 1, use_residual: "yes" }),
        "MODEL_INVALID",
        /"use_residual" is neither true nor false/,
      ],
      [
        "an activation of the model's own",
        withDense({ in_features: 2, out_features: 1, activation_function: "custom.Swish" }),
        "MODEL_UNSUPPORTED",
        /activation "custom\.Swish"/,
      ],
      [
        "a module of the model's own",
        { "modules.json": [{ ...dense, type: "custom_st.Transformer" }] },
        "MODEL_UNSUPPORTED",
        /custom_st\.Transformer/,
      ],
      [
        "normalized token vectors",
        { "2_Normalize/config.json": { module_input_name: "token_embeddings" } },
        "MODEL_UNSUPPORTED",
        /token_embeddings/,
      ],
      ["a module outside the folder", { "modules.json": [{ ...bertModules[0], path: "../x" }] }, "MODEL_INVALID", /outside/],
      [
        "another task",
        { "sentence_bert_config.json": { transformer_task: "text-generation" } },
        "MODEL_UNSUPPORTED",
        /text-generation/,
      ],
      [
        "a default prompt that is none",
        { "config_sentence_transformers.json": { default_prompt_name: "q" } },
        "MODEL_INVALID",
        /default prompt "q"/,
      ],
    ])("%s", async (what, files, code, message) => {
      const whole = /folder without|framework|several/.test(what) ? {} : sentenceTransformer;
      const base = Object.keys(files).some((file) => file.startsWith("model.safetensors"))
        ? { ...whole, "model.onnx": undefined }
        : whole;
      const folder = relative(process.cwd(), await folderWith({ ...base, ...files }));
      const error = await failure(readManifest(folder));
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      expect(error.message).toContain(folder);
    });

    it("weights that end before the last one the graph needs", async () => {
      const folder = await folderWith({ "model.onnx": onnx(1, "weights"), weights: "abcd" });
      expect((await readManifest(folder)).variants[0]?.bytes).toBe(onnx(1, "weights").length + 4);
      await truncate(join(folder, "weights"), 0);
      expect((await failure(readManifest(folder))).message).toMatch(/weights is empty/);
    });

    it("weights that cannot be read, where they are asked for by name or there are no others", async () => {
      const { "config.json": config } = sentenceTransformer;
      const folder = await folderWith({
        ...(config === undefined ? {} : { "config.json": config }),
        "model.onnx": "x",
        "model_fp16.onnx": onnx(10),
      });
      const { variants, unreadable } = await readManifest(folder);
      expect(variants.map(({ path }) => path)).toEqual([join(folder, "model_fp16.onnx")]);
      expect(unreadable).toEqual([
        expect.objectContaining({
          name: "fp32",
          code: "MODEL_INVALID",
          reason: expect.stringContaining("model.onnx is not a whole ONNX file") as string,
        }),
      ]);
      await writeFile(join(folder, "model_fp16.onnx"), "");
      expect(await failure(readManifest(folder))).toMatchObject({
        message: expect.stringContaining("model.onnx is not a whole") as string,
      });
    });

    it("a path that is not there, with the nearest one that is", async () => {
      const folder = await folderWith(sentenceTransformer);
      const error = await failure(readManifest(`${folder.slice(0, -1)}x`));
      expect(error).toMatchObject({ code: "MODEL_NOT_FOUND", remedy: expect.stringContaining("did you mean") as string });
    });

    it("a folder where a file is expected", async () => {
      const folder = await folderWith({ ...sentenceTransformer, "config.json": undefined, "config.json/x": "" });
      expect(await failure(readManifest(folder))).toMatchObject({
        code: "MODEL_INVALID",
        message: expect.stringContaining("config.json is a folder") as string,
      });
    });

    it("a file that is no model", async () => {
      const folder = await folderWith({ "notes.txt": "hello" });
      expect(await failure(readManifest(join(folder, "notes.txt")))).toMatchObject({ code: "MODEL_UNSUPPORTED" });
    });

    it("a missing tokenizer.json of a model of text is left for the tokenizer to report", async () => {
      const { text } = await read({ ...sentenceTransformer, "tokenizer.json": undefined });
      expect(text?.tokenizerShown).toMatch(/tokenizer\.json$/);
    });
  });

  describe("inferyard.json", () => {
    // SHA-256 of the bytes below, by sha256sum.
    const bytes = emptyGguf();
    const sha256 = createHash("sha256").update(bytes).digest("hex");

    it("adds to an ordinary folder and leaves the rest to its files", async () => {
      const manifest = await read({
        ...sentenceTransformer,
        "inferyard.json": { backends: ["ONNX"], preferred: "ONNX:CUDA:1", fallbacks: ["wasm"] }, // in any case, as .aimod
      });
      expect(manifest).toMatchObject({
        source: "inferyard.json",
        selection: { backends: ["onnx"], preferred: "onnx:cuda:1", fallbacks: ["wasm"] },
      });
      expect(manifest.text).toMatchObject({ pooling: "cls", normalize: true, maxTokens: 128 });
      expect(variantsOf(manifest)).toEqual([["fp32", [], "fp32", "onnx"]]);
    });

    it("wins over the other files, field by field", async () => {
      const manifest = await read({
        ...sentenceTransformer,
        "README.md": "---\nlicense: mit\n---",
        "config_sentence_transformers.json": { prompts: { query: "q: " } },
        "inferyard.json": {
          $schema: "./schema.json",
          name: "mine",
          tasks: ["sentence-similarity"],
          pooling: "max",
          normalize: false,
          maxTokens: null,
          specialTokens: false,
          dropUnknown: true,
          defaultPrompt: "query",
          license: "Apache-2.0",
          requirements: { memoryBytes: 5, cudaVersion: "12.8" },
          provenance: { anything: [1] },
        },
      });
      expect(manifest).toMatchObject({
        name: "mine",
        tasks: ["sentence-similarity"],
        license: "Apache-2.0",
        requirements: { memoryBytes: 5, cudaVersion: "12.8" },
        selection: { backends: [], fallbacks: [] },
      });
      expect(manifest.text).toMatchObject({
        pooling: "max",
        normalize: false,
        specialTokens: false,
        dropUnknown: true,
        defaultPrompt: "query",
        prompts: { query: "q: " },
      });
      expect(manifest.text?.maxTokens).toBeUndefined();
    });

    it("names variants, in its order, with what it states about them", async () => {
      const variants = {
        small: { file: "b.onnx", aliases: ["s"], precision: "int4", architecture: "Mine" },
        large: { file: "weights.bin", format: "gguf", size: bytes.length, sha256: sha256.toUpperCase() },
      };
      const manifest = await read({
        "b.onnx": onnx(3),
        "weights.bin": bytes,
        "unnamed.onnx": onnx(),
        "inferyard.json": { variants },
      });
      expect(variantsOf(manifest)).toEqual([
        ["small", ["s"], "int4", "onnx"],
        ["large", [], undefined, "gguf"],
      ]);
      expect(manifest.variants[0]?.architecture).toBe("Mine");
      expect(manifest.variants[1]?.sha256).toBe(sha256);
    });

    it("compares the file with its SHA-256 only with `verify`", async () => {
      const variants = { only: { file: "m.gguf", sha256 } };
      const right = await folderWith({ "m.gguf": bytes, "inferyard.json": { variants } });
      expect((await readManifest(right, { verify: true })).variants[0]?.sha256).toBe(sha256);
      const wrong = await folderWith({ "m.gguf": emptyGguf("other"), "inferyard.json": { variants } });
      expect((await readManifest(wrong)).variants).toHaveLength(1);
      expect(await failure(readManifest(wrong, { verify: true }))).toMatchObject({
        code: "MODEL_INVALID",
        message: expect.stringContaining("SHA-256") as string,
      });
    });

    it("gives known answers and known inputs", async () => {
      const embedding = Buffer.from(new Float32Array([0.5, -1]).buffer).toString("base64");
      const answers = await read({
        ...sentenceTransformer,
        "inferyard.json": { probe: { texts: [{ text: "hi", embedding, tolerance: 1e-4 }] } },
      });
      expect(answers.probe).toEqual({
        kind: "text",
        answers: [{ text: "hi", embedding: new Float32Array([0.5, -1]), tolerance: 1e-4 }],
      });
      const ids = { dataType: "int64", shape: [1, 2], data: [1, "-9007199254740993"] };
      const flags = { dataType: "bool", shape: [2], data: [true, 0] };
      const inputs = await read({ ...sentenceTransformer, "inferyard.json": { probe: { inputs: { ids, flags } } } });
      expect(inputs.probe).toEqual({
        kind: "tensors",
        inputs: {
          ids: { dataType: "int64", shape: [1, 2], data: new BigInt64Array([1n, -9007199254740993n]) },
          flags: { dataType: "bool", shape: [2], data: new Uint8Array([1, 0]) },
        },
      });
    });

    it("names every problem at once, and the nearest right key", async () => {
      const json = {
        nmae: "x",
        poolng: "mean",
        normalize: "yes",
        requirements: { memory: 1 },
        variants: { a: { fiel: "x", file: "y" } },
      };
      const error = await failure(read({ ...sentenceTransformer, "inferyard.json": json }));
      expect(error.code).toBe("MODEL_INVALID");
      for (const part of [
        '"nmae" (did you mean "name"?)',
        '"poolng" (did you mean "pooling"?)',
        "normalize: ",
        'requirements: unknown key "memory" (it may have memoryBytes',
        'variants.a: unknown key "fiel" (did you mean "file"?)',
      ]) {
        expect(error.message).toContain(part);
      }
      expect(error.data["problems"]).toHaveLength(5);
    });

    it.each<[string, object, RegExp]>([
      ["a file outside the folder", { variants: { a: { file: "../x.onnx" } } }, /outside/],
      ["an absolute path", { variants: { a: { file: "/etc/passwd" } } }, /outside/],
      ["a tokenizer outside the folder", { tokenizer: "../tokenizer.json" }, /outside/],
      ["a file that is not there", { variants: { a: { file: "x.onnx" } } }, /x\.onnx is missing/],
      ["a folder as a file", { variants: { a: { file: "1_Pooling", format: "gguf" } } }, /is a folder/],
      ["a format that cannot be told", { variants: { a: { file: "tokenizer.json" } } }, /format/],
      ["another size", { variants: { a: { file: "model.onnx", size: 7 } } }, /has \d+ bytes, and inferyard\.json says 7/],
      ["no variants at all", { variants: {} }, /at least one/],
      [
        "one name twice",
        { variants: { a: { file: "model.onnx", aliases: ["b"] }, b: { file: "model.onnx" } } },
        /"b" is the name of another/,
      ],
      ["a target that is none", { preferred: "ONNX cuda" }, /backend:device/],
      ["a prompt that is none", { defaultPrompt: "q" }, /default prompt "q"/],
      ["two kinds of probe", { probe: {} }, /one of the two/],
      [
        "a vector of three and a half floats",
        { probe: { texts: [{ text: "", embedding: "AAAAAAA=", tolerance: 0 }] } },
        /whole number of 32-bit floats/,
      ],
      [
        "too few values",
        { probe: { inputs: { x: { dataType: "int8", shape: [2], data: [1] } } } },
        /1 values, and the shape \[2\] needs 2/,
      ],
      [
        "a whole number that does not fit",
        { probe: { inputs: { x: { dataType: "uint64", shape: [1], data: [-1] } } } },
        /value 0 \(-1\) is no uint64/,
      ],
      [
        "a value that does not fit",
        { probe: { inputs: { x: { dataType: "int8", shape: [2], data: [1, 300] } } } },
        /value 1 \(300\) is no int8/,
      ],
    ])("refuses %s", async (_what, json, message) => {
      const error = await failure(read({ ...sentenceTransformer, "inferyard.json": json }));
      expect(error.code).toBe("MODEL_INVALID");
      expect(error.message).toMatch(message);
    });

    it("counts for a single file of its folder as well", async () => {
      const variants = { mine: { file: "onnx/a.onnx", precision: "fp16" }, other: { file: "b.onnx" } };
      const folder = await folderWith({
        ...sentenceTransformer,
        "onnx/a.onnx": onnx(),
        "b.onnx": onnx(),
        "inferyard.json": { variants, pooling: "last" },
      });
      const manifest = await readManifest(join(folder, "onnx/a.onnx"));
      expect(variantsOf(manifest)).toEqual([["mine", [], "fp16", "onnx"]]);
      expect(manifest).toMatchObject({ source: "file", text: { pooling: "last" }, directory: folder });
    });

    it("has a published JSON schema that says the same", () => {
      const published = fileURLToPath(new URL("../../schemas/inferyard.json", import.meta.url));
      expect(JSON.parse(readFileSync(published, "utf8"))).toEqual(JSON.parse(JSON.stringify(inferyardJsonSchema())));
    });
  });
});
