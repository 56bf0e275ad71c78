/**
 * Reductions of outputs, applied where the model lives so that only the results are transferred. They are plain data and cross
 * threads and processes. Logits over a whole vocabulary are 62 MB for 512 tokens; sending them from a process takes about as
 * long as computing them.
 */
import { InferyardError, invalidInput } from "../contract/errors.ts";
import { type Tensor, type TensorMap } from "../contract/tensor.ts";
import { toFloat32 } from "../contract/to-float32.ts";

/** A reduction of an output of shape [batch, tokens, values]. */
export type OutputReduction =
  /** Gives [batch, values]: the maximum over the first `lengths[row]` tokens of each row, at least 0. */
  | { readonly kind: "highest"; readonly lengths: readonly number[] }
  /**
   * Gives [batch, values]: the sum over the first `lengths[row]` tokens of each row of log(1 + relu(x)); with `times` 2 of log(1 + log(1 + relu(x))).
   * Summed in double precision.
   */
  | { readonly kind: "log1p-sum"; readonly lengths: readonly number[]; readonly times: 1 | 2 }
  /** Gives [batch, values]: the mean over the tokens of `ranges[row]`, summed in double precision; zeros for an empty range. */
  | { readonly kind: "mean"; readonly ranges: readonly TokenRange[] }
  /** Gives [positions, values]: the values of these tokens only. */
  | { readonly kind: "tokens"; readonly positions: readonly TokenPosition[] };

/** Position of a token in a batch. */
export interface TokenPosition {
  readonly row: number;
  readonly token: number;
}

/** A range of tokens of one row, from `first` to `end` (exclusive). */
export interface TokenRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Replaces each output that has a reduction by the result. Throws INPUT_INVALID for a reduction that does not fit its output,
 * and CONTRACT_VIOLATION if the backend did not return the output.
 */
export function reduceOutputs(outputs: TensorMap, reductions: Readonly<Record<string, OutputReduction>> = {}): TensorMap {
  const reduced = Object.entries(reductions).map(([name, reduction]) => {
    const output = outputs[name];
    if (output === undefined) throw new InferyardError("CONTRACT_VIOLATION", `the backend did not return output "${name}"`);
    return [name, reduce(name, output, reduction)] as const;
  });
  return reduced.length === 0 ? outputs : { ...outputs, ...Object.fromEntries(reduced) };
}

function reduce(name: string, output: Tensor, reduction: OutputReduction): Tensor {
  const [batch = 0, tokens = 0, values = 0] = output.shape;
  if (output.shape.length !== 3)
    throw reductionMismatch(name, `its shape is [${output.shape.join(", ")}], not [batch, tokens, values]`);
  const data = toFloat32(output);
  if (reduction.kind === "highest" || reduction.kind === "log1p-sum") {
    const { lengths } = reduction;
    if (lengths.length !== batch || lengths.some((length) => !isWithin(length, tokens + 1)))
      throw reductionMismatch(name, `${lengths.length} lengths do not fit a batch of ${batch} rows of ${tokens} tokens`);
    const reduced = new Float32Array(batch * values);
    for (const [row, length] of lengths.entries()) {
      const start = row * tokens * values;
      const target = reduced.subarray(row * values, (row + 1) * values);
      if (reduction.kind === "highest") accumulateMax(target, data, start, length);
      else target.set(sumOfLogs(data.subarray(start, start + length * values), values, reduction.times));
    }
    return { dataType: "float32", shape: [batch, values], data: reduced };
  }
  if (reduction.kind === "mean") {
    const { ranges } = reduction;
    if (ranges.length !== batch || ranges.some(({ first, end }) => !isWithin(first, tokens + 1) || !isWithin(end, tokens + 1)))
      throw reductionMismatch(name, `${ranges.length} ranges do not fit a batch of ${batch} rows of ${tokens} tokens`);
    const means = new Float32Array(batch * values);
    for (const [row, range] of ranges.entries()) means.set(computeMean(data, row * tokens * values, values, range), row * values);
    return { dataType: "float32", shape: [batch, values], data: means };
  }
  const { positions } = reduction;
  const wrong = positions.find(({ row, token }) => !isWithin(row, batch) || !isWithin(token, tokens));
  if (wrong !== undefined)
    throw reductionMismatch(
      name,
      `token ${wrong.token} of row ${wrong.row} is not in a batch of ${batch} rows of ${tokens} tokens`,
    );
  const picked = new Float32Array(positions.length * values);
  for (const [index, { row, token }] of positions.entries()) {
    const start = (row * tokens + token) * values;
    picked.set(data.subarray(start, start + values), index * values);
  }
  return { dataType: "float32", shape: [positions.length, values], data: picked };
}

/** Mean over the tokens of a range, in the row that begins at `offset` of `data`. Returns `values` elements. */
export function computeMean(data: Float32Array, offset: number, values: number, { first, end }: TokenRange): Float32Array {
  const sum = new Float64Array(values);
  for (let token = first; token < end; token += 1) {
    const start = offset + token * values;
    for (let index = 0; index < values; index += 1) sum[index] = (sum[index] ?? 0) + (data[start + index] ?? 0);
  }
  const count = Math.max(end - first, 1);
  return Float32Array.from(sum, (value) => value / count);
}

/** Element-wise maximum of `highest` and `tokens` tokens of `data`. NaN is propagated, so that readers can detect it. */
function accumulateMax(highest: Float32Array, data: Float32Array, start: number, tokens: number): void {
  const values = highest.length;
  for (let token = 0; token < tokens; token += 1) {
    const offset = start + token * values;
    for (let index = 0; index < values; index += 1) {
      const value = data[offset + index] ?? 0;
      const best = highest[index] ?? 0;
      // NaN compares false with every number: it is stored once and then stays.
      if (!(value <= best || Number.isNaN(best))) highest[index] = value;
    }
  }
}

/** Sum over the tokens of `data`, `[tokens, values]`. NaN is propagated. */
function sumOfLogs(data: Float32Array, values: number, times: 1 | 2): Float64Array {
  const sum = new Float64Array(values);
  for (let start = 0; start < data.length; start += values) {
    for (let index = 0; index < values; index += 1) {
      const once = Math.log1p(Math.max(0, data[start + index] ?? 0));
      sum[index] = (sum[index] ?? 0) + (times === 1 ? once : Math.log1p(once));
    }
  }
  return sum;
}

function isWithin(index: number, end: number): boolean {
  return Number.isSafeInteger(index) && index >= 0 && index < end;
}

function reductionMismatch(name: string, why: string): InferyardError {
  return invalidInput(
    `the reduction of output "${name}" does not fit: ${why}`,
    "a reduction is of an output [batch, tokens, values], with a length or a range for each row, or positions of tokens",
  );
}
