/** Slides a window over one padded plane, four neighbouring output positions at a time. */
import type { I32, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount } from "../loops/lanes.ts";
import { loadStrided } from "./im2col.ts";
import { type ResolvedWindow, isUnrolled } from "./window.ts";

/** Up to four neighbouring output positions of one row, which are computed in the lanes of one vector. */
export interface WindowPosition {
  /** Output row. */
  readonly row: I32;
  /** Output column of the first position. */
  readonly column: I32;
  /** Number of positions: 1 to 4. */
  readonly lanes: number;
  /** Bytes from the start of the output plane. */
  readonly offset: I32;
  /**
   * Generates code for every tap of the window, in row-major order. `see` is given the inputs of the positions at the tap, one per lane, and the
   * index of the tap times 4, the byte offset of its weight.
   */
  forTaps(see: (value: V128, tapBytes: I32) => void): void;
}

/**
 * Generates loops over all output positions of one plane and calls `visit` to generate the body, once for whole vectors of four positions and once
 * for the shorter rest of a row. `plane` is the address of a float32 input plane of size `window.padded`.
 */
export function forWindowPositions(
  f: FunctionBuilder,
  window: ResolvedWindow,
  plane: I32,
  visit: (place: WindowPosition) => void,
): void {
  const { output, strides, padded } = window;
  const [height, width] = output;
  f.range(i32.const(0), i32.const(height), 1, (row) => {
    const line = f.value(offsetBy(plane, row, strides[0] * padded[1] * floatBytes));
    const places = (column: I32, lanes: number): void => {
      const source = f.value(offsetBy(line, column, strides[1] * floatBytes));
      visit({
        row,
        column,
        lanes,
        offset: f.value(i32.mul(i32.add(i32.mul(row, i32.const(width)), column), i32.const(floatBytes))),
        forTaps: (see) => (isUnrolled(window) ? unrollTaps(window, source, lanes, see) : loopTaps(f, window, source, lanes, see)),
      });
    };
    const whole = width - (width % laneCount);
    if (whole > 0) f.range(i32.const(0), i32.const(whole), laneCount, (column) => places(column, laneCount));
    if (whole < width) places(i32.const(whole), width % laneCount);
  });
}

type VisitTap = Parameters<WindowPosition["forTaps"]>[0];

function unrollTaps({ size, dilations, padded, strides }: ResolvedWindow, source: I32, lanes: number, see: VisitTap): void {
  for (const y of indices(size[0]))
    for (const x of indices(size[1])) {
      const offset = (y * dilations[0] * padded[1] + x * dilations[1]) * floatBytes;
      see(loadStrided(source, offset, strides[1], lanes), i32.const((y * size[1] + x) * floatBytes));
    }
}

function loopTaps(f: FunctionBuilder, window: ResolvedWindow, source: I32, lanes: number, see: VisitTap): void {
  const { size, dilations, padded, strides } = window;
  const tapBytes = f.value(i32.const(0));
  const line = f.value(source);
  f.repeat(size[0], () => {
    const at = f.value(line);
    f.repeat(size[1], () => {
      see(loadStrided(at, 0, strides[1], lanes), tapBytes);
      f.increase(tapBytes, floatBytes);
      f.increase(at, dilations[1] * floatBytes);
    });
    f.increase(line, dilations[0] * padded[1] * floatBytes);
  });
}
