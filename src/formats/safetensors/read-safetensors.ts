/**
 * Reads and serializes safetensors files: 8 bytes with the length of the header (little-endian), a JSON header, then the bytes of the tensors without gaps
 * (https://github.com/huggingface/safetensors, "Format"). Model files come from untrusted sources, so every size in the header is compared with the size of the file
 * before anything is allocated. Elements are little-endian, like the memory of every supported machine.
 */
import { InferyardError, getMessage, throwIfAborted, wrapError } from "../../contract/errors.ts";
import { isMissing } from "../../platform/missing-file.ts";
import { type OpenFile, openFile } from "../../platform/node/files.ts";
import { at, required, omitUndefined } from "../../contract/checked.ts";
import { elementCount, type DataType, type Tensor, viewBytes } from "../../contract/tensor.ts";
import { readJsonValue } from "../json/json-reader.ts";

/** One tensor as the header of a safetensors file describes it: its type, shape and byte range. */
export interface SafetensorsEntry {
  readonly name: string;
  /** Path of the file that holds it. */
  readonly path: string;
  /** Element type in the spelling of the format: "F32", "F16", "I8", ... */
  readonly type: string;
  readonly shape: readonly number[];
  /** Range of its bytes in the file. */
  readonly start: number;
  readonly end: number;
}

/**
 * The header of a valid safetensors file, or the headers of several that are read as one: every byte range is inside the file, has the size of its shape, and does not overlap
 * another.
 */
export interface SafetensorsHeader {
  /** Path of the file, or of the index that names the files. */
  readonly path: string;
  /** Tensors by name. */
  readonly tensors: ReadonlyMap<string, SafetensorsEntry>;
  readonly metadata: ReadonlyMap<string, string>;
  /** Bytes of all tensors. */
  readonly bytes: number;
}

/** Bits of one element, for every type of the format. Types below 8 bits and complex numbers are valid, but their tensors cannot be read. */
const elementBits: ReadonlyMap<string, number> = new Map([
  ...(["F64", "I64", "U64", "C64"] as const).map((type) => [type, 64] as const),
  ...(["F32", "I32", "U32"] as const).map((type) => [type, 32] as const),
  ...(["F16", "BF16", "I16", "U16"] as const).map((type) => [type, 16] as const),
  ...(["I8", "U8", "BOOL", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"] as const).map(
    (type) => [type, 8] as const,
  ),
  ...(["F6_E2M3", "F6_E3M2"] as const).map((type) => [type, 6] as const),
  ["F4", 4] as const,
]);

type StoredType = Exclude<DataType, "string">;

/** The types that a `Tensor` can hold. */
const tensorTypes: ReadonlyMap<string, StoredType> = new Map<string, StoredType>([
  ["F64", "float64"],
  ["F32", "float32"],
  ["F16", "float16"],
  ["BF16", "bfloat16"],
  ["I64", "int64"],
  ["I32", "int32"],
  ["I16", "int16"],
  ["I8", "int8"],
  ["U64", "uint64"],
  ["U32", "uint32"],
  ["U16", "uint16"],
  ["U8", "uint8"],
  ["BOOL", "bool"],
]);

/** Limit of the reference implementation, in bytes. */
const maxHeaderBytes = 100_000_000;
/**
 * Largest number of commas and opening brackets in a header, which has about nine per tensor. The time and memory of parsing depend on these and not on bytes:
 * 100 MB of empty lists took 30 s and 2.6 GB. Real files have a few thousand tensors.
 */
const maxMarks = 2_000_000;
/** Bytes read between two checks of the abort signal. */
const chunkBytes = 8 * 1024 * 1024;

/**
 * Reads and validates the header of the safetensors file at `path`. Throws MODEL_NOT_FOUND if there is no such file,
 * MODEL_INVALID if it is not a complete safetensors file, MODEL_UNSUPPORTED if its header is larger than 100 MB or has more
 * entries than any known file, LOAD_FAILED if it cannot be read, and ABORTED.
 */
export async function readSafetensorsHeader(path: string, signal?: AbortSignal): Promise<SafetensorsHeader> {
  throwIfAborted(signal);
  return await withFile(path, async (file) => {
    const status = await file.stat();
    if (status.size < 8) throw invalid(path, `it has ${status.size} bytes, and the shortest safetensors file has 10`);
    const prefix = new DataView(await readRange(file, path, 0, 8, signal));
    const length = Number(prefix.getBigUint64(0, true));
    if (length > maxHeaderBytes)
      throw invalid(path, `its header claims ${length} bytes, more than the ${maxHeaderBytes} allowed`);
    if (length > status.size - 8)
      throw invalid(path, `its header claims ${length} bytes, and the file ends after ${status.size}`);
    const bytes = await readRange(file, path, 8, length, signal);
    checkMarks(path, bytes);
    const text = decodeHeader(path, bytes);
    return checkHeader(path, text, 8 + length, status.size - 8 - length);
  });
}

/**
 * Reads the tensor with this name from the safetensors file. Throws MODEL_UNSUPPORTED if there is no tensor of that name or its type is not a `DataType`, and
 * otherwise as `readSafetensorsHeader` does.
 */
export async function readSafetensorsTensor(header: SafetensorsHeader, name: string, signal?: AbortSignal): Promise<Tensor> {
  const part = tensorRange(header, name);
  const { path } = part;
  return part.tensor(await withFile(path, (file) => readRange(file, path, part.start, part.bytes, signal)));
}

/**
 * The byte range of the tensor with this name, for callers that read the file themselves. Throws MODEL_UNSUPPORTED if there is no
 * tensor of that name or its type is not a `DataType`.
 */
export function tensorRange(header: SafetensorsHeader, name: string): TensorRange {
  const { path } = header;
  const entry = header.tensors.get(name);
  if (entry === undefined) {
    throw new InferyardError("MODEL_UNSUPPORTED", `${path} has no tensor ${quote(name)} (it has ${listNames(header)})`);
  }
  const dataType = tensorTypes.get(entry.type);
  if (dataType === undefined)
    throw new InferyardError("MODEL_UNSUPPORTED", `${path}: tensor ${quote(name)} is ${entry.type}, which is not read`);
  const { start, end, shape } = entry;
  const tensor = (bytes: ArrayBuffer): Tensor => ({ dataType, shape, data: viewBytes(dataType, bytes) });
  return { path: entry.path, start, bytes: end - start, tensor };
}

/** The byte range of a tensor in its safetensors file, with the function that makes a tensor of these bytes. */
export interface TensorRange {
  /** Path of the file. */
  readonly path: string;
  /** Position of the first byte in the file. */
  readonly start: number;
  /** Number of bytes. */
  readonly bytes: number;
  /** The tensor over the bytes of the range. Its data is a view of `bytes`, not a copy. */
  tensor(bytes: ArrayBuffer): Tensor;
}

/** The first eight names of tensors, for a message. */
function listNames(header: SafetensorsHeader): string {
  const names = [...header.tensors.keys()].map(quote);
  if (names.length === 0) return "none";
  return names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : names.join(", ");
}

function invalid(path: string, what: string, cause?: unknown): InferyardError {
  return new InferyardError("MODEL_INVALID", `${path} is not a valid safetensors file: ${what}`, {
    remedy: "get the file again and compare its sha256 with the publisher's",
    ...omitUndefined({ cause }),
  });
}

/** Runs `use` on the open file, and closes it. Throws MODEL_NOT_FOUND, MODEL_INVALID and LOAD_FAILED as `readSafetensorsHeader` does. */
export async function withFile<T>(path: string, use: (file: OpenFile) => Promise<T>): Promise<T> {
  let file: OpenFile;
  try {
    file = await openFile(path);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "EISDIR") throw invalid(path, "it is a folder", cause);
    if (code === "EINVAL") throw invalid(path, "it is no regular file", cause);
    if (isMissing(cause))
      throw new InferyardError("MODEL_NOT_FOUND", `there is no file ${path}`, { cause, remedy: "check the path" });
    throw wrapError(cause, "LOAD_FAILED", `cannot open ${path}`);
  }
  try {
    return await use(file);
  } catch (cause) {
    throw wrapError(cause, "LOAD_FAILED", `cannot read ${path}`);
  } finally {
    await file.close();
  }
}

/** A range of the file. The caller has compared `length` with the size of the file, so a short read means that the file changed meanwhile. */
export async function readRange(
  file: OpenFile,
  path: string,
  start: number,
  length: number,
  signal?: AbortSignal,
): Promise<ArrayBuffer> {
  const bytes = allocate(path, length);
  for (let done = 0; done < length;) {
    throwIfAborted(signal);
    const piece = new Uint8Array(bytes, done, Math.min(chunkBytes, length - done));
    const { bytesRead } = await file.read(piece, 0, piece.length, start + done);
    if (bytesRead === 0)
      throw invalid(path, `it ends after ${start + done} bytes, within the range ${start} to ${start + length}`);
    done += bytesRead;
  }
  return bytes;
}

function allocate(path: string, length: number): ArrayBuffer {
  try {
    return new ArrayBuffer(length);
  } catch (cause) {
    throw new InferyardError("OUT_OF_MEMORY", `cannot allocate ${length} bytes for ${path}`, { cause });
  }
}

function checkMarks(path: string, header: ArrayBuffer): void {
  if (header.byteLength <= maxMarks) return;
  const bytes = new Uint8Array(header);
  let marks = 0;
  for (const byte of bytes) {
    if (byte === 0x2c || byte === 0x5b || byte === 0x7b) marks += 1;
  }
  if (marks <= maxMarks) return;
  throw new InferyardError("MODEL_UNSUPPORTED", `the header of ${path} has ${marks} commas and brackets, more than is read`, {
    remedy: "check that this is the model's file; no known model has a header of this size",
  });
}

function decodeHeader(path: string, bytes: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw invalid(path, "its header is not UTF-8", cause);
  }
}

function checkHeader(path: string, text: string, dataStart: number, dataBytes: number): SafetensorsHeader {
  if (!text.startsWith("{")) throw invalid(path, 'its header does not begin with "{"');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw invalid(path, `its header is not JSON (${getMessage(cause)})`, cause);
  }
  // The text is JSON that begins with "{", so it is an object.
  const fields = new Map<string, unknown>(Object.entries(parsed as object));
  refuseRepeatedKeys(path, text);
  const metadata = checkMetadata(path, fields.get("__metadata__"));
  fields.delete("__metadata__");
  const entries = [...fields].map(([name, value]) => checkEntry(path, name, value, dataStart));
  checkRanges(path, entries, dataStart, dataBytes);
  return { path, metadata, tensors: new Map(entries.map((entry) => [entry.name, entry])), bytes: dataBytes };
}

function checkMetadata(path: string, value: unknown): Map<string, string> {
  if (value === undefined) return new Map();
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(path, "its metadata is not an object");
  const entries = Object.entries(value).map(([key, text]: [string, unknown]): [string, string] => {
    if (typeof text !== "string") throw invalid(path, `its metadata ${quote(key)} is not a string`);
    return [key, text];
  });
  return new Map(entries);
}

function checkEntry(path: string, name: string, value: unknown, dataStart: number): SafetensorsEntry {
  const {
    dtype: type,
    shape,
    data_offsets: offsets,
  } = (value ?? {}) as { dtype?: unknown; shape?: unknown; data_offsets?: unknown };
  const bits = typeof type === "string" ? elementBits.get(type) : undefined;
  if (typeof type !== "string" || bits === undefined)
    throw invalid(path, `tensor ${quote(name)} has the unknown type ${quote(type)}`);
  if (!isSizes(shape)) throw invalid(path, `tensor ${quote(name)} has a shape that is not a list of whole numbers`);
  if (!isSizes(offsets) || offsets.length !== 2) throw invalid(path, `tensor ${quote(name)} has no pair of data_offsets`);
  const [begin, end] = [at(offsets, 0), at(offsets, 1)];
  const needed = (elementCount(shape) * bits) / 8;
  if (!Number.isSafeInteger(needed) || end - begin !== needed) {
    throw invalid(
      path,
      `tensor ${quote(name)} (${type} ${quote(shape)}) needs ${needed} bytes, and its offsets hold ${end - begin}`,
    );
  }
  return { name, path, type, shape, start: dataStart + begin, end: dataStart + end };
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

/** Throws MODEL_INVALID unless the ranges cover the data exactly: no gap, no overlap, nothing after. */
function checkRanges(path: string, entries: readonly SafetensorsEntry[], dataStart: number, dataBytes: number): void {
  let position = dataStart;
  for (const entry of [...entries].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (entry.start !== position) {
      const fault = entry.start < position ? "overlaps another tensor" : "leaves a gap before it";
      throw invalid(path, `tensor ${quote(entry.name)} ${fault} at byte ${entry.start}`);
    }
    position = entry.end;
  }
  if (position !== dataStart + dataBytes) {
    throw invalid(path, `its tensors need ${position - dataStart} bytes after the header, and the file has ${dataBytes}`);
  }
}

/** Refuses a key that occurs twice in one object, of which JSON.parse silently keeps the last. `text` is valid JSON. */
function refuseRepeatedKeys(path: string, text: string): void {
  readJsonValue<undefined>(text, {
    number: () => undefined,
    array: () => undefined,
    object(names) {
      const seen = new Set<string>();
      for (const name of names) {
        if (seen.has(name)) throw invalid(path, `its header names ${quote(name)} twice`);
        seen.add(name);
      }
      return undefined;
    },
    tooDeep: () => invalid(path, "its header nests objects and lists too deep"),
    maxDepth: 16,
  });
}

/** A value from the file, quoted for a message and truncated to 80 characters. */
function quote(name: unknown): string {
  const text = JSON.stringify(name) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/**
 * Serializes tensors: the bytes of the header, then the bytes of each tensor, in `pieces`. The same tensors and metadata always give the same bytes. `pieces`
 * are views of the tensors' data. Throws INPUT_INVALID if data does not fill its shape or has a type that the format does not have.
 */
export function serializeSafetensors(
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>>,
): { header: Uint8Array; pieces: Uint8Array[] } {
  // Sorted by element size, the largest first, and then by name, as in the reference implementation: every tensor is then aligned to its elements.
  const sorted = Object.entries(tensors)
    .map(([name, tensor]) => ({ name, tensor, type: getTypeName(name, tensor) }))
    .sort((a, b) => getBits(b.type) - getBits(a.type) || (a.name < b.name ? -1 : 1));
  const pieces: Uint8Array[] = [];
  const fields: [string, unknown][] = Object.keys(metadata).length > 0 ? [["__metadata__", metadata]] : [];
  let position = 0;
  for (const { name, tensor, type } of sorted) {
    const { data, shape } = tensor;
    if (!ArrayBuffer.isView(data) || data.length !== elementCount(shape)) {
      throw new InferyardError(
        "INPUT_INVALID",
        `tensor "${name}" has ${data.length} elements, and its shape is [${shape.join(", ")}]`,
      );
    }
    fields.push([name, { dtype: type, shape, data_offsets: [position, position + data.byteLength] }]);
    pieces.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    position += data.byteLength;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(fields)));
  // Spaces pad the header to a multiple of 8 bytes, so that the data is aligned in the file.
  const padded = new Uint8Array(8 + Math.ceil(json.length / 8) * 8).fill(0x20);
  new DataView(padded.buffer).setBigUint64(0, BigInt(padded.length - 8), true);
  padded.set(json, 8);
  return { header: padded, pieces };
}

function getBits(type: string): number {
  return required(elementBits.get(type), `the size of ${type}`);
}

function getTypeName(name: string, tensor: Tensor): string {
  for (const [type, dataType] of tensorTypes) if (dataType === tensor.dataType) return type;
  throw new InferyardError("INPUT_INVALID", `tensor "${name}" is ${tensor.dataType}, which safetensors cannot hold`);
}
