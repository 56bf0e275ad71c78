/** NumPy's .npy format, version 1.0 (numpy.lib.format): one matrix, little-endian, row-major. */
import { access, constants, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { InferyardError, messageOf } from "../errors.ts";

/** Magic, version and header length precede the header text; all together are a multiple of 64 bytes. */
const prologueBytes = 10;
const alignment = 64;

/** What a file can hold, under NumPy's names. */
export type NpyVector = Float32Array | Int8Array | Uint8Array;
export type NpyType = "<f4" | "|i1" | "|u1";

/** OUTPUT_FAILED, before any work is done, where the file could not be written. */
export async function checkWritable(path: string): Promise<void> {
  try {
    await access(dirname(resolve(path)), constants.W_OK);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Writes rows of equal length to a temporary file beside `path` and renames it: nobody sees half a file. */
export async function writeNpy(path: string, rows: readonly NpyVector[], columns: number): Promise<void> {
  const temporary = `${path}.${process.pid}.partial`;
  try {
    const file = await open(temporary, "w");
    try {
      await file.writeFile(npyHeader(rows.length, columns, typeOf(rows[0]))); // unlike write(), all of it or an error
      for (const row of rows) await file.writeFile(littleEndian(row));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): InferyardError {
  return new InferyardError("OUTPUT_FAILED", `${path} cannot be written: ${messageOf(error)}`, {
    cause: error,
    remedy: "check the folder and the space on the disk",
  });
}

function typeOf(row: NpyVector | undefined): NpyType {
  if (row instanceof Int8Array) return "|i1";
  return row instanceof Uint8Array ? "|u1" : "<f4";
}

export function npyHeader(rows: number, columns: number, type: NpyType = "<f4"): Buffer {
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`;
  const unpadded = prologueBytes + text.length + 1;
  const padding = (alignment - (unpadded % alignment)) % alignment;
  const header = Buffer.alloc(prologueBytes);
  header.write("\u0093NUMPY", "latin1");
  header.writeUInt8(1, 6);
  header.writeUInt16LE(text.length + padding + 1, 8);
  return Buffer.concat([header, Buffer.from(`${text}${" ".repeat(padding)}\n`, "latin1")]);
}

function littleEndian(row: NpyVector): Uint8Array {
  if (!(row instanceof Float32Array)) return new Uint8Array(row.buffer, row.byteOffset, row.byteLength);
  const bytes = new Uint8Array(row.length * Float32Array.BYTES_PER_ELEMENT);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of row.entries()) view.setFloat32(index * Float32Array.BYTES_PER_ELEMENT, value, true);
  return bytes;
}
