/**
 * Reads NumPy's .npy format (numpy.lib.format, versions 1 to 3): little-endian numbers, booleans and Unicode strings, in C or Fortran order.
 * Pickled objects are refused.
 */
import { type InferyardError, invalidInput } from "../../contract/errors.ts";
import { npyTypes, swappedBytes } from "./write-npy.ts";
import { type DataType, type Tensor, type TensorData, elementCount, viewBytes } from "../../contract/tensor.ts";
import { readGivenFile } from "../input/given-file.ts";

const magic = "\u0093NUMPY";
/** NumPy's own limit. */
const maxDimensions = 64;
/** Far above any header without named fields, which are refused. */
const maxHeaderBytes = 65_536;

/** By `descr` without its byte order. */
const numberTypes: ReadonlyMap<string, DataType> = new Map(
  Object.entries(npyTypes).map(([dataType, description]) => [description.slice(1), dataType as DataType]),
);

/** Reads a file. Throws INPUT_INVALID for a file that cannot be read or is inconsistent. */
export async function readNpy(path: string): Promise<Tensor> {
  return parseNpy(await readGivenFile(path), path);
}

/** Parses the bytes of a file; `path` is for messages. Throws INPUT_INVALID. */
export function parseNpy(bytes: Buffer, path: string): Tensor {
  const { text, end } = headerText(bytes, path);
  const { descr, fortranOrder, shape } = parseHeader(text, path);
  const dimensions = parseShape(shape, path);
  const count = elementCount(dimensions);
  const [dataType, itemBytes] = elementType(descr, path);
  const wanted = count * itemBytes;
  if (!Number.isSafeInteger(wanted)) throw invalid(path, `its shape (${shape}) is impossible`);
  const held = bytes.length - end;
  if (held !== wanted)
    throw invalid(path, `its shape (${shape}) of ${descr} needs ${wanted} bytes, and ${held} follow the header`);
  // A copy: the numbers need not lie at a multiple of their size, and the buffer belongs to the tensor.
  const { buffer } = swappedBytes(bytes.subarray(end), dataType === "string" ? 4 : itemBytes);
  const data = elements(dataType, buffer, itemBytes, path);
  return { dataType, shape: dimensions, data: fortranOrder ? rowMajor(data, dimensions) : data };
}

function headerText(bytes: Buffer, path: string): { readonly text: string; readonly end: number } {
  if (bytes.toString("latin1", 0, magic.length) !== magic) throw invalid(path, "it does not begin as .npy files do");
  const version = bytes[6] ?? 0;
  if (version < 1 || version > 3) throw invalid(path, `its version is ${version}, and 1 to 3 are known`);
  const begin = version === 1 ? 10 : 12;
  if (bytes.length < begin) throw invalid(path, "it ends within its header");
  const length = version === 1 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8);
  if (length > maxHeaderBytes) throw invalid(path, `its header claims ${length} bytes`);
  if (bytes.length < begin + length) throw invalid(path, "it ends within its header");
  return { text: bytes.toString(version === 3 ? "utf8" : "latin1", begin, begin + length), end: begin + length };
}

interface Header {
  readonly descr: string;
  readonly fortranOrder: boolean;
  /** What stands between the brackets. */
  readonly shape: string;
}

/** The header is a Python dict of exactly three keys, in any order. */
function parseHeader(text: string, path: string): Header {
  const body = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1];
  if (body === undefined) throw invalid(path, "its header is not a dictionary");
  const found = new Map<string, string>();
  const entry = /\s*(?:'(\w+)'|"(\w+)")\s*:\s*(?:(\[)|(?:'([^'\\]*)'|"([^"\\]*)"|(True|False)|\(([^()]*)\))\s*(?:,|$))/y;
  while (entry.lastIndex < body.length && body.slice(entry.lastIndex).trim() !== "") {
    const match = entry.exec(body);
    if (match?.[3] !== undefined) throw invalid(path, "it has named fields, and a tensor has numbers of one type");
    const key = match?.[1] ?? match?.[2];
    if (match === null || key === undefined || found.has(key)) throw invalid(path, "its header cannot be read");
    found.set(key, match[4] ?? match[5] ?? match[6] ?? match[7] ?? "");
  }
  const [descr, order, shape] = ["descr", "fortran_order", "shape"].map((key) => found.get(key));
  if (found.size !== 3 || descr === undefined || shape === undefined || (order !== "True" && order !== "False"))
    throw invalid(path, "its header has not the keys descr, fortran_order and shape");
  return { descr, fortranOrder: order === "True", shape };
}

function parseShape(text: string, path: string): number[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  // One dimension is written (3,): a Python tuple.
  const parts = trimmed.replace(/,$/, "").split(",");
  const shape = parts.map((part) => (/^\s*\d+L?\s*$/.test(part) ? Number.parseInt(part, 10) : Number.NaN));
  if (shape.length > maxDimensions || shape.some((size) => !Number.isSafeInteger(size)))
    throw invalid(path, `its shape (${trimmed.slice(0, 60)}) is impossible`);
  return shape;
}

function elementType(descr: string, path: string): readonly [dataType: DataType, itemBytes: number] {
  const [, order = "", kind = "", size = ""] = /^([<>|=]?)([a-zA-Z])(\d*)$/.exec(descr) ?? [];
  const itemBytes = Number(size);
  if (order === ">" && itemBytes !== 1)
    throw invalid(path, `its numbers are big-endian (${descr})`, `save it little-endian: array.astype("<${kind}${size}")`);
  if (kind === "U" && itemBytes > 0) return ["string", itemBytes * 4];
  const dataType = numberTypes.get(`${kind}${size}`);
  if (dataType !== undefined) return [dataType, itemBytes];
  throw invalid(
    path,
    `its type ${JSON.stringify(descr)} is not one a tensor can have`,
    "save numbers, booleans or str (not bytes or objects)",
  );
}

function elements(dataType: DataType, buffer: ArrayBuffer, itemBytes: number, path: string): TensorData {
  if (dataType === "string") return strings(buffer, itemBytes, path);
  if (dataType === "bool") return new Uint8Array(buffer).map((value) => (value === 0 ? 0 : 1));
  return viewBytes(dataType, buffer);
}

/** Strings of 32-bit code points, padded with zeros. */
function strings(buffer: ArrayBuffer, itemBytes: number, path: string): readonly string[] {
  const points = new Uint32Array(buffer);
  const length = itemBytes / 4;
  return Array.from({ length: points.length / length }, (_text, index) => {
    const own = points.subarray(index * length, (index + 1) * length);
    const end = own.findLastIndex((point) => point !== 0) + 1;
    if (own.some((point) => point > 0x10_ff_ff)) throw invalid(path, `text ${index} is not Unicode`);
    return Array.from(own.subarray(0, end), (point) => String.fromCodePoint(point)).join("");
  });
}

/** Reorders elements from column-major (Fortran) to row-major order. */
function rowMajor(data: TensorData, shape: readonly number[]): TensorData {
  if (shape.length < 2 || data.length === 0) return data;
  const strides = shape.map((_size, axis) => elementCount(shape.slice(0, axis)));
  const index = shape.map(() => 0);
  let from = 0;
  const next = (): number => {
    const at = from;
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const stride = strides[axis] ?? 0;
      const size = shape[axis] ?? 0;
      index[axis] = (index[axis] ?? 0) + 1;
      from += stride;
      if ((index[axis] ?? 0) < size) break;
      index[axis] = 0;
      from -= stride * size;
    }
    return at;
  };
  if (!ArrayBuffer.isView(data)) return data.map(() => data[next()] ?? "");
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) return data.map(() => data[next()] ?? 0n);
  return data.map(() => data[next()] ?? 0);
}

function invalid(path: string, problem: string, remedy = "save it again with numpy.save"): InferyardError {
  return invalidInput(`${path} cannot be read as .npy: ${problem}`, remedy);
}
