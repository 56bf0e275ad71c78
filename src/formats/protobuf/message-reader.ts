/**
 * Reads protobuf messages that are in memory, with `pbf`. Beyond what `pbf` checks, content that reaches past the end of the file and messages
 * nested more than 200 deep are errors, and the memory that decoded values take is charged to a budget.
 */
import type { PbfReader } from "pbf";
import type { ByteRange } from "../byte-source.ts";

/** Memory that decoded values take, in bytes: an object with its lists, a number in a list, a bigint, a string beside its characters. */
const messageBytes = 512;
const integerBytes = 8;
const wideIntegerBytes = 40;
const textBytes = 32;
/** Messages and numbers read between two checks of the time limit. */
const itemsPerTimeCheck = 4096;

/** Graphs within graphs and types within types of real models nest a handful deep, and each takes a few levels of messages. */
const maxMessageDepth = 200;

/** Limits on the memory and time that parsing one file may take. */
export interface ParseBudget {
  /** Adds to the bytes held. Throws if they exceed the limit. `what` names them in the error. */
  chargeStep(bytes: number, what: string): void;
  /** Throws if the time is up or the work was aborted. */
  checkTime(): void;
}

/**
 * Handles one field of a protobuf message: reads its content with `reader` and adds it to `into`. `field` is the field's number.
 * A field whose content is not read is skipped.
 */
export type ReadField<T> = (field: number, into: T, reader: MessageReader) => void;

/**
 * Reads a protobuf message field by field. `whole` and `message` read messages; the other methods read the content of the current
 * field. All throw Error if the bytes are damaged or end too early.
 */
export class MessageReader {
  readonly #pbf: PbfReader;
  readonly #ranges: ReadonlyMap<number, ByteRange>;
  readonly #budget: ParseBudget | undefined;
  #depth = 0;
  #items = 0;

  /**
   * `ranges`: tensor data that was left in the file, by the position in `pbf` of the empty field that stands for it; see `detach-tensor-data.ts`.
   * `budget`: charged before anything is unpacked. Default: no limit.
   */
  constructor(pbf: PbfReader, ranges: ReadonlyMap<number, ByteRange> = new Map(), budget?: ParseBudget) {
    this.#pbf = pbf;
    this.#ranges = ranges;
    this.#budget = budget;
  }

  /** Reads everything `pbf` holds as one message, and returns `into`. */
  whole<T>(read: ReadField<T>, into: T): T {
    return this.#fields(read, into, this.#pbf.length);
  }

  /** Reads the message in the current field, and returns `into`. */
  message<T>(read: ReadField<T>, into: T): T {
    return this.#fields(read, into, this.#end());
  }

  /** A string, decoded as UTF-8. */
  text(): string {
    const bytes = this.bytes();
    this.#charge(textBytes + bytes.length, "texts of the file");
    return new TextDecoder().decode(bytes);
  }

  /** The bytes of the field: a view, not a copy. */
  bytes(): Uint8Array {
    const end = this.#end();
    const bytes = this.#pbf.buf.subarray(this.#pbf.pos, end);
    this.#pbf.pos = end;
    return bytes;
  }

  /** The bytes of the field, or the range of the file that holds them. */
  bytesOrRange(): Uint8Array | ByteRange {
    const bytes = this.bytes();
    return (bytes.length === 0 ? this.#ranges.get(this.#pbf.pos) : undefined) ?? bytes;
  }

  /** A signed 64-bit integer as a number; beyond 2^53 it is rounded. */
  integer(): number {
    return this.#pbf.readVarint(true);
  }

  /** A 32-bit float. */
  float(): number {
    return this.#pbf.readFloat();
  }

  /** Appends signed integers of a repeated field, which are packed into one field or come one per field. */
  integers(into: number[]): void {
    this.#repeated(() => {
      this.#charge(integerBytes, "numbers of the file");
      into.push(this.#pbf.readVarint(true));
    }, 0);
  }

  /** Appends 32-bit floats, packed or one per field. */
  floats(into: number[]): void {
    this.#repeated(() => into.push(this.#pbf.readFloat()), 5);
  }

  /** Appends 64-bit floats, packed or one per field. */
  doubles(into: number[]): void {
    this.#repeated(() => into.push(this.#pbf.readDouble()), 1);
  }

  /** Appends 64-bit integers as unsigned bigints, with all their digits. */
  wideIntegers(into: bigint[]): void {
    this.#repeated(() => {
      this.#charge(wideIntegerBytes, "numbers of the file");
      into.push(this.#wide());
    }, 0);
  }

  #wide(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#pbf.buf[this.#pbf.pos];
      if (byte === undefined) break;
      this.#pbf.pos += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new Error(`it is damaged, or ends too early, at byte ${this.#pbf.pos}`);
  }

  /** `wireType` is that of a single number outside a packed list. */
  #repeated(read: () => void, wireType: number): void {
    if (this.#pbf.type === wireType) {
      read();
      return;
    }
    const end = this.#end();
    while (this.#pbf.pos < end) read();
    this.#check(end);
  }

  #end(): number {
    const length = this.#pbf.readVarint();
    const end = this.#pbf.pos + length;
    if (end > this.#pbf.length) throw new Error(`it ends too early: byte ${this.#pbf.pos} names ${length} more`);
    return end;
  }

  #fields<T>(read: ReadField<T>, into: T, end: number): T {
    this.#charge(messageBytes, "messages of the file");
    this.#depth += 1;
    if (this.#depth > maxMessageDepth) throw new Error(`it nests more than ${maxMessageDepth} messages`);
    this.#pbf.readFields((field) => read(field, into, this), into, end);
    this.#check(end);
    this.#depth -= 1;
    return into;
  }

  #charge(bytes: number, what: string): void {
    this.#items += 1;
    this.#budget?.chargeStep(bytes, what);
    if (this.#items % itemsPerTimeCheck === 0) this.#budget?.checkTime();
  }

  #check(end: number): void {
    if (this.#pbf.pos !== end) throw new Error(`it is damaged at byte ${end}`);
  }
}
