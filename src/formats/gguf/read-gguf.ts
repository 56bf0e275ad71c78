/**
 * Reads the header of a GGUF file, versions 1 to 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): its metadata, and the type, shape and
 * position of each tensor. Model files come from untrusted sources, so every count is compared with the bytes left before it is used, and tensors
 * must be inside the file, aligned, and must not overlap. The elements of the tensors are not read.
 */
import { InferyardError } from "../../contract/errors.ts";
import { type FileWindow, type Reading, withFileWindow } from "../file-window.ts";
import { quoteName } from "../format-errors.ts";
import { ggmlType } from "./ggml-types.ts";
import { GgufCursor, type GgufEncoding } from "./gguf-cursor.ts";
import { type GgufValue, type KeptMetadata, ggufNumber, ggufText, readGgufMetadata } from "./gguf-metadata.ts";

/** One tensor of a GGUF file: its type, shape and location, without its elements. */
export interface GgufTensor {
  readonly name: string;
  /** The type in the spelling of ggml: "F16", "Q4_K", ... */
  readonly type: string;
  /** Dimensions in the order of ggml: the innermost, whose elements are adjacent in memory, comes first. */
  readonly shape: readonly number[];
  /** Number of elements. */
  readonly elements: number;
  readonly bytes: number;
  /** Position of its first byte in the file. */
  readonly start: number;
}

/** The header of a GGUF file: metadata, and the location of every tensor. */
export interface GgufFile {
  /** Version of the format, 1 to 3. */
  readonly version: number;
  readonly byteOrder: "little-endian" | "big-endian";
  /** Tensors begin at multiples of this number of bytes, counted from the end of the header. */
  readonly alignment: number;
  /** Values by key, in the order of the file. */
  readonly metadata: ReadonlyMap<string, GgufValue>;
  /** In the order of the header. */
  readonly tensors: readonly GgufTensor[];
  /** Size of the file in bytes. */
  readonly bytes: number;
}

/** A tensor as the header states it, before it is checked. */
interface TensorHeader {
  readonly name: string;
  readonly type: number;
  readonly shape: readonly number[];
  readonly offset: number;
}

const magic = "GGUF";
/** First four bytes of the formats that came before GGUF (GGML, GGMF, GGJT, GGLA), as they are read in little-endian order. */
const legacyMagics: ReadonlySet<string> = new Set(["lmgg", "fmgg", "tjgg", "algg"]);
const maxVersion = 3;
const defaultAlignment = 32;
/** Limits of the specification: four dimensions, and names of 64 bytes, which some writers exceed. */
const maxDimensions = 4;
const maxNameBytes = 1024;
/** Cost of reading one tensor, in items of `FileWindow.countItems`. */
const itemsPerTensor = 8;

/**
 * Reads the header of the GGUF file at `path`; `displayName` is the path as the user wrote it, `keep` selects how much of long metadata values is kept. Throws
 * MODEL_INVALID if the file cannot be read, is cut off or damaged, or is not a GGUF file; MODEL_UNSUPPORTED for an unknown version and for a header larger than
 * the limits of `FileWindow`.
 */
export async function readGguf(path: string, displayName: string, keep: KeptMetadata = "beginnings"): Promise<GgufFile> {
  return await withFileWindow(path, displayName, "GGUF", (window) => readHeader(window, displayName, keep));
}

function* readHeader(window: FileWindow, displayName: string, keep: KeptMetadata): Reading<GgufFile> {
  const start = String.fromCharCode(...(yield* window.readBytes(0, Math.min(4, window.size))));
  if (legacyMagics.has(start)) throw unsupported(displayName, "is of a format older than GGUF");
  if (start !== magic) throw new Error(`it does not begin with ${magic}`);
  const { version, encoding } = yield* readVersion(window, displayName);
  const cursor = new GgufCursor(window, encoding, 8);
  // The smallest tensor has an empty name, a number of dimensions, a type and an offset; the smallest metadata has a key, a type and a value.
  const tensorCount = yield* cursor.count("tensors", encoding.sizeBytes + 16);
  const metadataCount = yield* cursor.count("metadata", encoding.sizeBytes + 5);
  const metadata = yield* readGgufMetadata(cursor, metadataCount, keep);
  const alignment = ggufNumber(metadata, "general.alignment") ?? defaultAlignment;
  if (alignment < 1 || !Number.isInteger(Math.log2(alignment)))
    throw new Error(`its alignment is ${alignment}, which is no power of two`);
  const headers: TensorHeader[] = [];
  const names = new Set<string>();
  for (let index = 0; index < tensorCount; index += 1) {
    cursor.countItems(itemsPerTensor);
    const tensor = yield* readTensor(cursor);
    if (names.has(tensor.name)) throw new Error(`the tensor ${quoteName(tensor.name)} comes twice`);
    names.add(tensor.name);
    headers.push(tensor);
  }
  const dataStart = Math.ceil(cursor.position / alignment) * alignment;
  const tensors = placeTensors(headers, dataStart, window.size, alignment, ggufText(metadata, "general.architecture"));
  const byteOrder = encoding.littleEndian ? "little-endian" : "big-endian";
  return { version, byteOrder, alignment, metadata, tensors, bytes: window.size };
}

/** The byte order follows from the version: read in the wrong order, it is larger than 0xffff. */
function* readVersion(window: FileWindow, displayName: string): Reading<{ version: number; encoding: GgufEncoding }> {
  const bytes = yield* window.readBytes(4, 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const littleEndian = view.getUint32(0, true) <= 0xffff;
  const version = view.getUint32(0, littleEndian);
  if (version >= 1 && version <= maxVersion) return { version, encoding: { littleEndian, sizeBytes: version === 1 ? 4 : 8 } };
  throw unsupported(displayName, `is GGUF version ${version}`);
}

function* readTensor(cursor: GgufCursor): Reading<TensorHeader> {
  const { text: name, bytes } = yield* cursor.text("a tensor's name", maxNameBytes);
  if (bytes > maxNameBytes) throw new Error(`a tensor has a name of ${bytes} bytes`);
  const dimensions = yield* cursor.uint32();
  if (dimensions > maxDimensions) throw new Error(`the tensor ${quoteName(name)} has ${dimensions} dimensions`);
  const shape: number[] = [];
  for (let axis = 0; axis < dimensions; axis += 1) shape.push(yield* cursor.size(`dimension ${axis} of ${quoteName(name)}`));
  const type = yield* cursor.uint32();
  const offset = yield* cursor.number("uint64");
  if (typeof offset !== "number") throw new Error(`the tensor ${quoteName(name)} lies at byte ${offset}`);
  return { name, type, shape, offset };
}

/** Computes the bytes of every tensor, and checks that each is in the file, aligned, and after the one before. Returns them in the order of the header. */
function placeTensors(
  headers: readonly TensorHeader[],
  dataStart: number,
  fileBytes: number,
  alignment: number,
  architecture: string | undefined,
): GgufTensor[] {
  const byOffset = [...headers].sort((a, b) => a.offset - b.offset);
  const placed = new Map<TensorHeader, GgufTensor>();
  for (const [index, tensor] of byOffset.entries()) {
    const { name, shape, offset } = tensor;
    const limit = byOffset[index + 1]?.offset ?? fileBytes - dataStart;
    if (offset % alignment !== 0) throw new Error(`the tensor ${quoteName(name)} lies at byte ${offset}, which is not aligned`);
    const { type, elements, bytes = limit - offset } = measureTensor(tensor, limit - offset, architecture);
    if (offset > fileBytes - dataStart) throw new Error(`the tensor ${quoteName(name)} lies behind the end of the file`);
    if (offset + bytes > fileBytes - dataStart) {
      throw new Error(`the tensor ${quoteName(name)} needs ${bytes} bytes, and the file ends before them`);
    }
    if (offset + bytes > limit) throw new Error(`the tensor ${quoteName(name)} overlaps the one after it`);
    placed.set(tensor, { name, type, shape, elements, bytes, start: dataStart + offset });
  }
  return headers.flatMap((tensor) => placed.get(tensor) ?? []);
}

/** `bytes` is absent for types of unknown size: the tensor then extends to the next one. */
function measureTensor({ name, type: number, shape }: TensorHeader, room: number, architecture: string | undefined): TensorSize {
  const type = ggmlType({ number, shape, room }, architecture);
  const elements = shape.reduce((product, dimension) => product * dimension, 1);
  const bytes = (elements / type.blockElements) * type.blockBytes + (type.tailBytes ?? 0);
  if (!Number.isSafeInteger(elements) || bytes > Number.MAX_SAFE_INTEGER) {
    throw new Error(`the tensor ${quoteName(name)} has the impossible shape [${shape.join(", ")}]`);
  }
  if ((shape[0] ?? 1) % type.blockElements !== 0) {
    const rows = `rows of ${shape[0] ?? 1}, and ${type.name} has blocks of ${type.blockElements}`;
    throw new Error(`the tensor ${quoteName(name)} has ${rows}`);
  }
  return { type: type.name, elements, ...(type.blockBytes === 0 ? {} : { bytes }) };
}

interface TensorSize {
  readonly type: string;
  /** Number of elements. */
  readonly elements: number;
  readonly bytes?: number;
}

function unsupported(displayName: string, what: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `${displayName} ${what}, and this version reads GGUF 1 to ${maxVersion}`, {
    remedy: "convert it again with llama.cpp's convert_hf_to_gguf.py, or get a GGUF file of the model",
  });
}
