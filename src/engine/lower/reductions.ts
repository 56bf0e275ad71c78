/** Lowers operations along axes: softmax, normalization, reductions, cumulative operations, arg-max and top-k. */
import { omitUndefined } from "../../contract/checked.ts";
import type { NodeOf } from "../ir/graph.ts";
import {
  argReduce,
  cumulative,
  type CumulativeType,
  norm,
  reduce,
  reduceInt64,
  softmax,
  softmaxColumns,
  topK,
  type TopKType,
} from "../codegen/wasm/index.ts";
import { broadcastStrides } from "../ir/broadcast.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { ReduceFunction } from "../ir/operations.ts";
import { storageBytes } from "./movement.ts";
import { type LoweredNode, singleCall, type Operand, type LoweredCall, tensorOperand } from "./lowered-node.ts";

/** Lowers softmax and log-softmax of float32 over any axis. A mask is supported over the last axis only. */
export function lowerSoftmax({ operation, inputs, outputs }: NodeOf<"softmax">): LoweredNode | undefined {
  const [x, mask] = inputs;
  if (x === undefined || x.type.dataType !== "float32") return undefined;
  const { shape } = x.type;
  const { logarithm } = operation;
  const { outer, n, inner } = splitAt(shape, operation.axis, operation.axis);
  if (mask !== undefined && operation.axis !== shape.length - 1) return undefined;
  const maskStrides = mask && broadcastStrides(mask.type.shape, shape);
  const kernel =
    inner > 1
      ? softmaxColumns({ outer, n, inner, logarithm })
      : softmax({ shape: mask === undefined ? [outer, n] : shape, logarithm, ...omitUndefined({ maskStrides }) });
  const operands = [x, mask, outputs[0]].filter((value) => value !== undefined);
  return { ...singleCall(kernel, ...operands.map((value) => tensorOperand(value))), inPlace: [x] };
}

/** Lowers layer normalization of float32 over the last axes, with scale and optional bias. */
export function lowerNorm({ operation, inputs, outputs }: NodeOf<"layer-norm"> | NodeOf<"rms-norm">): LoweredNode | undefined {
  const [x, gamma, beta] = inputs;
  if (x === undefined || x.type.dataType !== "float32") return undefined;
  const columns = elementCount(x.type.shape.slice(operation.axis));
  const rows = elementCount(x.type.shape.slice(0, operation.axis));
  const added = [gamma, beta].filter((value) => value !== undefined);
  if (added.some(({ type }) => elementCount(type.shape) !== columns || type.dataType !== "float32")) return undefined;
  const request = {
    rows,
    columns,
    epsilon: operation.epsilon,
    gamma: gamma !== undefined,
    beta: beta !== undefined,
    isCentred: operation.kind === "layer-norm",
  } as const;
  return {
    ...singleCall(norm(request), tensorOperand(x), ...added.map((value) => tensorOperand(value)), tensorOperand(outputs[0])),
    inPlace: [x],
  };
}

const kernelReductions: Readonly<Record<ReduceFunction, "sum" | "mean" | "max" | "min" | "prod">> = {
  sum: "sum",
  mean: "mean",
  max: "max",
  min: "min",
  product: "prod",
};

/** Lowers a reduction. Adjacent axes are merged; separate groups of axes are reduced one after the other, the last group first. */
export function lowerReduce({ operation, inputs, outputs }: NodeOf<"reduce">): LoweredNode | undefined {
  const [x] = inputs;
  const type = x?.type.dataType;
  if (x === undefined || (type !== "float32" && type !== "int32" && type !== "int64")) return undefined;
  const { axes, function: name } = operation;
  const { shape } = x.type;
  if (axes.length === 0 || axes.some((axis) => shape[axis] === 0) || (type !== "float32" && name === "mean")) return undefined;
  const temporaries: number[] = [];
  const calls: LoweredCall[] = [];
  let from = tensorOperand(x);
  let left = shape;
  const runs = adjacentAxes(axes);
  for (const [count, { first, last }] of runs.entries()) {
    const parts = splitAt(left, first, last);
    const kernel =
      type === "int64"
        ? reduceInt64({ ...parts, kind: kernelReductions[name] as "sum" })
        : reduce({ ...parts, kind: kernelReductions[name], type });
    left = left.map((size, axis) => (axis >= first && axis <= last ? 1 : size));
    const bytes = elementCount(left) * storageBytes(type);
    const to: Operand =
      count >= runs.length - 1 ? tensorOperand(outputs[0]) : { kind: "temporary", index: temporaries.push(bytes) - 1 };
    calls.push({ kernel, operands: [from, to] });
    from = to;
  }
  return { calls, temporaries };
}

/** Groups of adjacent axes, the last group first. */
function adjacentAxes(axes: readonly number[]): readonly { readonly first: number; readonly last: number }[] {
  const runs: { first: number; last: number }[] = [];
  for (const axis of axes.toSorted((one, other) => other - one)) {
    const run = runs.at(-1);
    if (run !== undefined && run.first === axis + 1) run.first = axis;
    else runs.push({ first: axis, last: axis });
  }
  return runs;
}

/** A shape as [outer, n, inner]: the sizes before, at and after the axes `first` to `last`, each multiplied. */
function splitAt(
  shape: readonly number[],
  first: number,
  last: number,
): { readonly outer: number; readonly n: number; readonly inner: number } {
  return {
    outer: elementCount(shape.slice(0, first)),
    n: elementCount(shape.slice(first, last + 1)),
    inner: elementCount(shape.slice(last + 1)),
  };
}

const scanTypes: ReadonlySet<string> = new Set<CumulativeType>(["float32", "int32", "int64"]);

/** Lowers cumulative sums and products of float32, int32 and int64. */
export function lowerCumulative({ operation, inputs, outputs }: NodeOf<"cumulative">): LoweredNode | undefined {
  const [x] = inputs;
  if (x === undefined || !scanTypes.has(x.type.dataType)) return undefined;
  const { axis, function: name, exclusive, reverse } = operation;
  const type = x.type.dataType as CumulativeType;
  const kernel = cumulative({ ...splitAt(x.type.shape, axis, axis), function: name, type, exclusive, reverse });
  return { ...singleCall(kernel, tensorOperand(x), tensorOperand(outputs[0])), inPlace: [x] };
}

/** Lowers top-k of float32, int32 and int64: values and their int64 positions. */
export function lowerTopK({ operation, inputs, outputs }: NodeOf<"top-k">): LoweredNode | undefined {
  const [x] = inputs;
  if (x === undefined || !scanTypes.has(x.type.dataType)) return undefined;
  const { axis, count, largest } = operation;
  const kernel = topK({ ...splitAt(x.type.shape, axis, axis), count, largest, type: x.type.dataType as TopKType });
  return singleCall(kernel, tensorOperand(x), tensorOperand(outputs[0]), tensorOperand(outputs[1]));
}

/** Lowers arg-max and arg-min of float32 to int64 positions. */
export function lowerArg({ operation, inputs, outputs }: NodeOf<"arg">): LoweredNode | undefined {
  const [x] = inputs;
  if (x === undefined || x.type.dataType !== "float32") return undefined;
  const { axis, last, function: kind } = operation;
  const kernel = argReduce({ ...splitAt(x.type.shape, axis, axis), kind, last });
  return singleCall(kernel, tensorOperand(x), tensorOperand(outputs[0]));
}
