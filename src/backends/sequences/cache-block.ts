/**
 * Caches of sequences that were computed together. A block is what one run returned: tensors with a batch axis. It never changes, so that several
 * sequences may share it; a run that extends it returns another block.
 */
import { type Tensor, type TensorMap, elementCount, zeros } from "../../contract/tensor.ts";
import { required } from "../../contract/checked.ts";
import type { CacheInput } from "./decoder-graph.ts";

/** Cached tensors of several sequences, by the name of the input. */
export interface CacheBlock {
  readonly tensors: TensorMap;
  readonly rows: number;
  /** Number of cached positions of each row, unused ones included. */
  readonly positions: number;
}

/** The cache of one sequence: the last `length` positions of a row, in front of `hidden` newer positions that were removed. */
export interface CacheRow {
  readonly block: CacheBlock;
  readonly row: number;
  readonly length: number;
  /** Number of positions at the end of the row that do not belong to the sequence. */
  readonly removed: number;
}

/**
 * A block without positions, for one new sequence. Keys and values of a source of this many tokens are zeros until the first run computes them: exporters give
 * their length the same name as the length of the source, so an empty tensor would not fit.
 */
export function emptyBlock(caches: readonly CacheInput[], sourceTokens: number): CacheBlock {
  const tensors = caches.map(({ info, batchAxis, tokenAxis, of }): [string, Tensor] => {
    const tokens = of === "source" ? sourceTokens : 0;
    const shape = info.shape.map((size, axis) => (axis === batchAxis ? 1 : axis === tokenAxis ? tokens : Number(size)));
    return [info.name, zeros(info.dataType, shape)];
  });
  return { tensors: Object.fromEntries(tensors), rows: 1, positions: 0 };
}

/** One block with these rows, each at its right end, zeros before it. The rows' own block if it holds exactly them. */
export function gatherRows(caches: readonly CacheInput[], rows: readonly CacheRow[]): CacheBlock {
  const [first] = rows;
  const positions = Math.max(...rows.map(({ length }) => length));
  if (first !== undefined && first.block.rows === rows.length && first.block.positions === positions) {
    if (rows.every(({ block, row, removed }, index) => block === first.block && row === index && removed === 0))
      return first.block;
  }
  const tensors = caches.map((cache): [string, Tensor] => {
    const { info, tokenAxis, batchAxis, of } = cache;
    const sources = rows.map(({ block }) => required(block.tensors[info.name], info.name));
    const tokens = of === "source" ? Math.max(...sources.map(({ shape }) => shape[tokenAxis] ?? 0)) : positions;
    const shape = (sources[0]?.shape ?? []).map((size, axis) =>
      axis === batchAxis ? rows.length : axis === tokenAxis ? tokens : size,
    );
    const target = zeros(info.dataType, shape);
    for (const [index, { row, length, removed, block }] of rows.entries()) {
      const source = required(sources[index], info.name);
      if (of === "state") {
        copyState(cache, { tensor: source, row }, { tensor: target, row: index });
        continue;
      }
      const count = of === "source" ? (source.shape[tokenAxis] ?? 0) : length;
      const from = of === "source" ? 0 : block.positions - removed - length;
      copyPositions(
        cache,
        { tensor: source, row, position: from },
        { tensor: target, row: index, position: of === "source" ? 0 : tokens - length },
        count,
      );
    }
    return [info.name, target];
  });
  return { tensors: Object.fromEntries(tensors), rows: rows.length, positions };
}

/** The row alone, as a block of its own without unused positions. */
export function separateRow(caches: readonly CacheInput[], row: CacheRow): CacheRow {
  return { block: gatherRows(caches, [row]), row: 0, length: row.length, removed: 0 };
}

/** Bytes of the tensors of a block. */
export function blockBytes({ tensors }: CacheBlock): number {
  return Object.values(tensors).reduce((sum, { data }) => sum + (ArrayBuffer.isView(data) ? data.byteLength : 0), 0);
}

interface Place {
  readonly tensor: Tensor;
  readonly row: number;
  readonly position: number;
}

/** Copies a state, which has no positions, from one row of a tensor to a row of another one. */
function copyState({ batchAxis }: CacheInput, from: Omit<Place, "position">, to: Omit<Place, "position">): void {
  const { shape } = from.tensor;
  const inner = elementCount(shape.slice(batchAxis + 1));
  const source = from.tensor.data as Float32Array;
  const target = to.tensor.data as Float32Array;
  for (let outer = 0; outer < elementCount(shape.slice(0, batchAxis)); outer += 1) {
    const start = (outer * (shape[batchAxis] ?? 0) + from.row) * inner;
    target.set(source.subarray(start, start + inner), (outer * (to.tensor.shape[batchAxis] ?? 0) + to.row) * inner);
  }
}

/** Copies `count` positions of one row of a tensor to a row of another one. */
function copyPositions({ batchAxis, tokenAxis }: CacheInput, from: Place, to: Place, count: number): void {
  const { shape } = from.tensor;
  const outer = elementCount(shape.slice(0, batchAxis));
  const middle = elementCount(shape.slice(batchAxis + 1, tokenAxis));
  const inner = elementCount(shape.slice(tokenAxis + 1));
  const offset = ({ tensor, row, position }: Place, out: number, mid: number): number =>
    (((out * (tensor.shape[batchAxis] ?? 0) + row) * middle + mid) * (tensor.shape[tokenAxis] ?? 0) + position) * inner;
  const source = from.tensor.data as Float32Array;
  const target = to.tensor.data as Float32Array;
  for (let out = 0; out < outer; out += 1) {
    for (let mid = 0; mid < middle; mid += 1) {
      const start = offset(from, out, mid);
      target.set(source.subarray(start, start + count * inner), offset(to, out, mid));
    }
  }
}
