/** What one embedding call asks for, checked against the model: defaults come from the model's own files, never from a guess. */
import { InferyardError } from "../../errors.ts";
import type { Manifest, Pooling, TextSettings } from "../../models/manifest.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import { defaultBatchTokens } from "../batching/plan-batches.ts";
import type { EmbeddingRanges } from "./quantization-ranges.ts";
import type { QuantizedPrecision } from "./quantize.ts";
import { refuseNonPositive, refuseUnlisted } from "../../runtime/options/options.ts";

export interface EmbedOptions {
  /** How token vectors become one. Default: what the model's files say; "none" gives every token's vector. */
  readonly pooling?: Pooling;
  /** Scale vectors to unit length. Default: what the model's files say. */
  readonly normalize?: boolean;
  /** "query", "document" or another of the model's prompts, put before every text. Default: the model's default prompt, if it has one. */
  readonly prompt?: string;
  /** Keep only the first dimensions (for models trained so: Matryoshka), scaled to unit length again where vectors are. Default: all. */
  readonly dimensions?: number;
  /** Longest text in tokens, special tokens included; never above the model's own limit. Default: the model's own limit. */
  readonly maxTokens?: number;
  /**
   * What to do with longer texts: "cut" them, refuse them with INPUT_TOO_LONG ("error"), or read them in "windows", whose vectors become one:
   * their mean, weighted by how many tokens of the text each is the first to read. Default: "cut".
   */
  readonly truncate?: "cut" | "error" | "windows";
  /** With "windows": tokens of the text by which they overlap. Default: 0. */
  readonly stride?: number;
  /** Padded tokens in one batch. Default: 512. */
  readonly batchTokens?: number;
  /** 32-bit floats; for fewer bits: `QuantizedEmbedOptions`. */
  readonly precision?: "float32";
  readonly signal?: AbortSignal;
}

export interface QuantizedEmbedOptions extends Omit<EmbedOptions, "precision"> {
  /** "int8" and "uint8" come with scales; "binary" and "ubinary" keep the signs, 8 in a byte. */
  readonly precision: QuantizedPrecision;
  /** With "int8" and "uint8": ranges of every dimension, for numbers that compare across texts. Default: each text has a scale of its own. */
  readonly ranges?: EmbeddingRanges;
}

export const embedOptionNames: readonly (keyof QuantizedEmbedOptions)[] = [
  "pooling",
  "normalize",
  "prompt",
  "dimensions",
  "maxTokens",
  "truncate",
  "stride",
  "batchTokens",
  "precision",
  "ranges",
  "signal",
];

/** The call's settings, every default filled in. */
export interface EmbedSettings {
  readonly pooling: Pooling | undefined;
  readonly poolPrompt: boolean;
  readonly normalize: boolean;
  readonly promptText: string;
  readonly dimensions: number | undefined;
  readonly maxTokens: number;
  readonly truncate: "cut" | "error" | "windows";
  readonly stride: number;
  readonly batchTokens: number;
}

export const poolings: readonly Pooling[] = ["mean", "cls", "max", "last", "none"];

/** What can be done with a text that is too long. */
export const truncations: readonly EmbedSettings["truncate"][] = ["cut", "error", "windows"];

export function embedSettings(manifest: Manifest, options: EmbedOptions): EmbedSettings {
  const text = textSettings(manifest);
  const { pooling = text.pooling, truncate = "cut", batchTokens = defaultBatchTokens } = options;
  refuseUnlisted("pooling", options.pooling, poolings);
  refuseUnlisted("truncate", options.truncate, truncations);
  checkStride(truncate, options.stride);
  refuseUnlisted("normalize", options.normalize, [true, false]);
  if (pooling === "none" && options.normalize === true) {
    throw new InferyardError("INPUT_INVALID", 'normalize cannot be combined with pooling "none"', {
      remedy: "leave one of the two out",
    });
  }
  if (pooling === "none" && options.dimensions !== undefined) {
    throw new InferyardError("INPUT_INVALID", 'dimensions cannot be cut with pooling "none"', {
      remedy: "leave one of the two out",
    });
  }
  if (pooling === "none" && truncate === "windows") {
    throw new InferyardError(
      "INPUT_INVALID",
      'truncate "windows" makes one vector of a text, and pooling "none" keeps those of its tokens',
      {
        remedy: "leave one of the two out",
      },
    );
  }
  for (const key of ["dimensions", "maxTokens", "batchTokens"] as const) refuseNonPositive(key, options[key]);
  return {
    pooling,
    poolPrompt: text.poolPrompt,
    normalize: pooling !== "none" && (options.normalize ?? text.normalize),
    promptText: promptText(manifest.name, text, options.prompt),
    dimensions: options.dimensions,
    maxTokens: Math.min(options.maxTokens ?? Number.POSITIVE_INFINITY, text.maxTokens ?? Number.POSITIVE_INFINITY),
    truncate,
    stride: options.stride ?? 0,
    batchTokens,
  };
}

function checkStride(truncate: EmbedSettings["truncate"], stride: number | undefined): void {
  if (stride === undefined) return;
  if (truncate !== "windows") {
    throw new InferyardError("INPUT_INVALID", `stride means nothing with truncate "${truncate}"`, {
      remedy: 'leave stride out, or choose truncate "windows"',
    });
  }
  if (Number.isSafeInteger(stride) && stride >= 0) return;
  throw new InferyardError("INPUT_INVALID", `stride is ${String(stride)}, and must be a whole number from 0`, {
    remedy: "correct stride, or leave it out",
  });
}

/** The model's text settings; MODEL_UNSUPPORTED for a model without a tokenizer. */
export function textSettings(manifest: Manifest): TextSettings {
  if (manifest.text !== undefined) return manifest.text;
  throw new InferyardError("MODEL_UNSUPPORTED", `${manifest.name} has no tokenizer, so it cannot take text`, {
    remedy: "put the model's tokenizer.json beside it, or run it on tensors with `handle.run`",
  });
}

/** sentence-transformers looks for a document prompt under these names, in this order. */
const documentNames = ["document", "passage", "corpus"];

function promptText(model: string, text: TextSettings, asked: string | undefined): string {
  if (asked === undefined) return text.defaultPrompt === undefined ? "" : (text.prompts[text.defaultPrompt] ?? "");
  const names = asked === "document" ? documentNames : [asked];
  const name = names.find((candidate) => Object.hasOwn(text.prompts, candidate));
  if (name !== undefined) return text.prompts[name] ?? "";
  const known = Object.keys(text.prompts);
  if (known.length === 0) {
    throw new InferyardError("INPUT_INVALID", `${model} has no prompts, so not "${asked}" either`, {
      remedy: "leave the prompt out",
    });
  }
  const guess = nearestName(asked, known);
  throw new InferyardError("INPUT_INVALID", `${model} has no prompt "${asked}"`, {
    remedy: guess === undefined ? `choose one of ${known.join(", ")}` : `did you mean "${guess}"? It has ${known.join(", ")}`,
  });
}
