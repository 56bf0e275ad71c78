/** Bounded random access to a binary, and typed access to the fields of its tables. */
import type { OpenFile } from "../../platform/node/files.ts";
import { DamagedBinary } from "./binary-errors.ts";
import type { ReadLimits } from "./read-limits.ts";

/** Bytes of one read of small tables. Larger tables are read in one piece of their own. */
const windowBytes = 64 * 1024;
/** Longest name that is decoded. */
const maxNameLength = 64 * 1024;

/** Byte order and width of numbers in a binary. */
export interface NumberLayout {
  readonly littleEndian: boolean;
  /** Bytes of an address. */
  readonly wordBytes: 4 | 8;
}

/**
 * A range of a file: all of it, an architecture of a universal file, or a member of an archive. Positions count from the start of
 * the range. Every range of one file shares its ReadLimits.
 */
export class BinaryReader {
  /** Bytes of the range. */
  readonly size: number;
  readonly limits: ReadLimits;
  readonly #file: OpenFile;
  readonly #base: number;
  #windowStart = 0;
  #window: Buffer = Buffer.alloc(0);

  /** The caller closes the file. `base` and `size`: the range, in bytes of the file. */
  constructor(file: OpenFile, base: number, size: number, limits: ReadLimits) {
    this.#file = file;
    this.#base = base;
    this.size = size;
    this.limits = limits;
  }

  /** A part of this range. Throws DamagedBinary if it reaches past the end; `what` names it in the message. */
  range(position: number, size: number, what: string): BinaryReader {
    this.#check(position, size, what);
    return new BinaryReader(this.#file, this.#base + position, size, this.limits);
  }

  /** The bytes of a table, which stay valid. Throws DamagedBinary if the range ends before them, and LIMIT_EXCEEDED. */
  async bytes(position: number, length: number, what: string): Promise<Buffer> {
    this.#check(position, length, what);
    this.limits.count("tableBytes", length);
    if (length > windowBytes) return await this.#read(position, length, what);
    const offset = position - this.#windowStart;
    if (offset >= 0 && offset + length <= this.#window.length) return this.#window.subarray(offset, offset + length);
    this.#window = await this.#read(position, Math.min(windowBytes, this.size - position), what);
    this.#windowStart = position;
    return this.#window.subarray(0, length);
  }

  /** The bytes of a range as fields. */
  async fields(position: number, length: number, layout: NumberLayout, what: string): Promise<BinaryFields> {
    return new BinaryFields(await this.bytes(position, length, what), layout, what);
  }

  /** A string table. */
  async names(position: number, length: number, what: string): Promise<NameTable> {
    return new NameTable(await this.bytes(position, length, what), this.limits, what);
  }

  async #read(position: number, length: number, what: string): Promise<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length;) {
      const { bytesRead } = await this.#file.read(buffer, done, length - done, this.#base + position + done);
      if (bytesRead === 0) throw new DamagedBinary(`the file became shorter while ${what} was read`);
      done += bytesRead;
    }
    return buffer;
  }

  #check(position: number, length: number, what: string): void {
    if (position >= 0 && length >= 0 && position + length <= this.size) return;
    throw new DamagedBinary(`${what} would be ${length} bytes at ${position}, and there are ${this.size}`);
  }
}

/** Numbers at byte offsets of a table. Methods throw DamagedBinary outside of it. */
export class BinaryFields {
  /** Bytes of the table. */
  readonly size: number;
  readonly bytes: Buffer;
  readonly layout: NumberLayout;
  readonly #view: DataView;
  readonly #what: string;

  /** `what` names the table in messages. */
  constructor(bytes: Buffer, layout: NumberLayout, what: string) {
    this.size = bytes.length;
    this.bytes = bytes;
    this.layout = layout;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#what = what;
  }

  uint8(offset: number): number {
    this.#check(offset, 1);
    return this.#view.getUint8(offset);
  }

  uint16(offset: number): number {
    this.#check(offset, 2);
    return this.#view.getUint16(offset, this.layout.littleEndian);
  }

  uint32(offset: number): number {
    this.#check(offset, 4);
    return this.#view.getUint32(offset, this.layout.littleEndian);
  }

  /** A 64-bit number. Beyond 2^53 it is rounded, which is past the end of any file. */
  uint64(offset: number): number {
    const [low, high] = this.layout.littleEndian ? [offset, offset + 4] : [offset + 4, offset];
    return this.uint32(high) * 2 ** 32 + this.uint32(low);
  }

  /** An address, an offset or a size: 32 or 64 bits as the file has them. */
  word(offset: number): number {
    return this.layout.wordBytes === 8 ? this.uint64(offset) : this.uint32(offset);
  }

  /** A text of at most `length` bytes, up to its first zero byte. */
  text(offset: number, length: number): string {
    return this.bytes.toString("latin1", offset, offset + length).replace(/\0.*$/s, "");
  }

  #check(offset: number, length: number): void {
    if (offset < 0 || offset + length > this.size)
      throw new DamagedBinary(`${this.#what} has ${this.size} bytes, and byte ${offset + length - 1} was needed`);
  }
}

/** Names that end in a zero byte, at byte offsets of a string table. */
export class NameTable {
  readonly #bytes: Buffer;
  readonly #limits: ReadLimits;
  readonly #what: string;

  /** `what` names the table in messages. */
  constructor(bytes: Buffer, limits: ReadLimits, what: string) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#what = what;
  }

  /** The name at an offset, decoded as UTF-8. Throws DamagedBinary if none ends in the table, and LIMIT_EXCEEDED. */
  at(offset: number): string {
    if (offset >= this.#bytes.length)
      throw new DamagedBinary(`a name at byte ${offset} of ${this.#what}, which has ${this.#bytes.length}`);
    const end = this.#bytes.indexOf(0, offset);
    if (end < 0 || end - offset > maxNameLength) throw new DamagedBinary(`a name in ${this.#what} does not end`);
    this.#limits.count("nameBytes", end - offset);
    return this.#bytes.toString("utf8", offset, end);
  }
}
