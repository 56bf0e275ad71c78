/** Options of the task `chunking`: validation and defaults. */
import type { ChunkSettings, ChunkStrategy, LateStructure } from "../text-threads/chunked-text.ts";
import { type InferyardError, invalidInput } from "../../contract/errors.ts";
import {
  refuseUnlisted,
  type OptionTable,
  checkOptions,
  choice,
  name,
  number,
  positiveInteger,
  listOption,
  unchecked,
  zeroOrMore,
} from "../../runtime/options/option.ts";
import { offsetUnits } from "../../tokenizers/index.ts";
import { separatorNames } from "./separators.ts";
import type { Separator } from "../text-threads/chunked-text.ts";
import type { ChunkOptions } from "./generated-chunk-options.ts";

/** All values of the option `strategy`. */
export const chunkStrategies: readonly ChunkStrategy[] = [
  "fixed",
  "markdown",
  "code",
  "semantic",
  "late",
  "token-classification",
];

/** Strategies that run the model. The others need only its tokenizer. */
const modelStrategies: ReadonlySet<ChunkStrategy> = new Set(["semantic", "late", "token-classification"] as const);

/** Whether a strategy runs the model; otherwise only its tokenizer is loaded. */
export function runsModel(strategy: ChunkStrategy): boolean {
  return modelStrategies.has(strategy);
}

/** All values of the option `structure`. */
export const lateStructures: readonly LateStructure[] = ["fixed", "markdown", "code"];

/** All options of `chunk`. Any other name is refused. */
export const chunkOptions: OptionTable<ChunkOptions> = {
  strategy: {
    type: choice(chunkStrategies),
    flag: ["--strategy <strategy>", "where to cut (default: fixed)"],
    field:
      'How chunk boundaries are chosen. "fixed": at separators. "markdown", "code": at the structure of the text. "semantic": where the embeddings of adjacent sentences differ most. "token-classification": where a model with that head marks an end. "late": as `structure` states, and every chunk gets an embedding computed from the whole text (late chunking, Günther et al. 2024). Default: "fixed"',
  },
  targetTokens: {
    type: positiveInteger,
    flag: ["--target-tokens <number>", "maximum tokens of a chunk (default: 500)"],
    field: "Maximum number of tokens of a chunk, special tokens not counted. Default: 500",
  },
  overlapTokens: {
    type: zeroOrMore,
    description:
      "Number of tokens at the end of a chunk that the next one repeats, at most, counted word by word; less than `targetTokens`. Default: 0",
    flag: ["--overlap <number>", "tokens that consecutive chunks share (default: 0)"],
    field: "Tokens that consecutive chunks share. Default: 0",
  },
  maxChunks: {
    type: positiveInteger,
    flag: ["--max-chunks <number>", "maximum chunks of one document"],
    field: "Maximum number of chunks; the rest of the text is dropped, and `truncated` is true. Default: no limit",
  },
  separators: {
    type: listOption,
    typescript: "readonly Separator[]",
    description:
      'Separators to break at, the most preferred first. Not with "code". Default: paragraphs, lines, sentences, words',
    flag: ["--separators <names>", `preferred first: ${separatorNames.join(",")}`],
  },
  offsets: {
    type: choice(offsetUnits),
    description:
      'Unit of `start` and `end`: UTF-16 code units, as in JavaScript strings, code points, or UTF-8 bytes. Default: "utf16"',
    flag: ["--offsets <unit>", "unit of start and end (default: utf16)"],
    field: "Unit of `start_char` and `end_char`. Default: utf16",
  },
  threshold: {
    type: { kind: "number", min: -1, max: 1 },
    flag: ["--threshold <similarity>", "semantic: split where the similarity is below"],
    field:
      'With "semantic": break between adjacent sentences whose cosine similarity is below this value, -1 to 1. Default: by `percentile`',
  },
  percentile: {
    type: number,
    description:
      'With "semantic": break where the cosine distance of adjacent sentences is above this percentile of all distances, 0 to 100. Default: 95',
    flag: ["--percentile <percent>", "semantic: split at distances above this percentile (default: 95)"],
  },
  structure: {
    type: choice(lateStructures),
    description: 'With "late": the strategy that chooses the boundaries. Default: "fixed"',
    flag: ["--structure <strategy>", "late: how boundaries are chosen (default: fixed)"],
  },
  prompt: {
    type: name,
    description: "With \"late\": name of the model's prompt to prepend. Default: the model's default prompt, if any",
    flag: ["--prompt <name>", "late: prompt of the model put before the text"],
  },
  stride: {
    type: zeroOrMore,
    description:
      'With "late" and "token-classification": overlap in tokens of the windows that a longer text is read in. Default: a quarter of a window',
    flag: ["--stride <tokens>", "late, token-classification: how far windows overlap"],
  },
  signal: { type: unchecked, typescript: "AbortSignal", description: "Cancels the call, which then rejects with ABORTED" },
};

const defaultTarget = 500;
const defaultPercentile = 95;

/** Validates the options of one call. Throws INPUT_INVALID for a value that is not allowed, or an option that the strategy does not use. */
export function chunkSettings(options: ChunkOptions): ChunkSettings {
  const { strategy = "fixed", targetTokens = defaultTarget, overlapTokens = 0, threshold, percentile } = options;
  checkOptions(chunkOptions, options);
  checkOverlap(overlapTokens, targetTokens);
  checkSeparators(options.separators, strategy, options.structure);
  checkStrategyOptions(strategy, options);
  return {
    strategy,
    target: targetTokens,
    overlap: overlapTokens,
    maxChunks: options.maxChunks ?? Number.POSITIVE_INFINITY,
    separators: options.separators ?? separatorNames,
    offsets: options.offsets ?? "utf16",
    threshold,
    percentile: percentile ?? defaultPercentile,
    structure: options.structure ?? "fixed",
    prompt: options.prompt,
    stride: options.stride,
    signal: options.signal,
  };
}

function checkOverlap(overlap: number, target: number): void {
  if (overlap < target) return;
  throw invalidInput(
    `overlapTokens is ${overlap}, and must be below targetTokens, which is ${target}`,
    "lower overlapTokens: a tenth of targetTokens is usual",
  );
}

function checkSeparators(
  separators: readonly Separator[] | undefined,
  strategy: ChunkStrategy,
  structure: LateStructure | undefined,
): void {
  if (separators === undefined) return;
  if (strategy === "code") throw misplaced("separators", "with the strategy code, which cuts by brackets and lines");
  if (structure === "code") throw misplaced("separators", "with the structure code, which cuts by brackets and lines");
  if (!Array.isArray(separators)) throw invalidInput("separators must be an array of names");
  for (const separator of separators) refuseUnlisted("a separator", separator, separatorNames);
  if (new Set(separators).size < separators.length) {
    throw invalidInput(`a separator is named twice: ${separators.join(", ")}`, "name each once, the most preferred first");
  }
}

/** Options that only some strategies use, and these. */
const optionStrategies: readonly (readonly [option: keyof ChunkOptions, strategies: readonly ChunkStrategy[]])[] = [
  ["threshold", ["semantic"]],
  ["percentile", ["semantic"]],
  ["structure", ["late"]],
  ["prompt", ["late"]],
  ["stride", ["late", "token-classification"]],
];

function checkStrategyOptions(strategy: ChunkStrategy, options: ChunkOptions): void {
  for (const [option, strategies] of optionStrategies)
    if (options[option] !== undefined && !strategies.includes(strategy)) throw misplaced(option, `with the strategy ${strategy}`);
  const { threshold, percentile } = options;
  if (threshold !== undefined && percentile !== undefined) throw misplaced("percentile", "together with threshold");
  refuseOutside("threshold", threshold, -1, 1);
  refuseOutside("percentile", percentile, 0, 100);
}

function misplaced(name: string, where: string): InferyardError {
  return invalidInput(`${name} has no effect ${where}`, `leave ${name} out`);
}

function refuseOutside(name: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (value >= min && value <= max)) return;
  throw invalidInput(`${name} is ${String(value)}, and must be from ${min} to ${max}`, `correct ${name}, or leave it out`);
}
