/**
 * An assembler for the functions that call kernels: integer instructions with 64-bit and 32-bit registers, and references to other functions of the same shared
 * object and to imported ones. Source of the encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
 */
import { type Register, registers } from "../../../engine/codegen/x64/assembler/operands.ts";
import type { StackChange } from "../../../engine/codegen/x64/index.ts";
import type { ObjectFunction, ObjectReference } from "./object-function.ts";

/** Memory at a base register plus a displacement in bytes. */
export type Address = readonly [base: Register, displacement: number];

/** Assembles one function. Instructions are appended in the order of the calls. */
export class ObjectAssembler {
  readonly #bytes: number[] = [];
  readonly #references: ObjectReference[] = [];
  readonly #stackChanges: StackChange[] = [];
  readonly #jumpsToEnd: number[] = [];
  readonly #name: string;

  /** `name`: symbol of the function. */
  constructor(name: string) {
    this.#name = name;
  }

  /** The function so far. */
  get function(): ObjectFunction {
    return {
      name: this.#name,
      code: Uint8Array.from(this.#bytes),
      references: this.#references,
      stackChanges: this.#stackChanges,
    };
  }

  push(register: Register): void {
    this.#short(0x50, register);
    this.#stackChanges.push({ at: this.#bytes.length, bytes: 8, saved: register });
  }

  pop(register: Register): void {
    this.#short(0x58, register);
    this.#stackChanges.push({ at: this.#bytes.length, bytes: -8, restored: register });
  }

  /** Reserves (`bytes` above 0) or releases memory of the stack. */
  reserveStack(bytes: number): void {
    this.#registers(0x81, 5, registers.rsp);
    this.#int32(bytes);
    this.#stackChanges.push({ at: this.#bytes.length, bytes });
  }

  move(to: Register, from: Register): void {
    this.#registers(0x89, registers[from], registers[to]);
  }

  addRegister(to: Register, from: Register): void {
    this.#registers(0x01, registers[from], registers[to]);
  }

  /** Adds 64 bits of memory. */
  addMemory(to: Register, from: Address): void {
    this.#memory(0x03, to, from, true);
  }

  /** Multiplies with an integer of 32 bits. */
  multiply(to: Register, factor: number): void {
    this.#registers(0x69, registers[to], registers[to]);
    this.#int32(factor);
  }

  subtract(to: Register, from: Register): void {
    this.#registers(0x29, registers[from], registers[to]);
  }

  /** Sets a register to an integer of 32 bits, extended with its sign. */
  setTo(to: Register, value: number): void {
    this.#registers(0xc7, 0, registers[to]);
    this.#int32(value);
  }

  load(to: Register, from: Address): void {
    this.#memory(0x8b, to, from, true);
  }

  /** Loads 32 bits, extended with zeros. */
  load32(to: Register, from: Address): void {
    this.#memory(0x8b, to, from, false);
  }

  store(to: Address, from: Register): void {
    this.#memory(0x89, from, to, true);
  }

  store32(to: Address, from: Register): void {
    this.#memory(0x89, from, to, false);
  }

  /** Sets a register to an address. */
  loadAddress(to: Register, from: Address): void {
    this.#memory(0x8d, to, from, true);
  }

  /** Sets a register to the address of a function or constant of the same object. */
  loadLocalAddress(to: Register, name: string): void {
    this.#relative([rexOf(to, true), 0x8d, 0x05 | ((registers[to] & 7) << 3)], { symbol: name });
  }

  /** Sets a register to the address of an imported function. */
  loadImportAddress(to: Register, name: string): void {
    this.#relative([rexOf(to, true), 0x8b, 0x05 | ((registers[to] & 7) << 3)], { imported: name });
  }

  callImport(name: string): void {
    this.#relative([0xff, 0x15], { imported: name });
  }

  callLocal(name: string): void {
    this.#relative([0xe8], { symbol: name });
  }

  /** Runs the body if a register is not 0. */
  ifNotZero(register: Register, body: () => void): void {
    this.#registers(0x85, registers[register], registers[register]);
    this.#bytes.push(0x0f, 0x84); // jz
    const at = this.#bytes.length;
    this.#int32(0);
    body();
    this.#setDistance(at);
  }

  /** Jumps to the instruction after `end`. */
  jumpToEnd(): void {
    this.#bytes.push(0xe9);
    this.#jumpsToEnd.push(this.#bytes.length);
    this.#int32(0);
  }

  /** The target of `jumpToEnd`. */
  end(): void {
    for (const at of this.#jumpsToEnd.splice(0)) this.#setDistance(at);
  }

  cpuid(): void {
    this.#bytes.push(0x0f, 0xa2);
  }

  xgetbv(): void {
    this.#bytes.push(0x0f, 0x01, 0xd0);
  }

  return(): void {
    this.#bytes.push(0xc3);
  }

  #short(opcode: number, register: Register): void {
    const number = registers[register];
    if (number >= 8) this.#bytes.push(0x41);
    this.#bytes.push(opcode | (number & 7));
  }

  #registers(opcode: number, field: number, operand: number): void {
    this.#bytes.push(0x48 | (field < 8 ? 0 : 4) | (operand < 8 ? 0 : 1), opcode, 0xc0 | ((field & 7) << 3) | (operand & 7));
  }

  #memory(opcode: number, register: Register, [base, displacement]: Address, isWide: boolean): void {
    const number = registers[base];
    this.#bytes.push(
      rexOf(register, isWide) | (number < 8 ? 0 : 1),
      opcode,
      0x80 | ((registers[register] & 7) << 3) | (number & 7),
    );
    if ((number & 7) === registers.rsp) this.#bytes.push(0x24);
    this.#int32(displacement);
  }

  #relative(opcode: readonly number[], target: { readonly symbol: string } | { readonly imported: string }): void {
    this.#bytes.push(...opcode);
    this.#references.push({ at: this.#bytes.length, ...target });
    this.#int32(0);
  }

  /** Makes the four bytes at a position the distance from their end to the next instruction. */
  #setDistance(at: number): void {
    const distance = this.#bytes.length - at - 4;
    for (let byte = 0; byte < 4; byte += 1) this.#bytes[at + byte] = (distance >> (8 * byte)) & 255;
  }

  #int32(value: number): void {
    this.#bytes.push(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255);
  }
}

/** The prefix for a register in the field of an instruction, with 64 or 32 bits. */
function rexOf(register: Register, isWide: boolean): number {
  return 0x40 | (isWide ? 8 : 0) | (registers[register] < 8 ? 0 : 4);
}
