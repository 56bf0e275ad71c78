/** The input tensors of one run of a decoder or an encoder. */
import type { Tensor, TensorInfo, TensorMap } from "../../backend.ts";
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

/** Inputs for rows with equally many new tokens and equally long sources, whose caches end where `block` ends. */
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
  const { ids, mask, positions, cachePositions, branch, logitsToKeep, source, sourceMask, caches } = graph;
  const states = rows.flatMap((row) => (row.source === undefined ? [] : [row.source]));
  const entries: ([string, Tensor] | undefined)[] = [
    grid(ids, count, ({ tokens }, column) => tokens[column] ?? 0),
    mask && grid(mask, width, ({ length }, column) => (column >= block.positions - length ? 1 : 0)),
    positions && grid(positions, count, ({ length }, column) => length + column),
    cachePositions && [cachePositions.name, integers(cachePositions, [count], (index) => block.positions + index)],
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
    source && [source.name, stacked(states)],
    sourceMask && grid(sourceMask, states[0]?.shape[1] ?? 0, () => 1),
    ...caches.map(({ info }): [string, Tensor] | undefined => {
      const tensor = block.tensors[info.name];
      return tensor && [info.name, tensor];
    }),
  ];
  return Object.fromEntries(entries.filter((entry) => entry !== undefined));
}

/** The inputs of an encoder for one source. */
export function encoderInputs(inputs: readonly TensorInfo[], tokens: readonly number[]): TensorMap {
  return Object.fromEntries(
    inputs.map((info) => [
      info.name,
      integers(info, [1, tokens.length], (index) => (info.name === "input_ids" ? (tokens[index] ?? 0) : 1)),
    ]),
  );
}

function integers({ dataType }: TensorInfo, shape: readonly number[], valueAt: (index: number) => number): Tensor {
  const length = shape.reduce((product, size) => product * size, 1);
  if (dataType === "int64")
    return { dataType, shape, data: BigInt64Array.from({ length }, (_, index) => BigInt(valueAt(index))) };
  return { dataType: "int32", shape, data: Int32Array.from({ length }, (_, index) => valueAt(index)) };
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
