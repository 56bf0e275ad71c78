/**
 * An assembler for the x86-64 instructions that kernels use: integer registers, jumps, and vectors in VEX and EVEX encoding. Source of the encodings: Intel 64
 * and IA-32 Architectures Software Developer's Manual, volume 2.
 */
import { CodeBuffer, type Label } from "./code-buffer.ts";
import {
  type AnyMemory,
  type ConstantMemory,
  type Memory,
  type Register,
  type Vector,
  type VectorBits,
  registers,
} from "./operands.ts";
import type { MachineFunction, StackChange } from "../machine-kernel.ts";
import { encodeEvex, encodeVex, needsEvex } from "./vector-encoding.ts";
import { type InstructionName, type InstructionOperands, fieldsOf, vectorInstructions } from "./vector-instructions.ts";

/** What the processor of the generated code has. */
export interface AssemblerTarget {
  /** Width of vectors where an instruction names none. */
  readonly bits: VectorBits;
  /** Whether it has EVEX (AVX-512 F, BW and VL): 32 vector registers, masks, broadcast. Otherwise instructions that need it are refused. */
  readonly hasEvex: boolean;
}

/** Integer operations on two operands, by the number that extends their opcode. */
const arithmetic = { add: 0, or: 1, and: 4, sub: 5, xor: 6, cmp: 7 } as const;

/** Name of an integer operation. `cmp` compares, and sets nothing but flags. */
export type Arithmetic = keyof typeof arithmetic;

/** Shifts by an immediate, by the number that extends their opcode. `sar` fills with the sign. */
const shifts = { shl: 4, shr: 5, sar: 7 } as const;

/** Conditions of jumps by their number: of unsigned (below, above) and signed (less, greater) comparisons, of zero and of equality. */
const conditions = { b: 2, ae: 3, e: 4, ne: 5, z: 4, nz: 5, be: 6, a: 7, s: 8, ns: 9, l: 12, ge: 13, le: 14, g: 15 } as const;

/** Condition of a jump. */
export type Condition = keyof typeof conditions;

/** How near to the processor data is fetched ahead: into all caches, into the second level, past the caches. */
const prefetches = { all: 1, second: 2, third: 3, nontemporal: 0 } as const;

const shortJumpBytes = 2;

/** Assembles one function. Instructions are appended in the order of the calls. */
export class Assembler {
  readonly #code = new CodeBuffer();
  readonly #target: AssemblerTarget;
  readonly #stackChanges: StackChange[] = [];

  constructor(target: AssemblerTarget = { bits: 256, hasEvex: false }) {
    this.#target = target;
  }

  /** What the code may use. */
  get target(): AssemblerTarget {
    return this.#target;
  }

  /** The machine code so far, and its constants. Position-independent. Throws RangeError if a label of a jump is not bound. */
  get code(): Uint8Array<ArrayBuffer> {
    return this.#code.finish();
  }

  /** The code as a function, with how its pushes, pops and additions to rsp move the stack pointer. */
  get machineFunction(): MachineFunction {
    return { code: this.code, stackChanges: this.#stackChanges };
  }

  /** Number of bytes of instructions so far. */
  get length(): number {
    return this.#code.length;
  }

  /**
   * Appends a vector instruction: `vector("vaddps", to, first, second)`, with options last. Encoded in VEX where that is possible. Throws RangeError for one that the
   * target does not have, or for a width that the instruction does not have.
   */
  vector<Name extends InstructionName>(name: Name, ...operands: InstructionOperands<Name>): void {
    const row = vectorInstructions[name];
    const [, , , , , , { only, bits: oneWidth, minBits = 128 } = {}] = row;
    const { fields, options } = fieldsOf(row, operands);
    const bits = oneWidth ?? options.bits ?? this.#target.bits;
    const all = options.bits === bits ? options : { ...options, bits };
    const isEvex = needsEvex(row, fields, all) || (only === "vnni" && this.#target.hasEvex);
    if (isEvex && (only === "vex" || !this.#target.hasEvex))
      throw new RangeError(`${name} has no EVEX encoding here, which its operands need`);
    if (bits < minBits) throw new RangeError(`${name} has vectors of at least ${minBits} bits, not ${bits}`);
    if (isEvex) encodeEvex(this.#code, row, fields, all);
    else encodeVex(this.#code, row, fields, bits);
  }

  /** Sets all bits to 0. Registers 0 to 15 take the shortest form, whose upper bits are cleared as well. */
  clear(to: Vector): void {
    this.vector("vpxor", to, to, to, to < 16 ? { bits: 128 } : {});
  }

  /** Copies a vector register. */
  copy(to: Vector, from: Vector): void {
    if (to !== from) this.vector("vmovups", to, from);
  }

  /** Float32 constants behind the code: one, or a whole vector. */
  floats(...values: readonly number[]): ConstantMemory {
    return this.constant(new Uint8Array(Float32Array.from(values).buffer));
  }

  /** int32 constants behind the code. */
  integers(...values: readonly number[]): ConstantMemory {
    return this.constant(new Uint8Array(Int32Array.from(values).buffer));
  }

  /** Bytes behind the code, at a multiple of their number (a power of two) up to 64. Equal constants are stored once. */
  constant(bytes: Uint8Array): ConstantMemory {
    return { constant: this.#code.constant(bytes) };
  }

  move(to: Register, from: Register): void {
    if (to !== from) this.#integer(0x89, registers[from], registers[to]);
  }

  /** Loads 64 bits, or 32, which are extended with zeros. */
  load(to: Register, from: Memory | ConstantMemory, bits: 64 | 32 = 64): void {
    this.#integerMemory([0x8b], registers[to], from, bits);
  }

  /** Loads 8 or 16 bits, extended with zeros, or 32, extended with their sign. */
  loadExtended(kind: "movzx8" | "movzx16" | "movsx8" | "movsx16" | "movsxd", to: Register, from: Memory): void {
    const opcodes = { movzx8: [0x0f, 0xb6], movzx16: [0x0f, 0xb7], movsx8: [0x0f, 0xbe], movsx16: [0x0f, 0xbf], movsxd: [0x63] };
    this.#integerMemory(opcodes[kind], registers[to], from, 64);
  }

  /** Stores the low 64 or 32 bits. */
  store(to: Memory, from: Register, bits: 64 | 32 = 64): void {
    this.#integerMemory([0x89], registers[from], to, bits);
  }

  /** Sets a register to an integer: one of 32 bits, extended with its sign, or any below 2^53 in magnitude. */
  loadImmediate(to: Register, value: number): void {
    if (value === (value | 0)) {
      this.#integer(0xc7, 0, registers[to]);
      this.#code.int32(value);
      return;
    }
    this.#code.push(0x48 | (registers[to] < 8 ? 0 : 1), 0xb8 | (registers[to] & 7));
    this.#code.append(new Uint8Array(BigInt64Array.of(BigInt(value)).buffer));
  }

  /** The address of a memory operand. */
  address(to: Register, of: Memory | ConstantMemory): void {
    this.#integerMemory([0x8d], registers[to], of, 64);
  }

  add(to: Register, value: Register | number): void {
    if (value === 0) return;
    this.integer("add", to, value);
    if (to === "rsp" && typeof value === "number") this.#stackChanges.push({ at: this.length, bytes: -value });
  }

  /** to = to operation value, of 64 bits. An immediate has 32 bits and is extended with its sign. */
  integer(operation: Arithmetic, to: Register, value: Register | Memory | number): void {
    const number = arithmetic[operation];
    if (typeof value === "string") this.#integer((number << 3) | 1, registers[value], registers[to]);
    else if (typeof value === "object") this.#integerMemory([(number << 3) | 3], registers[to], value, 64);
    else if (value >= -128 && value <= 127) {
      this.#integer(0x83, number, registers[to]);
      this.#code.push(value);
    } else {
      this.#integer(0x81, number, registers[to]);
      this.#code.int32(value);
    }
  }

  /** to = from * factor, in the low 64 bits. */
  multiply(to: Register, from: Register, factor: number | Register): void {
    if (typeof factor === "number") {
      this.#integer(0x69, registers[to], registers[from]);
      this.#code.int32(factor);
      return;
    }
    this.move(to, from);
    this.#code.push(0x48 | (registers[to] < 8 ? 0 : 4) | (registers[factor] < 8 ? 0 : 1), 0x0f, 0xaf);
    this.#code.modRmRegister(registers[to], registers[factor]);
  }

  shift(kind: keyof typeof shifts, to: Register, bits: number): void {
    this.#integer(0xc1, shifts[kind], registers[to]);
    this.#code.push(bits);
  }

  /** Divides rax by an unsigned integer of 64 bits, above 0. The quotient is in rax, the remainder in rdx. */
  divide(by: Register | Memory): void {
    this.#integer(0x31, registers.rdx, registers.rdx);
    if (typeof by === "string") this.#integer(0xf7, 6, registers[by]);
    else this.#integerMemory([0xf7], 6, by, 64);
  }

  negate(register: Register): void {
    this.#integer(0xf7, 3, registers[register]);
  }

  /** Sets flags by the bits that both have. */
  test(first: Register, second: Register): void {
    this.#integer(0x85, registers[second], registers[first]);
  }

  /** `to` with the bits from number `count` (its low 8 bits) on cleared: BMI2, which every processor with AVX2 has. */
  clearHighBits(to: Register, from: Register, count: Register): void {
    const [field, operand] = [registers[to], registers[from]];
    this.#code.push(
      0xc4,
      (field < 8 ? 0x80 : 0) | 0x40 | (operand < 8 ? 0x20 : 0) | 2,
      0x80 | ((registers[count] ^ 15) << 3),
      0xf5,
    );
    this.#code.modRmRegister(field, operand);
  }

  /** Copies `from` if the condition holds. */
  moveIf(condition: Condition, to: Register, from: Register): void {
    this.#code.push(0x48 | (registers[to] < 8 ? 0 : 4) | (registers[from] < 8 ? 0 : 1), 0x0f, 0x40 | conditions[condition]);
    this.#code.modRmRegister(registers[to], registers[from]);
  }

  push(register: Register): void {
    if (registers[register] >= 8) this.#code.push(0x41);
    this.#code.push(0x50 | (registers[register] & 7));
    this.#stackChanges.push({ at: this.length, bytes: 8, saved: register });
  }

  pop(register: Register): void {
    if (registers[register] >= 8) this.#code.push(0x41);
    this.#code.push(0x58 | (registers[register] & 7));
    this.#stackChanges.push({ at: this.length, bytes: -8, restored: register });
  }

  prefetch(kind: keyof typeof prefetches, from: Memory): void {
    const index = from.index === undefined ? 0 : registers[from.index];
    const rex = 0x40 | (index < 8 ? 0 : 2) | (registers[from.base] < 8 ? 0 : 1);
    if (rex !== 0x40) this.#code.push(rex);
    this.#code.push(0x0f, 0x18);
    this.#code.modRmMemory(prefetches[kind], from);
  }

  /** A position that is bound later. */
  label(): Label {
    return { offset: undefined };
  }

  /** Gives a label the current position. Throws RangeError if it has one. */
  bind(label: Label): void {
    if (label.offset !== undefined) throw new RangeError("a label is bound twice");
    label.offset = this.#code.length;
  }

  /** A label at the current position. */
  here(): Label {
    return { offset: this.#code.length };
  }

  /** Jumps always, or if a condition of the last comparison holds. */
  jump(to: Label, condition?: Condition): void {
    const distance = to.offset === undefined ? undefined : to.offset - (this.#code.length + shortJumpBytes);
    if (distance !== undefined && distance >= -128) {
      this.#code.push(condition === undefined ? 0xeb : 0x70 | conditions[condition], distance);
      return;
    }
    if (condition === undefined) this.#code.push(0xe9);
    else this.#code.push(0x0f, 0x80 | conditions[condition]);
    this.#code.displacementTo(to, 0);
  }

  /** Runs the body `counter` times, at least once; the counter ends at 0. */
  countDown(counter: Register, body: () => void): void {
    const start = this.here();
    body();
    this.integer("sub", counter, 1);
    this.jump(start, "nz");
  }

  /** Appends the bytes of an instruction that has no method. */
  append(...bytes: readonly number[]): void {
    this.#code.append(bytes);
  }

  /** Returns to the caller, with the upper halves of the vectors cleared, as functions in SSE need it. */
  return(): void {
    this.#code.push(0xc5, 0xf8, 0x77, 0xc3);
  }

  /** Instructions of 64-bit integers with a register as their operand in memory's place. */
  #integer(opcode: number, field: number, operand: number): void {
    this.#code.push(0x48 | (field < 8 ? 0 : 4) | (operand < 8 ? 0 : 1), opcode);
    this.#code.modRmRegister(field, operand);
  }

  #integerMemory(
    opcode: readonly number[],
    field: number,
    operand: Exclude<AnyMemory, { indices: Vector }>,
    bits: 64 | 32,
  ): void {
    const isConstant = "constant" in operand;
    const index = isConstant || operand.index === undefined ? 0 : registers[operand.index];
    const base = isConstant ? 0 : registers[operand.base];
    const rex = (bits === 64 ? 0x48 : 0x40) | (field < 8 ? 0 : 4) | (index < 8 ? 0 : 2) | (base < 8 ? 0 : 1);
    if (rex !== 0x40) this.#code.push(rex);
    this.#code.append(opcode);
    this.#code.modRmMemory(field, operand);
  }
}
