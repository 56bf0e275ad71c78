/** Random weights of every ggml type that this package decodes: random quantized codes, with scales that give the elements a chosen magnitude. */
import { at } from "../../contract/checked.ts";
import { encodeFloat16 } from "../../contract/float16.ts";
import { decodeTensor } from "../../formats/gguf/blocks/index.ts";

/**
 * A pseudo-random number generator with a uniform distribution from -0.5 to 0.5; deterministic for a seed (linear congruential generator of Numerical
 * Recipes).
 */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

/** Offsets of the float16 scales within a quantized block. Source: ggml-common.h of https://github.com/ggml-org/ggml. */
interface ScalePlaces {
  /** Elements and bytes of a block. */
  readonly elements: number;
  readonly bytes: number;
  /** Offset of the scale. "nibbles": four bits in each of the last four 16-bit numbers (IQ1_M); "exponent": a power of two in the first byte (MXFP4). */
  readonly scale: number | "nibbles" | "exponent";
  /** Offset of the second scale (the minimum), and its ratio to the first scale that makes the mean of random elements 0. */
  readonly min?: readonly [offset: number, factor: number];
}

const places: Readonly<Record<string, ScalePlaces>> = {
  Q4_0: { elements: 32, bytes: 18, scale: 0 },
  Q4_1: { elements: 32, bytes: 20, scale: 0, min: [2, -7.5] },
  Q5_0: { elements: 32, bytes: 22, scale: 0 },
  Q5_1: { elements: 32, bytes: 24, scale: 0, min: [2, -15.5] },
  Q8_0: { elements: 32, bytes: 34, scale: 0 },
  Q2_K: { elements: 256, bytes: 84, scale: 80, min: [82, 1.5] },
  Q3_K: { elements: 256, bytes: 110, scale: 108 },
  Q4_K: { elements: 256, bytes: 144, scale: 0, min: [2, 7.5] },
  Q5_K: { elements: 256, bytes: 176, scale: 0, min: [2, 15.5] },
  Q6_K: { elements: 256, bytes: 210, scale: 208 },
  TQ1_0: { elements: 256, bytes: 54, scale: 52 },
  TQ2_0: { elements: 256, bytes: 66, scale: 64 },
  IQ1_S: { elements: 256, bytes: 50, scale: 0 },
  IQ1_M: { elements: 256, bytes: 56, scale: "nibbles" },
  IQ2_XXS: { elements: 256, bytes: 66, scale: 0 },
  IQ2_XS: { elements: 256, bytes: 74, scale: 0 },
  IQ2_S: { elements: 256, bytes: 82, scale: 0 },
  IQ3_XXS: { elements: 256, bytes: 98, scale: 0 },
  IQ3_S: { elements: 256, bytes: 110, scale: 0 },
  IQ4_NL: { elements: 32, bytes: 18, scale: 0 },
  IQ4_XS: { elements: 256, bytes: 136, scale: 0 },
  MXFP4: { elements: 32, bytes: 17, scale: "exponent" },
};

/** Relative scales of neighbouring blocks. No two are equal, so that a kernel that reads the wrong scale gives wrong results. */
const variations: readonly number[] = [1, -0.7, 1.3, 0.8, -1.1];

/** Whether random weights of this ggml type can be generated. */
export function isSelfTestType(type: string): boolean {
  return type in places || type === "F32" || type === "F16" || type === "BF16";
}

/** The bytes of a random tensor whose elements have a root mean square of about `size`. Rows must be whole blocks. */
export function randomTensor(type: string, elements: number, size: number, random: () => number): Uint8Array {
  const place = places[type];
  if (place === undefined) return plainTensor(type, elements, size * Math.sqrt(12), random);
  const bytes = randomBytes((elements / place.elements) * place.bytes, random);
  setScales(bytes, place, [1]);
  const unit = decodeTensor(type, bytes, elements);
  const factor = size / rootMeanSquare(unit);
  setScales(
    bytes,
    place,
    variations.map((each) => factor * each),
  );
  return bytes;
}

/** Random bytes. Three bytes are taken from each 32-bit number, because the lowest bits of the generator have a short period. */
function randomBytes(length: number, random: () => number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 3) {
    const bits = Math.floor((random() + 0.5) * 2 ** 24);
    bytes[at] = bits;
    bytes[at + 1] = bits >>> 8;
    bytes[at + 2] = bits >>> 16;
  }
  return bytes;
}

function plainTensor(type: string, elements: number, range: number, random: () => number): Uint8Array {
  if (type === "F16") return halves(elements, range, random);
  const values = new Float32Array(elements);
  for (let index = 0; index < elements; index += 1) values[index] = range * random();
  if (type === "F32") return new Uint8Array(values.buffer);
  const bits = new Uint32Array(values.buffer);
  const upper = new Uint16Array(elements);
  for (let index = 0; index < elements; index += 1) upper[index] = (bits[index] ?? 0) >>> 16;
  return new Uint8Array(upper.buffer);
}

/** Random float16 numbers with random signs and fractions, and the exponent of a third of `range`. */
function halves(elements: number, range: number, random: () => number): Uint8Array {
  const exponent = encodeFloat16(range / 3) & 0x7c00;
  const bits = new Uint16Array(elements);
  for (let index = 0; index < elements; index += 1) {
    const drawn = Math.floor((random() + 0.5) * 2 ** 16);
    bits[index] = exponent | (drawn & 0x8000) | (drawn & 0x3ff);
  }
  return new Uint8Array(bits.buffer);
}

function rootMeanSquare(values: Float32Array): number {
  let total = 0;
  for (const value of values) total += value * value;
  return Math.sqrt(total / values.length);
}

/** Writes the scales into the blocks, cyclically. */
function setScales(bytes: Uint8Array, { scale, min, bytes: blockBytes }: ScalePlaces, scales: readonly number[]): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const encoded = scales.map((value) => ({
    bits: encodeFloat16(value),
    minBits: encodeFloat16(value * (min?.[1] ?? 0)),
    exponent: 127 + Math.round(Math.log2(Math.abs(value))),
  }));
  for (let block = 0, start = 0; start < bytes.length; block += 1, start += blockBytes) {
    const { bits, minBits, exponent } = at(encoded, block % encoded.length);
    if (scale === "exponent") view.setUint8(start, exponent);
    else if (scale === "nibbles") {
      for (let part = 0; part < 4; part += 1) {
        const place = start + blockBytes - 8 + 2 * part;
        view.setUint16(place, (view.getUint16(place, true) & 0x0fff) | (((bits >> (4 * part)) & 15) << 12), true);
      }
    } else view.setUint16(start + scale, bits, true);
    if (min !== undefined) view.setUint16(start + min[0], minBits, true);
  }
}
