/** Options, progress and result of a distillation. */
import { invalidInput } from "../contract/errors.ts";
import type { Matrix } from "./matrix.ts";
import type { Bits } from "./quantize.ts";
import type { Teacher } from "./teacher.ts";

/** The stages of a distillation, in order. "text" and "fit" are skipped without training texts. */
export type DistillStage = "vocabulary" | "components" | "text" | "fit" | "quantize" | "write";
/** Stages of a distillation after which the option `inspect` is called with the rows of the embedding matrix. */
export type InspectedStage = Extract<DistillStage, "components" | "fit" | "quantize">;

/** Progress of one stage of a distillation. */
export interface DistillProgress {
  readonly stage: DistillStage;
  /** Steps of the stage that are done: tokens, texts or batches. A stage without steps reports 0 of 1 and 1 of 1. */
  readonly done: number;
  /** Steps of the stage. */
  readonly total: number;
  /** Loss of the last batch. Set in the stage "fit". */
  readonly loss?: number;
}

/** Options of `distill`. */
export interface DistillOptions {
  /** Path of the folder to write. */
  readonly output: string;
  /** Whether an existing folder is replaced. Default: false; an existing folder is then OUTPUT_FAILED before any work. */
  readonly replace?: boolean;
  /** Name of the new model. */
  readonly name: string;
  /** Length of the vectors: a multiple of 4, at most the length of the teacher's vectors. Default: 256, or the teacher's length if that is smaller. */
  readonly dimensions?: number;
  /** Bits per value of the quantized rows. Default: 8. */
  readonly bits?: Bits;
  /** Training texts of the kind that the model is for, about a sentence each. Absent: the rows are not fitted. */
  readonly text?: readonly string[];
  /** Number of passes over the texts (epochs). Default: 6. */
  readonly passes?: number;
  /** Batch size of the loss, which compares all pairs of texts of a batch. A multiple of 4. Default: 256. */
  readonly batchSize?: number;
  /** Learning rate of Adam. Default: 0.004. */
  readonly learningRate?: number;
  /** Seed of the random order of the texts. Default: 1. */
  readonly seed?: number;
  /** Names of the Hugging Face tasks that the model serves. Default: feature-extraction and sentence-similarity. */
  readonly tasks?: readonly string[];
  /** License of the new model, an SPDX expression. */
  readonly license?: string;
  /** Written unchanged to `provenance` in inferyard.json. */
  readonly provenance?: Readonly<Record<string, unknown>>;
  /** Paths of LICENSE and NOTICE files of the teacher, which are copied. */
  readonly notices?: readonly string[];
  /** Texts whose vectors become known answers in inferyard.json. Default: five short texts. */
  readonly answers?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: DistillProgress) => void;
  /** Called with the rows after these stages. The returned value is added to the provenance. */
  readonly inspect?: (stage: InspectedStage, rows: Matrix) => Readonly<Record<string, unknown>> | undefined;
}

/** The result of a distillation. */
export interface DistillReport {
  /** Number of tokens that have a vector. */
  readonly tokens: number;
  /** Length of the vectors. */
  readonly dimensions: number;
  readonly bits: Bits;
  /** Share of the variance of the vocabulary vectors that the dimensions keep, 0 to 1. */
  readonly explainedVariance: number;
  /** Number of training texts with at least one known token; the others are not used. */
  readonly texts: number;
  /** Mean loss of each pass; empty without training texts. */
  readonly losses: readonly number[];
  /** Duration of each stage. Skipped stages are absent. */
  readonly milliseconds: Readonly<Partial<Record<DistillStage, number>>>;
}

/** The options with defaults. Options whose absence has a meaning stay optional. */
export type DistillSettings = DistillOptions &
  Required<
    Pick<
      DistillOptions,
      | "replace"
      | "dimensions"
      | "bits"
      | "passes"
      | "batchSize"
      | "learningRate"
      | "seed"
      | "tasks"
      | "provenance"
      | "notices"
      | "answers"
    >
  >;

const defaults = {
  replace: false,
  bits: 8,
  passes: 6,
  batchSize: 256,
  learningRate: 0.004,
  seed: 1,
  tasks: ["feature-extraction", "sentence-similarity"],
  provenance: {},
  notices: [],
  answers: [
    "hello world",
    "A cat sits on the mat.",
    "How do I open a file for reading?",
    "Ein Satz auf Deutsch.",
    "The quarterly report was delayed by 3 days.",
  ],
} as const;
const defaultDimensions = 256;

/**
 * Fills in the defaults of a distillation's options and validates them for this teacher. Throws INPUT_INVALID for an impossible
 * option.
 */
export function resolveOptions(teacher: Teacher, options: DistillOptions): DistillSettings {
  const dimensions = options.dimensions ?? Math.min(defaultDimensions, teacher.dimensions - (teacher.dimensions % 4));
  const settings: DistillSettings = { ...defaults, ...options, dimensions };
  const { bits, batchSize, passes, learningRate } = settings;
  if (!isMultipleOf4(dimensions) || dimensions > teacher.dimensions) {
    throw invalidInput(
      `${dimensions} dimensions cannot be made from ${teacher.reference}, whose vectors have ${teacher.dimensions}`,
      `ask for a multiple of 4 from 4 to ${teacher.dimensions}`,
    );
  }
  if (bits !== 8 && bits !== 4) throw invalidInput(`rows of ${String(bits)} bits cannot be written`, "ask for 8 or 4 bits");
  if (!isMultipleOf4(batchSize)) throw invalidInput(`${batchSize} texts cannot be a batch`, "ask for a multiple of 4");
  if (!Number.isInteger(passes) || passes < 1) throw invalidInput(`${passes} passes cannot be made`, "ask for 1 or more");
  if (!(learningRate > 0)) throw invalidInput(`${learningRate} cannot be a learning rate`, "ask for a small positive number");
  return settings;
}

function isMultipleOf4(value: number): boolean {
  return Number.isInteger(value) && value >= 4 && value % 4 === 0;
}
