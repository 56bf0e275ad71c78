/** Softmax, norms and reductions. */
import { argReduce, norm, reduce, softmax } from "../emit/wasm/index.ts";
import { broadcastStrides } from "../graph/broadcast.ts";
import { elementCount } from "../../tensor.ts";
import type { ReduceFunction } from "../graph/operations.ts";
import type { NodeOf } from "../passes/rewrite.ts";
import { type LoweredNode, oneCall, tensor } from "./planned-call.ts";

export function lowerSoftmax({ operation, inputs, outputs }: NodeOf<"softmax">): LoweredNode | undefined {
  const [x, mask] = inputs;
  if (x === undefined || x.type.dataType !== "float32" || operation.axis !== x.type.shape.length - 1) return undefined;
  const { shape } = x.type;
  const { logarithm } = operation;
  const output = tensor(outputs[0]);
  if (mask === undefined) return { ...oneCall(softmax({ shape, logarithm }), tensor(x), output), inPlace: [x] };
  const kernel = softmax({ shape, logarithm, maskStrides: broadcastStrides(mask.type.shape, shape) });
  return { ...oneCall(kernel, tensor(x), tensor(mask), output), inPlace: [x] };
}

export function lowerLayerNorm({ operation, inputs, outputs }: NodeOf<"layer-norm">): LoweredNode | undefined {
  const [x, gamma, beta] = inputs;
  if (x === undefined || x.type.dataType !== "float32") return undefined;
  const columns = elementCount(x.type.shape.slice(operation.axis));
  const rows = elementCount(x.type.shape.slice(0, operation.axis));
  const added = [gamma, beta].filter((value) => value !== undefined);
  if (added.some(({ type }) => elementCount(type.shape) !== columns || type.dataType !== "float32")) return undefined;
  const request = {
    rows,
    columns,
    kind: "layer",
    epsilon: operation.epsilon,
    gamma: gamma !== undefined,
    beta: beta !== undefined,
  } as const;
  return { ...oneCall(norm(request), tensor(x), ...added.map((value) => tensor(value)), tensor(outputs[0])), inPlace: [x] };
}

const kinds: Readonly<Record<ReduceFunction, "sum" | "mean" | "max" | "min" | "prod">> = {
  sum: "sum",
  mean: "mean",
  max: "max",
  min: "min",
  product: "prod",
};

/** Axes that lie side by side are one. */
export function lowerReduce({ operation, inputs, outputs }: NodeOf<"reduce">): LoweredNode | undefined {
  const [x] = inputs;
  const type = x?.type.dataType;
  if (x === undefined || (type !== "float32" && type !== "int32")) return undefined;
  const { axes, function: name } = operation;
  const first = Math.min(...axes);
  const last = Math.max(...axes);
  if (axes.length === 0 || last - first !== axes.length - 1 || (type === "int32" && name === "mean")) return undefined;
  const { shape } = x.type;
  const [outer, n, inner] = [shape.slice(0, first), shape.slice(first, last + 1), shape.slice(last + 1)].map(elementCount);
  if (outer === undefined || inner === undefined || n === undefined || n === 0) return undefined;
  return oneCall(reduce({ outer, n, inner, kind: kinds[name], type }), tensor(x), tensor(outputs[0]));
}

export function lowerArg({ operation, inputs, outputs }: NodeOf<"arg">): LoweredNode | undefined {
  const [x] = inputs;
  if (x === undefined || x.type.dataType !== "float32") return undefined;
  const { axis, last, function: kind } = operation;
  const { shape } = x.type;
  const request = {
    outer: elementCount(shape.slice(0, axis)),
    n: shape[axis] ?? 0,
    inner: elementCount(shape.slice(axis + 1)),
    kind,
    last,
  };
  return oneCall(argReduce(request), tensor(x), tensor(outputs[0]));
}
