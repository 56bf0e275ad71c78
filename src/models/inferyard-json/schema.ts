/**
 * The schema of inferyard.json. `npm run schemas` writes it as JSON schema to schemas/inferyard.json; a test compares the two. Every field is optional.
 */
import * as z from "zod";
import type { DataType } from "../../contract/tensor.ts";
import type { KnownContinuation, Requirements } from "../manifest.ts";
import type { TextOverrides } from "../huggingface/text-settings.ts";
import type { DeclaredVariant } from "../manifest/variants.ts";
import type { VisionManifest } from "../vision-manifest.ts";

/** The content of inferyard.json, the manifest of this program. `inferyardJsonSchema()` describes each field. */
export interface InferyardJson extends TextOverrides {
  readonly $schema?: string;
  readonly name?: string;
  readonly tasks?: readonly string[];
  readonly variants?: Readonly<Record<string, Omit<DeclaredVariant, "name">>>;
  readonly backends?: readonly string[];
  readonly preferred?: string;
  readonly fallbacks?: readonly string[];
  readonly requirements?: Requirements;
  readonly license?: string;
  readonly provenance?: unknown;
  readonly probe?: ProbeJson;
  readonly vision?: VisionManifest;
}

/**
 * The field `probe` of inferyard.json: how the model is verified after a load. Exactly one of the fields is set. `embedding`
 * is the base64 of little-endian 32-bit floats.
 */
export interface ProbeJson {
  readonly texts?: readonly { readonly text: string; readonly embedding: string; readonly tolerance: number }[];
  readonly inputs?: Readonly<Record<string, ProbeTensorJson>>;
  readonly continuations?: readonly KnownContinuation[];
}

/** A tensor in JSON, row-major. 16-bit floating-point types are not supported. Integers beyond 2^53 are strings. */
export interface ProbeTensorJson {
  readonly dataType: Exclude<DataType, "float16" | "bfloat16">;
  readonly shape: readonly number[];
  readonly data: readonly (number | string | boolean)[];
}

const target = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]*(:[A-Za-z][A-Za-z0-9-]*(:\d+)?)?$/, "must be backend, backend:device or backend:device:index");
const precision = z.enum(["fp32", "fp16", "bf16", "int8", "int4"]);
const file = z.string().min(1);
const bytes = z.int().positive();

const variant = z.strictObject({
  file: file.describe("Weights or graph, relative to this file, inside its folder."),
  format: z.enum(["onnx", "safetensors", "gguf"]).exactOptional().describe("Default: by the file's extension."),
  precision: precision.exactOptional().describe("Precision of the weights. Default: what the file itself says."),
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits")
    .exactOptional()
    .describe("Checked where verification is asked for."),
  size: bytes.exactOptional().describe("Bytes of the file; checked whenever the model is read."),
  architecture: z.string().exactOptional().describe("Default: the first of `architectures` in config.json."),
  aliases: z.array(z.string()).exactOptional().describe("Other names that choose this variant."),
});

const requirements = z.strictObject({
  memoryBytes: bytes.exactOptional().describe("Memory that must be available. Default: the size of the weights."),
  deviceMemoryBytes: bytes.exactOptional().describe("Memory a device other than the CPU must have."),
  cudaVersion: z
    .string()
    .regex(/^\d+(\.\d+)*$/, 'must be a version such as "12.8"')
    .exactOptional()
    .describe("Lowest CUDA version, on CUDA and TensorRT."),
  precision: precision.exactOptional().describe("Precision the target must compute."),
});

const answer = z.strictObject({
  text: z.string(),
  embedding: z.base64().min(1).describe("The vector, as base64 of little-endian 32-bit floats."),
  tolerance: z.number().nonnegative().describe("Largest difference allowed in any component."),
});

const tensor = z.strictObject({
  dataType: z.enum([
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "string",
  ]),
  shape: z.array(z.int().nonnegative()),
  data: z.array(z.union([z.number(), z.string(), z.boolean()])).describe("Row by row; whole numbers beyond 2^53 as text."),
});

const tokens = z.array(z.int().nonnegative()).min(1);

const probe = z.strictObject({
  texts: z.array(answer).min(1).exactOptional().describe("Texts with the vectors the model must give; checked after every load."),
  inputs: z
    .record(z.string(), tensor)
    .exactOptional()
    .describe("An input for a first run, by the model's input names; its outputs must be finite."),
  continuations: z
    .array(z.strictObject({ source: tokens.exactOptional(), prompt: tokens, continuation: tokens }))
    .min(1)
    .exactOptional()
    .describe(
      "Token ids with those that a language model must give the highest logits after them, one after the other; checked after every load. `source`: ids that an encoder reads.",
    ),
});

const vision = z.strictObject({
  preprocessor: z
    .record(z.string(), z.unknown())
    .exactOptional()
    .describe(
      "How pictures are prepared: fields of preprocessor_config.json, and `letterbox`. Default: preprocessor_config.json.",
    ),
  labels: z
    .array(z.string())
    .min(1)
    .exactOptional()
    .describe("Labels in the order of the scores. Default: id2label of config.json."),
  activation: z
    .enum(["softmax", "sigmoid", "none"])
    .exactOptional()
    .describe("Function from the output of a classifier to scores. Default: by config.json."),
  detector: z
    .strictObject({
      layout: z
        .enum(["detr", "yolo", "rfb", "rfb-corners"])
        .describe(
          "Outputs: detr has logits and pred_boxes; yolo one tensor of a box and the scores of the labels per column; rfb scores, the first the background's, and offsets of boxes from prior boxes; rfb-corners the same with corners.",
        ),
      threshold: z.number().min(0).max(1).exactOptional().describe("Smallest score of a detection."),
      overlap: z.number().min(0).max(1).exactOptional().describe("Largest intersection over union of two detections."),
      perLabel: z.boolean().exactOptional().describe("Whether detections of different labels may overlap. Default: false."),
    })
    .exactOptional()
    .describe("How detections are read from the outputs of a detector. Default: as DETR's, where the outputs have its names."),
});

/** The schema that validates the content of inferyard.json. Unknown fields are errors. */
export const inferyardSchema: z.ZodType<InferyardJson> = z.strictObject({
  $schema: z.string().exactOptional().describe("Where this schema is, for editors."),
  name: z.string().min(1).exactOptional().describe("Short name for people. Default: the folder's."),
  tasks: z
    .array(z.string())
    .exactOptional()
    .describe("Hugging Face task names, best first. Default: by the model's architecture."),
  variants: z
    .record(z.string().min(1), variant)
    .exactOptional()
    .describe(
      "Sets of weights by name, in order of preference. Default: the .onnx, model.safetensors and .gguf files of the folder.",
    ),
  tokenizer: file
    .exactOptional()
    .describe("tokenizer.json or another file of a tokenizer, relative to this file. Default: the one in the folder."),
  pooling: z
    .enum(["mean", "cls", "max", "last", "none"])
    .exactOptional()
    .describe("How token vectors become one. Default: what modules.json says."),
  normalize: z.boolean().exactOptional().describe("Scale vectors to unit length. Default: what modules.json says."),
  maxTokens: z
    .int()
    .positive()
    .nullable()
    .exactOptional()
    .describe("Longest text in tokens, null for no limit. Default: what the model's files say."),
  specialTokens: z
    .boolean()
    .exactOptional()
    .describe("Put the tokenizer's special tokens around each text. Default: yes, but for static embeddings."),
  dropUnknown: z.boolean().exactOptional().describe("Leave unknown tokens out. Default: only for model2vec models."),
  prompts: z
    .record(z.string(), z.string())
    .exactOptional()
    .describe("Texts put before inputs, by name. Default: config_sentence_transformers.json."),
  defaultPrompt: z.string().exactOptional().describe("Name of the prompt used when none is asked for."),
  backends: z.array(target).exactOptional().describe("Backends, or targets, the model may run on; empty or left out = all."),
  preferred: target.exactOptional().describe("Target to try first under the policy `manifest`."),
  fallbacks: z.array(target).exactOptional().describe("Targets to try after it, in order."),
  requirements: requirements.exactOptional().describe("What a machine must have."),
  license: z.string().exactOptional().describe("SPDX expression. Default: what README.md says in its front matter."),
  provenance: z.unknown().exactOptional().describe("Where the model comes from, in any form; for people."),
  vision: vision.exactOptional().describe("What a model that reads pictures needs beside its graph."),
  probe: probe.exactOptional().describe("A check that is run after every load: `texts`, `inputs` or `continuations`."),
});

/** The JSON schema of inferyard.json, as it is written to schemas/inferyard.json. */
export function inferyardJsonSchema(): object {
  return { title: "inferyard.json: a model for Inferyard", ...z.toJSONSchema(inferyardSchema, { io: "input" }) };
}
