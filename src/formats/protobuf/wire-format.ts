/**
 * The protobuf wire format (https://protobuf.dev/programming-guides/encoding), decoded by `pbf`. A message is a sequence of fields; each field
 * begins with a header of at most 20 bytes: a varint with its number and wire type, and, for length-delimited fields, a varint with its length.
 */
import type { PbfReader } from "pbf";

/** One field of a protobuf message. Its content is a byte range of the file and is not decoded. */
export interface ProtobufField {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  readonly wireType: number;
  /** Range of the content in the file, in bytes. */
  readonly start: number;
  readonly end: number;
  /** Value of a varint field, read as a signed integer of 64 bits; 0 for the other wire types. Values beyond 2^53 are rounded. */
  readonly value: number;
}

/** Largest number of bytes that a protobuf varint takes: 64 bits, seven bits per byte. */
export const maxVarintBytes = 10;
/** Largest number of bytes of a protobuf field's header: its tag, and its length or value, each a varint. */
export const maxHeaderBytes: number = 2 * maxVarintBytes;

/** The protobuf wire type of length-delimited fields: messages, strings, bytes and packed lists of numbers. */
export const lengthDelimited = 2;

/**
 * Decodes the header of the field at `position` of a file. `pbf` reads a buffer whose first byte is at `bufferStart` of the file; the buffer must
 * hold the header. `end` is where the enclosing message ends. Throws Error if the bytes cannot be a field, or if the field extends beyond `end`.
 */
export function readFieldHeader(pbf: PbfReader, bufferStart: number, position: number, end: number): ProtobufField {
  const key = readVarint(pbf, bufferStart, position, end, false);
  const content = bufferStart + pbf.pos;
  const number = Math.floor(key / 8);
  const wireType = key % 8;
  let start = content;
  let stop = content + (wireType === 1 ? 8 : 4);
  let value = 0;
  if (wireType === 0 || wireType === lengthDelimited) {
    value = readVarint(pbf, bufferStart, content, end, wireType === 0);
    stop = bufferStart + pbf.pos;
    if (wireType === lengthDelimited) {
      start = stop;
      stop = start + value;
      value = 0;
    }
  } else if (wireType !== 1 && wireType !== 5) {
    throw new Error(`it has a field of the unknown wire type ${wireType} at byte ${content}`);
  }
  if (number === 0 || stop > end) throw damagedAt(position);
  return { number, wireType, start, end: stop, value };
}

/**
 * Decodes the varint at byte `position` of the file, an unsigned integer or a signed one of 64 bits, and sets `pbf.pos` to the byte after it. The other parameters and the errors are as for
 * `readFieldHeader`.
 */
export function readVarint(pbf: PbfReader, bufferStart: number, position: number, end: number, isSigned: boolean): number {
  pbf.pos = position - bufferStart;
  let value: number;
  try {
    value = pbf.readVarint(isSigned);
  } catch {
    throw damagedAt(position); // more than 10 bytes
  }
  if (bufferStart + pbf.pos > end) throw damagedAt(position);
  return value;
}

function damagedAt(position: number): Error {
  return new Error(`it is damaged, or ends too early, at byte ${position}`);
}
