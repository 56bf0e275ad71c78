/**
 * Which operations can be computed on parts of their operands, and how: sharding propagation as in GSPMD (Xu et al. 2021), from the operands to the results. Matrix products by weights
 * are split by columns, and products of what is split by columns by rows, as in Megatron-LM (Shoeybi et al. 2019).
 */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { GraphNode } from "../../engine/ir/graph.ts";
import type { Operation } from "../../engine/ir/operations.ts";
import { evenSplit, localSize, type Sharding, type Split, replicated } from "./sharding.ts";

/** How one operation is computed on parts. */
export interface NodePlacement {
  /** How each operand must be divided. */
  readonly inputs: readonly Sharding[];
  /** How each result is divided. */
  readonly outputs: readonly Sharding[];
  /** The operation of one rank, where its attributes differ from the whole operation's. */
  readonly operation?: (rank: number) => Operation;
}

/** What a rule knows of an operation. */
export interface RuleContext {
  /** How the operands are divided when the operation is reached. */
  readonly given: readonly Sharding[];
  readonly ranks: number;
  /** Whether products may be split where nothing is split yet, and their sums computed in parts. Sums in parts are rounded otherwise than whole ones. */
  readonly splitsProducts: boolean;
}

type Shape = readonly number[];

/** How a node is computed on parts. Undefined: each rank computes it whole. */
export function placeNode(node: GraphNode, context: RuleContext): NodePlacement | undefined {
  const { operation, inputs, outputs } = node;
  const shapes = inputs.map(({ type }) => type.shape);
  const result = outputs[0]?.type.shape ?? [];
  if (operation.kind === "matmul") return placeProduct(node, context);
  const index = context.given.findIndex((each) => each.kind === "split");
  const split = context.given[index];
  if (split?.kind !== "split") return undefined;
  const shape = at(shapes, index);
  const { axis } = split;
  /** The operands aligned at their last axes, as NumPy broadcasts them. */
  const aligned = (operationOfRank?: (rank: number) => Operation): NodePlacement | undefined =>
    align(shapes, result, { ...split, axis: axis + result.length - shape.length }, outputs.length, operationOfRank);
  /** The first operand alone is divided, and so are the results. */
  const first = (outputAxis: number, operationOfRank?: (rank: number) => Operation): NodePlacement | undefined =>
    index === 0
      ? {
          inputs: shapes.map((_, each) => (each === 0 ? split : replicated)),
          outputs: outputs.map(() => ({ ...split, axis: outputAxis })),
          ...(operationOfRank === undefined ? {} : { operation: operationOfRank }),
        }
      : undefined;
  switch (operation.kind) {
    case "unary":
    case "cast":
    case "bitcast":
    case "gelu":
    case "quantize":
    case "subtract-zero-point":
      return first(axis);
    case "binary":
    case "select":
    case "elementwise":
      return aligned();
    case "softmax":
      return axis + result.length - shape.length === operation.axis ? undefined : aligned();
    case "layer-norm":
    case "rms-norm":
      return axis + result.length - shape.length >= operation.axis ? undefined : aligned();
    case "arg":
    case "cumulative":
    case "top-k":
      return axis === operation.axis ? undefined : first(axis);
    case "gather-elements":
      return axis === operation.axis || shapes.some((each) => each[axis] !== shape[axis]) ? undefined : aligned();
    case "reduce":
      if (operation.axes.includes(axis)) return undefined;
      return first(operation.keep ? axis : axis - operation.axes.filter((each) => each < axis).length);
    case "concat":
      return axis === operation.axis ? undefined : aligned();
    case "transpose":
      return first(operation.permutation.indexOf(axis));
    case "reshape": {
      const reshaped = reshapeSplit(split, shape, operation.shape);
      if (reshaped === undefined) return undefined;
      return {
        inputs: [split],
        outputs: [reshaped],
        operation: (rank) => ({ ...operation, shape: operation.shape.with(reshaped.axis, localSize(reshaped, rank)) }),
      };
    }
    case "expand": {
      const outputAxis = axis + result.length - shape.length;
      if (result[outputAxis] !== shape[axis]) return undefined;
      return first(outputAxis, (rank) => ({ ...operation, shape: result.with(outputAxis, localSize(split, rank)) }));
    }
    case "slice": {
      const { starts, steps, sizes } = operation;
      if (starts[axis] !== 0 || steps[axis] !== 1 || sizes[axis] !== shape[axis]) return undefined;
      return first(axis, (rank) => ({ ...operation, sizes: sizes.with(axis, localSize(split, rank)) }));
    }
    case "pad":
      return operation.before[axis] === 0 && operation.after[axis] === 0 ? first(axis) : undefined;
    case "gather": {
      if (index === 1) return { inputs: [replicated, split], outputs: [{ ...split, axis: operation.axis + axis }] };
      if (axis === operation.axis) return undefined;
      return first(axis < operation.axis ? axis : axis - 1 + (shapes[1]?.length ?? 0));
    }
    case "convolution":
    case "convolution-transpose":
    case "average-pool":
      return axis === 0 ? first(0) : undefined;
    case "max-pool":
      return axis === 0 && outputs.length === 1 ? first(0) : undefined;
    case "linear":
    case "integer-linear":
    case "integer-matmul":
      return axis < shape.length - 1 && index === 0 ? placeRows(node, split) : undefined;
    case "scatter-elements":
    case "scatter-nd":
    case "gather-nd":
    case "quantization-range":
    case "fused-matmul":
    case "call":
      return undefined;
  }
  return operation satisfies never;
}

/** Operands that broadcast: an operand that has the split axis is divided, one that is repeated along it is whole. Undefined if a divided operand is repeated. */
function align(
  shapes: readonly Shape[],
  result: Shape,
  split: Split,
  outputs: number,
  operation?: (rank: number) => Operation,
): NodePlacement | undefined {
  const size = split.bounds.at(-1);
  if (result[split.axis] !== size) return undefined;
  return {
    inputs: shapes.map((shape) => {
      const own = split.axis - (result.length - shape.length);
      return own >= 0 && shape[own] === size ? { ...split, axis: own } : replicated;
    }),
    outputs: Array.from({ length: outputs }, () => split),
    ...(operation === undefined ? {} : { operation }),
  };
}

/** A product by weights with an epilogue, on a part of its rows. A residual, the last operand, has the shape of the result. */
function placeRows({ operation, inputs, outputs }: GraphNode, split: Split): NodePlacement {
  const hasResidual = "residual" in operation && operation.residual !== "none";
  const isDivided = (index: number): boolean => index === 0 || (hasResidual && index === inputs.length - 1);
  return { inputs: inputs.map((_, index) => (isDivided(index) ? split : replicated)), outputs: outputs.map(() => split) };
}

/**
 * The split of a tensor after a change of its shape. Undefined if the parts are not parts of one axis of the new shape: columns that are divided within a head, for example.
 */
function reshapeSplit({ axis, bounds }: Split, from: Shape, to: Shape): Split | undefined {
  const before = elementCount(from.slice(0, axis));
  const inner = elementCount(from.slice(axis + 1));
  if (elementCount(from) === 0) return undefined;
  const fitting = [...to.keys()].filter((each) => elementCount(to.slice(0, each)) === before);
  // Axes of size 1 fit as well: the axis of the same size comes first.
  const found = fitting.find((each) => elementCount(to.slice(each + 1)) === inner) ?? fitting.at(-1);
  if (found === undefined) return undefined;
  const innerAfter = elementCount(to.slice(found + 1));
  if (bounds.some((bound) => (bound * inner) % innerAfter !== 0)) return undefined;
  return { kind: "split", axis: found, bounds: bounds.map((bound) => (bound * inner) / innerAfter) };
}

function placeProduct(
  { inputs: [a, b], outputs }: GraphNode,
  { given, ranks, splitsProducts }: RuleContext,
): NodePlacement | undefined {
  const [one, other] = [a?.type.shape ?? [], b?.type.shape ?? []];
  const result = outputs[0]?.type.shape ?? [];
  const [ofA = replicated, ofB = replicated] = given;
  const columns = (bounds: readonly number[]): NodePlacement => ({
    inputs: [replicated, { kind: "split", axis: other.length - 1, bounds }],
    outputs: [{ kind: "split", axis: result.length - 1, bounds }],
  });
  const rows = (bounds: readonly number[]): NodePlacement => ({
    inputs: [{ kind: "split", axis: one.length - 2, bounds }, replicated],
    outputs: [{ kind: "split", axis: result.length - 2, bounds }],
  });
  const sums = (bounds: readonly number[]): NodePlacement | undefined =>
    splitsProducts
      ? {
          inputs: [
            { kind: "split", axis: one.length - 1, bounds },
            { kind: "split", axis: other.length - 2, bounds },
          ],
          outputs: [{ kind: "partial" }],
        }
      : undefined;
  const batches = (axis: number, bounds: readonly number[]): NodePlacement | undefined =>
    align([one, other], result, { kind: "split", axis, bounds }, 1);
  if (ofA.kind === "split") {
    if (ofA.axis === one.length - 1) return sums(ofA.bounds);
    return ofA.axis === one.length - 2 ? rows(ofA.bounds) : batches(ofA.axis + result.length - one.length, ofA.bounds);
  }
  if (ofB.kind === "split") {
    if (ofB.axis === other.length - 2) return sums(ofB.bounds);
    return ofB.axis === other.length - 1 ? columns(ofB.bounds) : batches(ofB.axis + result.length - other.length, ofB.bounds);
  }
  if (!splitsProducts) return undefined;
  const even = (axis: number, size = 0): readonly number[] | undefined =>
    size >= ranks && size % ranks === 0 ? evenSplit(axis, size, ranks).bounds : undefined;
  if (b?.constant !== undefined) {
    const bounds = even(other.length - 1, other.at(-1));
    return bounds === undefined ? undefined : columns(bounds);
  }
  if (a?.constant !== undefined) {
    const bounds = even(one.length - 2, one.at(-2));
    return bounds === undefined ? undefined : rows(bounds);
  }
  // Attention on inputs: by heads, the last axis before the matrices that both operands have.
  for (let axis = result.length - 3; axis >= 0; axis -= 1) {
    const bounds = even(axis, result[axis]);
    const isShared = one[axis - result.length + one.length] === other[axis - result.length + other.length];
    if (bounds !== undefined && isShared) return batches(axis, bounds);
  }
  return undefined;
}
