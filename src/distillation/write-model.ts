/**
 * Puts a distilled model on disk in model2vec's layout (model.safetensors, tokenizer.json, config.json, modules.json), with our
 * inferyard.json beside it. Everything is written into a folder next to the wanted one, which then takes its place.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { InferyardError, messageOf, wrapError } from "../errors.ts";
import { writeSafetensors } from "../formats/safetensors/write-safetensors.ts";
import type { Tensor } from "../tensor.ts";
import { encodeFloat16 } from "../formats/floats/float16.ts";
import { packNibbles } from "./quantize.ts";
import type { QuantizedRows } from "./quantize.ts";

/** What inferyard.json and config.json say beside what the rows tell. */
export interface ModelDescription {
  readonly name: string;
  readonly tasks: readonly string[];
  /** SPDX expression. */
  readonly license?: string;
  /** Free form: the teacher, the texts, the command, figures. */
  readonly provenance: Readonly<Record<string, unknown>>;
  readonly teacher: string;
  readonly tokenizerPath: string;
  /** Longest text in tokens. */
  readonly maxTokens: number;
  /** Files that go along unchanged under their own names: LICENSE, NOTICE. */
  readonly notices: readonly string[];
  /** Texts with the normalized vectors this model gives for them. */
  readonly answers: readonly { readonly text: string; readonly embedding: Float32Array }[];
}

/** The folder being filled. */
export interface Staging {
  readonly directory: string;
  readonly target: string;
  readonly replace: boolean;
}

/** Largest difference allowed between a vector's component and the known answer: sums in another order, and nothing more. */
const answerTolerance = 1e-4;

/** Makes the folder to fill, so that a disk that refuses is noticed before the work and not after it. */
export async function openStaging(output: string, replace: boolean): Promise<Staging> {
  const target = resolve(output);
  if (!replace && (await exists(target))) {
    throw new InferyardError("OUTPUT_FAILED", `${output} is already there`, {
      remedy: "choose another folder or remove this one",
    });
  }
  const directory = `${target}.${process.pid}.${randomUUID()}.tmp`;
  await disk(target, () => mkdir(directory, { recursive: true }));
  return { directory, target, replace };
}

export async function discardStaging(staging: Staging): Promise<void> {
  await rm(staging.directory, { recursive: true, force: true });
}

/** Fills the folder and moves it to its place. */
export async function writeModel(staging: Staging, rows: QuantizedRows, description: ModelDescription): Promise<void> {
  const { directory, target } = staging;
  const weights = join(directory, "model.safetensors");
  const tokenizer = await bareTokenizer(description.tokenizerPath);
  await disk(target, async () => {
    await writeSafetensors(weights, tensorsOf(rows), { bits: String(rows.bits) });
    await writeFile(join(directory, "tokenizer.json"), tokenizer);
    await writeJson(join(directory, "config.json"), configJson(rows, description));
    await writeJson(join(directory, "modules.json"), modulesJson);
    // Not copied as files: a read-only original would make a read-only copy.
    for (const path of description.notices) await writeFile(join(directory, basename(path)), await readFile(path));
    await writeJson(join(directory, "inferyard.json"), await inferyardJson(weights, rows, description));
    await moveIntoPlace(staging);
  });
}

/** Rows of 8 bits can be read by model2vec itself, which multiplies them by `weights`; those of 4 bits only by us. */
function tensorsOf({ bits, rows, dimensions, codes, scales }: QuantizedRows): Record<string, Tensor> {
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

/** The teacher's tokenizer without what does not concern a static model: cutting, padding, and the frame of special tokens. */
async function bareTokenizer(path: string): Promise<string> {
  try {
    const json = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    return JSON.stringify({ ...json, truncation: null, padding: null, post_processor: null });
  } catch (cause) {
    throw wrapError(cause, "TOKENIZER_INVALID", `cannot read the tokenizer ${path}`);
  }
}

function configJson({ dimensions }: QuantizedRows, description: ModelDescription): unknown {
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

async function inferyardJson(weights: string, rows: QuantizedRows, description: ModelDescription): Promise<unknown> {
  const bytes = await readFile(weights);
  const precision = `int${rows.bits}`;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    name: description.name,
    tasks: description.tasks,
    variants: { [precision]: { file: basename(weights), precision, sha256, size: bytes.length } },
    tokenizer: "tokenizer.json",
    pooling: "mean",
    normalize: true,
    maxTokens: description.maxTokens,
    ...(description.license === undefined ? {} : { license: description.license }),
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

/** A folder cannot replace one that has content in a single step: the old one is moved aside first, and back if that fails. */
async function moveIntoPlace({ directory, target, replace }: Staging): Promise<void> {
  const aside = `${directory}.old`;
  const occupied = replace && (await exists(target));
  if (occupied) await rename(target, aside);
  try {
    await rename(directory, target);
  } catch (error) {
    if (occupied) await rename(aside, target);
    throw error;
  }
  await rm(aside, { recursive: true, force: true });
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

async function disk<T>(target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof InferyardError) throw cause;
    throw new InferyardError("OUTPUT_FAILED", `cannot write the model ${target}: ${messageOf(cause)}`, {
      cause,
      remedy: "check that the folder above it is writable and has space left",
    });
  }
}
