/** What convolutions and pooling say of their windows. */
import type { Value } from "../../../ir/graph.ts";
import type { Window } from "../../../ir/operations.ts";
import type { OperatorCall } from "../operator-call.ts";

/** `sizes`: of the spatial axes. "SAME" pads so that the output has ceil(size / stride) elements; the odd one goes to the end, or the begin. */
export function windowOf(call: OperatorCall, sizes: readonly number[], kernel: readonly number[]): Window {
  const strides = call.ints("strides") ?? sizes.map(() => 1);
  const dilations = call.ints("dilations") ?? sizes.map(() => 1);
  const stated = call.ints("pads") ?? sizes.flatMap(() => [0, 0]);
  checkWindow({ strides, dilations, pads: stated }, sizes.length);
  const automatic = call.string("auto_pad", "NOTSET");
  if (automatic === "NOTSET") return { strides, dilations, pads: stated };
  if (automatic === "VALID") return { strides, dilations, pads: sizes.flatMap(() => [0, 0]) };
  if (automatic !== "SAME_UPPER" && automatic !== "SAME_LOWER") throw new Error(`its auto_pad "${automatic}" is unknown`);
  const totals = sizes.map((size, axis) => {
    const stride = strides[axis] ?? 1;
    const reach = ((kernel[axis] ?? 1) - 1) * (dilations[axis] ?? 1) + 1;
    return Math.max(0, (Math.ceil(size / stride) - 1) * stride + reach - size);
  });
  const small = totals.map((total) => Math.floor(total / 2));
  const large = totals.map((total) => Math.ceil(total / 2));
  return { strides, dilations, pads: automatic === "SAME_UPPER" ? [...small, ...large] : [...large, ...small] };
}

/** Every axis has its stride and dilation, which go forward, and two pads, which take nothing away. */
export function checkWindow({ strides, dilations, pads }: Window, rank: number): void {
  if (strides.length !== rank || dilations.length !== rank || pads.length !== 2 * rank)
    throw new Error(`its strides, dilations or pads are not those of ${rank} axes`);
  if ([...strides, ...dilations].some((each) => each < 1) || pads.some((each) => each < 0))
    throw new Error("its strides or dilations go backward, or its pads take away");
}

/** A vector with one entry per channel, shaped to be added to [N,C,...]. */
export function alignToChannels(call: OperatorCall, vector: Value, rank: number): Value {
  return call.reshape(vector, [vector.type.shape[0] ?? 0, ...Array.from({ length: rank - 2 }, () => 1)]);
}
