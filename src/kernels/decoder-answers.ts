/**
 * Known answers of the decoders of quantized blocks. Kernels pack weights with these decoders and are compared with what they decode, so a wrong decoder
 * is seen by nothing else.
 */
import { type BlockFormat, decodeBlocks } from "../formats/gguf/blocks/block-format.ts";
import { decoderAnswerTable } from "./decoder-answer-table.ts";

const { BYTES_PER_ELEMENT: floatBytes } = Float32Array;

/**
 * Decodes the known blocks of a type and compares the values with gguf-py's. Returns what is wrong, as a message; undefined if the decoder is right
 * or the type has no known answer (types that gguf-py does not decode).
 */
export function findDecoderProblem(type: string, format: BlockFormat): string | undefined {
  const answer = Object.hasOwn(decoderAnswerTable, type) ? decoderAnswerTable[type] : undefined;
  if (answer === undefined) return undefined;
  const blocks = Uint8Array.from(atob(answer.blocks), (character) => character.charCodeAt(0));
  const values = new Float32Array((blocks.length / format.bytes) * format.elements);
  decodeBlocks(format, blocks, values);
  if (digestOf(new Uint8Array(values.buffer)) === answer.digest) return undefined;
  return `the decoder of ${type} gives other values than gguf-py for ${values.length} elements`;
}

/** A digest of little-endian float32 values: FNV-1a of their bytes (Fowler, Noll, Vo 1991), 32 bits. -0 counts as 0. */
export function digestOf(values: Uint8Array): number {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  let hash = 0x811c9dc5;
  for (let at = 0; at < values.length; at += floatBytes) {
    const isZero = view.getFloat32(at, true) === 0;
    for (let byte = 0; byte < floatBytes; byte += 1) hash = Math.imul(hash ^ (isZero ? 0 : view.getUint8(at + byte)), 0x01000193);
  }
  return hash >>> 0;
}
