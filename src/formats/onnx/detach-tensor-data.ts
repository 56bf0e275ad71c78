/**
 * An ONNX file without the elements of its large tensors: those stay in the file until somebody wants them. All else is copied as it stands, so
 * that one reader of the format serves both.
 */
import { type ByteRange, byteRange, type ByteSource } from "../byte-source.ts";

export interface DetachedModel {
  readonly bytes: Uint8Array;
  /** What was cut out, by the place in `bytes` where it was: there is a field of no bytes. */
  readonly cuts: ReadonlyMap<number, ByteRange>;
}

/** Elements of fewer bytes are not worth a read of their own. */
const minDetachedBytes = 16 * 1024;
const windowBytes = 16 * 1024;
const maxHeaderBytes = 20;

/** Fields by the message they stand in: of ModelProto the graph, of that its initial values, of those their bytes. */
const tensorDataPath = [7, 5, 9] as const;

/** Error where the fields do not add up: read whole, the file is sure to be refused with more to say. */
export function detachTensorData(file: ByteSource): DetachedModel {
  return new Detacher(file).detach();
}

/** A run of the file to copy, bytes that were made anew, or a cut. */
type Piece = { readonly from: number; readonly to: number; readonly isCut: boolean } | { readonly made: readonly number[] };

class Detacher {
  readonly #file: ByteSource;
  #window: Uint8Array = new Uint8Array(0);
  #windowStart = 0;

  constructor(file: ByteSource) {
    this.#file = file;
  }

  detach(): DetachedModel {
    const pieces = this.#message(0, this.#file.size, 0);
    const bytes = new Uint8Array(lengthOf(pieces));
    const cuts = new Map<number, ByteRange>();
    let place = 0;
    for (const piece of pieces) {
      if ("made" in piece) bytes.set(piece.made, place);
      else if (piece.isCut) cuts.set(place, byteRange(this.#file, piece.from, piece.to - piece.from));
      else this.#file.read(bytes.subarray(place, place + piece.to - piece.from), piece.from);
      place += lengthOf([piece]);
    }
    return { bytes, cuts };
  }

  /** The fields from `start` to `end`; those on the path are made anew, runs of others are copied. */
  #message(start: number, end: number, depth: number): Piece[] {
    const pieces: Piece[] = [];
    let copied = start;
    for (let position = start; position < end;) {
      const field = this.#field(position, end);
      const length = field.end - field.start;
      position = field.end;
      if (field.number !== tensorDataPath[depth] || field.wireType !== 2 || length < minDetachedBytes) continue;
      const isCut = depth === tensorDataPath.length - 1;
      const inner: Piece[] = isCut
        ? [{ from: field.start, to: field.end, isCut }]
        : this.#message(field.start, field.end, depth + 1);
      pieces.push({ from: copied, to: field.header, isCut: false });
      pieces.push({ made: [(field.number << 3) | 2, ...varint(lengthOf(inner))] }, ...inner);
      copied = field.end;
    }
    pieces.push({ from: copied, to: end, isCut: false });
    return pieces;
  }

  #field(header: number, end: number): Field {
    const [tag, content] = this.#varint(header, end);
    const wireType = tag & 7;
    const number = Math.floor(tag / 8);
    if (wireType === 0) {
      const [, next] = this.#varint(content, end);
      return { number, wireType, header, start: content, end: next };
    }
    const [length, start] = wireType === 2 ? this.#varint(content, end) : [wireType === 1 ? 8 : wireType === 5 ? 4 : -1, content];
    if (length < 0 || start + length > end) throw new Error(`it is damaged at byte ${header}`);
    return { number, wireType, header, start, end: start + length };
  }

  #varint(position: number, end: number): readonly [value: number, next: number] {
    this.#show(position);
    let value = 0;
    for (let index = 0; index < 10 && position + index < end; index += 1) {
      const byte = this.#window[position + index - this.#windowStart] ?? 0;
      value += (byte & 127) * 2 ** (7 * index);
      if (byte < 128) return [value, position + index + 1];
    }
    throw new Error(`it is damaged at byte ${position}`);
  }

  /** Brings a header at `position` into the window. */
  #show(position: number): void {
    const last = Math.min(position + maxHeaderBytes, this.#file.size);
    if (position >= this.#windowStart && last <= this.#windowStart + this.#window.length) return;
    this.#window = new Uint8Array(Math.min(windowBytes, this.#file.size - position));
    this.#file.read(this.#window, position);
    this.#windowStart = position;
  }
}

interface Field {
  readonly number: number;
  /** 2: of a stated length. */
  readonly wireType: number;
  readonly header: number;
  /** Of its content. */
  readonly start: number;
  readonly end: number;
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + ("made" in piece ? piece.made.length : piece.isCut ? 0 : piece.to - piece.from), 0);
}

/** The low digits first, seven bits in a byte. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}
