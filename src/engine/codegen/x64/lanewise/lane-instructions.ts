/** Instructions and immediates of operations on lanes. */
import type { MaskRegister } from "../assembler/operands.ts";
import type { LaneComparison, LaneOperation } from "./lane-program.ts";

/** Comparisons by the immediate of vcmpps (ordered but for `ne`, quiet) and of vpcmpd. */
export const floatPredicates: Readonly<Record<LaneComparison, number>> = { eq: 0, ne: 4, lt: 17, le: 18, ge: 29, gt: 30 };
/** The same for integers. */
export const integerPredicates: Readonly<Record<LaneComparison, number>> = { eq: 0, lt: 1, le: 2, ne: 4, ge: 5, gt: 6 };
/** Of vcmpps: neither operand is NaN, and one is. */
export const orderedPredicate = 7;
export const unorderedPredicate = 3;
export const roundings = { "f32.nearest": 8, "f32.floor": 9, "f32.ceil": 10, "f32.trunc": 11 } as const;
export const shifts = { "i32.shl": "vpslld", "i32.shrS": "vpsrad", "i32.shrU": "vpsrld" } as const;
/** Bits of lanes; `firstTooLarge` is 2^31 as float32. */
export const laneBits = { sign: -0x80000000, magnitude: 0x7fffffff, all: -1, firstTooLarge: 0x4f000000 } as const;
/** vpternlogd: the bits of the second operand where the first has 1, of the third where it has 0; and all ones. */
export const ternaryTables = { choose: 0xca, ones: 0xff } as const;
/** The mask register that comparisons change. */
export const compared: MaskRegister = 2;

/** Operations that are one instruction. `swaps`: the operands may be exchanged; `reversed`: they are exchanged, as in pmin(a, b) = minps(b, a). */
export const singleInstructions = {
  and: { name: "vpand", swaps: true },
  andnot: { name: "vpandn", reversed: true },
  or: { name: "vpor", swaps: true },
  xor: { name: "vpxor", swaps: true },
  "f32.add": { name: "vaddps", swaps: true },
  "f32.sub": { name: "vsubps" },
  "f32.mul": { name: "vmulps", swaps: true },
  "f32.div": { name: "vdivps" },
  "f32.pmin": { name: "vminps", reversed: true },
  "f32.pmax": { name: "vmaxps", reversed: true },
  "i32.add": { name: "vpaddd", swaps: true },
  "i32.sub": { name: "vpsubd" },
  "i32.mul": { name: "vpmulld", swaps: true },
  "i32.minS": { name: "vpminsd", swaps: true },
  "i32.minU": { name: "vpminud", swaps: true },
  "i32.maxS": { name: "vpmaxsd", swaps: true },
  "i32.maxU": { name: "vpmaxud", swaps: true },
} as const;

/** An operation that compares lanes of a type. */
export type ComparisonOperation = `${"f32" | "i32"}.${LaneComparison}`;

/** Whether an operation compares lanes. */
export function comparesLanes(operation: LaneOperation): operation is ComparisonOperation {
  return Object.hasOwn(floatPredicates, operation.slice(operation.indexOf(".") + 1));
}

/** A row of `singleInstructions`. */
export interface SingleInstruction {
  readonly name: (typeof singleInstructions)[keyof typeof singleInstructions]["name"];
  readonly swaps?: true;
  readonly reversed?: true;
}

/** Whether an operation is one instruction. */
export function isSingleInstruction(operation: LaneOperation): operation is keyof typeof singleInstructions {
  return Object.hasOwn(singleInstructions, operation);
}
