/** Reads protobuf messages with `pbf`, and refuses what it lets pass: content that reaches beyond the end, and messages nested without end. */
import type { PbfReader } from "pbf";
import { TraceBudget } from "../../engine/build/trace-budget.ts";
import type { ByteRange } from "../byte-source.ts";

/** A message as an object with its lists, a whole number in a list, one of 64 bits, a text beside its characters: of a few bytes in the file. */
const messageBytes = 512;
const integerBytes = 8;
const wideIntegerBytes = 40;
const textBytes = 32;
/** Messages and numbers between two looks at the clock. */
const itemsPerTimeCheck = 4096;

/** Graphs in graphs and types in types of real models nest a handful deep; each takes a few levels of messages. */
const maxMessageDepth = 200;

export type ReadField<T> = (field: number, into: T, reader: MessageReader) => void;

export class MessageReader {
  readonly #pbf: PbfReader;
  readonly #ranges: ReadonlyMap<number, ByteRange>;
  readonly #budget: TraceBudget;
  #depth = 0;
  #items = 0;

  /** `budget`: charged for what the file unpacks to. `cuts`: runs that stayed in the file, by the place where a field of no bytes stands for each; see `cut-elements.ts`. */
  constructor(pbf: PbfReader, cuts: ReadonlyMap<number, ByteRange> = new Map(), budget: TraceBudget = new TraceBudget()) {
    this.#pbf = pbf;
    this.#ranges = cuts;
    this.#budget = budget;
  }

  /** The whole of what the reader holds, as one message. */
  whole<T>(read: ReadField<T>, into: T): T {
    return this.#fields(read, into, this.#pbf.length);
  }

  /** The message that the current field holds. */
  message<T>(read: ReadField<T>, into: T): T {
    return this.#fields(read, into, this.#end());
  }

  text(): string {
    const bytes = this.bytes();
    this.#charge(textBytes + bytes.length, "texts of the file");
    return new TextDecoder().decode(bytes);
  }

  /** A view into the file, not a copy. */
  bytes(): Uint8Array {
    const end = this.#end();
    const bytes = this.#pbf.buf.subarray(this.#pbf.pos, end);
    this.#pbf.pos = end;
    return bytes;
  }

  /** As `bytes`, or where they are in the file. */
  bytesOrRange(): Uint8Array | ByteRange {
    const bytes = this.bytes();
    return (bytes.length === 0 ? this.#ranges.get(this.#pbf.pos) : undefined) ?? bytes;
  }

  /** A whole number; beyond 2^53 the last digits are lost. */
  integer(): number {
    return this.#pbf.readVarint(true);
  }

  float(): number {
    return this.#pbf.readFloat();
  }

  /** Numbers of a repeated field, packed or one by one. */
  integers(into: number[]): void {
    this.#repeated(() => {
      this.#charge(integerBytes, "numbers of the file");
      into.push(this.#pbf.readVarint(true));
    }, 0);
  }

  floats(into: number[]): void {
    this.#repeated(() => into.push(this.#pbf.readFloat()), 5);
  }

  doubles(into: number[]): void {
    this.#repeated(() => into.push(this.#pbf.readDouble()), 1);
  }

  /** All digits of 64 bits, without sign. */
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

  /** `wireType`: how one number is written outside of a packed list. */
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
    this.#budget.chargeStep(bytes, what);
    if (this.#items % itemsPerTimeCheck === 0) this.#budget.checkTime();
  }

  #check(end: number): void {
    if (this.#pbf.pos !== end) throw new Error(`it is damaged at byte ${end}`);
  }
}
