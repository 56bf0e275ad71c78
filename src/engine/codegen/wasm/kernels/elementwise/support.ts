/** Which elementwise steps can be generated, by the type that values have in registers. `steps.ts` generates exactly these. */
import { type RegisterType, registerType } from "./registers.ts";
import type { Arithmetic, Comparison, ElementwiseRequest, FloatUnary, Step, Unary } from "./request.ts";

const commonFloatUnary = [
  ...([
    "abs",
    "neg",
    "sign",
    "sqrt",
    "reciprocal",
    "floor",
    "ceil",
    "round",
    "trunc",
    "relu",
    "tan",
    "asin",
    "acos",
    "atan",
  ] as const),
  ...(["sinh", "cosh", "asinh", "acosh", "atanh", "log1p", "expm1"] as const),
] satisfies readonly FloatUnary[];

const unaryOf: Readonly<Record<RegisterType, ReadonlySet<Unary>>> = {
  float32: new Set<Unary>([
    ...commonFloatUnary,
    ...(["exp", "log", "sin", "cos", "erf", "gelu", "gelu-tanh", "quick-gelu", "silu", "sigmoid", "tanh"] as const),
  ]),
  float64: new Set<Unary>(commonFloatUnary),
  int32: new Set<Unary>(["abs", "neg", "sign", "relu", "not"]),
  int64: new Set<Unary>(["abs", "neg", "sign", "not"]),
  uint32: new Set<Unary>(["not"]),
  bool: new Set<Unary>(["not"]),
};

const commonArithmetic = ["add", "sub", "mul", "div", "min", "max", "remainder"] satisfies readonly Arithmetic[];
const bitwise = ["and", "or", "xor"] satisfies readonly Arithmetic[];
const shifts = ["shift-left", "shift-right"] satisfies readonly Arithmetic[];

const arithmeticOf: Readonly<Record<RegisterType, ReadonlySet<Arithmetic>>> = {
  float32: new Set<Arithmetic>([...commonArithmetic, "mod", "pow"]),
  float64: new Set<Arithmetic>(commonArithmetic),
  int32: new Set<Arithmetic>([...commonArithmetic, "mod", ...bitwise, ...shifts]),
  uint32: new Set<Arithmetic>([...commonArithmetic, "mod", ...bitwise, ...shifts]),
  int64: new Set<Arithmetic>([...commonArithmetic, "mod", ...bitwise]),
  bool: new Set<Arithmetic>(bitwise),
};

const comparisons: ReadonlySet<string> = new Set<Comparison>(["eq", "ne", "lt", "le", "gt", "ge"]);

/** Whether a binary operation is a comparison. The result of a comparison is a bool; any other operation has the type of its operands. */
export function isComparison(op: Arithmetic | Comparison): op is Comparison {
  return comparisons.has(op);
}

/**
 * Whether `elementwise` can generate a kernel for the request: every step exists for the types of its operands, and the last value has the type in
 * which the output is stored. Generates no code.
 */
export function supportsElementwise({ inputs, steps, output }: Pick<ElementwiseRequest, "inputs" | "steps" | "output">): boolean {
  const types = inputs.map(({ type }) => registerType(type));
  for (const step of steps) {
    const result = resultType(step, types);
    if (result === undefined) return false;
    types.push(result);
  }
  return types.at(-1) === registerType(output);
}

/** The register type of a step's result; undefined when the step does not exist for the types of its operands. */
function resultType(step: Step, types: readonly RegisterType[]): RegisterType | undefined {
  if (step.op === "constant") return step.type;
  const [a, b, c] = step.of.map((value) => types[value]);
  if (a === undefined) return undefined;
  if (step.op === "cast") return registerType(step.to);
  if (step.op === "select") return a === "bool" && b === c ? b : undefined;
  if (step.of.length === 1) return unaryOf[a].has(step.op as Unary) ? a : undefined;
  if (a !== b) return undefined;
  const operation = step.op as Arithmetic | Comparison;
  if (isComparison(operation)) return a === "bool" && operation !== "eq" && operation !== "ne" ? undefined : "bool";
  return arithmeticOf[a].has(operation) ? a : undefined;
}
