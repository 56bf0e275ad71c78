/** The families of generated kernels that have machine code. Plain data. */
import { machineFamilyId } from "./kernel-ids.ts";
import { x64Levels } from "./simd-levels.ts";

/** Names of the families. */
export const machineFamilies = [
  "matmul",
  "batched-matmul",
  "byte-matmul",
  "block-matmul",
  "quantize-activations",
  "quantize-activation-bytes",
  "quantize-rows",
  "quantization-range",
  "conv2d",
  "gather",
  "depthwise",
  "pool2d",
  "softmax",
  "norm",
  "elementwise",
] as const;

/** A name of `machineFamilies`. */
export type MachineFamilyName = (typeof machineFamilies)[number];

/** The families without products of weights in blocks, whose kernels the registry lists by format. */
export const listedFamilies: readonly MachineFamilyName[] = machineFamilies.filter((family) => family !== "block-matmul");

/** The family and level that an id of `machineFamilyId` names; undefined for other ids. */
export function findMachineFamily(
  id: string,
): { readonly family: MachineFamilyName; readonly level: (typeof x64Levels)[number] } | undefined {
  for (const family of listedFamilies)
    for (const level of x64Levels) if (machineFamilyId(family, level) === id) return { family, level };
  return undefined;
}
