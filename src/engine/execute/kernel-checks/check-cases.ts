/** Small graphs whose results the interpreter knows: at least one for every function of generated code. */
import type { ElementType } from "../../ir/element-types.ts";
import { required } from "../../../contract/checked.ts";
import { type Literal, toLiteral, toNumbers } from "../../ir/literal.ts";
import { evaluateNode } from "../../interpret/evaluate.ts";
import type { ElementOperation, UnaryFunction } from "../../ir/operations.ts";
import type { ElementwiseFunction } from "../../lower/kernel-functions.ts";
import { blockGatherCases, blockLoweringCases, blockProductCases } from "./block-cases.ts";
import { CaseBuilder, type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { checkedName, readCase } from "./case-text.ts";
import { axisCases } from "./cases/axis-cases.ts";
import { chainCases } from "./cases/chain-cases.ts";
import { matmulCases } from "./cases/matmul-cases.ts";
import { movementCases } from "./cases/movement-cases.ts";
import { windowCases } from "./cases/window-cases.ts";
import { castable, moderate, ordinary, special } from "./check-values.ts";
import { integerProductCases, quantizedRowCases } from "./product-cases.ts";
import { stateCases } from "./state-cases.ts";

/** The cases that are written as text, a line each. */
const lines: readonly string[] = [chainCases, matmulCases, windowCases, axisCases, movementCases].flatMap((text) =>
  text.split("\n"),
);

type MakeCases = () => readonly CheckCase[];

/** Makes the other cases of a kernel family, among them perhaps cases of other families. */
const makers: Readonly<Record<string, readonly MakeCases[]>> = {
  "batched-matmul": [stateCases],
  "strided-copy": [stateCases],
  pool2d: [poolPositions],
  gather: [blockLoweringCases],
  "quantize-rows": [quantizedRowCases],
  "integer-matmul": [integerProductCases],
  "byte-matmul": [integerProductCases],
  "quantize-activation-bytes": [blockProductCases],
  "quantize-activations": [blockProductCases],
  "block-matmul": [blockProductCases, blockLoweringCases],
  "gather-rows": [blockGatherCases, blockLoweringCases],
};

/** A max-pool whose positions are read, which no kernel computes. */
function poolPositions(): readonly CheckCase[] {
  const builder = new CaseBuilder();
  const window = { kernel: [2, 2], strides: [1, 1], dilations: [1, 1], pads: [0, 0, 0, 0], ceil: false, columnMajor: false };
  const [, positions] = builder.node({ kind: "max-pool", ...window }, [builder.input(ordinary("float32", [1, 2, 4, 5]))]);
  builder.node({ kind: "arg", function: "max", axis: 3, last: false }, [required(positions, "the positions")]);
  return [{ name: "pool2d max", nodes: builder.nodes, inputs: builder.inputs, tolerance: 0, isDeclined: true }];
}

/** Names of the kernel families that have cases. */
export const checkedFamilies: readonly string[] = [
  ...new Set([...lines.flatMap((line) => checkedName(line)?.split(" ", 1) ?? []), ...Object.keys(makers)]),
];

/** The families that are checked even if all passed before: the ones with the largest share of a transformer's time. */
export const sampleFamilies: readonly string[] = ["elementwise", "matmul", "softmax", "norm"];

/** Check cases by family, and by the function that creates cases of several families. */
export type MadeCases = Map<string | MakeCases, readonly CheckCase[]>;

/** The cases of a kernel family and of the functions within it, except the steps of elementwise chains, which `elementwiseCases` makes. `made` keeps what is made. */
export function casesOfFamily(family: string, made: MadeCases = new Map()): readonly CheckCase[] {
  const once = (key: string | MakeCases, make: MakeCases): readonly CheckCase[] => {
    const cases = made.get(key) ?? make();
    made.set(key, cases);
    return cases;
  };
  const isOfFamily = (name: string | undefined): boolean => name?.split(" ", 1)[0] === family;
  return once(family, () => [
    ...lines.filter((line) => isOfFamily(checkedName(line))).map(readCase),
    ...(makers[family] ?? []).flatMap((make) => once(make, make)).filter(({ name }) => isOfFamily(name)),
  ]);
}

/** Functions whose results are approximations; those of all others are equal to the interpreter's. */
const exact: ReadonlySet<string> = new Set(
  [
    "abs",
    "neg",
    "sign",
    "floor",
    "ceil",
    "round",
    "not",
    "bitwise-not",
    "is-nan",
    "is-infinite",
    "min",
    "max",
    "and",
    "or",
    "xor",
  ].concat(
    ["equal", "less", "less-or-equal", "greater", "greater-or-equal", "shift-left", "shift-right", "remainder", "mod"],
    ["bitwise-and", "bitwise-or", "bitwise-xor"],
  ),
);

/** The values of an elementwise case: without those for which the operation is undefined, or only approximate. */
function valuesFor(operation: ElementOperation, [from]: readonly ElementType[]): (type: ElementType, shift: number) => Literal {
  if (operation.kind === "cast" && !operation.to.startsWith("float") && operation.to !== "bool") {
    return from?.startsWith("float") === true || operation.saturate ? castable : special;
  }
  const isModerate =
    operation.kind === "gelu" ||
    ((operation.kind === "unary" || operation.kind === "binary") && moderateFunctions.has(operation.function));
  return isModerate ? moderate : special;
}

const moderateFunctions: ReadonlySet<string> = new Set(["sin", "cos", "tan", "mod", "remainder"]);

/**
 * The largest errors of functions of float32, in units in the last place: the errors of `../../codegen/wasm/math`, with half a unit for the rounding of the right
 * value and one for multiplications that round twice.
 */
const unitErrors: Readonly<Partial<Record<UnaryFunction, number>>> = {
  exp: 3,
  log: 3,
  sin: 3,
  cos: 3,
  tanh: 3.5,
  sigmoid: 4.5,
  erf: 8.5,
};

/** The case of a function of float32 that is computed with a polynomial, on a grid that is dense around 0 (of the logarithm: around 1). None for others. */
function gridCases(name: string, { operation, types }: ElementwiseFunction): readonly CheckCase[] {
  if (types.length !== 1 || types[0] !== "float32") return [];
  const error = operation.kind === "unary" ? unitErrors[operation.function] : undefined;
  if (error === undefined && operation.kind !== "gelu") return [];
  const halfPoints = 120;
  const grid = Float32Array.from({ length: 2 * halfPoints + 1 }, (_, index) => 80 * (index / halfPoints - 1) ** 3);
  const isLogarithm = operation.kind === "unary" && operation.function === "log";
  const x = { dataType: "float32", shape: [grid.length], data: isLogarithm ? grid.map((value) => 2 ** value) : grid } as const;
  const made = single(name, { kind: "elementwise", steps: [{ operation, operands: [0] }] }, [x], (error ?? 4) * 2 ** -23);
  // The error of GELU is relative to x: below 0 it is a difference of nearly equal numbers.
  const right = error === undefined ? x.data : toNumbers(required(evaluateNode(operation, [x])[0], "the result"));
  return [{ ...made, magnitudes: Float64Array.from(right, (value) => Math.max(Math.abs(value), 2 ** -100)) }];
}

/** The cases of one step of an elementwise chain, on special values and, for approximated functions, on a grid. */
export function elementwiseCases(name: string, step: ElementwiseFunction): readonly CheckCase[] {
  return [elementwiseCase(name, step), ...gridCases(name, step)];
}

function elementwiseCase(name: string, { operation, types, exponent }: ElementwiseFunction): CheckCase {
  const values = valuesFor(operation, types);
  const inputs = types.map((type, index) =>
    exponent !== undefined && index === 1 ? { constant: toLiteral(type, [], [exponent]) } : values(type, index * 5),
  );
  const isExact =
    operation.kind === "select" ||
    operation.kind === "cast" ||
    (operation.kind !== "gelu" && exact.has(operation.function)) ||
    types.every((type) => !type.startsWith("float"));
  return single(
    name,
    { kind: "elementwise", steps: [{ operation, operands: types.map((_, index) => index) }] },
    inputs,
    isExact ? 0 : floatTolerance,
  );
}
