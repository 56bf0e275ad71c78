/**
 * Writes a distilled model in the layout of model2vec (model.safetensors, tokenizer.json, config.json, modules.json), with an inferyard.json. Everything is written to a
 * temporary folder, which is then renamed.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError, wrapError } from "../contract/errors.ts";
import { writeSafetensors } from "../formats/safetensors/write-safetensors.ts";
import { publishFolder, replaceFolder } from "../platform/node/atomic-folder.ts";
import { toSha256 } from "../storage/sha256.ts";
import type { Tensor } from "../contract/tensor.ts";
import { encodeFloat16 } from "../contract/float16.ts";
import { packNibbles } from "./quantize.ts";
import type { QuantizedRows } from "./quantize.ts";
import { withOutputErrors } from "../platform/node/output-errors.ts";

/** Fields of inferyard.json and config.json that cannot be derived from the embedding matrix. */
export interface StaticModelDescription {
  readonly name: string;
  /** Names of Hugging Face tasks. */
  readonly tasks: readonly string[];
  /** SPDX expression. */
  readonly license?: string;
  /** Any JSON: the teacher, the texts, the command, results. */
  readonly provenance: Readonly<Record<string, unknown>>;
  /** Reference of the teacher. */
  readonly teacher: string;
  /** Absolute path of the tokenizer.json of the teacher. */
  readonly tokenizerPath: string;
  /** Longest input in tokens. */
  readonly maxTokens: number;
  /** Paths of files that are copied under their names: LICENSE, NOTICE. */
  readonly notices: readonly string[];
  /** Texts with the normalized vectors that the model gives for them. */
  readonly answers: readonly { readonly text: string; readonly embedding: Float32Array }[];
}

/** The temporary folder that a distilled model is written to before it is renamed. */
export interface Staging {
  /** Absolute path of the temporary folder. */
  readonly directory: string;
  /** Absolute path that it is renamed to. */
  readonly target: string;
  /** Whether an existing folder is replaced. */
  readonly replace: boolean;
}

/** Tolerance of the known answers: it only allows for sums in another order. */
const answerTolerance = 1e-4;

/**
 * Creates the temporary folder of a distilled model, so that errors of the file system occur before the work. Throws
 * OUTPUT_FAILED, also if `output` exists and may not be replaced.
 */
export async function openStaging(output: string, replace: boolean): Promise<Staging> {
  const target = resolve(output);
  if (!replace && existsSync(target)) {
    throw new InferyardError("OUTPUT_FAILED", `${output} is already there`, {
      remedy: "choose another folder or remove this one",
    });
  }
  const directory = `${target}.${process.pid}.${randomUUID()}.tmp`;
  await withOutputErrors(target, () => mkdir(directory, { recursive: true }));
  return { directory, target, replace };
}

/** Removes the temporary folder of a distilled model, after an error. */
export async function discardStaging(staging: Staging): Promise<void> {
  await rm(staging.directory, { recursive: true, force: true });
}

/**
 * Writes the distilled model to the temporary folder and renames it to its final path. Throws OUTPUT_FAILED, or TOKENIZER_INVALID
 * if the tokenizer of the teacher cannot be read.
 */
export async function writeModel(staging: Staging, rows: QuantizedRows, description: StaticModelDescription): Promise<void> {
  const { directory, target } = staging;
  const weights = join(directory, "model.safetensors");
  const tokenizer = await bareTokenizer(description.tokenizerPath);
  await withOutputErrors(target, async () => {
    await writeSafetensors(weights, toTensors(rows), { bits: String(rows.bits) });
    await writeFile(join(directory, "tokenizer.json"), tokenizer);
    await writeJson(join(directory, "config.json"), configJson(rows, description));
    await writeJson(join(directory, "modules.json"), modulesJson);
    // Not copied as files: a read-only original would make a read-only copy.
    for (const path of description.notices) await writeFile(join(directory, basename(path)), await readFile(path));
    await writeJson(join(directory, "inferyard.json"), await inferyardJson(weights, rows, description));
    await moveIntoPlace(staging);
  });
}

/** Rows of 8 bits can be read by model2vec, which multiplies them by `weights`; rows of 4 bits only by the backend `native`. */
function toTensors({ bits, rows, dimensions, codes, scales }: QuantizedRows): Record<string, Tensor> {
  if (bits === 8) {
    return {
      embeddings: { dataType: "int8", shape: [rows, dimensions], data: codes },
      weights: { dataType: "float32", shape: [rows], data: scales },
    };
  }
  return {
    "embeddings.int4": { dataType: "uint8", shape: [rows, dimensions / 2], data: packNibbles(codes) },
    weights: { dataType: "float16", shape: [rows], data: Uint16Array.from(scales, encodeFloat16) },
  };
}

/** The tokenizer of the teacher without truncation, padding and special tokens, which a static model does not have. */
async function bareTokenizer(path: string): Promise<string> {
  try {
    const json = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    return JSON.stringify({ ...json, truncation: null, padding: null, post_processor: null });
  } catch (cause) {
    throw wrapError(cause, "TOKENIZER_INVALID", `cannot read the tokenizer ${path}`);
  }
}

function configJson({ dimensions }: QuantizedRows, description: StaticModelDescription): unknown {
  return {
    model_type: "model2vec",
    architectures: ["StaticModel"],
    tokenizer_name: description.teacher,
    apply_pca: dimensions,
    apply_zipf: true,
    hidden_dim: dimensions,
    seq_length: description.maxTokens,
    max_length: description.maxTokens,
    normalize: true,
  };
}

const modulesJson = [
  { idx: 0, name: "0", path: ".", type: "sentence_transformers.models.StaticEmbedding" },
  { idx: 1, name: "1", path: "1_Normalize", type: "sentence_transformers.models.Normalize" },
];

async function inferyardJson(weights: string, rows: QuantizedRows, description: StaticModelDescription): Promise<unknown> {
  const bytes = await readFile(weights);
  const precision = `int${rows.bits}`;
  return {
    name: description.name,
    tasks: description.tasks,
    variants: { [precision]: { file: basename(weights), precision, sha256: toSha256(bytes), size: bytes.length } },
    tokenizer: "tokenizer.json",
    pooling: "mean",
    normalize: true,
    maxTokens: description.maxTokens,
    ...omitUndefined({ license: description.license }),
    provenance: description.provenance,
    probe: {
      texts: description.answers.map(({ text, embedding }) => ({
        text,
        embedding: toBase64(embedding),
        tolerance: answerTolerance,
      })),
    },
  };
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}

async function moveIntoPlace({ directory, target, replace }: Staging): Promise<void> {
  if (replace && existsSync(target)) await replaceFolder(directory, target, `${directory}.old`);
  else await publishFolder(directory, target, async () => false);
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
