/** Decodes the elements of GGUF tensors to float32, and reads quantized blocks as integers. */
import { decodeFloat } from "../../../contract/small-floats.ts";
import { type BlockFormat, decodeBlocks, float16At, uint16At } from "./block-format.ts";
import { iq4nl, mxfp4, q40, q41, q50, q51, q80 } from "./blocks-of-32.ts";
import { iq1m, iq1sType, iq2sType, iq2xsType, iq2xxsType, iq3sType, iq3xxsType } from "./codebook-types.ts";
import { iq4xs, q2k, q3k, q4k, q5k, q6k } from "./k-quants.ts";
import { tq10, tq20 } from "./ternary.ts";

export { type BlockFormat, unpackedBlock } from "./block-format.ts";

/** The block formats by the name of their type, as `ggmlType` gives it. */
export const blockFormats: Readonly<Record<string, BlockFormat>> = {
  Q4_0: q40,
  Q4_1: q41,
  Q5_0: q50,
  Q5_1: q51,
  Q8_0: q80,
  Q2_K: q2k,
  Q3_K: q3k,
  Q4_K: q4k,
  Q5_K: q5k,
  Q6_K: q6k,
  TQ1_0: tq10,
  TQ2_0: tq20,
  IQ1_S: iq1sType,
  IQ1_M: iq1m,
  IQ2_XXS: iq2xxsType,
  IQ2_XS: iq2xsType,
  IQ2_S: iq2sType,
  IQ3_XXS: iq3xxsType,
  IQ3_S: iq3sType,
  IQ4_NL: iq4nl,
  IQ4_XS: iq4xs,
  MXFP4: mxfp4,
};

/** Reads one element of a type without blocks, at byte `at`. */
type ReadElement = (bytes: Uint8Array, view: DataView, at: number) => number;

const plain: Readonly<Record<string, { readonly bytes: number; readonly read: ReadElement }>> = {
  F32: { bytes: 4, read: (_bytes, view, at) => view.getFloat32(at, true) },
  F64: { bytes: 8, read: (_bytes, view, at) => view.getFloat64(at, true) },
  F16: { bytes: 2, read: (bytes, _view, at) => float16At(bytes, at) },
  BF16: { bytes: 2, read: (bytes, _view, at) => decodeFloat("bfloat16", uint16At(bytes, at)) },
  I8: { bytes: 1, read: (_bytes, view, at) => view.getInt8(at) },
  I16: { bytes: 2, read: (_bytes, view, at) => view.getInt16(at, true) },
  I32: { bytes: 4, read: (_bytes, view, at) => view.getInt32(at, true) },
};

/** Whether `decodeTensor` decodes a type, without I2_S, whose layout must be known. */
export function isDecodable(type: string): boolean {
  return Object.hasOwn(blockFormats, type) || Object.hasOwn(plain, type);
}

/**
 * Decodes the `elements` elements of a tensor of a type for which `isDecodable` holds. `bytes`: the tensor's bytes, little-endian. The values are bit-identical
 * with gguf-py's `dequantize`.
 */
export function decodeTensor(type: string, bytes: Uint8Array, elements: number): Float32Array {
  const target = new Float32Array(elements);
  const format = blockFormats[type];
  if (format !== undefined) {
    decodeBlocks(format, bytes, target);
    return target;
  }
  const element = plain[type];
  if (element === undefined) throw new Error(`elements of type ${type} cannot be decoded`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let index = 0; index < elements; index += 1) target[index] = element.read(bytes, view, index * element.bytes);
  return target;
}
