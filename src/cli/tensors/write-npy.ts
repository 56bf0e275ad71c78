/** Writes NumPy's .npy format, version 1.0 (numpy.lib.format): one tensor, little-endian, row-major. `read-npy.ts` reads it. */
import { access, constants } from "node:fs/promises";
import { writeAtomically } from "../../platform/node/atomic-write.ts";
import { endianness } from "node:os";
import { dirname, resolve } from "node:path";
import { InferyardError } from "../../contract/errors.ts";
import type { DataType, Tensor } from "../../contract/tensor.ts";
import { withOutputErrors } from "../../platform/node/output-errors.ts";

/** Magic, version and header length precede the header text; all together are a multiple of 64 bytes. */
const prologueBytes = 10;
const alignment = 64;

/** A row of a matrix. */
export type NpyVector = Float32Array | Int8Array | Uint8Array;

/** Throws OUTPUT_FAILED if the folder of the file is not writable, so that no work is lost. */
export async function checkWritable(path: string): Promise<void> {
  await withOutputErrors(path, () => access(dirname(resolve(path)), constants.W_OK));
}

/** Writes rows of equal length as a matrix, through a temporary file that is renamed. Throws OUTPUT_FAILED. */
export async function writeNpy(path: string, rows: readonly NpyVector[], columns: number): Promise<void> {
  await writeParts(path, npyHeader(npyTypes[getVectorType(rows[0])], [rows.length, columns]), rows);
}

/** Writes a tensor of any type but bfloat16, which NumPy lacks. Strings become NumPy's str of the length of the longest. Throws OUTPUT_FAILED. */
export async function writeTensor(path: string, { dataType, shape, data }: Tensor): Promise<void> {
  if (dataType === "bfloat16") {
    throw new InferyardError("OUTPUT_FAILED", `${path} cannot be written: NumPy has no bfloat16`, {
      remedy: "print it with --json",
    });
  }
  if (dataType !== "string") {
    const part = ArrayBuffer.isView(data) ? [data] : [];
    return writeParts(path, npyHeader(npyTypes[dataType], shape), part);
  }
  const texts = Array.from<unknown, number[]>(data, (text) => Array.from(String(text), (point) => point.codePointAt(0) ?? 0));
  const length = texts.reduce((max, points) => Math.max(max, points.length), 1);
  const rows = texts.map((points) => Uint32Array.from({ length }, (_point, index) => points[index] ?? 0));
  await writeParts(path, npyHeader(`<U${length}`, shape), rows);
}

/** NumPy's names of types, with the byte order. */
export const npyTypes: Readonly<Record<Exclude<DataType, "bfloat16" | "string">, string>> = {
  bool: "|b1",
  float16: "<f2",
  float32: "<f4",
  float64: "<f8",
  int8: "|i1",
  int16: "<i2",
  int32: "<i4",
  int64: "<i8",
  uint8: "|u1",
  uint16: "<u2",
  uint32: "<u4",
  uint64: "<u8",
};

async function writeParts(path: string, header: Buffer, parts: readonly ArrayBufferView[]): Promise<void> {
  const writing = (): Promise<unknown> =>
    writeAtomically(path, async (file) => {
      await file.writeFile(header); // unlike write(), all of it or an error
      for (const part of parts) await file.writeFile(littleEndian(part));
    });
  await withOutputErrors(path, writing);
}

/** Type of the elements of a row; of no row float32. */
export function getVectorType(row: NpyVector | undefined): "int8" | "uint8" | "float32" {
  if (row instanceof Int8Array) return "int8";
  return row instanceof Uint8Array ? "uint8" : "float32";
}

/** The header, padded to a multiple of 64 bytes. */
export function npyHeader(descr: string, shape: readonly number[]): Buffer {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", "); // a Python tuple
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const unpadded = prologueBytes + text.length + 1;
  const padding = (alignment - (unpadded % alignment)) % alignment;
  const header = Buffer.alloc(prologueBytes);
  header.write("\u0093NUMPY", "latin1");
  header.writeUInt8(1, 6);
  header.writeUInt16LE(text.length + padding + 1, 8);
  return Buffer.concat([header, Buffer.from(`${text}${" ".repeat(padding)}\n`, "latin1")]);
}

function littleEndian(part: ArrayBufferView): Uint8Array {
  const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  return swappedBytes(bytes, "BYTES_PER_ELEMENT" in part ? Number(part.BYTES_PER_ELEMENT) : 1);
}

/** Converts between the byte order of the machine and little-endian; a copy on little-endian machines. */
export function swappedBytes(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  if (endianness() === "LE") return new Uint8Array(bytes);
  return Uint8Array.from(bytes, (_byte, index) => bytes[index - 2 * (index % size) + size - 1] ?? 0);
}
