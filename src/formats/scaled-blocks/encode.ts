/** Quantizes float32 values to blocks of 32 with a float32 scale, symmetric around 0. */
import type { BlockFormat } from "../gguf/blocks/block-format.ts";
import { scaledBlockHeader, scaledBlockName, scaledBlocks, type ScaledBlockShape } from "./block-formats.ts";

/** Type to which weights are packed while a model is loaded. */
export type PackedType = "int8" | "int4";

/** Encoder and sizes of a type that weights are packed to. */
export interface Packing {
  readonly type: PackedType;
  readonly name: string;
  readonly format: BlockFormat;
  /** Upper bound of the rounding error of a weight, relative to the largest magnitude in its block. */
  readonly maxError: number;
}

/** Elements of a block. */
const elements = 32;
const shapes: Readonly<Record<PackedType, ScaledBlockShape>> = {
  int8: { bits: 8, elements, hasMins: false },
  int4: { bits: 4, elements, hasMins: false },
};

/**
 * Numbers of steps between 0 and the largest magnitude of a block of 4-bit codes. The number with the smallest squared error is used. The value with the largest
 * magnitude has a negative code, of which there is one more than of positive ones.
 */
const int4Steps: readonly number[] = [7, 7.6, 8, 8.4];

/** Encoder and sizes of `type`. */
export function getPacking(type: PackedType): Packing {
  const shape = shapes[type];
  // int8: half a step of 1/127. int4: the opposite of the largest value, 8.4 steps from 0, gets the code 7.
  return { type, name: scaledBlockName(shape), format: scaledBlocks(shape), maxError: type === "int8" ? 0.5 / 127 : 1.4 / 8.4 };
}

/** Quantizes values, whose number is a multiple of 32. Values that are not finite make their block NaN. */
export function packValues(type: PackedType, values: Float32Array): Uint8Array {
  const { format } = getPacking(type);
  const header = scaledBlockHeader(shapes[type]);
  const target = new Uint8Array((values.length / elements) * format.bytes);
  const view = new DataView(target.buffer);
  for (let start = 0, at = 0; start < values.length; start += elements, at += format.bytes) {
    const scale = type === "int8" ? int8Scale(values, start) : int4Scale(values, start);
    view.setFloat32(at, scale, true);
    const inverse = scale === 0 ? 0 : 1 / scale;
    if (type === "int8") writeInt8(values, start, inverse, target, at + header);
    else writeInt4(values, start, inverse, target, at + header);
  }
  return target;
}

/** The largest magnitude over 127. */
function int8Scale(values: Float32Array, start: number): number {
  return Math.fround(Math.abs(getLargest(values, start)) / 127);
}

/** The scale with the smallest squared error. */
function int4Scale(values: Float32Array, start: number): number {
  const largest = getLargest(values, start);
  let [best, smallest] = [Math.fround(largest / -8), Number.POSITIVE_INFINITY];
  if (largest === 0) return 0;
  for (const steps of int4Steps) {
    const scale = Math.fround(largest / -steps);
    const inverse = 1 / scale;
    let error = 0;
    for (let index = start; index < start + elements; index += 1) {
      const value = values[index] as number;
      const difference = int4Code(value * inverse) * scale - value;
      error += difference * difference;
    }
    if (error < smallest) [best, smallest] = [scale, error];
  }
  return best;
}

/** The value of the largest magnitude; NaN if one is not finite. */
function getLargest(values: Float32Array, start: number): number {
  let [largest, magnitude] = [0, 0];
  for (let index = start; index < start + elements; index += 1) {
    const value = values[index] as number;
    const own = Math.abs(value);
    if (own > magnitude) [largest, magnitude] = [value, own];
    else if (own !== own) return Number.NaN;
  }
  return magnitude === Number.POSITIVE_INFINITY ? Number.NaN : largest;
}

/** Rounded to the nearest code from -8 to 7. */
function int4Code(value: number): number {
  return Math.max(-8, Math.min(Math.floor(value + 0.5), 7));
}

function writeInt8(values: Float32Array, start: number, inverse: number, target: Uint8Array, at: number): void {
  for (let index = 0; index < elements; index += 1) {
    const code = Math.floor((values[start + index] as number) * inverse + 0.5);
    // Codes beyond 127 occur where the scale is so small that it has few bits.
    target[at + index] = Math.max(-127, Math.min(code, 127)) + 128;
  }
}

function writeInt4(values: Float32Array, start: number, inverse: number, target: Uint8Array, at: number): void {
  for (let index = 0; index < elements; index += 2) {
    const low = int4Code((values[start + index] as number) * inverse) + 8;
    const high = int4Code((values[start + index + 1] as number) * inverse) + 8;
    target[at + index / 2] = low | (high << 4);
  }
}
