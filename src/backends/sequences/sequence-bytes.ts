/** A sequence's cache as bytes: a line of JSON that describes the tensors, then their data, each in the machine's byte order. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { type Tensor, type TensorMap, elementCount, zeros } from "../../contract/tensor.ts";
import type { CacheInput } from "./decoder-graph.ts";

/** Saved state of a sequence. */
export interface SavedSequence {
  readonly length: number;
  /** Cached tensors of one row without unused positions, by the name of the input. */
  readonly tensors: TensorMap;
  readonly source: Tensor | undefined;
  /** The tokens themselves, of models that must compute a state again to go back. */
  readonly tokens?: readonly number[] | undefined;
}

/** What the bytes must agree with. */
type CachedTensor = Pick<CacheInput, "info" | "batchAxis" | "tokenAxis" | "of">;

interface Header {
  readonly format: "inferyard-sequence-1";
  readonly length: number;
  readonly tensors: readonly Pick<Tensor, "dataType" | "shape">[];
  readonly source: readonly Pick<Tensor, "dataType" | "shape">[];
  readonly tokens?: readonly number[] | undefined;
}

const format = "inferyard-sequence-1";
const newline = 0x0a;

/** Returns the bytes of a sequence. */
export function writeSequence({ length, tensors, source, tokens }: SavedSequence): Uint8Array {
  const describe = ({ dataType, shape }: Tensor): Pick<Tensor, "dataType" | "shape"> => ({ dataType, shape });
  const caches = Object.values(tensors);
  const sources = source === undefined ? [] : [source];
  const header: Header = { format, length, tensors: caches.map(describe), source: sources.map(describe), tokens };
  const parts = [new TextEncoder().encode(`${JSON.stringify(header)}\n`), ...[...caches, ...sources].map(getBytes)];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Reads the bytes of `writeSequence`. Throws INPUT_INVALID unless they belong to a sequence of a model with these cached tensors. */
export function readSequence(bytes: Uint8Array, caches: readonly CachedTensor[], hasSource: boolean): SavedSequence {
  const end = bytes.indexOf(newline);
  const header = readHeader(bytes.subarray(0, Math.max(end, 0)));
  const { length } = header;
  const fits =
    Number.isSafeInteger(length) &&
    length >= 0 &&
    header.tensors.length === caches.length &&
    header.source.length === (hasSource ? 1 : 0) &&
    caches.every((cache, index) => isTensorOf(cache, header.tensors[index], length)) &&
    tokensFit(header) &&
    header.source.every(({ shape }) => shape.length === 3 && shape.every((size) => Number.isSafeInteger(size) && size > 0));
  if (!fits) throw invalid("they are of another model");
  const all = [...header.tensors, ...header.source].map(({ dataType, shape }) => ({
    dataType,
    shape,
    bytes: elementCount(shape) * elementBytes(dataType),
  }));
  if (all.reduce((sum, each) => sum + each.bytes, end + 1) !== bytes.length) throw invalid("they are incomplete");
  let offset = end + 1;
  const tensors = all.map(({ dataType, shape, bytes: count }): Tensor => {
    const tensor = zeros(dataType, shape);
    getBytes(tensor).set(bytes.subarray(offset, offset + count));
    offset += count;
    return tensor;
  });
  const entries = caches.map(({ info }, index): [string, Tensor | undefined] => [info.name, tensors[index]]);
  return { length, tensors: Object.fromEntries(entries) as TensorMap, source: tensors[caches.length], tokens: header.tokens };
}

function readHeader(line: Uint8Array): Header {
  try {
    const header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line)) as Header;
    if (header.format === format && Array.isArray(header.tensors) && Array.isArray(header.source)) return header;
  } catch (error) {
    throw invalid(`they do not begin with a description (${getMessage(error)})`);
  }
  throw invalid("they are of another version");
}

function tokensFit({ tokens, length }: Header): boolean {
  if (tokens === undefined) return true;
  return Array.isArray(tokens) && tokens.length === length && tokens.every((token) => Number.isSafeInteger(token) && token >= 0);
}

function isTensorOf(
  { info, batchAxis, tokenAxis, of }: CachedTensor,
  tensor: Header["tensors"][number] | undefined,
  length: number,
): boolean {
  if (tensor?.dataType !== info.dataType || tensor.shape.length !== info.shape.length) return false;
  return tensor.shape.every((size, axis) => {
    if (axis === batchAxis) return size === 1;
    if (axis === tokenAxis) return of === "tokens" ? size === length : Number.isSafeInteger(size) && size >= 0;
    return size === info.shape[axis];
  });
}

function elementBytes(dataType: Tensor["dataType"]): number {
  return getBytes(zeros(dataType, [1])).length;
}

function getBytes({ data }: Tensor): Uint8Array {
  if (!ArrayBuffer.isView(data)) throw new TypeError("a cache holds no strings");
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function invalid(reason: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `the bytes are of no saved sequence of this model: ${reason}`, {
    remedy: "restore what saveSequence of the same model, backend and version returned",
  });
}
