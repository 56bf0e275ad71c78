/** Code generation for the codes of quantized weights: from packed bits to 16-bit integers. */
import type { Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { i16x8, v128 } from "../../assembler/vector.ts";
import { indices } from "../loops/lanes.ts";
import { type BlockLayout, lowPlaneBytes } from "./block-layout.ts";

/** Vectors of four columns in a panel. */
const vectors = [0, 1] as const;

/** Pairs of k whose codes `emitCodes` provides in one step. */
export function stepPairs({ lowBits }: BlockLayout): number {
  return lowBits === 8 ? 2 : 16 / lowBits;
}

/** Number of steps of a group. */
export function groupSteps(layout: BlockLayout): number {
  return layout.groupElements / 2 / stepPairs(layout);
}

/** Bytes of the codes of one step in their first vectors. */
export function blockStepBytes(layout: BlockLayout): number {
  return lowPlaneBytes(layout) / groupSteps(layout);
}

/**
 * Generates the codes of one step. `at` is the address of the step's first vectors, `high` the address of the group's second vectors, which hold all steps of the
 * group;
 * `step` counts the steps of the group. `use` is called with the codes of each pair of k, for the two vectors of four columns.
 */
export function emitCodes(
  f: FunctionBuilder,
  layout: BlockLayout,
  { at, high, step }: { readonly at: Local<"i32">; readonly high: Local<"i32"> | undefined; readonly step: Local<"i32"> },
  use: (pair: number, codes: readonly V128[]) => void,
): void {
  const { lowBits, highBits } = layout;
  if (lowBits === 8) {
    for (const pair of indices(stepPairs(layout)))
      use(
        pair,
        vectors.map((vector) => v128.load8x8S(at, pair * 16 + vector * 8)),
      );
    return;
  }
  const low = vectors.map((vector) => f.value(v128.load(at, vector * 16)));
  const mask = f.value(i16x8.splat(i32.const(2 ** lowBits - 1)));
  const upper = high === undefined ? [] : vectors.map((vector) => f.value(upperBits(layout, high, vector, step)));
  const upperMask = f.value(i16x8.splat(i32.const((2 ** highBits - 1) << lowBits)));
  const pairs = stepPairs(layout);
  for (const pair of indices(pairs)) {
    use(
      pair,
      vectors.map((vector) => {
        const all = low[vector];
        if (all === undefined) throw new RangeError("a panel has two vectors of columns");
        const shifted = pair === 0 ? all : i16x8.shrU(all, i32.const(pair * lowBits));
        // The uppermost field needs no mask.
        const code = pair === pairs - 1 ? shifted : v128.and(shifted, mask);
        const bits = upper[vector];
        if (bits === undefined) return code;
        const distance = pair * highBits - lowBits;
        const moved = distance < 0 ? i16x8.shl(bits, i32.const(-distance)) : i16x8.shrU(bits, i32.const(distance));
        return v128.or(code, v128.and(distance === 0 ? bits : moved, upperMask));
      }),
    );
  }
}

/** The upper bits of the codes of one step, in the lowest bits of the lanes. */
function upperBits(layout: BlockLayout, high: Local<"i32">, vector: number, step: Local<"i32">): V128 {
  const { highBits } = layout;
  const fields = 16 / highBits;
  const pairs = stepPairs(layout);
  // All pairs of a group are in one vector: 16 of one bit, or 8 of two.
  if (layout.groupElements / 2 > fields) throw new RangeError("the upper bits of a group need more than one vector");
  const all = v128.load(high, vector * 16);
  return i16x8.shrU(all, i32.mul(step, i32.const(pairs * highBits)));
}
