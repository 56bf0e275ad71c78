/**
 * Copies the inputs of a convolution's window at up to 8 neighbouring output positions to scratch memory as [channels * window height * window width][8],
 * the order in which the micro-kernel reads them (im2col, one panel at a time).
 */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { f32, i32, selectValue } from "../../assembler/scalar.ts";
import { i8x16, v128 } from "../../assembler/vector.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount } from "../loops/lanes.ts";
import { type DepthWindow, type ResolvedWindow, isUnrolled } from "./window.ts";

/**
 * The input elements below one panel of up to 8 neighbouring output positions of one output row, and the scratch address that they are copied to.
 */
export interface Patch {
  readonly window: ResolvedWindow;
  readonly channels: number;
  /** Address of the first channel's plane. */
  readonly image: I32;
  /** Output row of the panel. */
  readonly row: I32;
  /** First output column of the panel. */
  readonly column: I32;
  /** Number of output positions: 1 to 8. */
  readonly columns: number;
  /** Address of the scratch memory. */
  readonly to: I32;
}

/**
 * Generates code that copies a patch to scratch memory, with 0 for elements in the pads. Copies whole vectors if the patch lies inside of the input or the
 * horizontal stride is 1; otherwise, and for windows of more than 64 taps, copies element by element with bounds checks.
 */
export function copyPatch(f: FunctionBuilder, patch: Patch): void {
  const { window, row, column, columns } = patch;
  const { strides, pads, size, dilations, input } = window;
  const top = f.value(i32.sub(i32.mul(row, i32.const(strides[0])), i32.const(pads[0])));
  const left = f.value(i32.sub(i32.mul(column, i32.const(strides[1])), i32.const(pads[1])));
  const maxTop = input[0] - 1 - (size[0] - 1) * dilations[0];
  const maxLeft = input[1] - 1 - (size[1] - 1) * dilations[1] - (columns - 1) * strides[1];
  const within = (place: I32, max: number): I32 => i32.leU(place, i32.const(max)); // unsigned: negative coordinates are large
  if (!isUnrolled(window)) {
    copyBorder(f, patch, top, left);
    return;
  }
  const canShift = strides[1] === 1 && input[1] >= laneCount;
  const border = (): void => (canShift ? copyShifted(f, patch, top, left) : copyBorder(f, patch, top, left));
  if (maxTop < 0 || maxLeft < 0) {
    border();
    return;
  }
  f.when(i32.and(within(top, maxTop), within(left, maxLeft)), () => copyInterior(f, patch, top, left), border);
}

/**
 * Generates code that copies the patch of a 3-D convolution, whose window spans several planes of each channel, to scratch memory as
 * [channels * window planes * window height * window width][8]. `level` is the index of the output plane along the depth axis.
 */
export function copyVolumePatch(f: FunctionBuilder, patch: Patch, deep: DepthWindow, level: I32): void {
  const { window, columns } = patch;
  const planeBytes = window.input[0] * window.input[1] * floatBytes;
  const patchBytes = window.size[0] * window.size[1] * Math.ceil(columns / laneCount) * laneCount * floatBytes;
  const first = f.value(i32.sub(i32.mul(level, i32.const(deep.stride)), i32.const(deep.pad)));
  const volume = f.value(patch.image);
  const to = f.value(patch.to);
  f.repeat(patch.channels, () => {
    const z = f.value(first);
    f.repeat(deep.size, () => {
      f.when(
        i32.ltU(z, i32.const(deep.input)),
        () => copyPatch(f, { ...patch, channels: 1, image: offsetBy(volume, z, planeBytes), to }),
        () => {
          const zeros = f.value(to);
          f.repeat(patchBytes / (laneCount * floatBytes), () => {
            f.run(v128.store(zeros, v128.zero));
            f.increase(zeros, laneCount * floatBytes);
          });
        },
      );
      f.increase(to, patchBytes);
      f.increase(z, deep.dilation);
    });
    f.increase(volume, deep.input * planeBytes);
  });
}

/** Copies a patch that lies completely inside of the input. With horizontal stride 1 it copies whole vectors. */
function copyInterior(f: FunctionBuilder, { window, channels, image, columns, to }: Patch, top: I32, left: I32): void {
  const { input, size, strides, dilations } = window;
  const source = f.value(offsetBy(offsetBy(image, top, input[1] * floatBytes), left, floatBytes));
  const target = f.value(to);
  const vectors = Math.ceil(columns / laneCount);
  f.repeat(channels, () => {
    for (const y of indices(size[0]))
      for (const x of indices(size[1])) {
        const offset = (y * dilations[0] * input[1] + x * dilations[1]) * floatBytes;
        for (const vector of indices(vectors)) {
          const lanes = Math.min(laneCount, columns - vector * laneCount);
          const value = loadStrided(source, offset + vector * laneCount * strides[1] * floatBytes, strides[1], lanes);
          f.run(v128.store(target, value, ((y * size[1] + x) * vectors + vector) * laneCount * floatBytes));
        }
      }
    f.increase(source, input[0] * input[1] * floatBytes);
    f.increase(target, size[0] * size[1] * vectors * laneCount * floatBytes);
  });
}

/** Loads `lanes` (1 to 4) float32 elements that are `stride` elements apart, from `address` plus `offset` bytes. Other lanes are undefined. */
export function loadStrided(address: I32, offset: number, stride: number, lanes: number): V128 {
  if (stride === 1) return v128.load(address, offset);
  return indices(lanes).reduce<V128>(
    (all, lane) => v128.load32Lane(address, all, lane, offset + lane * stride * floatBytes),
    v128.zero,
  );
}

/**
 * Copies a patch at the border, with stride 1: four elements are loaded from the nearest position inside of the row and shifted to their lanes. Lanes
 * outside become 0, because `swizzle` gives 0 for byte indices above 15.
 */
function copyShifted(f: FunctionBuilder, patch: Patch, top: I32, left: I32): void {
  const { window, channels, image, columns, to } = patch;
  const { input, size, dilations } = window;
  const vectors = Math.ceil(columns / laneCount);
  const loads = indices(size[1] * vectors).map((index) => {
    const step = Math.floor(index / vectors) * dilations[1] + (index % vectors) * laneCount;
    const first = f.value(i32.add(left, i32.const(step)));
    const start = f.value(clampIndex(first, 0, input[1] - laneCount));
    const shift = clampIndex(i32.sub(first, start), -laneCount, laneCount);
    const bytes = i8x16.add(v128.const(indices(16)), i8x16.splat(i32.mul(shift, i32.const(floatBytes))));
    return { offset: f.value(i32.mul(start, i32.const(floatBytes))), lanes: f.value(bytes) };
  });
  const plane = f.value(image);
  const target = f.value(to);
  f.repeat(channels, () => {
    const y = f.value(top);
    f.repeat(size[0], () => {
      const line = f.value(offsetBy(plane, y, input[1] * floatBytes));
      const store = (value: (load: (typeof loads)[number]) => V128): void =>
        loads.forEach((load, index) => f.run(v128.store(target, value(load), index * laneCount * floatBytes)));
      f.when(
        i32.ltU(y, i32.const(input[0])),
        () => store(({ offset, lanes }) => i8x16.swizzle(v128.load(i32.add(line, offset)), lanes)),
        () => store(() => v128.zero),
      );
      f.increase(target, loads.length * laneCount * floatBytes);
      f.increase(y, dilations[0]);
    });
    f.increase(plane, input[0] * input[1] * floatBytes);
  });
}

function clampIndex(value: I32, min: number, max: number): I32 {
  const low = selectValue(i32.ltS(value, i32.const(min)), i32.const(min), value);
  return selectValue(i32.gtS(low, i32.const(max)), i32.const(max), low);
}

/** Copies a patch element by element, with 0 for elements outside of the input. Works for all strides and dilations. */
function copyBorder(f: FunctionBuilder, patch: Patch, top: I32, left: I32): void {
  const { window, channels, image, columns, to } = patch;
  const { input, size, strides, dilations } = window;
  const plane = f.value(image);
  const target = f.value(to);
  const rowBytes = Math.ceil(columns / laneCount) * laneCount * floatBytes;
  f.repeat(channels, () => {
    const y = f.value(top);
    f.repeat(size[0], () => {
      const line = f.value(offsetBy(plane, y, input[1] * floatBytes));
      const isInside = f.value(i32.ltU(y, i32.const(input[0])));
      const first = f.value(left);
      f.repeat(size[1], () => {
        const x = f.value(first);
        const end = f.value(i32.add(target, i32.const(columns * floatBytes)));
        f.doWhile(
          () => {
            storeIf(f, target, line, x, i32.and(isInside, i32.ltU(x, i32.const(input[1]))));
            f.increase(target, floatBytes);
            f.increase(x, strides[1]);
          },
          () => i32.ne(target, end),
        );
        f.increase(target, rowBytes - columns * floatBytes);
        f.increase(first, dilations[1]);
      });
      f.increase(y, dilations[0]);
    });
    f.increase(plane, input[0] * input[1] * floatBytes);
  });
}

function storeIf(f: FunctionBuilder, target: Local<"i32">, line: I32, x: I32, isInside: I32): void {
  f.run(f32.store(target, f32.const(0)));
  f.when(isInside, () => f.run(f32.store(target, f32.load(offsetBy(line, x, floatBytes)))));
}
