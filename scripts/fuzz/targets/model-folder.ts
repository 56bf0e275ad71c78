/** The JSON files of a model folder: config.json, modules.json, inferyard.json and the others that a manifest is read from. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readManifest } from "../../../src/models/index.ts";
import { type Json, mutateJsonText, parsed } from "../mutations/mutate-json.ts";
import { scratchFolder } from "../scratch-folder.ts";
import { sharedFiles } from "../shared-seeds.ts";
import { smallModel, smallWeights } from "../small-model.ts";
import type { FuzzTarget } from "../target.ts";

/** Files an input may hold; weights stand beside them. */
const readNames = [
  "config.json",
  "modules.json",
  "1_Pooling/config.json",
  "2_Dense/config.json",
  "2_Normalize/config.json",
  "inferyard.json",
  "sentence_bert_config.json",
  "config_sentence_transformers.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "tokenizer.json",
  "metadata.json",
  "model_manifest.json",
  "onnx_config.json",
  "artifact.metadata",
  "metadata/model.json",
  "generation_config.json",
  "genai_config.json",
  "preprocessor_config.json",
  "config.min.json",
  "README.md",
  "vocab.txt",
];

export const modelFolder: FuzzTarget = {
  codes: ["MODEL_INVALID", "MODEL_UNSUPPORTED", "MODEL_NOT_FOUND", "POOLING_UNKNOWN", "TOKENIZER_INVALID", "LIMIT_EXCEEDED"],
  seeds: () => [...ownSeeds(), ...sharedFolders()],
  mutate: mutateJsonText,
  dictionary: [
    ...readNames,
    "model_type",
    "architectures",
    "bert",
    "static",
    "model2vec",
    "BertModel",
    "onnx/model.onnx",
    "model.safetensors",
    "pooling_mode_mean_tokens",
    "pooling_mode_cls_token",
    "max_seq_length",
    "prompts",
    "default_prompt_name",
    "type",
    "path",
    "sentence_transformers.models.Pooling",
    "sentence_transformers.models.Normalize",
    "sentence_transformers.models.Dense",

    "sentence_transformers.models.Transformer",
    "variants",
    "task",
    "backends",
    "requirements",
    "answers",
    "$schema",
    "manifestVersion",
  ],
  open: async () => {
    const scratch = scratchFolder();
    const folder = join(scratch.path, "model");
    return {
      async run(input) {
        const files = parsed(input);
        if (typeof files !== "object" || files === null) return;
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(join(folder, "onnx"), { recursive: true });
        writeFileSync(join(folder, "model.safetensors"), smallWeights());
        for (const path of ["onnx/model.onnx", "model.onnx"]) writeFileSync(join(folder, path), smallModel());
        for (const [name, content] of Object.entries(files)) {
          if (!readNames.includes(name) || content === null) continue;
          mkdirSync(dirname(join(folder, name)), { recursive: true });
          writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
        }
        JSON.stringify(await readManifest(folder));
      },
      close: () => scratch.remove(),
    };
  },
};

function ownSeeds(): Uint8Array[] {
  const weights = createHash("sha256").update(smallModel()).digest("hex");
  const inferyard = {
    name: "small",
    tasks: ["feature-extraction"],
    variants: {
      fp32: { file: "onnx/model.onnx", precision: "fp32", aliases: ["a"], sha256: weights, size: smallModel().length },
    },
    backends: ["native"],
    preferred: "native:cpu",
    fallbacks: ["wasm"],
    requirements: { memoryBytes: 1024 },
    pooling: "mean",
    normalize: true,
    maxTokens: 128,
    prompts: { query: "query: " },
    probe: { inputs: { x: { dataType: "float32", shape: [1], data: [0] } } },
  };
  const files = [{ name: "model.onnx", digest: `sha256:${weights}`, size: smallModel().length }];
  const termite = { schemaVersion: 2, name: "small", source: "owner/small", type: "embedder", files };
  const modules = [{ idx: 0, name: "0", path: "", type: "sentence_transformers.models.StaticEmbedding" }];
  const own = JSON.parse(readFileSync(new URL("../../../builtin/inferyard.json", import.meta.url), "utf8")) as Json;
  return [
    { "config.json": { model_type: "bert", architectures: ["BertModel"], hidden_size: 4 }, "inferyard.json": inferyard },
    { "config.json": { model_type: "model2vec", normalize: true }, "modules.json": modules, "tokenizer.json": "{}" },
    { "inferyard.json": own },
    { "model_manifest.json": termite },
    { "metadata.json": { project_name: "a", framework: "onnx", version: "1", created_at: "", model_file: "onnx/model.onnx" } },
  ].map((files) => Buffer.from(JSON.stringify(files)));
}

/** The folders of the shared data, with their short files. */
function sharedFolders(): Uint8Array[] {
  const folders = new Set(
    sharedFiles("config.json", 20_000)
      .map((path) => dirname(path))
      .filter((path) => !/[\\/]\d_\w+$/.test(path)),
  );
  return [...folders].flatMap((folder) => {
    const found = readNames.flatMap((name): [string, Json][] => {
      try {
        const bytes = readFileSync(join(folder, name));
        if (bytes.length > 20_000) return [];
        return [[name, parsed(bytes) ?? bytes.toString()]];
      } catch {
        return [];
      }
    });
    const bytes = Buffer.from(JSON.stringify(Object.fromEntries(found)));
    return bytes.length <= 32_768 && basename(folder) !== "" ? [bytes] : [];
  });
}
