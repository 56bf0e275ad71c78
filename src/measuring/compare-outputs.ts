/** Compares the outputs of two runs of one model. All sums are in double precision. */
import type { Precision } from "../contract/model-files.ts";
import type { Output } from "./kinds/index.ts";

/** How far the outputs of a run are from those of another. */
export interface OutputDifference {
  /** The largest relative error of an output: the length of the difference, divided by the length of the longer vector. */
  readonly relativeError: number;
  /** Cosine of the angle between the two vectors of that output. */
  readonly cosine: number;
  /** Name of that output. */
  readonly output: string;
}

/** Largest relative errors of correct engines. */
export interface Tolerance {
  /** Between two targets. */
  readonly targets: number;
  /** Between inputs that run together and one after the other. */
  readonly together: number;
}

/**
 * Tolerances by the precision of the weights. Engines multiply float32 in different orders; those for quantized weights also quantize activations, each by its
 * own rule and some by the values of a whole batch: 0.15 between targets is a cosine of 0.99, as llama.cpp's own activations in 8 bits need.
 */
const tolerances: Readonly<Record<Precision | "unknown", Tolerance>> = {
  fp32: { targets: 1e-3, together: 1e-3 },
  fp16: { targets: 0.02, together: 0.02 },
  bf16: { targets: 0.05, together: 0.05 },
  int8: { targets: 0.15, together: 0.35 },
  int4: { targets: 0.15, together: 0.35 },
  unknown: { targets: 0.15, together: 0.35 },
};

/** The tolerance for weights of a precision; undefined: the file does not state one, as GGUF files with weights of several types. */
export function toleranceOf(precision: Precision | undefined): Tolerance {
  return tolerances[precision ?? "unknown"];
}

/** The output that differs most. Outputs are paired by their order; where their number or sizes differ, the error is Infinity. */
export function compareOutputs(reference: readonly Output[], tested: readonly Output[]): OutputDifference {
  const [first] = tested;
  if (reference.length !== tested.length || first === undefined)
    return { relativeError: Number.POSITIVE_INFINITY, cosine: 0, output: `${tested.length} outputs, and ${reference.length}` };
  return tested
    .map((output, index) => compareValues(output, reference[index]?.values ?? new Float32Array()))
    .reduce((worst, each) => (each.relativeError > worst.relativeError ? each : worst));
}

function compareValues({ name, values }: Output, reference: Float32Array): OutputDifference {
  if (values.length !== reference.length) return { relativeError: Number.POSITIVE_INFINITY, cosine: 0, output: name };
  let difference = 0;
  let dot = 0;
  let ours = 0;
  let theirs = 0;
  for (let index = 0; index < values.length; index += 1) {
    const a = values[index] ?? 0;
    const b = reference[index] ?? 0;
    difference += (a - b) ** 2;
    dot += a * b;
    ours += a * a;
    theirs += b * b;
  }
  const longer = Math.max(ours, theirs);
  const product = Math.sqrt(ours * theirs);
  return {
    relativeError: longer === 0 ? 0 : Math.sqrt(difference / longer),
    cosine: product === 0 ? Number(ours === theirs) : Math.min(1, dot / product),
    output: name,
  };
}

/** The first output with a value that is not a finite number. */
export function nonFiniteOutput(outputs: readonly Output[]): Output | undefined {
  return outputs.find(({ values }) => !values.every(Number.isFinite));
}
