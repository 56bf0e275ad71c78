/**
 * Tensor data as bytes, as the binary tensor data extension has it: little-endian and row-major; each string is preceded by its length in bytes
 * as u32.
 */
import { type Tensor, elementBytes, elementCount, viewBytes } from "../../../contract/tensor.ts";
import { type Datatype, toDataType } from "./datatypes.ts";
import { invalid } from "./json-data.ts";

/** Each string is preceded by its length in bytes as u32. */
const lengthBytes = 4;

/** Reads a tensor. Throws INPUT_INVALID if the bytes do not match its shape. */
export function tensorFromBytes(name: string, datatype: Datatype, shape: readonly number[], bytes: Uint8Array): Tensor {
  const dataType = toDataType(datatype);
  const count = elementCount(shape);
  if (dataType === "string") return { dataType, shape, data: stringsFrom(name, bytes, count) };
  const wanted = count * elementBytes(dataType);
  if (bytes.byteLength !== wanted)
    throw invalid(`input "${name}" has ${bytes.byteLength} bytes, and ${datatype} [${shape.join(", ")}] needs ${wanted}`);
  return { dataType, shape, data: viewBytes(dataType, bytes.slice().buffer) }; // copied, since the bytes may not be aligned
}

function stringsFrom(name: string, bytes: Uint8Array, count: number): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const texts: string[] = [];
  let offset = 0;
  while (offset < bytes.byteLength) {
    if (texts.length === count) throw invalid(`input "${name}" has more than the ${count} elements of its shape`);
    const left = bytes.byteLength - offset - lengthBytes;
    const length = left < 0 ? 0 : view.getUint32(offset, true);
    if (left < length) throw invalid(`input "${name}" ends within its element ${texts.length}`);
    offset += lengthBytes;
    try {
      texts.push(decoder.decode(bytes.subarray(offset, offset + length)));
    } catch {
      throw invalid(`element ${texts.length} of input "${name}" is not UTF-8`);
    }
    offset += length;
  }
  if (texts.length !== count) throw invalid(`input "${name}" has ${texts.length} elements, and its shape needs ${count}`);
  return texts;
}

/** The data of a tensor; a view of its memory unless it holds strings. */
export function tensorToBytes({ data }: Tensor): Uint8Array {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const encoded = data.map((text) => new TextEncoder().encode(text));
  const bytes = new Uint8Array(encoded.reduce((sum, { byteLength }) => sum + lengthBytes + byteLength, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const text of encoded) {
    view.setUint32(offset, text.byteLength, true);
    bytes.set(text, offset + lengthBytes);
    offset += lengthBytes + text.byteLength;
  }
  return bytes;
}
