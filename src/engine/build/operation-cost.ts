/** Estimates of the work and memory of an operation, made before it is folded so that a model cannot exceed the limits of its trace. */
import { elementCount } from "../../contract/tensor.ts";
import { recordOverheadBytes } from "./trace-budget.ts";
import { isBigIntType } from "../ir/element-types.ts";
import { type Literal, toStrings } from "../ir/literal.ts";
import { byteSize, type TensorType } from "../ir/tensor-type.ts";
import type { Operation, OperationOf } from "../ir/operations.ts";

/** Maximum number of axes of a tensor. No known exporter writes tensors with as many. */
export const maxRank = 64;

/** Estimated bytes of one string element: a pointer and a short string. */
const stringBytes = 32;
/** JavaScript strings take up to two bytes for each UTF-16 unit. */
const characterBytes = 2;

/** Bytes that the elements of a tensor of this type take in memory; a string counts as 32 bytes. */
export function estimatedBytes(type: TensorType): number {
  return type.dataType === "string" ? elementCount(type.shape) * stringBytes : byteSize(type);
}

/** Bytes that a folded tensor takes, the record around its elements included. With `literal`, strings count by their length. */
export function literalBytes(type: TensorType, literal?: Literal): number {
  const characters = literal?.dataType === "string" ? toStrings(literal).reduce((sum, text) => sum + text.length, 0) : 0;
  return recordOverheadBytes.literal + estimatedBytes(type) + characters * characterBytes;
}

/** Bytes that the interpreter needs in addition to the results: per element a float64 value and index (16 bytes), or a bigint of about 40 bytes. */
export function scratchBytes(operation: Operation, inputs: readonly TensorType[], outputs: readonly TensorType[]): number {
  if (operation.kind === "reshape") return 0;
  const bytesPerElement = outputs.some(({ dataType }) => isBigIntType(dataType)) ? 40 : 16;
  const largest = [...inputs, ...outputs].reduce((max, { shape }) => Math.max(max, elementCount(shape)), 0);
  // Windowed operations list the input offset of each kernel tap of each output element, 4 bytes each.
  const taps = windowed.has(operation.kind) ? estimatedWork(operation, inputs, outputs) * 4 : 0;
  return largest * bytesPerElement + taps;
}

const windowed: ReadonlySet<Operation["kind"]> = new Set(["convolution", "convolution-transpose", "max-pool", "average-pool"]);

/** Whether the operation does much work per output element, so that only small instances of it are folded into a graph. */
export function isCostly({ kind }: Operation): boolean {
  return kind === "matmul" || kind === "call" || windowed.has(kind);
}

/** Estimated number of scalar operations: the elements read plus, for each element written, the iterations of the innermost loop. */
export function estimatedWork(operation: Operation, inputs: readonly TensorType[], outputs: readonly TensorType[]): number {
  const elements = (types: readonly TensorType[]): number => types.reduce((sum, { shape }) => sum + elementCount(shape), 0);
  return elements(inputs) + elements(outputs) * workPerElement(operation, inputs);
}

/** Scalar operations for one element of the result. */
function workPerElement(operation: Operation, [first, second]: readonly TensorType[]): number {
  if (operation.kind === "matmul") return first?.shape.at(-1) ?? 1;
  if (operation.kind === "convolution") return second === undefined ? 1 : elementCount(second.shape.slice(1));
  if (operation.kind === "convolution-transpose")
    return second === undefined ? 1 : (second.shape[0] ?? 1) * elementCount(second.shape.slice(2));
  if (operation.kind === "max-pool" || operation.kind === "average-pool") return elementCount(operation.kernel);
  if (operation.kind === "call") return workPerElementOfCall(operation, first);
  return 1;
}

/** Upper bounds for interpreted functions whose work depends on more than the size of their results. */
function workPerElementOfCall({ function: name, attributes }: OperationOf<"call">, first: TensorType | undefined): number {
  const length = first?.shape.at(-1) ?? 1;
  const count = (list: string): number => (attributes[list] as readonly unknown[] | undefined)?.length ?? 0;
  if (name === "determinant") return length ** 3;
  if (name === "multinomial") return length;
  if (name === "regex-full-match") return String(attributes["pattern"]).length;
  if (name === "tree-ensemble") return count("roots") * count("features");
  if (name === "tf-idf") {
    const sizes = Math.min(Number(attributes["maxGramLength"]), count("counts"));
    return sizes * sizes * length * Math.min(Number(attributes["maxSkipCount"]) + 1, length);
  }
  return 1;
}
