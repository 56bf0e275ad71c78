/** How much an operation takes to compute, before it is computed: a model must not hold the machine, or fill it. */
import { elementCount } from "../../tensor.ts";
import { recordOverheadBytes } from "./trace-budget.ts";
import { isBigIntType } from "../ir/element-types.ts";
import { type Literal, stringsOf } from "../ir/literal.ts";
import { byteSize, type TensorType } from "../ir/graph.ts";
import type { Operation, OperationOf } from "../ir/operations.ts";

/** Shapes of more axes come from no exporter. */
export const maxRank = 64;

/** A text counts as a pointer and a short string. */
const stringBytes = 32;
/** Characters are held in two bytes each. */
const characterBytes = 2;

export function estimatedBytes(type: TensorType): number {
  return type.dataType === "string" ? elementCount(type.shape) * stringBytes : byteSize(type);
}

/** What a folded tensor takes while a trace holds it; texts by their characters where `literal` has them. */
export function literalBytes(type: TensorType, literal?: Literal): number {
  const characters = literal?.dataType === "string" ? stringsOf(literal).reduce((sum, text) => sum + text.length, 0) : 0;
  return recordOverheadBytes.literal + estimatedBytes(type) + characters * characterBytes;
}

/** What the interpreter takes beside the results: values and places of elements as float64, or as bigints of about 40 bytes. */
export function scratchBytes(operation: Operation, inputs: readonly TensorType[], outputs: readonly TensorType[]): number {
  if (operation.kind === "reshape") return 0;
  const each = outputs.some(({ dataType }) => isBigIntType(dataType)) ? 40 : 16;
  const largest = [...inputs, ...outputs].reduce((most, { shape }) => Math.max(most, elementCount(shape)), 0);
  // A window is looked up by a list of places, one for each tap of each output element.
  const taps = windowed.has(operation.kind) ? estimatedWork(operation, inputs, outputs) * 4 : 0;
  return largest * each + taps;
}

const windowed: ReadonlySet<Operation["kind"]> = new Set(["convolution", "convolution-transpose", "max-pool", "average-pool"]);

/** Whether it takes many steps for an element, so that only short ones are folded into a program. */
export function isCostly({ kind }: Operation): boolean {
  return kind === "matmul" || kind === "call" || windowed.has(kind);
}

/** Steps of its innermost loop, about. */
export function estimatedWork(operation: Operation, inputs: readonly TensorType[], outputs: readonly TensorType[]): number {
  const [given, made] = [inputs, outputs].map((types) => types.reduce((sum, { shape }) => sum + elementCount(shape), 0));
  return (given ?? 0) + (made ?? 0) * workPerElement(operation, inputs);
}

/** Steps for one element of the result. */
function workPerElement(operation: Operation, [first, second]: readonly TensorType[]): number {
  if (operation.kind === "matmul") return first?.shape.at(-1) ?? 1;
  if (operation.kind === "convolution") return second === undefined ? 1 : elementCount(second.shape.slice(1));
  if (operation.kind === "convolution-transpose")
    return second === undefined ? 1 : (second.shape[0] ?? 1) * elementCount(second.shape.slice(2));
  if (operation.kind === "max-pool" || operation.kind === "average-pool") return elementCount(operation.kernel);
  if (operation.kind === "call") return workPerElementOfCall(operation, first);
  return 1;
}

/** Upper bounds, for host functions whose work depends on more than the size of their results. */
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
