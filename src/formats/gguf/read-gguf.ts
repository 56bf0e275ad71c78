/**
 * The header of a GGUF file, versions 1 to 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): metadata, and where each
 * tensor lies. The reader is strict, because model files come from strangers: every count is held against the bytes left before it is
 * used, and every tensor must lie inside the file, aligned, and over no other. The tensors themselves are not read.
 */
import { InferyardError, messageOf } from "../../errors.ts";
import { openFile } from "../../platform/node/files.ts";
import { FileWindow } from "../file-window.ts";
import { modelInvalid, unreadable } from "../../models/model-folder.ts";
import { ggmlType } from "./ggml-types.ts";
import { GgufCursor, type GgufEncoding } from "./gguf-cursor.ts";
import { type GgufValue, ggufNumber, ggufText, readGgufMetadata } from "./gguf-metadata.ts";

export interface GgufTensor {
  readonly name: string;
  /** ggml's name of the type: "Q4_K". */
  readonly type: string;
  /** As ggml has it: the dimension whose elements are neighbours comes first. */
  readonly shape: readonly number[];
  readonly elements: number;
  readonly bytes: number;
  /** Of its first byte in the file. */
  readonly start: number;
}

export interface GgufFile {
  readonly version: number;
  readonly byteOrder: "little-endian" | "big-endian";
  /** Tensors begin at multiples of it. */
  readonly alignment: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
  /** Size of the file. */
  readonly bytes: number;
}

/** A tensor as the header states it, before its place is checked. */
interface TensorHeader {
  readonly name: string;
  readonly type: number;
  readonly shape: readonly number[];
  readonly offset: number;
}

const magic = "GGUF";
/** Formats of the same family that came before. */
const legacyMagics: ReadonlySet<string> = new Set(["lmgg", "fmgg", "tjgg", "algg"]);
const maxVersion = 3;
const defaultAlignment = 32;
/** The specification's: four dimensions, names of 64 bytes, which some writers exceed. */
const maxDimensions = 4;
const maxNameBytes = 1024;
/** What reading a tensor and placing it costs, in skipped texts. */
const itemsPerTensor = 8;

/** Reads the header; MODEL_INVALID when it is cut off, damaged or no GGUF file, MODEL_UNSUPPORTED for a version that is not known. */
export async function readGguf(path: string, shown: string): Promise<GgufFile> {
  try {
    const handle = await openFile(path);
    try {
      const { size } = await handle.stat();
      return await readHeader(new FileWindow(handle, size, shown), shown);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    if ((error as NodeJS.ErrnoException).code !== undefined) throw unreadable(shown, error);
    throw modelInvalid(`${shown} is not a whole GGUF file: ${messageOf(error)}`, "download it again", error);
  }
}

async function readHeader(window: FileWindow, shown: string): Promise<GgufFile> {
  const start = Buffer.from(await window.bytes(0, Math.min(4, window.size))).toString("latin1");
  if (legacyMagics.has(start)) throw unsupported(shown, "is of a format older than GGUF");
  if (start !== magic) throw new Error(`it does not begin with ${magic}`);
  const { version, encoding } = await readVersion(window, shown);
  const cursor = new GgufCursor(window, encoding, 8);
  // A tensor has at least a name, a number of dimensions, a type and an offset; a piece of metadata a key, a type and a value.
  const tensorCount = await cursor.count("tensors", encoding.sizeBytes + 16);
  const metadataCount = await cursor.count("metadata", encoding.sizeBytes + 5);
  const metadata = await readGgufMetadata(cursor, metadataCount);
  const alignment = ggufNumber(metadata, "general.alignment") ?? defaultAlignment;
  if (alignment < 1 || !Number.isInteger(Math.log2(alignment)))
    throw new Error(`its alignment is ${alignment}, which is no power of two`);
  const stated: TensorHeader[] = [];
  const names = new Set<string>();
  for (let index = 0; index < tensorCount; index += 1) {
    cursor.countItems(itemsPerTensor);
    const tensor = await readTensor(cursor);
    if (names.has(tensor.name)) throw new Error(`the tensor ${quote(tensor.name)} comes twice`);
    names.add(tensor.name);
    stated.push(tensor);
  }
  const dataStart = Math.ceil(cursor.position / alignment) * alignment;
  const tensors = placeTensors(stated, dataStart, window.size, alignment, ggufText(metadata, "general.architecture"));
  const byteOrder = encoding.littleEndian ? "little-endian" : "big-endian";
  return { version, byteOrder, alignment, metadata, tensors, bytes: window.size };
}

/** The byte order shows in the version: the one of the other order is a huge number. */
async function readVersion(window: FileWindow, shown: string): Promise<{ version: number; encoding: GgufEncoding }> {
  const bytes = Buffer.from(await window.bytes(4, 4));
  const littleEndian = bytes.readUInt32LE() <= 0xffff;
  const version = littleEndian ? bytes.readUInt32LE() : bytes.readUInt32BE();
  if (version >= 1 && version <= maxVersion) return { version, encoding: { littleEndian, sizeBytes: version === 1 ? 4 : 8 } };
  throw unsupported(shown, `is GGUF version ${version}`);
}

async function readTensor(cursor: GgufCursor): Promise<TensorHeader> {
  const { text: name, bytes } = await cursor.text("a tensor's name", maxNameBytes);
  if (bytes > maxNameBytes) throw new Error(`a tensor has a name of ${bytes} bytes`);
  const dimensions = await cursor.uint32();
  if (dimensions > maxDimensions) throw new Error(`the tensor ${quote(name)} has ${dimensions} dimensions`);
  const shape: number[] = [];
  for (let axis = 0; axis < dimensions; axis += 1) shape.push(await cursor.size(`dimension ${axis} of ${quote(name)}`));
  const type = await cursor.uint32();
  const offset = await cursor.number("uint64");
  if (typeof offset !== "number") throw new Error(`the tensor ${quote(name)} lies at byte ${offset}`);
  return { name, type, shape, offset };
}

/** Gives every tensor its bytes, and checks that each lies in the file, aligned, after the end of the one before. In the header's order. */
function placeTensors(
  stated: readonly TensorHeader[],
  dataStart: number,
  fileBytes: number,
  alignment: number,
  architecture: string | undefined,
): GgufTensor[] {
  const byOffset = [...stated].sort((a, b) => a.offset - b.offset);
  const placed = new Map<TensorHeader, GgufTensor>();
  for (const [index, tensor] of byOffset.entries()) {
    const { name, shape, offset } = tensor;
    const limit = byOffset[index + 1]?.offset ?? fileBytes - dataStart;
    if (offset % alignment !== 0) throw new Error(`the tensor ${quote(name)} lies at byte ${offset}, which is not aligned`);
    const { type, elements, bytes = limit - offset } = measureTensor(tensor, architecture);
    if (offset > fileBytes - dataStart) throw new Error(`the tensor ${quote(name)} lies behind the end of the file`);
    if (offset + bytes > fileBytes - dataStart) {
      throw new Error(`the tensor ${quote(name)} needs ${bytes} bytes, and the file ends before them`);
    }
    if (offset + bytes > limit) throw new Error(`the tensor ${quote(name)} overlaps the one after it`);
    placed.set(tensor, { name, type, shape, elements, bytes, start: dataStart + offset });
  }
  return stated.flatMap((tensor) => placed.get(tensor) ?? []);
}

/** `bytes` is left out where only the place of the next tensor tells. */
function measureTensor({ name, type: number, shape }: TensorHeader, architecture: string | undefined): TensorSize {
  const type = ggmlType(number, architecture);
  const elements = shape.reduce((product, dimension) => product * dimension, 1);
  const bytes = (elements / type.blockElements) * type.blockBytes + (type.tailBytes ?? 0);
  if (!Number.isSafeInteger(elements) || bytes > Number.MAX_SAFE_INTEGER) {
    throw new Error(`the tensor ${quote(name)} has the impossible shape [${shape.join(", ")}]`);
  }
  if ((shape[0] ?? 1) % type.blockElements !== 0) {
    const rows = `rows of ${shape[0] ?? 1}, and ${type.name} has blocks of ${type.blockElements}`;
    throw new Error(`the tensor ${quote(name)} has ${rows}`);
  }
  return { type: type.name, elements, ...(type.blockBytes === 0 ? {} : { bytes }) };
}

interface TensorSize {
  readonly type: string;
  readonly elements: number;
  readonly bytes?: number;
}

function unsupported(shown: string, what: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `${shown} ${what}, and this version reads GGUF 1 to ${maxVersion}`, {
    remedy: "convert it anew with llama.cpp's convert_hf_to_gguf.py, or get a GGUF file of the model",
  });
}

/** A name out of the file, for a message: however long and odd it is. */
function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}
