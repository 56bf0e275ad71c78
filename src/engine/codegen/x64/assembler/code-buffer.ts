/** Bytes of machine code: addressing modes, labels, and constants after the code. */
import { at } from "../../../../contract/checked.ts";
import { type AnyMemory, registers } from "./operands.ts";

/** A position in the code that jumps can name before it is known. */
export interface Label {
  /** Byte offset of the position. Undefined until the label is bound. */
  offset: number | undefined;
}

/** A displacement of 32 bits at `position` that is filled in once its target is known. It counts from `end`, the end of its instruction. */
interface Fixup {
  readonly position: number;
  readonly end: number;
  readonly target: Label | number;
}

/** Constants begin at a multiple of the widest vector. */
const constantAlignment = 64;

/** Machine code under construction. */
export class CodeBuffer {
  #bytes = new Uint8Array(1024);
  #length = 0;
  readonly #fixups: Fixup[] = [];
  readonly #constants: number[] = [];
  readonly #constantOffsets = new Map<string, number>();

  get length(): number {
    return this.#length;
  }

  /** Appends up to four bytes, of which the low 8 bits are taken. Named parameters instead of a list: it runs several times for each instruction. */
  push(first: number, second?: number, third?: number, fourth?: number): void {
    let at = this.#length;
    if (at + 4 > this.#bytes.length) this.#grow();
    const bytes = this.#bytes;
    bytes[at++] = first;
    if (second !== undefined) bytes[at++] = second;
    if (third !== undefined) bytes[at++] = third;
    if (fourth !== undefined) bytes[at++] = fourth;
    this.#length = at;
  }

  /** Appends bytes, of which the low 8 bits are taken. */
  append(bytes: Iterable<number>): void {
    for (const byte of bytes) this.push(byte);
  }

  #grow(): void {
    const longer = new Uint8Array(2 * this.#bytes.length);
    longer.set(this.#bytes);
    this.#bytes = longer;
  }

  int32(value: number): void {
    this.push(value, value >> 8, value >> 16, value >> 24);
  }

  /** Offset of constants among all constants of the code. Equal constants are stored once. */
  constant(bytes: Uint8Array): number {
    const key = bytes.join();
    const known = this.#constantOffsets.get(key);
    if (known !== undefined) return known;
    const alignment = Math.min(constantAlignment, bytes.length);
    while (this.#constants.length % alignment !== 0) this.#constants.push(0);
    const offset = this.#constants.length;
    for (const byte of bytes) this.#constants.push(byte);
    this.#constantOffsets.set(key, offset);
    return offset;
  }

  /** A displacement of 32 bits to a label; `trailing` bytes of the same instruction follow it. */
  displacementTo(target: Label | number, trailing: number): void {
    this.#fixups.push({ position: this.length, end: this.length + 4 + trailing, target });
    this.int32(0);
  }

  /** ModRM with a register as its operand. */
  modRmRegister(field: number, register: number): void {
    this.push(0xc0 | ((field & 7) << 3) | (register & 7));
  }

  /**
   * ModRM, SIB and displacement of a memory operand. EVEX multiplies displacements of 8 bits by `scale8`. `trailing`: bytes of the immediate that follows.
   */
  modRmMemory(field: number, memory: AnyMemory, scale8: number = 1, trailing: number = 0): void {
    const low = (field & 7) << 3;
    if ("constant" in memory) {
      this.push(low | 5); // relative to the instruction pointer
      this.displacementTo(memory.constant, trailing);
      return;
    }
    const { displacement } = memory;
    const base = registers[memory.base] & 7;
    const short = displacement / scale8;
    const isShort = Number.isInteger(short) && short >= -128 && short <= 127;
    // Base 5 (rbp, r13) without a displacement would mean one relative to the instruction pointer.
    const mode = displacement === 0 && base !== 5 ? 0 : isShort ? 1 : 2;
    const index = "indices" in memory ? memory.indices : memory.index === undefined ? undefined : registers[memory.index];
    if (index === registers.rsp && !("indices" in memory)) throw new RangeError("rsp cannot be an index register");
    if (index === undefined && base !== 4) this.push((mode << 6) | low | base);
    else {
      const noIndex = 4;
      this.push((mode << 6) | low | 4, (Math.log2(memory.scale ?? 1) << 6) | (((index ?? noIndex) & 7) << 3) | base);
    }
    if (mode === 1) this.push(short);
    else if (mode === 2) this.int32(displacement);
  }

  /** The finished code, followed by its constants. Throws RangeError if a label of a jump is not bound. */
  finish(): Uint8Array<ArrayBuffer> {
    const constantsAt = Math.ceil(this.length / constantAlignment) * constantAlignment;
    const size = this.#constants.length === 0 ? this.length : constantsAt + this.#constants.length;
    const code = new Uint8Array(size);
    code.set(this.#bytes.subarray(0, this.#length));
    code.set(this.#constants, constantsAt > size ? size : constantsAt);
    const view = new DataView(code.buffer);
    for (const { position, end, target } of this.#fixups) {
      const offset = typeof target === "number" ? constantsAt + target : target.offset;
      if (offset === undefined) throw new RangeError("a jump names a label that is not bound");
      view.setInt32(position, offset - end, true);
    }
    return code;
  }

  /** The byte at an offset, for tests of encodings. */
  byteAt(offset: number): number {
    return at(this.#bytes.subarray(0, this.#length), offset);
  }
}
