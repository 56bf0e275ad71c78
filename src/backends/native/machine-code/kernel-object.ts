/** Shared objects with the kernels of a model. */
import { required } from "../../../contract/checked.ts";
import type { Register } from "../../../engine/codegen/x64/assembler/operands.ts";
import type { MachineArgument, MachineKernel, MachineObject } from "../../../engine/codegen/x64/index.ts";
import { kernelsSymbol } from "./loader-addon.ts";
import { ObjectAssembler, memoryAt } from "./object-assembler.ts";
import type { ObjectFunction } from "./object-function.ts";
import { writeSharedObject } from "./shared-object.ts";

/**
 * Memory in which JavaScript passes the operands of a call, in bytes: the address of the WebAssembly memory (64 bits), the first piece and the end of the pieces,
 * and the other operands of the kernel (32 bits each).
 */
export const callFrame = { base: 0, from: 8, to: 12, operands: 16 } as const;

const argumentRegisters = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"] as const satisfies readonly Register[];

/** Writes an object with kernels and their callbacks for Node-API, whose positions are relative to the symbol whose address the loader addon returns. */
export function writeKernelObject(kernels: readonly MachineKernel[]): MachineObject {
  const names = kernels.map(({ key }, index) => `${key.replace(/\W.*$/s, "")}_${index}`);
  const functions = kernels.flatMap((kernel, index): readonly ObjectFunction[] => {
    const name = required(names[index], "the name of a kernel");
    return [callback(name, kernel), { name, code: kernel.code, stackChanges: kernel.stackChanges }];
  });
  const { bytes, positions } = writeSharedObject([{ name: kernelsSymbol, code: Uint8Array.of(0xc3) }, ...functions]);
  const start = required(positions.get(kernelsSymbol), "the position of the first function");
  const callbackOf = (name: string | undefined): number => required(positions.get(`call_${name}`), "the position of a callback");
  return {
    bytes,
    kernels: kernels.map(({ key, level, arguments: list }, index) => ({
      key,
      level,
      arguments: list,
      callback: callbackOf(names[index]) - start,
    })),
  };
}

/** The callback of a kernel: takes the operands out of the call frame, makes the arguments of them, and calls it. */
function callback(name: string, kernel: MachineKernel): ObjectFunction {
  const asm = new ObjectAssembler(`call_${name}`);
  const onStack = Math.max(0, kernel.arguments.length - argumentRegisters.length);
  const frame = 8 * onStack;
  const stackBytes = 16 * Math.ceil((frame + 8 + 8) / 16) - 8; // with the return address a multiple of 16
  asm.add("rsp", -stackBytes);
  for (const register of ["rdx", "rcx", "r8"] as const) asm.loadImmediate(register, 0);
  asm.address("r9", memoryAt("rsp", frame));
  asm.callImport("napi_get_cb_info");
  asm.load("r10", memoryAt("rsp", frame));
  for (const [index, argument] of kernel.arguments.entries()) {
    const register = argumentRegisters[index];
    loadArgument(asm, register ?? "rax", argument);
    if (register === undefined) asm.store(memoryAt("rsp", 8 * (index - argumentRegisters.length)), "rax");
  }
  asm.callLocal(name);
  asm.loadImmediate("rax", 0);
  asm.add("rsp", stackBytes);
  asm.return();
  return asm.function;
}

/** Sets a register to an argument. r10 is the address of the call frame; r11 is changed. */
function loadArgument(asm: ObjectAssembler, to: Register, argument: MachineArgument): void {
  switch (argument.kind) {
    case "address":
      asm.load(to, memoryAt("r10", callFrame.operands + 4 * argument.operand), 32);
      asm.integer("add", to, memoryAt("r10", callFrame.base));
      if (argument.pieceBytes === 0) return;
      asm.load("r11", memoryAt("r10", callFrame.from), 32);
      asm.multiply("r11", "r11", argument.pieceBytes);
      return asm.integer("add", to, "r11");
    case "operand":
      return asm.load(to, memoryAt("r10", callFrame.operands + 4 * argument.operand), 32);
    case "firstPiece":
      return asm.load(to, memoryAt("r10", callFrame.from), 32);
    case "pieces":
      asm.load(to, memoryAt("r10", callFrame.to), 32);
      asm.load("r11", memoryAt("r10", callFrame.from), 32);
      return asm.integer("sub", to, "r11");
    case "none":
      return asm.loadImmediate(to, 0);
  }
  return argument satisfies never;
}
