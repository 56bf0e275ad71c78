/** Compares the outputs of two runs of one model. */
import type { Precision } from "../contract/model-files.ts";
import { compareVectors } from "../cross-validation/compare-vectors.ts";
import type { MeasuredOutput } from "./kinds/index.ts";

/** Difference between the outputs of two runs, for the output that differs most. */
export interface OutputDifference {
  /** The largest relative error of an output: the length of the difference, divided by the length of the longer vector. */
  readonly relativeError: number;
  /** Cosine similarity of the two vectors of the output. */
  readonly cosine: number;
  /** Name of the output. */
  readonly output: string;
}

/** Maximum relative errors that are accepted. */
export interface Tolerance {
  /** Maximum between two targets. */
  readonly targets: number;
  /** Maximum between inputs computed in one call and the same inputs computed one by one. */
  readonly together: number;
}

/**
 * Tolerances by the precision of the weights. Engines sum float32 products in different orders. Engines for quantized weights also quantize
 * activations, each by its own rule, and some with one scale for a whole batch. 0.15 between targets corresponds to a cosine of 0.99, which
 * llama.cpp's 8-bit activations need.
 */
const tolerances: Readonly<Record<Precision | "unknown", Tolerance>> = {
  fp32: { targets: 1e-3, together: 1e-3 },
  fp16: { targets: 0.02, together: 0.02 },
  bf16: { targets: 0.05, together: 0.05 },
  int8: { targets: 0.15, together: 0.35 },
  int4: { targets: 0.15, together: 0.35 },
  unknown: { targets: 0.15, together: 0.35 },
};

/** The tolerance for weights of a precision. Undefined precision: the file does not state one, as in GGUF files with several weight types. */
export function getTolerance(precision: Precision | undefined): Tolerance {
  return tolerances[precision ?? "unknown"];
}

/**
 * Compares two lists of outputs and returns the largest difference. Outputs are paired by position; if their number or sizes differ, the error is
 * Infinity.
 */
export function compareOutputs(reference: readonly MeasuredOutput[], tested: readonly MeasuredOutput[]): OutputDifference {
  const [first] = tested;
  if (reference.length !== tested.length || first === undefined)
    return { relativeError: Number.POSITIVE_INFINITY, cosine: 0, output: `${tested.length} outputs, and ${reference.length}` };
  return tested
    .map((output, index) => compareValues(output, reference[index]?.values ?? new Float32Array()))
    .reduce((worst, each) => (each.relativeError > worst.relativeError ? each : worst));
}

function compareValues({ name, values }: MeasuredOutput, reference: Float32Array): OutputDifference {
  if (values.length !== reference.length) return { relativeError: Number.POSITIVE_INFINITY, cosine: 0, output: name };
  const { relativeError, cosine } = compareVectors(reference, values);
  return { relativeError, cosine, output: name };
}

/** The first output with a value that is not a finite number. */
export function nonFiniteOutput(outputs: readonly MeasuredOutput[]): MeasuredOutput | undefined {
  return outputs.find(({ values }) => !values.every(Number.isFinite));
}
