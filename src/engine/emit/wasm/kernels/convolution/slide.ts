/** Goes over all places of a window on one plane that needs no pads any more, four neighbouring ones at a time. */
import type { I32, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { advanced } from "../indexing.ts";
import { floatBytes, indices, laneCount } from "../matmul-tile.ts";
import { loadSpread } from "./patch-copy.ts";
import type { ResolvedWindow } from "./window.ts";

/** Four (or at a row's end fewer) neighbouring places of the output. */
export interface WindowPlace {
  readonly row: I32;
  readonly column: I32;
  readonly lanes: number;
  /** Bytes from the output plane's start. */
  readonly offset: I32;
  /** What the window sees at each of its own places, row by row. */
  forTaps(visit: (value: V128, tap: number) => void): void;
}

/** `plane` is [window.padded]. */
export function slideWindow(f: FunctionBuilder, window: ResolvedWindow, plane: I32, visit: (place: WindowPlace) => void): void {
  const { output, strides, dilations, size, padded } = window;
  const [height, width] = output;
  f.range(i32.const(0), i32.const(height), 1, (row) => {
    const line = f.value(advanced(plane, row, strides[0] * padded[1] * floatBytes));
    const places = (column: I32, lanes: number): void => {
      const source = f.value(advanced(line, column, strides[1] * floatBytes));
      visit({
        row,
        column,
        lanes,
        offset: f.value(i32.mul(i32.add(i32.mul(row, i32.const(width)), column), i32.const(floatBytes))),
        forTaps(see) {
          for (const y of indices(size[0]))
            for (const x of indices(size[1])) {
              const offset = (y * dilations[0] * padded[1] + x * dilations[1]) * floatBytes;
              see(loadSpread(source, offset, strides[1], lanes), y * size[1] + x);
            }
        },
      });
    };
    const whole = width - (width % laneCount);
    if (whole > 0) f.range(i32.const(0), i32.const(whole), laneCount, (column) => places(column, laneCount));
    if (whole < width) places(i32.const(whole), width % laneCount);
  });
}
