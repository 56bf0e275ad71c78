/** Attributes of convolutions and pooling that describe their windows. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import type { Window } from "../../../ir/operations.ts";
import { dilatedSize } from "../../../ir/window-arithmetic.ts";
import type { OperatorCall } from "../operator-call.ts";

/**
 * Strides, dilations and padding of a window over spatial axes of these sizes. `auto_pad` SAME pads so that the output has ceil(size / stride)
 * elements; an odd element of padding goes to the end (SAME_UPPER) or the start (SAME_LOWER).
 */
export function getWindow(call: OperatorCall, sizes: readonly number[], kernel: readonly number[]): Window {
  const strides = call.ints("strides") ?? sizes.map(() => 1);
  const dilations = call.ints("dilations") ?? sizes.map(() => 1);
  const stated = call.ints("pads") ?? sizes.flatMap(() => [0, 0]);
  checkWindow({ strides, dilations, pads: stated }, sizes.length);
  const automatic = call.string("auto_pad", "NOTSET");
  if (automatic === "NOTSET") return { strides, dilations, pads: stated };
  if (automatic === "VALID") return { strides, dilations, pads: sizes.flatMap(() => [0, 0]) };
  if (automatic !== "SAME_UPPER" && automatic !== "SAME_LOWER") throw new Error(`auto_pad "${automatic}" is unknown`);
  const totals = sizes.map((size, axis) => {
    const stride = at(strides, axis);
    const span = dilatedSize(at(kernel, axis), at(dilations, axis));
    return Math.max(0, (Math.ceil(size / stride) - 1) * stride + span - size);
  });
  const small = totals.map((total) => Math.floor(total / 2));
  const large = totals.map((total) => Math.ceil(total / 2));
  return { strides, dilations, pads: automatic === "SAME_UPPER" ? [...small, ...large] : [...large, ...small] };
}

/** Throws unless each of `rank` axes has a positive stride and dilation and two paddings that are not negative. */
export function checkWindow({ strides, dilations, pads }: Window, rank: number): void {
  if (strides.length !== rank || dilations.length !== rank || pads.length !== 2 * rank)
    throw new Error(
      `strides [${strides.join(", ")}], dilations [${dilations.join(", ")}] and pads [${pads.join(", ")}] do not fit ${rank} spatial axes`,
    );
  if ([...strides, ...dilations].some((each) => each < 1) || pads.some((each) => each < 0))
    throw new Error(
      `strides [${strides.join(", ")}] and dilations [${dilations.join(", ")}] must be positive, and pads [${pads.join(", ")}] not negative`,
    );
}

/** A vector of one element per channel as [C, 1, ...], which broadcasts to a tensor [N, C, ...] of the given rank. */
export function alignToChannels(call: OperatorCall, vector: Value, rank: number): Value {
  return call.reshape(vector, [at(vector.type.shape, 0), ...Array.from({ length: rank - 2 }, () => 1)]);
}
