/** What one chunking call asks for, checked. */
import { InferyardError } from "../../errors.ts";
import { refuseNonPositive, refuseUnlisted } from "../../runtime/options/options.ts";
import { type OffsetUnit, offsetUnits } from "../../tokenizers/index.ts";
import { type Separator, separatorNames } from "./separators.ts";

export type ChunkStrategy = "fixed" | "markdown" | "code" | "semantic" | "late" | "token-classification";

export const chunkStrategies: readonly ChunkStrategy[] = [
  "fixed",
  "markdown",
  "code",
  "semantic",
  "late",
  "token-classification",
];

/** Strategies that run a model; the others read its tokenizer. */
const modelStrategies: ReadonlySet<ChunkStrategy> = new Set(["semantic", "late", "token-classification"] as const);

export function runsModel(strategy: ChunkStrategy): boolean {
  return modelStrategies.has(strategy);
}

/** Where "late" cuts: as the strategy of that name. */
export type LateStructure = "fixed" | "markdown" | "code";

export const lateStructures: readonly LateStructure[] = ["fixed", "markdown", "code"];

export interface ChunkOptions {
  /**
   * "fixed" cuts at separators, "markdown" and "code" at structure, "semantic" where the subject changes, "token-classification" where a model
   * with such a head marks an end. "late" cuts as `structure` says, and gives each chunk a vector made with the whole text in sight. Default:
   * "fixed".
   */
  readonly strategy?: ChunkStrategy;
  /** Most tokens in one chunk, special tokens not counted. Default: 500. */
  readonly targetTokens?: number;
  /** Tokens of the end of a chunk that the next one repeats, counted word by word; below `targetTokens`. Default: 0. */
  readonly overlapTokens?: number;
  /** Chunks of one text; what comes after them is left out, and `truncated` says so. Default: no limit. */
  readonly maxChunks?: number;
  /** Where to cut, the most preferred first. Default: paragraphs, lines, sentences, words. Not with "code". */
  readonly separators?: readonly Separator[];
  /** Unit of `start` and `end`. Default: "utf16", JavaScript's own. */
  readonly offsets?: OffsetUnit;
  /** With "semantic": neighbouring sentences part below this cosine similarity, -1 to 1. Default: `percentile` decides. */
  readonly threshold?: number;
  /** With "semantic": they part where they are further apart than this percentage of all neighbours. Default: 95. */
  readonly percentile?: number;
  /** With "late": cut as the strategy of this name does. Default: "fixed". */
  readonly structure?: LateStructure;
  /** With "late": prompt of the model put before the text. Default: the model's default prompt, if it has one. */
  readonly prompt?: string;
  /** With "late" and "token-classification": tokens by which the windows of a text that is longer than the model reads overlap. Default: a quarter. */
  readonly stride?: number;
  readonly signal?: AbortSignal;
}

export const chunkOptionNames: readonly (keyof ChunkOptions)[] = [
  "strategy",
  "targetTokens",
  "overlapTokens",
  "maxChunks",
  "separators",
  "offsets",
  "threshold",
  "percentile",
  "structure",
  "prompt",
  "stride",
  "signal",
];

/** The call's settings, every default filled in. */
export interface ChunkSettings {
  readonly strategy: ChunkStrategy;
  readonly target: number;
  readonly overlap: number;
  readonly maxChunks: number;
  readonly separators: readonly Separator[];
  readonly offsets: OffsetUnit;
  readonly threshold: number | undefined;
  readonly percentile: number;
  readonly structure: LateStructure;
  readonly prompt: string | undefined;
  readonly stride: number | undefined;
  readonly signal: AbortSignal | undefined;
}

const defaultTarget = 500;
const defaultPercentile = 95;

export function chunkSettings(options: ChunkOptions): ChunkSettings {
  const { strategy = "fixed", targetTokens = defaultTarget, overlapTokens = 0, threshold, percentile } = options;
  refuseUnlisted("strategy", strategy, chunkStrategies);
  refuseUnlisted("offsets", options.offsets, offsetUnits);
  refuseNonPositive("targetTokens", targetTokens);
  refuseNonPositive("maxChunks", options.maxChunks);
  checkOverlap(overlapTokens, targetTokens);
  checkSeparators(options.separators, strategy, options.structure);
  checkParting(strategy, threshold, percentile);
  checkModelOptions(strategy, options);
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
  if (!Number.isSafeInteger(overlap) || overlap < 0) {
    throw new InferyardError("INPUT_INVALID", `overlapTokens is ${String(overlap)}, and must be a whole number from 0`, {
      remedy: "correct overlapTokens, or leave it out",
    });
  }
  if (overlap < target) return;
  throw new InferyardError("INPUT_INVALID", `overlapTokens is ${overlap}, and must be below targetTokens, which is ${target}`, {
    remedy: "a chunk that repeats as much as it holds would never come to an end: a tenth of the target is usual",
  });
}

function checkSeparators(
  separators: readonly Separator[] | undefined,
  strategy: ChunkStrategy,
  structure: LateStructure | undefined,
): void {
  if (separators === undefined) return;
  if (strategy === "code") throw misplaced("separators", "with the strategy code, which cuts by brackets and lines");
  if (structure === "code") throw misplaced("separators", "with the structure code, which cuts by brackets and lines");
  if (!Array.isArray(separators)) throw new InferyardError("INPUT_INVALID", "separators must be an array of names");
  for (const separator of separators) refuseUnlisted("a separator", separator, separatorNames);
  if (new Set(separators).size < separators.length) {
    throw new InferyardError("INPUT_INVALID", `a separator is named twice: ${separators.join(", ")}`, {
      remedy: "name each once, the most preferred first",
    });
  }
}

function checkParting(strategy: ChunkStrategy, threshold: number | undefined, percentile: number | undefined): void {
  if (strategy !== "semantic" && threshold !== undefined) throw misplaced("threshold", `with the strategy ${strategy}`);
  if (strategy !== "semantic" && percentile !== undefined) throw misplaced("percentile", `with the strategy ${strategy}`);
  if (threshold !== undefined && percentile !== undefined) throw misplaced("percentile", "together with threshold");
  refuseOutside("threshold", threshold, -1, 1);
  refuseOutside("percentile", percentile, 0, 100);
}

function checkModelOptions(strategy: ChunkStrategy, { structure, prompt, stride }: ChunkOptions): void {
  const isLate = strategy === "late";
  if (!isLate && structure !== undefined) throw misplaced("structure", `with the strategy ${strategy}`);
  if (!isLate && prompt !== undefined) throw misplaced("prompt", `with the strategy ${strategy}`);
  if (!isLate && strategy !== "token-classification" && stride !== undefined)
    throw misplaced("stride", `with the strategy ${strategy}`);
  refuseUnlisted("structure", structure, lateStructures);
  if (stride === undefined || (Number.isSafeInteger(stride) && stride >= 0)) return;
  throw new InferyardError("INPUT_INVALID", `stride is ${String(stride)}, and must be a whole number from 0`, {
    remedy: "correct stride, or leave it out",
  });
}

function misplaced(name: string, where: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `${name} means nothing ${where}`, { remedy: `leave ${name} out` });
}

function refuseOutside(name: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (value >= least && value <= most)) return;
  throw new InferyardError("INPUT_INVALID", `${name} is ${String(value)}, and must be from ${least} to ${most}`, {
    remedy: `correct ${name}, or leave it out`,
  });
}
