/**
 * Copies an ONNX file without the data of its large initializers, which stays in the file until it is needed. Everything else is copied byte by
 * byte, so that the same reader takes the copy and a complete file.
 */
import { PbfReader } from "pbf";
import { type ByteRange, byteRange, type ByteSource } from "../byte-source.ts";
import { lengthDelimited, maxHeaderBytes, type ProtobufField, readFieldHeader } from "../protobuf/wire-format.ts";
import { graphProto, modelProto, tensorProto } from "./onnx-fields.ts";

/** A copy of an ONNX file without the data of large initializers, which stays in the file and can be read later. */
export interface DetachedModel {
  /** The copy: a valid ONNX file in which `raw_data` of each large initializer is empty. */
  readonly bytes: Uint8Array;
  /** The missing data: ranges of the file, by the position in `bytes` of the empty field that replaces each. */
  readonly ranges: ReadonlyMap<number, ByteRange>;
}

/** Data of fewer bytes is copied: a separate read would cost more. */
const minDetachedBytes = 16 * 1024;
const windowBytes = 16 * 1024;

/** The fields that lead from the message of the whole file to the data of an initializer. */
const tensorDataPath = [modelProto.graph, graphProto.initializer, tensorProto.rawData] as const;

/**
 * Copies an ONNX file without the data of initializers of at least 16 KiB, so that a model can be parsed without reading its weights. Throws Error if the bytes
 * are not well-formed protobuf; a full parse of the file then reports the reason.
 */
export function detachTensorData(file: ByteSource): DetachedModel {
  return new Detacher(file).detach();
}

/** A part of the copy: a range of the file that is copied or, with `isDetached`, left out; or bytes that replace those of the file. */
type Piece =
  | { readonly from: number; readonly to: number; readonly isDetached: boolean }
  | { readonly replacement: readonly number[] };

class Detacher {
  readonly #file: ByteSource;
  readonly #window: Uint8Array = new Uint8Array(windowBytes);
  readonly #pbf: PbfReader = new PbfReader(this.#window);
  #windowStart = 0;
  #windowLength = 0;

  constructor(file: ByteSource) {
    this.#file = file;
  }

  detach(): DetachedModel {
    const pieces = this.#message(0, this.#file.size, 0);
    const bytes = new Uint8Array(getLength(pieces));
    const ranges = new Map<number, ByteRange>();
    let position = 0;
    for (const piece of pieces) {
      if ("replacement" in piece) bytes.set(piece.replacement, position);
      else if (piece.isDetached) ranges.set(position, byteRange(this.#file, piece.from, piece.to - piece.from));
      else this.#file.read(bytes.subarray(position, position + piece.to - piece.from), piece.from);
      position += getLength([piece]);
    }
    return { bytes, ranges };
  }

  /** The pieces of a message. Fields on `tensorDataPath` get a new header, since they become shorter; everything between them is copied. */
  #message(start: number, end: number, depth: number): Piece[] {
    const pieces: Piece[] = [];
    let copied = start;
    for (let position = start; position < end;) {
      const header = position;
      const field = this.#field(header, end);
      const length = field.end - field.start;
      position = field.end;
      if (field.number !== tensorDataPath[depth] || field.wireType !== lengthDelimited || length < minDetachedBytes) continue;
      const isDetached = depth === tensorDataPath.length - 1;
      const inner: Piece[] = isDetached
        ? [{ from: field.start, to: field.end, isDetached }]
        : this.#message(field.start, field.end, depth + 1);
      pieces.push({ from: copied, to: header, isDetached: false });
      pieces.push({ replacement: [(field.number << 3) | lengthDelimited, ...varint(getLength(inner))] }, ...inner);
      copied = field.end;
    }
    pieces.push({ from: copied, to: end, isDetached: false });
    return pieces;
  }

  #field(position: number, end: number): ProtobufField {
    this.#load(position);
    return readFieldHeader(this.#pbf, this.#windowStart, position, end);
  }

  /** Reads the header of a field into the window, with what follows it. */
  #load(position: number): void {
    const last = Math.min(position + maxHeaderBytes, this.#file.size);
    if (position >= this.#windowStart && last <= this.#windowStart + this.#windowLength) return;
    this.#windowLength = Math.min(windowBytes, this.#file.size - position);
    this.#file.read(this.#window.subarray(0, this.#windowLength), position);
    this.#windowStart = position;
  }
}

/** Bytes that the pieces take in the copy. */
function getLength(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => {
    if ("replacement" in piece) return sum + piece.replacement.length;
    return sum + (piece.isDetached ? 0 : piece.to - piece.from);
  }, 0);
}

/** A number as a protobuf varint: seven bits per byte, the lowest first. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}
