/** How the elements of a tensor are divided among ranks, the processes that compute one program together. */
import { at } from "../../contract/checked.ts";
import { elementCount, type TensorData } from "../../contract/tensor.ts";
import { zeroLiteral, type Literal } from "../../engine/ir/literal.ts";

/**
 * Where the elements of a value are. "whole": each rank has all of them. "split": rank r has the indices from `bounds[r]` to `bounds[r + 1]` - 1 of one axis; some ranks may have none. "partial":
 * each rank has a tensor of the full shape, and the value is their sum. "owned": one rank has it, the others have nothing.
 */
export type Sharding =
  | { readonly kind: "whole" }
  | { readonly kind: "split"; readonly axis: number; readonly bounds: readonly number[] }
  | { readonly kind: "partial" }
  | { readonly kind: "owned"; readonly rank: number };

/** A value that is divided along one axis. */
export type Split = Extract<Sharding, { readonly kind: "split" }>;

/** Each rank has all elements. */
export const replicated: Sharding = { kind: "whole" };

/** Splits an axis with `size` indices: the ranks get equal numbers of them, and the first ones get one more where they do not divide. */
export function evenSplit(axis: number, size: number, ranks: number): Split {
  return { kind: "split", axis, bounds: Array.from({ length: ranks + 1 }, (_, rank) => Math.ceil((rank * size) / ranks)) };
}

/** A key that is equal for equal shardings. */
export function shardingKey(sharding: Sharding): string {
  if (sharding.kind === "split") return `${sharding.axis}:${sharding.bounds.join()}`;
  return sharding.kind === "owned" ? `owned ${sharding.rank}` : sharding.kind;
}

/** Number of indices of the split axis that a rank has. */
export function localSize({ bounds }: Split, rank: number): number {
  return at(bounds, rank + 1) - at(bounds, rank);
}

/** The shape of the tensor that a rank has of a value with this shape. */
export function localShape(shape: readonly number[], sharding: Sharding, rank: number): readonly number[] {
  return sharding.kind === "split" ? shape.with(sharding.axis, localSize(sharding, rank)) : shape;
}

/** A copy of the indices from `start` to `end` - 1 of one axis. Not for strings. */
export function sliceAxis(literal: Literal, axis: number, start: number, end: number): Literal {
  const { dataType, shape } = literal;
  const result = zeroLiteral(dataType, shape.with(axis, end - start));
  const inner = elementCount(shape.slice(axis + 1));
  const [row, part] = [at(shape, axis) * inner, (end - start) * inner];
  const [from, to] = [literal.data as Float32Array, result.data as Float32Array];
  for (let outer = 0; outer < elementCount(shape.slice(0, axis)); outer += 1)
    to.set(from.subarray(outer * row + start * inner, outer * row + end * inner), outer * part);
  return result;
}

/** Joins the parts of all ranks along the axis of a split, in the order of the ranks. `shape`: of the joined tensor. Not for strings. */
export function joinShards(
  parts: readonly TensorData[],
  { axis, bounds }: Split,
  { dataType, shape }: Pick<Literal, "dataType" | "shape">,
): Literal {
  const result = zeroLiteral(dataType, shape);
  const inner = elementCount(shape.slice(axis + 1));
  const row = at(shape, axis) * inner;
  const to = result.data as Float32Array;
  for (const [rank, data] of parts.entries()) {
    const part = (at(bounds, rank + 1) - at(bounds, rank)) * inner;
    const first = at(bounds, rank) * inner;
    for (let outer = 0; outer < elementCount(shape.slice(0, axis)); outer += 1)
      to.set((data as Float32Array).subarray(outer * part, (outer + 1) * part), outer * row + first);
  }
  return result;
}
