/** Lowers fused chains of elementwise operations to generated loops. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { laneBytes, type ElementwiseRequest, elementwise, registerType, supportsElementwise } from "../codegen/wasm/index.ts";
import { broadcastStrides } from "../ir/broadcast.ts";
import { type ElementType, elementTypes, integerRange } from "../ir/element-types.ts";
import type { NodeOf, Value } from "../ir/graph.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import { toNumbers } from "../ir/literal.ts";
import type { ElementOperation, OperationOf, UnaryFunction } from "../ir/operations.ts";
import { type LoweredNode, singleCall, tensorOperand } from "./lowered-node.ts";

type Step = ElementwiseRequest["steps"][number];
type KernelType = ElementwiseRequest["output"];

/**
 * Lowers a fused chain of elementwise operations to one kernel. undefined when the kernel does not support a step for the types of its operands, or
 * when the chain computes in float16.
 */
export function lowerElementwise({ operation, inputs, outputs }: NodeOf<"elementwise">): LoweredNode | undefined {
  const output = at(outputs, 0);
  const type = output.type.dataType;
  if (!isKernelType(type)) return undefined;
  if (computesInFloat16(operation, inputs)) return undefined;
  const translation = new StepTranslator(inputs);
  for (const step of operation.steps) if (!translation.add(step.operation, step.operands)) return undefined;
  const tensors = translation.tensors;
  const { shape } = output.type;
  const request: ElementwiseRequest = {
    shape,
    inputs: tensors.map((input) => ({
      type: input.type.dataType as KernelType,
      strides: broadcastStrides(input.type.shape, shape),
    })),
    steps: translation.steps,
    output: type,
  };
  if (tensors.some((input) => !isKernelType(input.type.dataType))) return undefined;
  if (!supportsElementwise(request)) return undefined;
  return {
    ...singleCall(elementwise(request), ...tensors.map((input) => tensorOperand(input)), tensorOperand(output)),
    inPlace: tensors,
  };
}

/**
 * Whether the chain computes with float16 values. Kernels compute float16 in float32 and would not round intermediate results, so the only float16
 * steps they take are casts to float32 and, as the last step, a cast from float32.
 */
function computesInFloat16({ steps }: NodeOf<"elementwise">["operation"], inputs: readonly Value[]): boolean {
  const types = inputs.map(({ type }) => type);
  return steps.some(({ operation, operands: of }, index) => {
    const operands = of.map((value) => types[value]).filter((type) => type !== undefined);
    types.push(...inferTypes(operation, operands));
    const [from] = operands;
    if (types.at(-1)?.dataType === "float16") {
      const isLast = index === steps.length - 1;
      return operation.kind !== "cast" || operation.saturate || from?.dataType !== "float32" || !isLast;
    }
    return operands.some(({ dataType }) => dataType === "float16") && (operation.kind !== "cast" || operation.to !== "float32");
  });
}

function isKernelType(type: ElementType): type is KernelType {
  return Object.hasOwn(laneBytes, type);
}

/** The range of an integer type that kernels compute as int32. */
function smallIntegerRange(type: ElementType): readonly [min: number, max: number] | undefined {
  const { bits } = elementTypes[type];
  return bits === 8 || bits === 16 ? integerRange(type) : undefined;
}

/** Translates steps of the graph to steps of the kernel. Scalar constants become constant steps, so values are renumbered. */
class StepTranslator {
  readonly steps: Step[] = [];
  readonly tensors: readonly Value[];
  /** Kernel value number by graph value number; grows as steps are added. */
  readonly #numbers: number[] = [];
  /** Type of each graph value by its number. */
  readonly #types: TensorType[];

  constructor(inputs: readonly Value[]) {
    this.#types = inputs.map(({ type }) => type);
    this.tensors = inputs.filter((input) => constantStep(input) === undefined);
    for (const input of inputs) {
      const constant = constantStep(input);
      this.#numbers.push(constant === undefined ? this.tensors.indexOf(input) : this.#emit(constant));
    }
  }

  /** Adds a step. Returns false when the kernel has no such operation. */
  add(operation: ElementOperation, of: readonly number[]): boolean {
    const operands = of.map((value) => at(this.#numbers, value));
    const given = of.map((value) => at(this.#types, value));
    const [from, type] = [given[0]?.dataType, inferTypes(operation, given)[0]];
    const result = this.#translate(operation, operands, from);
    if (result === undefined || type === undefined) return false;
    this.#numbers.push(this.#wrapToType(result, operation, type.dataType));
    this.#types.push(type);
    return true;
  }

  /** Narrows results of 8- and 16-bit integer arithmetic, which kernels compute in 32 bits. Selection needs no narrowing. */
  #wrapToType(result: number, operation: ElementOperation, type: ElementType): number {
    const computes = operation.kind === "unary" || operation.kind === "binary";
    return computes && smallIntegerRange(type) !== undefined
      ? this.#emit({ op: "cast", of: [result], to: type as KernelType })
      : result;
  }

  #translate(
    operation: ElementOperation,
    [a = 0, b = 0, c = 0]: readonly number[],
    from: ElementType | undefined,
  ): number | undefined {
    switch (operation.kind) {
      case "select":
        return this.#emit({ op: "select", of: [a, b, c] });
      case "gelu":
        return this.#emit({ op: operation.approximate === "tanh" ? "gelu-tanh" : "gelu", of: [a] });
      case "cast":
        return isKernelType(operation.to) ? this.#cast(a, operation, from) : undefined;
      case "binary":
        return this.#emit({ op: operation.function, of: [a, b] });
      case "unary":
        return this.#unary(operation.function, a);
    }
  }

  /** A cast. Kernels truncate to the low bits, so a saturating cast to 8 or 16 bits is preceded by a clamp. */
  #cast(a: number, { to, saturate }: OperationOf<"cast">, from: ElementType | undefined): number | undefined {
    const range = saturate ? smallIntegerRange(to) : undefined;
    if (range === undefined) {
      // Casts from floats saturate at the range of int32 and uint32; casts from integers would wrap around.
      if (saturate && (to === "int32" || to === "uint32") && /int(32|64)$/.test(from ?? "")) return undefined;
      return this.#emit({ op: "cast", of: [a], to: to as KernelType });
    }
    const type = from === "float32" || from === "int64" || from === "float64" ? from : "int32";
    if (from === "uint32" || from === "bool") return undefined;
    const [min, max] = [range[0], range[1]].map((value) => this.#emit({ op: "constant", type, value })) as [number, number];
    const clamped = this.#emit({ op: "min", of: [this.#emit({ op: "max", of: [a, min] }), max] });
    return this.#emit({ op: "cast", of: [clamped], to: to as KernelType });
  }

  #unary(name: UnaryFunction, a: number): number {
    if (name === "is-nan") return this.#emit({ op: "not-equal", of: [a, a] });
    if (name === "is-infinite") {
      const infinity = this.#emit({ op: "constant", type: "float32", value: Number.POSITIVE_INFINITY });
      return this.#emit({ op: "equal", of: [this.#emit({ op: "abs", of: [a] }), infinity] });
    }
    if (name !== "softplus") return this.#emit({ op: name, of: [a] });
    // max(x, 0) + log(1 + exp(-|x|))
    const zero = this.#emit({ op: "constant", type: "float32", value: 0 });
    const negated = this.#emit({ op: "neg", of: [this.#emit({ op: "abs", of: [a] })] });
    const logarithm = this.#emit({ op: "log1p", of: [this.#emit({ op: "exp", of: [negated] })] });
    return this.#emit({ op: "add", of: [this.#emit({ op: "max", of: [a, zero] }), logarithm] });
  }

  /** Appends a kernel step and returns the number of its result. */
  #emit(step: Step): number {
    this.steps.push(step);
    return this.tensors.length + this.steps.length - 1;
  }
}

/** A scalar constant as a constant step; undefined for other values, for float16, and for int64 beyond 2^53. */
function constantStep({ constant }: Value): Extract<Step, { readonly op: "constant" }> | undefined {
  if (constant === undefined || elementCount(constant.shape) !== 1 || !isKernelType(constant.dataType)) return undefined;
  if (constant.dataType === "float16") return undefined;
  const value = at(toNumbers(constant), 0);
  if (!Number.isSafeInteger(value) && constant.dataType === "int64") return undefined;
  return { op: "constant", type: registerType(constant.dataType), value };
}
