/** Calls of machine code through FFI. Worker threads of the engine import this module. */
import { type BindMachineKernel, machineArguments } from "../../engine/codegen/x64/index.ts";
import { ForeignFunctions } from "../../libraries/ffi/index.ts";

/** Calls of kernels that another thread of this process has installed. */
export async function bindMachineCode(): Promise<BindMachineKernel> {
  return bindMachineKernels(await ForeignFunctions.load());
}

/** Makes functions of JavaScript that call kernels in machine code. */
export function bindMachineKernels(ffi: ForeignFunctions): BindMachineKernel {
  return (kernel, memory) => {
    const call = ffi.functionAt(kernel.address, {
      result: "void",
      parameters: kernel.arguments.map(() => "uint64" as const),
    });
    let seen: unknown;
    let base = 0;
    return (...operands) => {
      const { buffer } = memory;
      if (buffer !== seen) {
        seen = buffer; // another one after the memory has grown, which may have moved it
        base = Number(ffi.getAddress(buffer as ArrayBuffer));
      }
      call(...machineArguments(kernel, base, operands));
      return 0;
    };
  };
}
