/** What a distillation is told, what it reports while it runs, and what it returns. */
import { InferyardError } from "../errors.ts";
import type { Matrix } from "./matrix.ts";
import type { Bits } from "./quantize.ts";
import type { Teacher } from "./teacher.ts";

export type DistillStage = "vocabulary" | "components" | "text" | "fit" | "quantize" | "write";
/** Stages that leave rows worth looking at. */
export type InspectedStage = Extract<DistillStage, "components" | "fit" | "quantize">;

export interface DistillProgress {
  readonly stage: DistillStage;
  /** Of `total` steps of this stage: tokens, texts or batches; 0 of 1 and 1 of 1 where a stage has no steps. */
  readonly done: number;
  readonly total: number;
  /** Fitting: the loss of the last batch. */
  readonly loss?: number;
}

export interface DistillOptions {
  /** The folder to write. */
  readonly output: string;
  /** Replace the folder if it is there. Default: false, a folder that is there is an OUTPUT_FAILED before any work. */
  readonly replace?: boolean;
  /** The model's name. */
  readonly name: string;
  /** Length of the vectors: a multiple of 4, at most the teacher's. Default: 256, or all the teacher has where that is less. */
  readonly dimensions?: number;
  /** Default: 8. */
  readonly bits?: Bits;
  /** Plain texts, a sentence or so each, of the kind the model is for. Left out: the rows are not fitted. */
  readonly text?: readonly string[];
  /** Times every text is seen. Default: 6. */
  readonly passes?: number;
  /** Texts compared with one another at a time, a multiple of 4. Default: 256. */
  readonly batchSize?: number;
  /** Adam's. Default: 0.004. */
  readonly learningRate?: number;
  /** Order of the texts while fitting. Default: 1. */
  readonly seed?: number;
  /** Default: feature-extraction and sentence-similarity. */
  readonly tasks?: readonly string[];
  readonly license?: string;
  /** Goes into inferyard.json as it stands. */
  readonly provenance?: Readonly<Record<string, unknown>>;
  /** LICENSE and NOTICE files of the teacher, copied along. */
  readonly notices?: readonly string[];
  /** Texts whose vectors become the model's known answers. Default: five short ones. */
  readonly answers?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: DistillProgress) => void;
  /** Sees the rows after each of these stages, before the model is written; what it returns is added to the provenance. */
  readonly inspect?: (stage: InspectedStage, rows: Matrix) => Readonly<Record<string, unknown>> | undefined;
}

export interface DistillReport {
  /** Tokens that have a vector. */
  readonly tokens: number;
  readonly dimensions: number;
  readonly bits: Bits;
  /** Share of the vocabulary vectors' variance that the dimensions keep, 0 to 1. */
  readonly explainedVariance: number;
  /** Texts that were fitted to: those with at least one known token. */
  readonly texts: number;
  /** Mean loss of each pass; empty without text. */
  readonly losses: readonly number[];
  /** How long each stage took; stages that were left out are missing. */
  readonly milliseconds: Readonly<Partial<Record<DistillStage, number>>>;
}

/** The options with every default filled in, but for those whose absence means something. */
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

/** Fills in the defaults. INPUT_INVALID names the option that cannot be met. */
export function resolveOptions(teacher: Teacher, options: DistillOptions): DistillSettings {
  const dimensions = options.dimensions ?? Math.min(defaultDimensions, teacher.dimensions - (teacher.dimensions % 4));
  const settings: DistillSettings = { ...defaults, ...options, dimensions };
  const { bits, batchSize, passes, learningRate } = settings;
  if (!isMultipleOf4(dimensions) || dimensions > teacher.dimensions) {
    throw invalidOption(
      `${dimensions} dimensions cannot be made from ${teacher.reference}, whose vectors have ${teacher.dimensions}`,
      `ask for a multiple of 4 from 4 to ${teacher.dimensions}`,
    );
  }
  if (bits !== 8 && bits !== 4) throw invalidOption(`rows of ${String(bits)} bits cannot be written`, "ask for 8 or 4 bits");
  if (!isMultipleOf4(batchSize)) throw invalidOption(`${batchSize} texts cannot be a batch`, "ask for a multiple of 4");
  if (!Number.isInteger(passes) || passes < 1) throw invalidOption(`${passes} passes cannot be made`, "ask for 1 or more");
  if (!(learningRate > 0)) throw invalidOption(`${learningRate} cannot be a learning rate`, "ask for a small positive number");
  return settings;
}

function isMultipleOf4(value: number): boolean {
  return Number.isInteger(value) && value >= 4 && value % 4 === 0;
}

export function invalidOption(message: string, remedy: string): InferyardError {
  return new InferyardError("INPUT_INVALID", message, { remedy });
}
