/** Chains of operations on elements as generated loops. */
import { InferyardError } from "../../errors.ts";
import { elementCount } from "../../tensor.ts";
import { type ElementwiseRequest, type Kernel, assembleKernels, elementwise } from "../codegen/wasm/index.ts";
import { broadcastStrides } from "../ir/broadcast.ts";
import type { ElementType } from "../ir/element-types.ts";
import type { NodeOf, TensorType, Value } from "../ir/graph.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import { numbersOf } from "../ir/literal.ts";
import type { BinaryFunction, ElementOperation, OperationOf, UnaryFunction } from "../ir/operations.ts";
import { type LoweredNode, singleCall, type LoweringContext, tensorOperand } from "./lowered-node.ts";

type Step = ElementwiseRequest["steps"][number];
type KernelType = ElementwiseRequest["output"];

const kernelTypes: ReadonlySet<ElementType> = new Set<KernelType>([
  "float32",
  "float16",
  "float64",
  "int32",
  "uint32",
  "int64",
  "uint16",
  "int16",
  "uint8",
  "int8",
  "bool",
]);

/** Names that differ from ours, and functions that are made of several. */
const comparisons: Readonly<Partial<Record<BinaryFunction, "eq" | "lt" | "le" | "gt" | "ge">>> = {
  equal: "eq",
  less: "lt",
  "less-or-equal": "le",
  greater: "gt",
  "greater-or-equal": "ge",
};

const plainBinary: ReadonlySet<BinaryFunction> = new Set([
  "add",
  "sub",
  "mul",
  "div",
  "pow",
  "min",
  "max",
  "mod",
  "remainder",
  "and",
  "or",
  "xor",
  "shift-left",
  "shift-right",
]);

const bitwise: Readonly<Partial<Record<BinaryFunction, "and" | "or" | "xor">>> = {
  "bitwise-and": "and",
  "bitwise-or": "or",
  "bitwise-xor": "xor",
};

const compositeUnary: ReadonlySet<UnaryFunction> = new Set(["softplus", "is-nan", "is-infinite"]);

/** Whole numbers that kernels hold in 32 bits, and what they span. */
const smallIntegerRanges: Readonly<Partial<Record<ElementType, readonly [least: number, most: number]>>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32_768, 32_767],
  uint16: [0, 65_535],
};

export function lowerElementwise(
  { operation, inputs, outputs }: NodeOf<"elementwise">,
  { emittable }: LoweringContext,
): LoweredNode | undefined {
  const [output] = outputs;
  const type = output?.type.dataType;
  if (output === undefined || !isKernelType(type)) return undefined;
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
  const kernel = elementwise(request);
  const canBe = emittable.get(kernel.key) ?? canEmit(kernel);
  emittable.set(kernel.key, canBe);
  if (!canBe) return undefined;
  return { ...singleCall(kernel, ...tensors.map((input) => tensorOperand(input)), tensorOperand(output)), inPlace: tensors };
}

/**
 * Kernels compute halves in float32, so that results would not be rounded: they only turn halves into float32 first and float32 into halves at last.
 */
function computesInFloat16({ steps }: NodeOf<"elementwise">["operation"], inputs: readonly Value[]): boolean {
  const types = inputs.map(({ type }) => type);
  return steps.some(({ operation, operands: of }, index) => {
    const operands = of.map((place) => types[place]).filter((type) => type !== undefined);
    types.push(...inferTypes(operation, operands));
    const [from] = operands;
    if (types.at(-1)?.dataType === "float16") {
      const isLast = index === steps.length - 1;
      return operation.kind !== "cast" || operation.saturate || from?.dataType !== "float32" || !isLast;
    }
    return operands.some(({ dataType }) => dataType === "float16") && (operation.kind !== "cast" || operation.to !== "float32");
  });
}

function isKernelType(type: ElementType | undefined): type is KernelType {
  return type !== undefined && kernelTypes.has(type);
}

/** The generator refuses combinations of operation and type while it writes code. */
function canEmit(kernel: Kernel): boolean {
  try {
    assembleKernels([kernel], { features: { simd: true, relaxedSimd: false, byteDot: "none" }, shared: false });
    return true;
  } catch (error) {
    if (error instanceof InferyardError && error.code === "CONTRACT_VIOLATION") return false;
    throw error;
  }
}

/** Our steps in the words of the generator. Scalars become constants; all values are numbered anew. */
class StepTranslator {
  readonly steps: Step[] = [];
  readonly tensors: readonly Value[];
  /** By our number of a value, the generator's, filled as steps are added. */
  readonly #numbers: number[] = [];
  /** Their types, as the model has them. */
  readonly #types: TensorType[];

  constructor(inputs: readonly Value[]) {
    this.#types = inputs.map(({ type }) => type);
    this.tensors = inputs.filter((input) => constantStep(input) === undefined);
    for (const input of inputs) {
      const constant = constantStep(input);
      this.#numbers.push(constant === undefined ? this.tensors.indexOf(input) : this.#emit(constant));
    }
  }

  /** false where the generator has no word for it. */
  add(operation: ElementOperation, of: readonly number[]): boolean {
    const operands = of.map((place) => this.#numbers[place] ?? 0);
    const given = of.map((place) => this.#types[place]).filter((type) => type !== undefined);
    const [from, type] = [given[0]?.dataType, inferTypes(operation, given)[0]];
    const result = this.#translate(operation, operands, from);
    if (result === undefined || type === undefined) return false;
    this.#numbers.push(this.#wrapToType(result, operation, type.dataType));
    this.#types.push(type);
    return true;
  }

  /** Sums of small numbers leave their type; what chooses among them does not. */
  #wrapToType(result: number, operation: ElementOperation, type: ElementType): number {
    const computes = operation.kind === "unary" || operation.kind === "binary";
    return computes && smallIntegerRanges[type] !== undefined
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
        return this.#binary(operation.function, a, b);
      case "unary":
        return this.#unary(operation.function, a);
    }
  }

  /** Kernels keep the low bits of what a small type cannot hold; a cast that saturates is clamped before. */
  #cast(a: number, { to, saturate }: OperationOf<"cast">, from: ElementType | undefined): number | undefined {
    const range = saturate ? smallIntegerRanges[to] : undefined;
    if (range === undefined) {
      // Floats are cut off at the ends of these types as they are; whole numbers would wrap around.
      if (saturate && (to === "int32" || to === "uint32") && /int(32|64)$/.test(from ?? "")) return undefined;
      return this.#emit({ op: "cast", of: [a], to: to as KernelType });
    }
    const type = from === "float32" || from === "int64" || from === "float64" ? from : "int32";
    if (from === "uint32" || from === "bool") return undefined;
    const [least, most] = range.map((value) => this.#emit({ op: "constant", type, value }));
    if (least === undefined || most === undefined) return undefined;
    const clamped = this.#emit({ op: "min", of: [this.#emit({ op: "max", of: [a, least] }), most] });
    return this.#emit({ op: "cast", of: [clamped], to: to as KernelType });
  }

  #binary(name: BinaryFunction, a: number, b: number): number | undefined {
    const comparison = comparisons[name];
    if (comparison !== undefined) return this.#emit({ op: comparison, of: [a, b] });
    const bits = bitwise[name];
    if (bits !== undefined) return this.#emit({ op: bits, of: [a, b] });
    return plainBinary.has(name) ? this.#emit({ op: name as "add", of: [a, b] }) : undefined;
  }

  #unary(name: UnaryFunction, a: number): number | undefined {
    if (name === "bitwise-not") return this.#emit({ op: "not", of: [a] });
    if (name === "is-nan") return this.#emit({ op: "ne", of: [a, a] });
    if (name === "is-infinite") {
      const endless = this.#emit({ op: "constant", type: "float32", value: Number.POSITIVE_INFINITY });
      return this.#emit({ op: "eq", of: [this.#emit({ op: "abs", of: [a] }), endless] });
    }
    if (name === "softplus") {
      // max(x, 0) + log(1 + exp(-|x|))
      const zero = this.#emit({ op: "constant", type: "float32", value: 0 });
      const down = this.#emit({ op: "neg", of: [this.#emit({ op: "abs", of: [a] })] });
      const tail = this.#emit({ op: "log1p", of: [this.#emit({ op: "exp", of: [down] })] });
      return this.#emit({ op: "add", of: [this.#emit({ op: "max", of: [a, zero] }), tail] });
    }
    return compositeUnary.has(name) ? undefined : this.#emit({ op: name as "abs", of: [a] });
  }

  /** The number of the step's result. */
  #emit(step: Step): number {
    this.steps.push(step);
    return this.tensors.length + this.steps.length - 1;
  }
}

/** A scalar as a step; numbers of 64 bits only where a double holds them. */
function constantStep({ constant }: Value): Extract<Step, { readonly op: "constant" }> | undefined {
  if (constant === undefined || elementCount(constant.shape) !== 1 || !isKernelType(constant.dataType)) return undefined;
  if (constant.dataType === "float16") return undefined;
  const [value = 0] = Array.from(numbersOf(constant));
  if (!Number.isSafeInteger(value) && constant.dataType === "int64") return undefined;
  const { dataType } = constant;
  if (dataType === "int8" || dataType === "uint8" || dataType === "int16" || dataType === "uint16")
    return { op: "constant", type: "int32", value };
  return { op: "constant", type: dataType, value };
}
