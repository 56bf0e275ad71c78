/** Max and average pooling of [planes, height, width] in float32. */
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, i32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, storeLanes } from "../loops/lanes.ts";
import { machineScratchBytes } from "../../../x64/index.ts";
import { copyPlane, fillMargins, isUnpadded, paddedPlaneBytes } from "./padded-plane.ts";
import { type WindowPosition, forWindowPositions } from "./sliding-window.ts";
import { type ResolvedWindow, type KernelWindow, resolveWindow } from "./window.ts";
import type { WindowFunction } from "./window-function.ts";

/** Shapes and kind (max or average) of one 2-D pooling kernel. */
export interface Pool2dRequest {
  /** Batch times channels. */
  readonly planes: number;
  readonly kind: "max" | "average";
  readonly window: KernelWindow;
  /**
   * For averages: rows and columns of each pad that count as zeros; other padding is excluded from the average. Default: all 0, which is ONNX's
   * count_include_pad = 0. Padding that ceil_mode adds at the bottom and right belongs in `window.pads` and never counts.
   */
  readonly countedPads?: readonly [top: number, left: number, bottom: number, right: number];
}

/**
 * Generates the kernel of 2-D max or average pooling. Parameters: x [planes, height, width], y, and scratch when `scratchBytes` is not 0. One piece
 * (unit of parallel work) computes one plane.
 */
export function pool2d(request: Pool2dRequest): Kernel {
  const { planes, kind, countedPads = [0, 0, 0, 0] } = request;
  const window = resolveWindow(request.window);
  const { size, output, input } = window;
  const counts = kind === "average" && window.pads.some((pad, side) => pad !== countedPads[side]);
  const copies = !isUnpadded(window);
  const share = 1 / (size[0] * size[1]);
  const pooling: WindowFunction = { window, compute: kind === "max" ? { kind } : { kind: "sum", share } };
  const machine = counts ? undefined : { request: pooling };
  return defineKernel({
    family: "pool2d",
    request: { kind, window, countedPads: counts ? countedPads : undefined },
    inputs: ["x"],
    outputs: ["y"],
    pieces: planes,
    pieceNanoseconds: output[0] * output[1] * (size[0] * size[1] * 0.1 + 1) + 20,
    scratchBytes: Math.max(
      copies ? paddedPlaneBytes(window) : 0,
      machine === undefined ? 0 : machineScratchBytes("pool2d", machine.request),
    ),
    machine,
    emit(f, { x, y, scratch: scratchAt }, from, to) {
      const scratch = copies ? scratchAt : undefined;
      const margin = kind === "max" ? Number.NEGATIVE_INFINITY : 0;
      if (scratch !== undefined) fillMargins(f, window, scratch, margin);
      f.range(from, to, 1, (plane) => {
        const source = f.value(offsetBy(x, plane, input[0] * input[1] * floatBytes));
        if (scratch !== undefined) copyPlane(f, window, source, scratch);
        const target = f.value(offsetBy(y, plane, output[0] * output[1] * floatBytes));
        forWindowPositions(f, window, scratch ?? source, (place) => {
          const total = f.value(f32x4.const(margin));
          const combine = kind === "max" ? f32x4.max : f32x4.add;
          place.forTaps((value) => f.set(total, combine(total, value)));
          const counted = (): Local<"v128"> => countTaps(f, window, countedPads, place);
          const average = counts ? f32x4.div(total, counted()) : f32x4.mul(total, f32x4.const(share));
          storeLanes(f, f.value(i32.add(target, place.offset)), kind === "max" ? total : average, place.lanes);
        });
      });
    },
  });
}

/** The divisors of the averages of up to four output positions, as float32 lanes: the number of window taps inside of the input or its counted pads. */
function countTaps(
  f: FunctionBuilder,
  { size, strides, dilations, pads, input }: ResolvedWindow,
  counted: readonly [number, number, number, number],
  place: WindowPosition,
): Local<"v128"> {
  const within = (value: I32, axis: 0 | 1): I32 => {
    const first = pads[axis] - counted[axis]; // in the padded plane
    return i32.ltU(i32.sub(value, i32.const(first)), i32.const(input[axis] + counted[axis] + counted[axis === 0 ? 2 : 3]));
  };
  const rows = f.value(i32.const(0));
  const y = f.value(i32.mul(place.row, i32.const(strides[0])));
  f.repeat(size[0], () => {
    f.increase(rows, within(y, 0));
    f.increase(y, dilations[0]);
  });
  const columns = f.value(v128.zero);
  for (let lane = 0; lane < place.lanes; lane += 1) {
    const x = f.value(i32.mul(i32.add(place.column, i32.const(lane)), i32.const(strides[1])));
    const count = f.value(i32.const(0));
    f.repeat(size[1], () => {
      f.increase(count, within(x, 1));
      f.increase(x, dilations[1]);
    });
    f.set(columns, i32x4.replaceLane(columns, lane, count));
  }
  return f.value(f32x4.convertI32x4S(i32x4.mul(columns, i32x4.splat(rows))));
}
