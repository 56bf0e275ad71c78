/** Small graphs whose results the interpreter knows: at least one for every function of generated code. */
import type { ElementType } from "../../ir/element-types.ts";
import { required } from "../../../contract/checked.ts";
import { type Literal, toLiteral, toNumbers } from "../../ir/literal.ts";
import { evaluate } from "../../interpret/evaluate.ts";
import type { ElementOperation, UnaryFunction } from "../../ir/operations.ts";
import type { ElementwiseFunction } from "../../lower/kernel-functions.ts";
import { blockGatherCases, blockProductCases } from "./block-cases.ts";
import { type CheckCase, floatTolerance, single } from "./case-builder.ts";
import { loweringCases } from "./lowering-cases.ts";
import { castable, moderate, ordinary, special } from "./check-values.ts";
import { batchedMatmulCases, convolutionCases, integerProductCases, linearCases, quantizationCases } from "./product-cases.ts";
import {
  batchedShapes,
  blockGatherShapes,
  convolutionShapes,
  movementShapes,
  normShapes,
  poolingShapes,
  reduceShapes,
  scanShapes,
  scatterShapes,
  softmaxShapes,
} from "./shape-cases.ts";
import { movementCases, normCases, poolingCases, reduceCases, scanCases, scatterCases, softmaxCases } from "./row-cases.ts";

/** Chains with broadcast operands, of each width, and of more elements than one piece. */
function chainCases(): readonly CheckCase[] {
  const chain = (type: ElementType, one: readonly number[], other: readonly number[]): CheckCase => {
    const steps = [
      { operation: { kind: "binary", function: "add" }, operands: [0, 1] },
      { operation: { kind: "binary", function: "mul" }, operands: [2, 0] },
    ] as const;
    const inputs = [ordinary(type, one), ordinary(type, other, 2)];
    return single("elementwise", { kind: "elementwise", steps }, inputs, type.startsWith("float") ? floatTolerance : 0);
  };
  return [
    ...(["float32", "float64", "int64", "int32", "int16", "uint8"] as const).flatMap((type) => [
      chain(type, [3, 1, 7], [5, 1]),
      chain(type, [2, 3, 5], [3, 1]),
      chain(type, [2, 1], [2, 18]),
    ]),
    chain("float32", [], []),
    chain("float32", [3, 3001], [3001]),
    chain("int64", [9001], [9001]),
    chain("uint8", [2, 1, 4100], [2, 3, 1]),
  ];
}

type MakeCases = () => readonly CheckCase[];

const all =
  (...makers: readonly MakeCases[]): MakeCases =>
  () =>
    makers.flatMap((make) => make());

const batched = all(batchedMatmulCases, batchedShapes);
const convolutions = all(convolutionCases, convolutionShapes);
const pools = all(poolingCases, poolingShapes);
const softmaxes = all(softmaxCases, softmaxShapes);
const reductions = all(reduceCases, reduceShapes);
const scans = all(scanCases, scanShapes);
const movements = all(movementCases, movementShapes);
const scatters = all(scatterCases, scatterShapes);

/** Makes the cases of each kernel family, and of the functions within it. */
const casesOfFamilies: Readonly<Record<string, MakeCases>> = {
  elementwise: chainCases,
  matmul: linearCases,
  "batched-matmul": batched,
  conv2d: convolutions,
  depthwise: convolutions,
  interleave: convolutions,
  pool2d: pools,
  softmax: softmaxes,
  "softmax-columns": softmaxes,
  norm: all(normCases, normShapes),
  reduce: reductions,
  "reduce-wide": reductions,
  "arg-reduce": scans,
  cumulative: scans,
  "top-k": scans,
  "strided-copy": movements,
  gather: movements,
  "gather-elements": movements,
  "gather-blocks": movements,
  "scatter-elements": scatters,
  "scatter-blocks": scatters,
  "quantization-range": quantizationCases,
  quantize: quantizationCases,
  "subtract-zero-point": quantizationCases,
  "quantize-rows": quantizationCases,
  "integer-matmul": integerProductCases,
  "byte-matmul": integerProductCases,
  "quantize-activation-bytes": blockProductCases,
  "quantize-activations": blockProductCases,
  "block-matmul": blockProductCases,
  "gather-rows": all(blockGatherCases, blockGatherShapes),
};

/** Names of the kernel families that have cases. */
export const checkedFamilies: readonly string[] = Object.keys(casesOfFamilies);

/** The families that are checked even where all passed before: those that a transformer spends its time in. */
export const sampleFamilies: readonly string[] = ["elementwise", "matmul", "softmax", "norm"];

/** Check cases by the function that creates them. Cached, since one function creates the cases of several families. */
export type MadeCases = Map<() => readonly CheckCase[], readonly CheckCase[]>;

/** The cases of a kernel family and of the functions within it, except the steps of elementwise chains, which `elementwiseCases` makes. `made` keeps what is made. */
export function casesOfFamily(family: string, made: MadeCases = new Map()): readonly CheckCase[] {
  const make = casesOfFamilies[family];
  if (make === undefined) return [];
  const all = [make, loweringCases].flatMap((each) => {
    const cases = made.get(each) ?? each();
    made.set(each, cases);
    return cases;
  });
  return all.filter(({ name }) => name === family || name.startsWith(`${family} `));
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
  const right = error === undefined ? x.data : toNumbers(required(evaluate(operation, [x])[0], "the result"));
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
