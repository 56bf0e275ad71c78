/** Copies a plane with its pads to scratch memory, so that windows at the border need no special case. */
import type { I32 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { copyMemory, f32, i32 } from "../../assembler/scalar.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, vectorBytes } from "../loops/lanes.ts";
import type { ResolvedWindow } from "./window.ts";

/** Scratch bytes of one padded plane: its size rounded up to whole vectors, plus one vector, because vector loads at the last row may read past its end. */
export function paddedPlaneBytes({ padded }: ResolvedWindow): number {
  return (Math.ceil((padded[0] * padded[1] * floatBytes) / vectorBytes) + 1) * vectorBytes;
}

/** Whether all pads are 0. The input then needs no padded copy. */
export function isUnpadded({ pads }: ResolvedWindow): boolean {
  return pads.every((pad) => pad === 0);
}

/** Fills the padded plane at address `scratch` with the pad value `margin`. Runs once per kernel call, because `copyPlane` leaves the pads unchanged. */
export function fillMargins(f: FunctionBuilder, window: ResolvedWindow, scratch: I32, margin: number): void {
  const value = f.value(f32x4.splat(f32.const(margin)));
  f.range(i32.const(0), i32.const(paddedPlaneBytes(window)), vectorBytes, (offset) =>
    f.run(v128.store(i32.add(scratch, offset), value)),
  );
}

/**
 * Generates code that copies an unpadded plane [height, width] of float32 from address `plane` to its position within the padded plane at address
 * `scratch`. The pads are not written; see `fillMargins`.
 */
export function copyPlane(f: FunctionBuilder, { input, pads, padded }: ResolvedWindow, plane: I32, scratch: I32): void {
  const inside = f.value(i32.add(scratch, i32.const((pads[0] * padded[1] + pads[1]) * floatBytes)));
  f.range(i32.const(0), i32.const(input[0]), 1, (row) => {
    const target = offsetBy(inside, row, padded[1] * floatBytes);
    f.run(copyMemory(target, offsetBy(plane, row, input[1] * floatBytes), i32.const(input[1] * floatBytes)));
  });
}
