/** The step from one image and group to the next, for convolutions of either layout. */
import type { ResolvedWindow } from "../../wasm/kernels/convolution/window.ts";
import { floatBytes } from "../../wasm/kernels/loops/lanes.ts";
import type { Assembler } from "../assembler/assembler.ts";

/** Sizes of an image: channels of one group, and the number of groups. */
interface ImageLoops {
  readonly window: ResolvedWindow;
  readonly channels: number;
  readonly outputs: number;
  readonly groups: number;
}

/** Generates the advance of r13 (input), r14 (output) and r15 (number of the group), which begins at 0 again after the last group. Changes rcx. `outPlane`: bytes of an output plane. */
export function emitNextImage(asm: Assembler, { window, channels, outputs, groups }: ImageLoops, outPlane: number): void {
  asm.add("r13", channels * window.input[0] * window.input[1] * floatBytes);
  asm.add("r14", outputs * outPlane);
  if (groups === 1) return;
  asm.add("r15", 1);
  asm.loadImmediate("rcx", 0);
  asm.integer("cmp", "r15", groups);
  asm.moveIf("e", "r15", "rcx");
}
