/** Tensors that compiled programs are checked with, and the comparison of results. */
import type { DataType, Tensor, TensorMap } from "../../contract/tensor.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { TensorType } from "../../engine/ir/tensor-type.ts";
import { isFloat } from "../../engine/ir/element-types.ts";
import type { Graph } from "../../engine/ir/graph.ts";
import { toLiteral, toNumbers } from "../../engine/ir/literal.ts";

/** Kinds of probes, in the order in which they are tried. Where values decide (logarithms, indices), the later ones are more often in range. */
export const probeKinds = ["signed", "positive", "zeros"] as const;
export type ProbeKind = (typeof probeKinds)[number];

/**
 * Pseudo-random elements, the same at every call: floats from -1 to 1 ("signed") or from 0.1 to 1 ("positive"), whole numbers 0 and 1 ("signed"), otherwise 0.
 */
export function probeTensor({ dataType, shape }: TensorType, kind: ProbeKind, seed: number): Tensor {
  const random = mulberry32(seed);
  const fraction = (): number => (kind === "signed" ? 2 * random() - 1 : 0.1 + 0.9 * random());
  const whole = (): number => (kind === "signed" ? Math.floor(2 * random()) : 0);
  const next = kind === "zeros" ? (): number => 0 : isFloat(dataType) ? fraction : whole;
  return toLiteral(dataType, shape, Array.from({ length: elementCount(shape) }, next)) as Tensor;
}

/** The generator of pseudo-random numbers from 0 to 1 by Tommy Ettinger, with a state of 32 bits. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Largest difference between right results, as a part of the largest right magnitude, by the type of the elements. Other types must be equal. */
const tolerances: Readonly<Partial<Record<DataType, number>>> = { float32: 1e-4, float64: 1e-4, float16: 1e-2, bfloat16: 5e-2 };

/**
 * The largest difference that right results of floats of a graph may have, as a part of the largest right magnitude: a backend may compute 16-bit floats in 32 bits, so that
 * results of any type differ by as much as the values that they are computed from.
 */
export function toleranceOf({ inputs, nodes }: Graph): number {
  const values = [...inputs.map(({ value }) => value), ...nodes.flatMap((node) => [...node.inputs, ...node.outputs])];
  return Math.max(0, ...new Set(values.map(({ type }) => tolerances[type.dataType as DataType] ?? 0)));
}

/** The first wrong output, as a clause; undefined if all are right. `tolerance`: see `toleranceOf`. */
export function findWrongOutput(expected: TensorMap, computed: TensorMap, tolerance: number): string | undefined {
  for (const [name, right] of Object.entries(expected)) {
    const found = computed[name];
    if (found === undefined) return `the output "${name}" is missing`;
    const [types, wanted] = [found, right].map(({ dataType, shape }) => `${dataType}[${shape.join(",")}]`);
    if (types !== wanted) return `the output "${name}" is ${types}, and must be ${wanted}`;
    const difference = findWrongElement(right, found, tolerances[right.dataType] === undefined ? 0 : tolerance);
    if (difference !== undefined) return `the output "${name}" ${difference}`;
  }
  return undefined;
}

function findWrongElement(right: Tensor, found: Tensor, tolerance: number): string | undefined {
  const [expected, computed] = [toNumbers(right), toNumbers(found)];
  let magnitude = 0;
  for (let index = 0; index < expected.length; index += 1) {
    const size = Math.abs(expected[index] ?? 0);
    if (Number.isFinite(size) && size > magnitude) magnitude = size;
  }
  const allowed = tolerance * magnitude;
  for (let index = 0; index < expected.length; index += 1) {
    const [wanted, given] = [expected[index] ?? 0, computed[index] ?? 0];
    if (Object.is(wanted, given) || Math.abs(wanted - given) <= allowed) continue;
    return `has ${given} at index ${index} in place of ${wanted}`;
  }
  return undefined;
}

/** Number of elements that are NaN or infinite. */
export function countNonFinite(tensors: TensorMap): number {
  let count = 0;
  for (const tensor of Object.values(tensors)) {
    const numbers = toNumbers(tensor);
    for (let index = 0; index < numbers.length; index += 1) if (!Number.isFinite(numbers[index])) count += 1;
  }
  return count;
}
