/** Entry and exit of a function in machine code: saved registers, its stack frame and its arguments. */
import type { Assembler } from "../assembler/assembler.ts";
import type { Memory, Register } from "../assembler/operands.ts";

/** Registers of the caller in the System V calling convention, which a function restores. */
const saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"] as const satisfies readonly Register[];
/** Registers of the first arguments. The others are on the stack. */
const argumentRegisters = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"] as const satisfies readonly Register[];
const wordBytes = 8;

/** The frame of one function. All integer registers but rsp are free between `enter` and `leave`: arguments are kept in memory. */
export class FunctionFrame {
  readonly #asm: Assembler;
  #bytes = argumentRegisters.length * wordBytes;
  #isEntered = false;

  constructor(asm: Assembler) {
    this.#asm = asm;
  }

  /** Reserves memory of the frame, before `enter`. Throws RangeError afterwards. */
  reserve(bytes: number = wordBytes): Memory {
    if (this.#isEntered) throw new RangeError("memory of a frame is reserved before the function is entered");
    const displacement = this.#bytes;
    this.#bytes += Math.ceil(bytes / wordBytes) * wordBytes;
    return { base: "rsp", displacement };
  }

  /** The place of an argument of 64 bits. */
  argument(index: number): Memory {
    const returnAddress = wordBytes;
    const onStack = this.#bytes + saved.length * wordBytes + returnAddress + (index - argumentRegisters.length) * wordBytes;
    return { base: "rsp", displacement: index < argumentRegisters.length ? index * wordBytes : onStack };
  }

  /** Saves registers and arguments. */
  enter(): void {
    this.#isEntered = true;
    for (const register of saved) this.#asm.push(register);
    this.#asm.add("rsp", -this.#bytes);
    for (const [index, register] of argumentRegisters.entries()) this.#asm.store(this.argument(index), register);
  }

  /** Restores registers and returns. */
  leave(): void {
    this.#asm.add("rsp", this.#bytes);
    for (const register of saved.toReversed()) this.#asm.pop(register);
    this.#asm.return();
  }
}
