/** Options of the task `feature-extraction`: validation, and defaults read from the model's files. Nothing is guessed. */
import { invalidInput } from "../../contract/errors.ts";
import type { Manifest, Pooling } from "../../models/manifest.ts";
import { defaultBatchTokens } from "../batching/plan-batches.ts";
import type { EmbedOutputsOptions } from "./output-options.ts";
import { type QuantizedPrecision, precisions } from "./precisions.ts";
import { promptText } from "./prompts.ts";
import {
  type OptionTable,
  boolean,
  checkOptions,
  choice,
  name,
  positiveInteger,
  unchecked,
  zeroOrMore,
  optionConflict,
} from "../../runtime/options/option.ts";
import { textTaskOptions } from "../definition/task-options.ts";
import { textSettings } from "../encoding/text-settings.ts";
import type { AllEmbedOptions } from "./generated-embed-options.ts";

/** Options of `Runtime.embed` for float32 vectors. */
export interface EmbedOptions extends Omit<AllEmbedOptions, "precision" | "ranges" | "outputs"> {
  /** 32-bit floats. See `QuantizedEmbedOptions` for smaller types. */
  readonly precision?: "float32";
}

/** Options of `Runtime.embed` for vectors quantized to 8 bits or 1 bit per dimension. */
export interface QuantizedEmbedOptions extends Omit<AllEmbedOptions, "outputs"> {
  readonly precision: QuantizedPrecision;
}

const poolings: readonly Pooling[] = ["mean", "cls", "max", "last", "none"];

/** All options of `embed`, quantization and outputs included. Any other name is refused. */
export const embedOptions: OptionTable<QuantizedEmbedOptions & EmbedOutputsOptions> = {
  outputs: { type: unchecked },
  pooling: {
    type: choice(poolings),
    description:
      'How the token vectors of a text become one vector; "none" returns all of them. Default: as the model\'s files state',
    flag: ["--pooling <pooling>", "how token vectors are combined, instead of the model's own pooling"],
  },
  normalize: {
    type: boolean,
    description: "Scale vectors to unit length (L2 norm 1). Default: as the model's files state",
    flag: ["--normalize", "scale vectors to unit length"],
    negatedFlag: ["--no-normalize", "do not scale vectors"],
  },
  prompt: {
    type: name,
    flag: ["--prompt <name>", "prompt of the model put before every text: query, document, ..."],
    field:
      'Name of one of the model\'s prompts ("query", "document", ...), prepended to every text. Default: the model\'s default prompt, if any',
  },
  dimensions: {
    type: positiveInteger,
    flag: ["--dimensions <number>", "keep only the first dimensions"],
    field:
      "Keep only the first n dimensions, then normalize again if vectors are normalized (Matryoshka embeddings). Default: all",
  },
  precision: {
    type: choice(precisions),
    description:
      '"int8" and "uint8": 8 bits per dimension, with scales to restore floats. "binary" and "ubinary": the sign only, 8 dimensions per byte',
    flag: ["--precision <precision>", "number format of the vectors (default: float32)"],
  },
  ranges: {
    type: unchecked,
    typescript: "EmbeddingRanges",
    description:
      'With "int8" and "uint8": minimum and maximum of every dimension, so that codes of different texts compare. Default: one scale per text',
  },
  maxTokens: textTaskOptions.maxTokens,
  truncate: {
    type: choice(["cut", "error", "windows"]),
    description:
      'What happens to longer texts. "cut" truncates them; "error" throws INPUT_TOO_LONG; "windows" embeds overlapping windows and returns their mean, each window weighted by the number of tokens that no earlier window contains. Default: "cut"',
    flag: ["--truncate <how>", "what to do with longer texts"],
  },
  stride: {
    type: zeroOrMore,
    description: 'With `truncate: "windows"`: overlap of consecutive windows, in tokens of the text. Default: 0',
    flag: ["--stride <tokens>", "with --truncate windows: how far they overlap (default: 0)"],
  },
  batchTokens: textTaskOptions.batchTokens,
  signal: textTaskOptions.signal,
};

/** Whether the options request quantized vectors. */
export function isQuantized(options: EmbedOptions | QuantizedEmbedOptions): options is QuantizedEmbedOptions {
  return (
    (options.precision !== undefined && options.precision !== "float32") || ("ranges" in options && options.ranges !== undefined)
  );
}

/** `EmbedOptions` with every default filled in from the model's manifest. */
export interface EmbedSettings {
  /** Pooling of token vectors; undefined if neither the caller nor the model's files state one. */
  readonly pooling: Pooling | undefined;
  /** Whether the tokens of the prompt take part in pooling. */
  readonly poolPrompt: boolean;
  /** Whether vectors are scaled to unit length. */
  readonly normalize: boolean;
  /** Text prepended to every input; "" for none. */
  readonly promptText: string;
  /** Number of leading dimensions to keep; undefined: all. */
  readonly dimensions: number | undefined;
  /** Infinity: no limit. */
  readonly maxTokens: number;
  readonly truncate: "cut" | "error" | "windows";
  /** Overlap of windows in tokens. */
  readonly stride: number;
  /** Maximum size of one batch in tokens, padding included. */
  readonly batchTokens: number;
}

/**
 * Validates the options of one call and fills in the model's defaults. Throws INPUT_INVALID for a value that is not allowed, for options that
 * exclude each other, and for a prompt that the model does not have.
 */
export function embedSettings(manifest: Manifest, options: EmbedOptions): EmbedSettings {
  const text = textSettings(manifest);
  const { pooling = text.pooling, truncate = "cut", batchTokens = defaultBatchTokens } = options;
  checkOptions(embedOptions, options);
  refuseStrideWithoutWindows(truncate, options.stride);
  if (pooling === "none") {
    if (options.normalize === true) throw optionConflict('normalize cannot be combined with pooling "none"');
    if (options.dimensions !== undefined) throw optionConflict('dimensions cannot be cut with pooling "none"');
    if (truncate === "windows")
      throw optionConflict('truncate "windows" makes one vector of a text, and pooling "none" keeps those of its tokens');
  }
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

function refuseStrideWithoutWindows(truncate: EmbedSettings["truncate"], stride: number | undefined): void {
  if (stride === undefined || truncate === "windows") return;
  throw invalidInput(`stride has no effect with truncate "${truncate}"`, 'leave stride out, or choose truncate "windows"');
}
