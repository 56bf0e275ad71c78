/** The input tensors of one run of a decoder or an encoder. */
import { type Tensor, type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";
import type { CacheBlock } from "./cache-block.ts";
import type { DecoderGraph } from "./decoder-graph.ts";

/** One sequence's part of a run. */
export interface RunRow {
  readonly tokens: readonly number[];
  /** Number of tokens in its cache. */
  readonly length: number;
  /** The encoder's output for it [1, source, hidden]. */
  readonly source: Tensor | undefined;
}

/** Inputs for rows, as many as a graph with a fixed number takes, with equally many new tokens and equally long sources, whose caches end where `block` ends. */
export function runInputs(graph: DecoderGraph, block: CacheBlock, rows: readonly RunRow[]): TensorMap {
  const count = rows[0]?.tokens.length ?? 0;
  const width = block.positions + count;
  const grid = (info: TensorInfo, columns: number, valueAt: (row: RunRow, column: number) => number): [string, Tensor] => [
    info.name,
    integers(info, [rows.length, columns], (index) => {
      const row = rows[Math.floor(index / columns)];
      return row === undefined ? 0 : valueAt(row, index % columns);
    }),
  ];
  const { ids, mask, positions, cachePositions, pastLength, branch, logitsToKeep, source, sourceMask, sourceTokens, caches } =
    graph;
  const states = rows.flatMap((row) => (row.source === undefined ? [] : [row.source]));
  const entries: ([string, Tensor] | undefined)[] = [
    ids.shape.length === 1
      ? [ids.name, integers(ids, [rows.length], (index) => rows[index]?.tokens[0] ?? 0)]
      : grid(ids, count, ({ tokens }, column) => tokens[column] ?? 0),
    mask && grid(mask, width, ({ length }, column) => (column >= block.positions - length ? 1 : 0)),
    positions && grid(positions, count, ({ length }, column) => length + column),
    cachePositions && [cachePositions.name, integers(cachePositions, [count], (index) => block.positions + index)],
    pastLength && [pastLength.name, integers(pastLength, [1], () => block.positions)],
    branch && [
      branch.name,
      { dataType: "bool", shape: branch.shape.map(() => 1), data: Uint8Array.of(block.positions > 0 ? 1 : 0) },
    ],
    logitsToKeep && [
      logitsToKeep.name,
      integers(
        logitsToKeep,
        logitsToKeep.shape.map(() => 1),
        () => 0,
      ),
    ],
    source && [source.name, padded(stacked(states), sourceTokens)],
    sourceMask &&
      grid(sourceMask, sourceTokens ?? states[0]?.shape[1] ?? 0, (row, column) => (column < (row.source?.shape[1] ?? 0) ? 1 : 0)),
    ...caches.map(({ info }): [string, Tensor] | undefined => {
      const tensor = block.tensors[info.name];
      return tensor && [info.name, tensor];
    }),
  ];
  return Object.fromEntries(entries.filter((entry) => entry !== undefined));
}

/** The inputs of an encoder for one source: the first row, whose masked end a graph with a fixed number of tokens needs, and as many others as it takes. */
export function encoderRunInputs(inputs: readonly TensorInfo[], tokens: readonly number[]): TensorMap {
  return Object.fromEntries(
    inputs.map((info) => {
      const [rows, width] = [fixed(info.shape[0]) ?? 1, fixed(info.shape[1]) ?? tokens.length];
      const valueAt = (column: number): number =>
        info.name === "input_ids" ? (tokens[column] ?? 0) : column < tokens.length ? 1 : 0;
      return [info.name, integers(info, [rows, width], (index) => valueAt(index % width))];
    }),
  );
}

function fixed(size: number | string | undefined): number | undefined {
  return typeof size === "number" ? size : undefined;
}

function integers({ dataType }: TensorInfo, shape: readonly number[], valueAt: (index: number) => number): Tensor {
  const length = shape.reduce((product, size) => product * size, 1);
  if (dataType === "int64")
    return { dataType, shape, data: BigInt64Array.from({ length }, (_, index) => BigInt(valueAt(index))) };
  return { dataType: "int32", shape, data: Int32Array.from({ length }, (_, index) => valueAt(index)) };
}

/** A tensor [rows, tokens, hidden] with zeros up to `width` tokens. */
function padded(tensor: Tensor, width: number | undefined): Tensor {
  const [rows = 0, tokens = 0, hidden = 0] = tensor.shape;
  if (width === undefined || width === tokens) return tensor;
  const target = zeros(tensor.dataType, [rows, width, hidden]);
  const [from, to] = [tensor.data as Float32Array, target.data as Float32Array];
  for (let row = 0; row < rows; row += 1)
    to.set(from.subarray(row * tokens * hidden, (row + 1) * tokens * hidden), row * width * hidden);
  return target;
}

/** Tensors [1, ...] of one shape as one tensor [rows, ...]. */
function stacked(tensors: readonly Tensor[]): Tensor {
  const [first] = tensors;
  if (first === undefined) throw new TypeError("there is no tensor to stack");
  if (tensors.length === 1) return first;
  const part = first.data as Float32Array;
  const data = new (part.constructor as Float32ArrayConstructor)(part.length * tensors.length);
  for (const [index, tensor] of tensors.entries()) data.set(tensor.data as Float32Array, index * part.length);
  return { dataType: first.dataType, shape: [tensors.length, ...first.shape.slice(1)], data };
}
