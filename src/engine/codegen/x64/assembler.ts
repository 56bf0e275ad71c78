/**
 * An assembler for the x86-64 instructions that kernels use: 64-bit integer registers, and 256-bit vectors in VEX and EVEX encoding. Memory operands are
 * a base register and a displacement of 32 bits. Source of the encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
 */

/** Integer registers by their number in the encoding. */
export const registers = {
  rax: 0,
  rcx: 1,
  rdx: 2,
  rbx: 3,
  rsp: 4,
  rbp: 5,
  rsi: 6,
  rdi: 7,
  r8: 8,
  r9: 9,
  r10: 10,
  r11: 11,
  r13: 13,
  r14: 14,
  r15: 15,
} as const;

/** Name of an integer register. */
export type Register = keyof typeof registers;

/** The number of a vector register, from 0 to 15. */
export type Vector = number;

/** Memory at a base register plus a displacement in bytes. */
export interface Memory {
  readonly base: Register;
  readonly displacement: number;
}

/** Opcode map: 1 is 0F, 2 is 0F38. Mandatory prefix: 1 is 66, 2 is F3, 3 is F2. */
interface Opcode {
  readonly map: 1 | 2;
  readonly prefix: 0 | 1 | 2 | 3;
  readonly code: number;
}

type BinaryName =
  | "vpor"
  | "vpand"
  | "vpxor"
  | "vpcmpeqw"
  | "vpaddb"
  | "vpaddw"
  | "vpaddd"
  | "vpmulld"
  | "vpsubd"
  | "vpmaddubsw"
  | "vpmaddwd"
  | "vaddps"
  | "vsubps"
  | "vmulps";
type UnaryName = "vmovups" | "vpabsb" | "vpmovsxbw" | "vpmovsxbd" | "vpmovzxbd" | "vcvtdq2ps" | "vbroadcastss" | "vpbroadcastd";

/** Vector instructions with a destination and two sources, the second of which may be memory. */
const binary: Readonly<Record<BinaryName, Opcode>> = {
  vpor: { map: 1, prefix: 1, code: 0xeb },
  vpand: { map: 1, prefix: 1, code: 0xdb },
  vpxor: { map: 1, prefix: 1, code: 0xef },
  vpcmpeqw: { map: 1, prefix: 1, code: 0x75 },
  vpaddb: { map: 1, prefix: 1, code: 0xfc },
  vpaddw: { map: 1, prefix: 1, code: 0xfd },
  vpaddd: { map: 1, prefix: 1, code: 0xfe },
  vpmulld: { map: 2, prefix: 1, code: 0x40 },
  vpsubd: { map: 1, prefix: 1, code: 0xfa },
  /** Products of unsigned bytes of the first and signed bytes of the second source, neighbours added in 16 bits with saturation. */
  vpmaddubsw: { map: 2, prefix: 1, code: 0x04 },
  /** Products of 16-bit integers, neighbours added in 32 bits. */
  vpmaddwd: { map: 1, prefix: 1, code: 0xf5 },
  vaddps: { map: 1, prefix: 0, code: 0x58 },
  vsubps: { map: 1, prefix: 0, code: 0x5c },
  vmulps: { map: 1, prefix: 0, code: 0x59 },
};

/** Vector instructions with a destination and one source. */
const unary: Readonly<Record<UnaryName, Opcode>> = {
  vmovups: { map: 1, prefix: 0, code: 0x10 },
  vpabsb: { map: 2, prefix: 1, code: 0x1c },
  /** Signed bytes widened to 16 bits. */
  vpmovsxbw: { map: 2, prefix: 1, code: 0x20 },
  /** Signed and unsigned bytes widened to 32 bits. */
  vpmovsxbd: { map: 2, prefix: 1, code: 0x21 },
  vpmovzxbd: { map: 2, prefix: 1, code: 0x31 },
  vcvtdq2ps: { map: 1, prefix: 0, code: 0x5b },
  /** 32 bits of memory in all lanes. */
  vbroadcastss: { map: 2, prefix: 1, code: 0x18 },
  vpbroadcastd: { map: 2, prefix: 1, code: 0x58 },
};

/** Assembles one function. Instructions are appended in the order of the calls. */
export class Assembler {
  readonly #bytes: number[] = [];

  /** The machine code so far. Position-independent. */
  get code(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes);
  }

  vector(name: BinaryName, to: Vector, first: Vector, second: Vector | Memory): void {
    this.#vex(binary[name], to, first, second);
  }

  vectorUnary(name: UnaryName, to: Vector, from: Vector | Memory): void {
    this.#vex(unary[name], to, 0, from);
  }

  /** Sets all bits to 0. */
  clear(to: Vector): void {
    this.vector("vpxor", to, to, to);
  }

  /** Stores 256 bits. */
  storeVector(to: Memory, from: Vector): void {
    this.#vex({ map: 1, prefix: 0, code: 0x11 }, from, 0, to);
  }

  /** Shifts lanes of 16 bits right, filling with zeros. */
  shiftRight16(to: Vector, from: Vector, bits: number): void {
    this.#vex({ map: 1, prefix: 1, code: 0x71 }, 2, to, from);
    this.#bytes.push(bits);
  }

  /** Shifts lanes of 16 bits left, filling with zeros. */
  shiftLeft16(to: Vector, from: Vector, bits: number): void {
    this.#vex({ map: 1, prefix: 1, code: 0x71 }, 6, to, from);
    this.#bytes.push(bits);
  }

  /**
   * Adds dot products to each 32-bit lane of `to`, with the 32 bits at `second` in all lanes: of 4 unsigned bytes of `first` and 4 signed bytes (vpdpbusd), or
   * of 2 integers of 16 bits each (vpdpwssd). AVX-512 VNNI and VL.
   */
  dotBroadcast(name: "vpdpbusd" | "vpdpwssd", to: Vector, first: Vector, second: Memory): void {
    const base = registers[second.base];
    this.#bytes.push(
      0x62,
      inverted(to, 0x80) | 0x40 | (base < 8 ? 0x20 : 0) | 0x10 | 2,
      (((first & 15) ^ 15) << 3) | 4 | 1,
      0x20 | 0x10 | 8, // vectors of 256 bits, broadcast, no mask
      name === "vpdpbusd" ? 0x50 : 0x52,
    );
    this.#modRm(to, second);
  }

  move(to: Register, from: Register): void {
    this.#integer(0x89, registers[from], registers[to]);
  }

  /** Loads 64 bits. */
  load(to: Register, from: Memory): void {
    this.#integerMemory(0x8b, registers[to], from);
  }

  /** Stores 64 bits. */
  store(to: Memory, from: Register): void {
    this.#integerMemory(0x89, registers[from], to);
  }

  /** Sets a register to an integer of 32 bits, extended with its sign. */
  loadImmediate(to: Register, value: number): void {
    this.#integer(0xc7, 0, registers[to]);
    this.#int32(value);
  }

  add(to: Register, value: number): void {
    this.#integer(0x81, 0, registers[to]);
    this.#int32(value);
  }

  push(register: Register): void {
    if (registers[register] >= 8) this.#bytes.push(0x41);
    this.#bytes.push(0x50 | (registers[register] & 7));
  }

  pop(register: Register): void {
    if (registers[register] >= 8) this.#bytes.push(0x41);
    this.#bytes.push(0x58 | (registers[register] & 7));
  }

  /** Runs the body `counter` times, at least once; the counter ends at 0. */
  countDown(counter: Register, body: () => void): void {
    const start = this.#bytes.length;
    body();
    this.#integer(0x83, 5, registers[counter]); // sub counter, 1
    this.#bytes.push(1, 0x0f, 0x85); // jnz
    this.#int32(start - (this.#bytes.length + 4));
  }

  /** Returns to the caller, with the upper halves of the vectors cleared, as functions in SSE need it. */
  return(): void {
    this.#bytes.push(0xc5, 0xf8, 0x77, 0xc3);
  }

  /** Instructions of 64-bit integers with a register as their operand in memory's place. */
  #integer(opcode: number, field: number, operand: number): void {
    this.#bytes.push(0x48 | (field < 8 ? 0 : 4) | (operand < 8 ? 0 : 1), opcode, 0xc0 | ((field & 7) << 3) | (operand & 7));
  }

  #integerMemory(opcode: number, field: number, operand: Memory): void {
    this.#bytes.push(0x48 | (field < 8 ? 0 : 4) | (registers[operand.base] < 8 ? 0 : 1), opcode);
    this.#modRm(field, operand);
  }

  #vex({ map, prefix, code }: Opcode, field: Vector, first: Vector, second: Vector | Memory): void {
    const base = typeof second === "number" ? second : registers[second.base];
    const vectorLength256 = 4;
    this.#bytes.push(
      0xc4,
      inverted(field, 0x80) | 0x40 | (base < 8 ? 0x20 : 0) | map,
      ((first ^ 15) << 3) | vectorLength256 | prefix,
      code,
    );
    this.#modRm(field, second);
  }

  /** Displacements have 32 bits, also in EVEX, which would multiply those of 8 bits. */
  #modRm(field: number, operand: Vector | Memory): void {
    const low = (field & 7) << 3;
    if (typeof operand === "number") {
      this.#bytes.push(0xc0 | low | (operand & 7));
      return;
    }
    this.#bytes.push(0x80 | low | (registers[operand.base] & 7));
    if (operand.base === "rsp") this.#bytes.push(0x24);
    this.#int32(operand.displacement);
  }

  #int32(value: number): void {
    this.#bytes.push(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255);
  }
}

/** The bit that extends a register number, which VEX and EVEX store inverted. */
function inverted(register: number, bit: number): number {
  return register < 8 ? bit : 0;
}
