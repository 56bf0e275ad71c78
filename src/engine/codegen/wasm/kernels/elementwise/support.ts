/** Which elementwise steps can be generated, by the type that values have in registers: those that have an entry in its table. */
import { float32Functions, float64Functions } from "./float-functions.ts";
import { type FunctionTable, isComparison } from "./function-table.ts";
import { boolFunctions, int32Functions, int64Functions, uint32Functions } from "./integer-functions.ts";
import { registerType } from "./registers.ts";
import type { ElementwiseRequest, RegisterType, Step } from "./request.ts";

/** The functions of each register type. */
export const functionTables: Readonly<Record<RegisterType, FunctionTable>> = {
  float32: float32Functions,
  float64: float64Functions,
  int32: int32Functions,
  uint32: uint32Functions,
  int64: int64Functions,
  bool: boolFunctions,
};

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
  if ((step.of.length === 2 && a !== b) || functionTables[a][step.op] === undefined) return undefined;
  return isComparison(step.op) ? "bool" : a;
}
