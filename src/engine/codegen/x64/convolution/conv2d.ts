/** Convolutions in float32 as machine code: lanes are output channels where weights are packed for it, otherwise neighbouring positions. */
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { channelLanesScratchBytes, hasChannelLanes, machineChannelLanes } from "./channel-lanes.ts";
import { type ConvolutionLoops, convolutionScratchBytes, machineConvolution } from "./convolution.ts";

/** What the machine code of the family `conv2d` is generated from. */
export interface Conv2dLoops extends ConvolutionLoops {
  /** Whether weights are in panels of channels. Then a piece is a row of positions, and the window is not flattened. */
  readonly hasPanels: boolean;
}

/** Generates the function of a convolution. Undefined where WebAssembly computes it. */
export function machineConv2d(loops: Conv2dLoops, level: X64Level): MachineFunction | undefined {
  return loops.hasPanels ? machineChannelLanes(loops, level) : machineConvolution(loops, level);
}

/** Bytes of scratch memory, at the level that needs most. */
export function conv2dScratchBytes(loops: Conv2dLoops): number {
  return loops.hasPanels ? channelLanesScratchBytes(loops) : convolutionScratchBytes(loops);
}

/** Lanes of the vectors that the choice of their axis is made for. */
const choiceLanes = 16;
/** Lanes of channels may be used less than lanes of positions by this factor, since their inputs are not copied for each tap. */
const minLaneShare = 0.6;

/** Whether a convolution is computed faster with weights in panels of channels. `positions`: neighbouring positions that could be lanes instead. */
export function usesChannelPanels(
  loops: Pick<ConvolutionLoops, "window" | "channels" | "outputs"> & { readonly positions: number },
): boolean {
  const getShare = (count: number): number => count / (choiceLanes * Math.ceil(count / choiceLanes));
  return hasChannelLanes(loops) && getShare(loops.outputs) >= minLaneShare * getShare(loops.positions);
}
