/**
 * Quantizes float32 values to blocks. Q8_0, Q4_0 and TQ2_0 give the bytes of gguf-py's `quantize`; Q4_K searches scale and minimum of each group as
 * `make_qkx2_quants` of ggml-quants.c does, without weights. Sources: gguf-py/gguf/quants.py and ggml-quants.c.
 */
import { decodeFloat, encodeFloat } from "../../../contract/small-floats.ts";
import { byteAt } from "./block-format.ts";

/** A type that values can be quantized to. */
export type EncodableType = "Q8_0" | "Q4_0" | "Q4_K" | "TQ2_0" | "I2_S" | "F16" | "F32";

const { fround } = Math;

/** Quantizes all elements of a tensor. Their number must be a multiple of the elements of a block. */
export function encodeTensor(type: EncodableType, values: Float32Array): Uint8Array {
  if (type === "F32") return new Uint8Array(values.slice().buffer);
  if (type === "F16") return new Uint8Array(Uint16Array.from(values, (value) => encodeFloat("float16", value, false)).buffer);
  return type === "I2_S" ? encodeI2S(values) : encodeBlocks(encoders[type], values);
}

/** How one block is written. */
interface BlockEncoder {
  readonly elements: number;
  readonly bytes: number;
  encode(values: Float32Array, target: Uint8Array): void;
}

function encodeBlocks({ elements, bytes, encode }: BlockEncoder, values: Float32Array): Uint8Array {
  const blocks = values.length / elements;
  if (!Number.isInteger(blocks)) throw new RangeError(`${values.length} elements are no whole blocks of ${elements}`);
  const target = new Uint8Array(blocks * bytes);
  for (let block = 0; block < blocks; block += 1)
    encode(values.subarray(block * elements, (block + 1) * elements), target.subarray(block * bytes, (block + 1) * bytes));
  return target;
}

const encoders: Readonly<Record<"Q8_0" | "Q4_0" | "Q4_K" | "TQ2_0", BlockEncoder>> = {
  Q8_0: {
    elements: 32,
    bytes: 34,
    encode(values, target) {
      const scale = fround(largestMagnitude(values) / 127);
      writeFloat16(target, 0, scale);
      const inverse = computeInverse(scale);
      for (const [index, value] of values.entries()) target[2 + index] = roundAway(fround(value * inverse));
    },
  },
  Q4_0: {
    elements: 32,
    bytes: 18,
    encode(values, target) {
      // The value of the largest magnitude becomes code 0, which stands for -8.
      const scale = fround(valueOfLargestMagnitude(values) / -8);
      writeFloat16(target, 0, scale);
      const inverse = computeInverse(scale);
      const getCode = (value = 0): number => clamp(Math.trunc(fround(fround(value * inverse) + 8.5)), 0, 15);
      for (let index = 0; index < 16; index += 1) target[2 + index] = getCode(values[index]) | (getCode(values[index + 16]) << 4);
    },
  },
  Q4_K: { elements: 256, bytes: 144, encode: encodeQ4K },
  TQ2_0: {
    elements: 256,
    bytes: 66,
    encode(values, target) {
      const scale = largestMagnitude(values);
      const inverse = computeInverse(scale);
      for (const [index, value] of values.entries()) {
        const code = roundAway(fround(value * inverse)) + 1;
        addBits(target, (index >> 7) * 32 + (index & 31), code << (2 * ((index >> 5) & 3)));
      }
      writeFloat16(target, 64, scale);
    },
  },
};

/** Eight groups of 32 elements with scales and minima of 6 bits. */
function encodeQ4K(values: Float32Array, target: Uint8Array): void {
  const groups = Array.from({ length: 8 }, (_, group) => searchScale(values.subarray(32 * group, 32 * group + 32)));
  const scale = Math.max(...groups.map((each) => each.scale)) / 63;
  const minScale = Math.max(...groups.map((each) => each.min)) / 63;
  writeFloat16(target, 0, scale);
  writeFloat16(target, 2, minScale);
  // What is read is the rounded scale.
  const [readScale, readMin] = [toFloat16(scale), toFloat16(minScale)];
  for (const [group, each] of groups.entries()) {
    const groupScale = readScale === 0 ? 0 : clamp(Math.round(each.scale / readScale), 0, 63);
    const groupMin = readMin === 0 ? 0 : clamp(Math.round(each.min / readMin), 0, 63);
    writeSixBits(target, group, groupScale, groupMin);
    const [step, min] = [readScale * groupScale, readMin * groupMin];
    for (const [index, value] of values.subarray(32 * group, 32 * group + 32).entries()) {
      const code = step === 0 ? 0 : clamp(Math.round((value + min) / step), 0, 15);
      addBits(target, 16 + 32 * (group >> 1) + index, code << (4 * (group & 1)));
    }
  }
}

/** Scale and minimum of a group: see `get_scale_min_k4` of ggml-quants.c. */
function writeSixBits(target: Uint8Array, group: number, scale: number, min: number): void {
  const set = (at: number, bits: number): void => addBits(target, 4 + at, bits);
  if (group < 4) {
    set(group, scale);
    set(group + 4, min);
  } else {
    set(group + 4, (scale & 15) | ((min & 15) << 4));
    set(group - 4, (scale >> 4) << 6);
    set(group, (min >> 4) << 6);
  }
}

/** Steps by which the range of the codes is varied, and the largest change of their number. */
const searchSteps = 20;
const searchRange = 1;

/** The scale and minimum with the smallest squared error: value = scale * code - min with codes from 0 to 15 and min >= 0. */
function searchScale(values: Float32Array): { readonly scale: number; readonly min: number } {
  let [low, high] = [0, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (high <= low) return { scale: 0, min: -low };
  let best = { scale: high, min: low, error: Number.POSITIVE_INFINITY }; // replaced in the first step
  for (let step = 0; step <= searchSteps; step += 1) {
    const inverse = (15 - searchRange + (2 * searchRange * step) / searchSteps) / (high - low);
    // Least squares for value = scale * code - min. Codes differ, since values do, and grow with the values: the determinant and the scale are above 0.
    let [codes, squares, sum, products] = [0, 0, 0, 0];
    for (const value of values) {
      const code = clamp(Math.round((value - low) * inverse), 0, 15);
      codes += code;
      squares += code * code;
      sum += value;
      products += code * value;
    }
    const determinant = values.length * squares - codes * codes;
    let scale = (values.length * products - codes * sum) / determinant;
    let min = (codes * products - squares * sum) / determinant;
    if (min < 0) {
      min = 0;
      scale = products / squares;
    }
    let error = 0;
    for (const value of values) {
      const code = clamp(Math.round((value - low) * inverse), 0, 15);
      error += (scale * code - min - value) ** 2;
    }
    if (error < best.error) best = { scale, min, error };
  }
  return best;
}

/** Elements of a group of the layout that is written, which is that of x86. */
const i2sGroup = 128;

/**
 * Codes of two bits and one scale. Weights that are -s, 0 or s are kept as they are; of others the scale is their mean magnitude, as in BitNet b1.58 (Ma et
 * al. 2024, https://arxiv.org/abs/2402.17764).
 */
function encodeI2S(values: Float32Array): Uint8Array {
  if (values.length % i2sGroup !== 0) throw new RangeError(`${values.length} elements are no whole groups of ${i2sGroup}`);
  const largest = largestMagnitude(values);
  const isTernary = values.every((value) => value === 0 || Math.abs(value) === largest);
  const mean = values.reduce((sum, value) => sum + Math.abs(value), 0) / values.length;
  const scale = fround(isTernary ? largest : mean);
  const bytes = new Uint8Array(values.length / 4 + 32);
  for (const [index, value] of values.entries()) {
    const code = scale === 0 ? 1 : clamp(roundAway(value / scale), -1, 1) + 1;
    const within = index % i2sGroup;
    const byte = Math.floor(index / i2sGroup) * 32 + (within % 32);
    addBits(bytes, byte, code << (6 - 2 * Math.floor(within / 32)));
  }
  new DataView(bytes.buffer).setFloat32(values.length / 4, scale, true);
  return bytes;
}

/** Sets the bits that are 1 in `bits`. */
function addBits(target: Uint8Array, at: number, bits: number): void {
  target[at] = byteAt(target, at) | bits;
}

function largestMagnitude(values: Float32Array): number {
  return Math.abs(valueOfLargestMagnitude(values));
}

/** The first one, of equal ones. */
function valueOfLargestMagnitude(values: Float32Array): number {
  let largest = 0;
  for (const value of values) if (Math.abs(value) > Math.abs(largest)) largest = value;
  return largest;
}

function computeInverse(scale: number): number {
  return scale === 0 ? 0 : fround(1 / scale);
}

/** Rounded to the nearest integer, halves away from 0, as roundf of C. */
function roundAway(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}

function writeFloat16(target: Uint8Array, at: number, value: number): void {
  const bits = encodeFloat("float16", value, false);
  target[at] = bits & 255;
  target[at + 1] = bits >> 8;
}

function toFloat16(value: number): number {
  return decodeFloat("float16", encodeFloat("float16", value, false));
}
