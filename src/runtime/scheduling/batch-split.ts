/** Splitting of batches along their first axis, and joining of the outputs of the parts. */
import type { HostedRunOptions } from "../../hosts/host.ts";
import { elementCount, type Tensor, type TensorData, type TensorInfo, type TensorMap } from "../../contract/tensor.ts";

/**
 * Number of rows of a batch whose rows are computed independently: the first axis is a free dimension of the same name in every
 * input and every requested output. Undefined otherwise, and if a reduction selects tokens by their position in the whole
 * batch.
 */
export function independentRows(
  inputs: TensorMap,
  described: { readonly inputs: readonly TensorInfo[]; readonly outputs: readonly TensorInfo[] },
  { outputs: wanted, reductions = {} }: HostedRunOptions,
): number | undefined {
  const used = wanted === undefined ? described.outputs : described.outputs.filter(({ name }) => wanted.includes(name));
  const [name] = described.inputs[0]?.shape ?? [];
  if (typeof name !== "string" || name === "") return undefined;
  if (![...described.inputs, ...used].every(({ shape }) => shape[0] === name)) return undefined;
  if (Object.values(reductions).some(({ kind }) => kind === "tokens")) return undefined;
  const sizes = new Set(Object.values(inputs).map(({ shape }) => shape[0]));
  const [rows] = sizes;
  return sizes.size === 1 ? rows : undefined;
}

/** Rows `start` to `end` (exclusive) of each input, as views of its memory. */
export function sliceRows(inputs: TensorMap, start: number, end: number): TensorMap {
  return Object.fromEntries(Object.entries(inputs).map(([name, tensor]) => [name, sliceTensor(tensor, start, end)]));
}

/** The run options for rows `start` to `end`: reductions are sliced in the same way. */
export function sliceOptions(options: HostedRunOptions, start: number, end: number): HostedRunOptions {
  const { reductions } = options;
  if (reductions === undefined) return options;
  const parts = Object.entries(reductions).map(([name, reduction]) => {
    if (reduction.kind === "highest") return [name, { ...reduction, lengths: reduction.lengths.slice(start, end) }] as const;
    if (reduction.kind === "mean") return [name, { ...reduction, ranges: reduction.ranges.slice(start, end) }] as const;
    return [name, reduction] as const;
  });
  return { ...options, reductions: Object.fromEntries(parts) };
}

/**
 * Concatenates the outputs of the parts along the first axis. `rows` has the number of rows of each part. Undefined if a part
 * did not return one output row for each of its rows, or rows of another shape.
 */
export function joinParts(parts: readonly TensorMap[], rows: readonly number[]): TensorMap | undefined {
  const [first = {}] = parts;
  const joined: Record<string, Tensor> = {};
  for (const [name, { dataType, shape }] of Object.entries(first)) {
    const tensors = parts.map((part) => part[name]);
    const fits = tensors.every(
      (tensor, index) => tensor !== undefined && tensor.shape.join() === [rows[index], ...shape.slice(1)].join(),
    );
    if (!fits) return undefined;
    const whole = [rows.reduce((sum, count) => sum + count, 0), ...shape.slice(1)];
    joined[name] = {
      dataType,
      shape: whole,
      data: joinData(
        tensors.map((tensor) => tensor?.data ?? []),
        elementCount(whole),
      ),
    };
  }
  return joined;
}

function sliceTensor({ dataType, shape, data }: Tensor, start: number, end: number): Tensor {
  const width = elementCount(shape.slice(1));
  const part = ArrayBuffer.isView(data) ? data.subarray(start * width, end * width) : data.slice(start * width, end * width);
  return { dataType, shape: shape.with(0, end - start), data: part };
}

function joinData(parts: readonly TensorData[], length: number): TensorData {
  const [first] = parts;
  if (first === undefined || !ArrayBuffer.isView(first)) return parts.flatMap((part) => [...(part as readonly string[])]);
  const whole = new (first.constructor as Float64ArrayConstructor)(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part as Float64Array, offset);
    offset += part.length;
  }
  return whole;
}
