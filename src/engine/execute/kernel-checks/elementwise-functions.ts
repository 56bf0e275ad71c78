/** The functions of elementwise kernels, for checks of all generated code. */
import { at } from "../../../contract/checked.ts";
import type { ElementType } from "../../ir/element-types.ts";
import type { BinaryFunction, ElementOperation, UnaryFunction } from "../../ir/operations.ts";
import { toLiteral } from "../../ir/literal.ts";
import { inferTypes } from "../../ir/shape-inference/index.ts";
import { type KernelFunction, getKernelFunctions } from "../../lower/kernel-functions.ts";
import { lowerElementwise } from "../../lower/elementwise.ts";

const floats: readonly ElementType[] = ["float32", "float64"];
const signed: readonly ElementType[] = [...floats, "int32", "int64", "int16", "int8"];
const numeric: readonly ElementType[] = [...signed, "uint32", "uint16", "uint8"];
const integers: readonly ElementType[] = ["int32", "int64", "int16", "int8", "uint32", "uint16", "uint8"];
const logical: readonly ElementType[] = ["bool"];

/** The types for which a function is defined. Those without a kernel are left out by `elementwiseFunctions`. */
const unaryTypes: Readonly<Record<UnaryFunction, readonly ElementType[]>> = {
  abs: signed,
  neg: signed,
  sign: signed,
  floor: floats,
  ceil: floats,
  round: floats,
  sqrt: floats,
  reciprocal: floats,
  exp: floats,
  log: floats,
  sin: floats,
  cos: floats,
  tan: floats,
  asin: floats,
  acos: floats,
  atan: floats,
  sinh: floats,
  cosh: floats,
  tanh: floats,
  asinh: floats,
  acosh: floats,
  atanh: floats,
  erf: floats,
  sigmoid: floats,
  softplus: floats,
  "bitwise-not": integers,
  not: logical,
  "is-nan": floats,
  "is-infinite": floats,
};

const binaryTypes: Readonly<Record<BinaryFunction, readonly ElementType[]>> = {
  add: numeric,
  sub: numeric,
  mul: numeric,
  div: numeric,
  pow: floats,
  min: numeric,
  max: numeric,
  mod: numeric,
  remainder: numeric,
  "shift-left": ["uint32", "uint16", "uint8"],
  "shift-right": ["uint32", "uint16", "uint8"],
  "bitwise-and": integers,
  "bitwise-or": integers,
  "bitwise-xor": integers,
  equal: [...numeric, "bool"],
  less: numeric,
  "less-or-equal": numeric,
  greater: numeric,
  "greater-or-equal": numeric,
  and: logical,
  or: logical,
  xor: logical,
};

/** Every step of an elementwise chain that generated code computes, by operation and types. */
export function elementwiseFunctions(): readonly KernelFunction[] {
  const castTypes: readonly ElementType[] = [...numeric, "bool", "float16"];
  const casts = castTypes.flatMap((from) =>
    castTypes.flatMap((to) => [false, true].map((saturate) => step({ kind: "cast", to, saturate }, [from]))),
  );
  return [
    ...Object.entries(unaryTypes).flatMap(([name, types]) =>
      types.map((type) => step({ kind: "unary", function: name as UnaryFunction }, [type])),
    ),
    ...Object.entries(binaryTypes).flatMap(([name, types]) =>
      types.map((type) => step({ kind: "binary", function: name as BinaryFunction }, [type, type])),
    ),
    ...[-1, 1, 2, 3].map((exponent) => step({ kind: "binary", function: "pow" }, ["float32", "float32"], exponent)),
    ...(["none", "tanh"] as const).map((approximate) => step({ kind: "gelu", approximate }, ["float32"])),
    ...[...numeric, "bool" as const].map((type) => step({ kind: "select" }, ["bool", type, type])),
    ...casts,
  ].flat();
}

/** The function that a chain of this one step computes; none when the interpreter computes it. `exponent`: a constant second operand. */
function step(operation: ElementOperation, types: readonly ElementType[], exponent?: number): readonly KernelFunction[] {
  const inputs = types.map((dataType, index) => {
    if (index === 0 || exponent === undefined) return { type: { dataType, shape: [1] } };
    return { type: { dataType, shape: [] }, constant: toLiteral(dataType, [], [exponent]) };
  });
  const chain = { kind: "elementwise", steps: [{ operation, operands: types.map((_, index) => index) }] } as const;
  const type = at(
    inferTypes(
      operation,
      inputs.map((input) => input.type),
    ),
    0,
  );
  const node = { operation: chain, inputs, outputs: [{ type }] };
  const lowered = lowerElementwise(node);
  return lowered === undefined ? [] : getKernelFunctions(node, lowered).filter((each) => each.step !== undefined);
}
