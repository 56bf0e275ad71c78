/** How much an operation takes to compute, before it is computed: a model must not hold the machine, or fill it. */
import { elementCount } from "../../tensor.ts";
import { byteSize, type TensorType } from "../graph/graph.ts";
import type { Operation } from "../graph/operations.ts";

/** Shapes of more axes come from no exporter. */
export const mostAxes = 64;

/** A text counts as a pointer and a short string. */
const textBytes = 32;

export function memoryOf(type: TensorType): number {
  return type.dataType === "string" ? elementCount(type.shape) * textBytes : byteSize(type);
}

/** Steps of its innermost loop, about. */
export function workOf(operation: Operation, inputs: readonly TensorType[], outputs: readonly TensorType[]): number {
  const [given, made] = [inputs, outputs].map((types) => types.reduce((sum, { shape }) => sum + elementCount(shape), 0));
  return (given ?? 0) + (made ?? 0) * perElement(operation, inputs);
}

/** Steps for one element of the result. */
function perElement(operation: Operation, [first, second]: readonly TensorType[]): number {
  if (operation.kind === "matmul") return first?.shape.at(-1) ?? 1;
  if (operation.kind === "convolution") return second === undefined ? 1 : elementCount(second.shape.slice(1));
  if (operation.kind === "convolution-transpose")
    return second === undefined ? 1 : (second.shape[0] ?? 1) * elementCount(second.shape.slice(2));
  if (operation.kind === "max-pool" || operation.kind === "average-pool") return elementCount(operation.kernel);
  return 1;
}
