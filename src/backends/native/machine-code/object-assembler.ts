/** The assembler of kernels for functions that call them: with references to other functions of the same shared object and to imported ones. */
import { Assembler } from "../../../engine/codegen/x64/assembler/assembler.ts";
import { type Memory, type Register, registers } from "../../../engine/codegen/x64/assembler/operands.ts";
import type { ObjectFunction, ObjectReference } from "./object-function.ts";

/** Memory at a base register plus a displacement in bytes. */
export function memoryAt(base: Register, displacement: number): Memory {
  return { base, displacement };
}

/** Assembles one function. Instructions are appended in the order of the calls. */
export class ObjectAssembler extends Assembler {
  readonly #references: ObjectReference[] = [];
  readonly #name: string;

  /** `name`: symbol of the function. */
  constructor(name: string) {
    super();
    this.#name = name;
  }

  /** The function so far. */
  get function(): ObjectFunction {
    return { name: this.#name, references: this.#references, ...this.machineFunction };
  }

  /** Sets a register to the address of a function or constant of the same object. */
  loadLocalAddress(to: Register, name: string): void {
    this.#relative(relativeOpcode(0x8d, to), { symbol: name });
  }

  /** Sets a register to the address of an imported function. */
  loadImportAddress(to: Register, name: string): void {
    this.#relative(relativeOpcode(0x8b, to), { imported: name });
  }

  callImport(name: string): void {
    this.#relative([0xff, 0x15], { imported: name });
  }

  callLocal(name: string): void {
    this.#relative([0xe8], { symbol: name });
  }

  /** Runs the body if a register is not 0. */
  ifNotZero(register: Register, body: () => void): void {
    const end = this.label();
    this.test(register, register);
    this.jump(end, "z");
    body();
    this.bind(end);
  }

  cpuid(): void {
    this.append(0x0f, 0xa2);
  }

  xgetbv(): void {
    this.append(0x0f, 0x01, 0xd0);
  }

  /** Returns to the caller. Leaves the vectors as they are, since a processor without AVX runs these functions too. */
  override return(): void {
    this.append(0xc3);
  }

  #relative(opcode: readonly number[], target: { readonly symbol: string } | { readonly imported: string }): void {
    this.append(...opcode);
    this.#references.push({ at: this.length, ...target });
    this.append(0, 0, 0, 0);
  }
}

/** The bytes before the distance of an instruction with a register and an operand that is relative to the instruction pointer. */
function relativeOpcode(opcode: number, to: Register): readonly number[] {
  return [0x48 | (registers[to] < 8 ? 0 : 4), opcode, 0x05 | ((registers[to] & 7) << 3)];
}
