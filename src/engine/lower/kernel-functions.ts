/** Names for what generated code computes: the units that are checked against the interpreter, and excluded when they are wrong. */
import { at, omitUndefined } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { ElementType } from "../ir/element-types.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import { toNumbers } from "../ir/literal.ts";
import type { Activation, ElementOperation, Operation, OperationKind, OperationOf, ScatterReduction } from "../ir/operations.ts";
import type { QuantizedBlocks } from "../ir/lazy-storage.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import { multipliableBlocks } from "./blocks.ts";
import type { LoweredNode } from "./lowered-node.ts";

/** A function of generated code: a kernel family, or one function within a family, such as GELU in elementwise kernels. */
export interface KernelFunction {
  /** "matmul", "matmul gelu", "reduce sum float32", "elementwise exp float32". Equal names mean equal code generators. */
  readonly name: string;
  /** Set for the steps of elementwise chains. */
  readonly step?: ElementwiseFunction;
  /** Set for kernels that multiply quantized weights: their format. The name is the kernel's id. */
  readonly blocks?: Pick<QuantizedBlocks, "type" | "format">;
}

/** One step of an elementwise chain, without the sizes of its operands. */
export interface ElementwiseFunction {
  readonly operation: ElementOperation;
  readonly types: readonly ElementType[];
  /** The exponent of `pow`, if it is a scalar constant: its code depends on it. */
  readonly exponent?: number;
}

/** The kernel family that a function belongs to, by its name. */
export function familyOf(name: string): string {
  const [family = name] = name.split(" ", 1);
  return family;
}

/** The functions that the kernels of a lowered node compute: kernel families, and the variants that its operation selects in them. */
export function getKernelFunctions({ operation, inputs }: GraphNode, { calls }: LoweredNode): readonly KernelFunction[] {
  const families = [...new Set(calls.flatMap((call) => ("kernel" in call ? [call.kernel.family] : [])))];
  const blocks = operation.kind === "linear" ? multipliableBlocks(inputs[1]?.constant) : undefined;
  if (blocks !== undefined) return blockFunctions(operation as OperationOf<"linear">, blocks, calls);
  if (families.length === 0) return [];
  const named = families.map((name) => ({ name }));
  if (operation.kind === "elementwise") return [...named, ...elementwiseFunctions(operation.steps, inputs)];
  const detail = getDetail(operation, inputs[0]?.type);
  return detail === undefined ? named : [...named, ...families.map((family) => ({ name: `${family} ${detail}` }))];
}

/** The functions of a linear layer with quantized weights: its kernel by id, and the activation in generated code. */
function blockFunctions(
  { activation: fused }: OperationOf<"linear">,
  { type, format }: QuantizedBlocks,
  calls: LoweredNode["calls"],
): readonly KernelFunction[] {
  const product = calls.find(({ id }) => id !== undefined); // calls without an id quantize its activations, or apply the activation to its result
  if (product?.id === undefined) return [];
  const named = { name: product.id, blocks: { type, format } };
  return "kernel" in product && fused !== "none" ? [named, { name: `${product.kernel.family} ${fused}` }] : [named];
}

type Details = { readonly [Kind in OperationKind]?: (operation: OperationOf<Kind>, type: string) => string | undefined };

const activation = ({ activation: name }: { readonly activation?: Activation }): string | undefined =>
  name === "none" ? undefined : name;
const typedFunction = ({ function: name }: { readonly function: string }, type: string): string => `${name} ${type}`;
const reduction = ({ reduction: name }: { readonly reduction: ScatterReduction }, type: string): string | undefined =>
  name === "none" ? undefined : `${name} ${type}`;

/** By operation kind: what its attributes select within a kernel family. Kinds that are not here select nothing. */
const details: Details = {
  linear: activation,
  "integer-linear": activation,
  convolution: activation,
  "convolution-transpose": activation,
  reduce: typedFunction,
  arg: typedFunction,
  cumulative: typedFunction,
  "scatter-elements": reduction,
  "scatter-nd": reduction,
  "max-pool": () => "max",
  "average-pool": () => "average",
  softmax: ({ logarithm }) => (logarithm ? "logarithm" : undefined),
  "top-k": (_operation, type) => type,
};

function getDetail(operation: Operation, type: TensorType | undefined): string | undefined {
  const select = details[operation.kind] as ((operation: Operation, type: string) => string | undefined) | undefined;
  return type === undefined ? undefined : select?.(operation, type.dataType);
}

type Step = Extract<Operation, { readonly kind: "elementwise" }>["steps"][number];

function elementwiseFunctions(steps: readonly Step[], inputs: readonly Value[]): readonly KernelFunction[] {
  const values: Operand[] = inputs.map(({ type, constant }) => ({ type, ...omitUndefined({ constant }) }));
  return steps.map(({ operation, operands }) => {
    const given = operands.map((index) => at(values, index));
    for (const type of inferTypes(
      operation,
      given.map((value) => value.type),
    ))
      values.push({ type });
    const exponent = operation.kind === "binary" && operation.function === "pow" ? getScalar(given[1]) : undefined;
    const types = given.map(({ type }) => type.dataType);
    return {
      name: `elementwise ${functionName(operation)} ${types.join(" ")}${exponent === undefined ? "" : ` (${exponent})`}`,
      step: { operation, types, ...omitUndefined({ exponent }) },
    };
  });
}

type Operand = Pick<Value, "type" | "constant">;

function getScalar(operand: Operand | undefined): number | undefined {
  const constant = operand?.constant;
  return constant !== undefined && elementCount(constant.shape) === 1 ? toNumbers(constant)[0] : undefined;
}

function functionName(operation: ElementOperation): string {
  switch (operation.kind) {
    case "unary":
    case "binary":
      return operation.function;
    case "gelu":
      return operation.approximate === "tanh" ? "gelu-tanh" : "gelu";
    case "cast":
      return `cast to ${operation.to}${operation.saturate ? " saturating" : ""}`;
    case "select":
      return "select";
  }
}
