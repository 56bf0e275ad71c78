/** Lowers operations that read or write elements at indices to StableHLO. An out-of-range index reads the nearest element, and writes nothing. */
import { at, required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import type { OperationOf, ScatterReduction } from "../../ir/operations.ts";
import { type HloFunction, type HloValue, formatList } from "./hlo-function.ts";
import { UnsupportedInStableHlo } from "./hlo-types.ts";

/** Lowers `gather` to StableHLO. */
export function emitGather(hlo: HloFunction, { axis }: OperationOf<"gather">, [data, indices]: readonly HloValue[]): HloValue {
  return takeAlong(hlo, required(data, "the data"), axis, required(indices, "the indices"));
}

/** Slices of an axis at indices of any shape. In the result, the axes of the indices replace the axis. Negative indices count from the end. */
export function takeAlong(hlo: HloFunction, data: HloValue, axis: number, indices: HloValue): HloValue {
  const { dataType, shape } = data.type;
  const { shape: many } = indices.type;
  const result = { dataType, shape: [...shape.slice(0, axis), ...many, ...shape.slice(axis + 1)] };
  if (elementCount(result.shape) === 0) return hlo.filled(dataType, 0, result.shape);
  refuseEmpty(data);
  const kept = [...result.shape.keys()].filter((position) => position < axis || position >= axis + many.length);
  return hlo.operation("stablehlo.gather", [data, nonNegative(hlo, indices, at(shape, axis))], result, {
    dimension_numbers: `#stablehlo.gather<offset_dims = [${kept.join(", ")}], collapsed_slice_dims = [${axis}], start_index_map = [${axis}], index_vector_dim = ${many.length}>`,
    slice_sizes: formatList(shape.with(axis, 1)),
    indices_are_sorted: "false",
  });
}

/** Lowers `gather-elements` to StableHLO. */
export function emitGatherElements(
  hlo: HloFunction,
  { axis }: OperationOf<"gather-elements">,
  [data, indices]: readonly HloValue[],
): HloValue {
  const from = required(data, "the data");
  return gatherBlocks(hlo, from, elementCoordinates(hlo, required(indices, "the indices"), axis, from.type.shape));
}

/** Lowers `gather-nd` to StableHLO. Batch axes become leading coordinates, since `stablehlo.gather` is used without batch dimensions. */
export function emitGatherNd(
  hlo: HloFunction,
  { batchAxes }: OperationOf<"gather-nd">,
  [data, indices]: readonly HloValue[],
): HloValue {
  const from = required(data, "the data");
  const rows = nonNegativeRows(hlo, required(indices, "the indices"), from.type.shape.slice(batchAxes));
  const column = [...rows.type.shape.slice(0, -1), 1];
  const batches = Array.from({ length: batchAxes }, (_, axis) => hlo.iota("int64", column, axis));
  return gatherBlocks(hlo, from, hlo.concatenate([...batches, rows], column.length - 1));
}

/** Gathers blocks of the data. The last axis of `coordinates` holds the position of a block along the leading axes of the data. */
function gatherBlocks(hlo: HloFunction, data: HloValue, coordinates: HloValue): HloValue {
  const { dataType, shape } = data.type;
  const [outer, depth] = [coordinates.type.shape.slice(0, -1), coordinates.type.shape.at(-1) ?? 0];
  const block = shape.slice(depth);
  const result = { dataType, shape: [...outer, ...block] };
  if (elementCount(result.shape) === 0) return hlo.filled(dataType, 0, result.shape);
  refuseEmpty(data);
  const axes = first(depth).join(", ");
  return hlo.operation("stablehlo.gather", [data, coordinates], result, {
    dimension_numbers: `#stablehlo.gather<offset_dims = [${block.map((_, index) => outer.length + index).join(", ")}], collapsed_slice_dims = [${axes}], start_index_map = [${axes}], index_vector_dim = ${outer.length}>`,
    slice_sizes: formatList(shape.map((size, axis) => (axis < depth ? 1 : size))),
    indices_are_sorted: "false",
  });
}

/** Lowers `scatter-elements` to StableHLO. */
export function emitScatterElements(
  hlo: HloFunction,
  { axis, reduction }: OperationOf<"scatter-elements">,
  [data, indices, updates]: readonly HloValue[],
): HloValue {
  const into = required(data, "the data");
  const coordinates = elementCoordinates(hlo, required(indices, "the indices"), axis, into.type.shape);
  return scatterBlocks(hlo, into, coordinates, required(updates, "the updates"), reduction);
}

/** Lowers `scatter-nd` to StableHLO. */
export function emitScatterNd(
  hlo: HloFunction,
  { reduction }: OperationOf<"scatter-nd">,
  [data, indices, updates]: readonly HloValue[],
): HloValue {
  const into = required(data, "the data");
  const rows = nonNegativeRows(hlo, required(indices, "the indices"), into.type.shape);
  return scatterBlocks(hlo, into, rows, required(updates, "the updates"), reduction);
}

const combinations = {
  add: "stablehlo.add",
  mul: "stablehlo.multiply",
  min: "stablehlo.minimum",
  max: "stablehlo.maximum",
} as const;

function scatterBlocks(
  hlo: HloFunction,
  data: HloValue,
  coordinates: HloValue,
  updates: HloValue,
  reduction: ScatterReduction,
): HloValue {
  if (elementCount(updates.type.shape) === 0) return data;
  const { dataType, shape } = data.type;
  const [outer, depth] = [coordinates.type.shape.length - 1, coordinates.type.shape.at(-1) ?? 0];
  const axes = first(depth).join(", ");
  const windows = shape.slice(depth).map((_, index) => outer + index);
  const region = hlo.region([dataType, dataType], (inner, [old, update]) => {
    const [before, by] = [required(old, "the element"), required(update, "the update")];
    return [reduction === "none" ? by : inner.binary(combinations[reduction], before, by)];
  });
  const [result] = hlo.operations(
    "stablehlo.scatter",
    [data, coordinates, hlo.reshape(updates, [...coordinates.type.shape.slice(0, -1), ...shape.slice(depth)])],
    [data.type],
    {
      scatter_dimension_numbers: `#stablehlo.scatter<update_window_dims = [${windows.join(", ")}], inserted_window_dims = [${axes}], scatter_dims_to_operand_dims = [${axes}], index_vector_dim = ${outer}>`,
      indices_are_sorted: "false",
      unique_indices: "false",
    },
    region,
  );
  return required(result, "the result");
}

/**
 * Coordinates of the element that each index along an axis selects, in a new last axis: the position of the index itself, with the index at `axis`.
 */
function elementCoordinates(hlo: HloFunction, indices: HloValue, axis: number, shape: readonly number[]): HloValue {
  const column = [...indices.type.shape, 1];
  const own = hlo.reshape(nonNegative(hlo, indices, at(shape, axis)), column);
  const parts = shape.map((_, each) => (each === axis ? own : hlo.iota("int64", column, each)));
  return hlo.concatenate(parts, column.length - 1);
}

/** Indices as int64; `size` is added to negative indices. */
function nonNegative(hlo: HloFunction, indices: HloValue, size: number): HloValue {
  const wide = hlo.convert(indices, "int64");
  const isNegative = hlo.compare(wide, "LT", hlo.scalar("int64", 0));
  return hlo.select(isNegative, hlo.binary("stablehlo.add", wide, hlo.scalar("int64", size)), wide);
}

/** Rows of indices as int64, one index for each of the leading axes of a shape; the size of the axis is added to negative indices. */
function nonNegativeRows(hlo: HloFunction, rows: HloValue, shape: readonly number[]): HloValue {
  const depth = rows.type.shape.at(-1) ?? 0;
  const wide = hlo.convert(rows, "int64");
  const sizes = hlo.broadcast(hlo.integers(shape.slice(0, depth)), rows.type.shape);
  return hlo.select(hlo.compare(wide, "LT", hlo.scalar("int64", 0)), hlo.binary("stablehlo.add", wide, sizes), wide);
}

/** Throws UnsupportedInStableHlo for a tensor without elements: reading from it is a run-time error, which StableHLO cannot report. */
function refuseEmpty({ type }: HloValue): void {
  if (elementCount(type.shape) === 0) throw new UnsupportedInStableHlo("indices into a tensor without elements");
}

function first(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
