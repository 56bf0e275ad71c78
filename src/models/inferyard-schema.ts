/**
 * The shape of inferyard.json. `schemas/inferyard.json`, for editors, is made from it; a test holds the two together.
 * Every field may be left out: the files beside it say the rest.
 */
import { z } from "zod";

const target = z.string().regex(/^[a-z][a-z0-9-]*(:[a-z][a-z0-9-]*(:\d+)?)?$/, "must be backend, backend:device or backend:device:index");
const precision = z.enum(["fp32", "fp16", "bf16", "int8", "int4"]);
const file = z.string().min(1);
const bytes = z.int().positive();

const variant = z.strictObject({
  file: file.describe("Weights or graph, relative to this file, inside its folder."),
  format: z.enum(["onnx", "safetensors", "gguf"]).optional().describe("Default: by the file's extension."),
  precision: precision.optional().describe("Precision of the weights. Default: what the file itself says."),
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits").optional().describe("Checked by `inferyard verify`."),
  size: bytes.optional().describe("Bytes of the file; checked whenever the model is read."),
  architecture: z.string().optional().describe("Default: the first of `architectures` in config.json."),
  aliases: z.array(z.string()).optional().describe("Other names that choose this variant."),
});

const requirements = z.strictObject({
  memoryBytes: bytes.optional().describe("Memory that must be available. Default: the size of the weights."),
  deviceMemoryBytes: bytes.optional().describe("Memory a device other than the CPU must have."),
  cudaVersion: z.string().regex(/^\d+(\.\d+)*$/, 'must be a version such as "12.8"').optional().describe("Lowest CUDA version, on CUDA and TensorRT."),
  precision: precision.optional().describe("Precision the target must compute."),
});

const answer = z.strictObject({
  text: z.string(),
  embedding: z.base64().min(1).describe("The vector, as base64 of little-endian 32-bit floats."),
  tolerance: z.number().nonnegative().describe("Largest difference allowed in any component."),
});

const tensor = z.strictObject({
  dataType: z.enum(["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "string"]),
  shape: z.array(z.int().nonnegative()),
  data: z.array(z.union([z.number(), z.string(), z.boolean()])).describe("Row by row; whole numbers beyond 2^53 as text."),
});

const probe = z.strictObject({
  texts: z.array(answer).min(1).optional().describe("Texts with the vectors the model must give; checked after every load."),
  inputs: z.record(z.string(), tensor).optional().describe("An input for a first run, by the model's input names; its outputs must be finite."),
});

export const inferyardSchema = z.strictObject({
  $schema: z.string().optional().describe("Where this schema is, for editors."),
  name: z.string().min(1).optional().describe("Short name for people. Default: the folder's."),
  tasks: z.array(z.string()).optional().describe("Hugging Face task names, best first. Default: by the model's architecture."),
  variants: z
    .record(z.string().min(1), variant)
    .optional()
    .describe("Sets of weights by name, in order of preference. Default: the .onnx, model.safetensors and .gguf files of the folder."),
  tokenizer: file.optional().describe("tokenizer.json, relative to this file. Default: the one in the folder."),
  pooling: z.enum(["mean", "cls", "max", "last", "none"]).optional().describe("How token vectors become one. Default: what modules.json says."),
  normalize: z.boolean().optional().describe("Scale vectors to unit length. Default: what modules.json says."),
  maxTokens: z.int().positive().nullable().optional().describe("Longest text in tokens, null for no limit. Default: what the model's files say."),
  specialTokens: z.boolean().optional().describe("Put the tokenizer's special tokens around each text. Default: yes, but for static embeddings."),
  dropUnknown: z.boolean().optional().describe("Leave unknown tokens out. Default: only for model2vec models."),
  prompts: z.record(z.string(), z.string()).optional().describe("Texts put before inputs, by name. Default: config_sentence_transformers.json."),
  defaultPrompt: z.string().optional().describe("Name of the prompt used when none is asked for."),
  backends: z.array(z.string().min(1)).optional().describe("Backends the model may run on; empty or left out = all."),
  preferred: target.optional().describe("Target to try first under the policy `manifest`."),
  fallbacks: z.array(target).optional().describe("Targets to try after it, in order."),
  requirements: requirements.optional().describe("What a machine must have."),
  license: z.string().optional().describe("SPDX expression. Default: what README.md says in its front matter."),
  provenance: z.unknown().optional().describe("Where the model comes from, in any form; for people."),
  probe: probe.optional().describe("A check that is run after every load: `texts` or `inputs`."),
});

export type InferyardJson = z.infer<typeof inferyardSchema>;

/** The JSON schema of inferyard.json. */
export function inferyardJsonSchema(): object {
  return { title: "inferyard.json: a model for Inferyard", ...z.toJSONSchema(inferyardSchema, { io: "input" }) };
}
