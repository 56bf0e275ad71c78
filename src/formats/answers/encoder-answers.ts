/** Known answers of what writes weights as blocks: packing at a load, and conversion to another type. */
import { type EncodableType, encodeTensor } from "../gguf/blocks/encode.ts";
import { getPacking, type PackedType, packValues } from "../scaled-blocks/encode.ts";
import { answerTable } from "./answer-table.ts";
import { requireOnce } from "./decoder-answers.ts";
import { computePatternDigest, patternBytes } from "./pattern.ts";

/** Elements of the known tensor. */
const elements = 2048;

/**
 * Finite values of different magnitudes, whose products are exact on every machine: zeros, values that differ only in their sign, values of one block with
 * distant magnitudes, and values so small that their scale has few bits.
 */
export function encodedValues(): Float32Array {
  const bytes = patternBytes(2 * elements, 17);
  return Float32Array.from({ length: elements }, (_, index) => {
    const block = Math.floor(index / 32);
    const value = (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)) - 32_768;
    if (block % 11 === 3) return 0;
    if (block % 11 === 5) return value < 0 ? -0.75 : 0.75;
    if (block % 11 === 7) return Math.trunc(value / 2048) * 2 ** -149;
    if (block % 11 === 8) return Math.abs(value) / 32_768 + 3;
    return (value / 32_768) * (index % 13 === 0 ? 1 : 0.25) * 2 ** ((block % 5) - 3);
  });
}

/** -0.5, 0 and 0.5, as ternary weights are. */
export function ternaryValues(): Float32Array {
  return Float32Array.from(patternBytes(elements, 5), (byte) => ((byte % 3) - 1) / 2);
}

/** A digest of all that is written for the known values. */
export function encodedDigest(type: EncodableType): number {
  const isTernary = type === "TQ2_0" || type === "I2_S";
  const all = [encodedValues(), ...(isTernary ? [ternaryValues(), new Float32Array(256)] : [])].map((values) =>
    encodeTensor(type, values),
  );
  return computePatternDigest(Uint8Array.from(all.flatMap((bytes) => [...bytes])));
}

/** Error of the encoder of a type, as a message; undefined if it is right. */
export function findEncoderProblem(type: EncodableType): string | undefined {
  return encodedDigest(type) === answerTable.encoders[type]
    ? undefined
    : `the encoder of ${type} writes other bytes than it should`;
}

/** Throws VERIFICATION_FAILED if the encoder of a type is wrong. Each type is tested once in a process. */
export const requireEncoder: (type: EncodableType) => void = requireOnce(findEncoderProblem);

/** Error of the packing of weights to a type at a load, as a message; undefined if it is right. */
export function findPackingProblem(type: PackedType): string | undefined {
  if (computePatternDigest(packValues(type, encodedValues())) !== answerTable.packings[type])
    return `weights are packed to ${type} in another way than they should be`;
  const { format, maxError, type: ofType } = getPacking(type);
  if (
    ofType !== type ||
    format.codeBits !== (type === "int8" ? 8 : 4) ||
    Math.fround(maxError) !== answerTable.packingErrors[type]
  )
    return `the packing of ${type} is described wrong`;
  for (const value of [Number.NaN, Infinity, -Infinity]) {
    const values = encodedValues().subarray(0, 64);
    values[37] = value;
    const view = new DataView(packValues(type, values).buffer);
    if (!Number.isNaN(view.getFloat32(format.bytes, true)) || Number.isNaN(view.getFloat32(0, true)))
      return `weights that are not finite are packed to numbers in ${type}`;
  }
  return undefined;
}

/** Throws VERIFICATION_FAILED if weights are packed wrong. Each type is tested once in a process. */
export const requirePacking: (type: PackedType) => void = requireOnce(findPackingProblem);
