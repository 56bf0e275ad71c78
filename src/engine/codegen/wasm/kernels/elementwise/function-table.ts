/** What a table of elementwise functions for one register type has, and entries that several tables share. */
import type { Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { v128 } from "../../assembler/vector.ts";
import type { Binary, Unary } from "./request.ts";

/**
 * Generates a function of one vector of each operand. `b` is `a` where there is one operand. `exponent`: the value of `b` if it is a constant. A comparison sets
 * all bits of each lane for which it is true, and clears those of the others.
 */
export type EmitFunction = (f: FunctionBuilder, a: Local<"v128">, b: Local<"v128">, exponent: number | undefined) => V128;

/** The functions of one register type. */
export type FunctionTable = Readonly<Partial<Record<Unary | Binary, EmitFunction>>>;

/** The comparisons, with the beginnings of the names of their instructions. */
const comparisons = {
  equal: "eq",
  "not-equal": "ne",
  less: "lt",
  "less-or-equal": "le",
  greater: "gt",
  "greater-or-equal": "ge",
} as const;

/** The instruction of a comparison, for lanes of a type. */
type CompareLanes = (name: (typeof comparisons)[keyof typeof comparisons]) => (a: V128, b: V128) => V128;

/** The comparisons of lanes of a type. */
export function comparisonsOf(instruction: CompareLanes): FunctionTable {
  const entries = Object.entries(comparisons).map(([name, start]): [string, EmitFunction] => {
    const compare = instruction(start);
    return [name, (_f, a, b) => compare(a, b)];
  });
  return Object.fromEntries(entries);
}

/** Whether a function is a comparison. */
export function isComparison(name: string): boolean {
  return Object.hasOwn(comparisons, name);
}

/** Functions that are instructions of one operand, and of two. */
export function instructions<const Name extends Unary | Binary>(
  lanes: Readonly<Record<Name, (a: V128, b: V128) => V128>>,
  ...names: readonly Name[]
): FunctionTable {
  return Object.fromEntries(names.map((name): [string, EmitFunction] => [name, (_f, a, b) => lanes[name](a, b)]));
}

/** The functions of bits, which work on whole lanes. */
export const bitwise: FunctionTable = {
  "bitwise-not": (_f, x) => v128.not(x),
  "bitwise-and": (_f, a, b) => v128.and(a, b),
  "bitwise-or": (_f, a, b) => v128.or(a, b),
  "bitwise-xor": (_f, a, b) => v128.xor(a, b),
};
