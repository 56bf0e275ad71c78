/** Calls of machine code. Worker threads of the engine import this module. */
import type { BindMachineKernel } from "../../../engine/codegen/x64/index.ts";
import { loadAddon } from "./addon.ts";
import { callFrame } from "./kernel-object.ts";
import type { LoaderAddon } from "./loader-addon.ts";

/** Calls of kernels that another thread of this process has installed. Throws the errors of `loadAddon`. */
export async function bindMachineCode(): Promise<BindMachineKernel> {
  return bindMachineKernels(loadAddon());
}

/** More than V8 keeps in the heap, where the garbage collector moves elements. */
const minFrameBytes = 128;
const rangeOperands = 2;
const word = 4;

/** Makes functions of JavaScript that call kernels in machine code. */
export function bindMachineKernels(addon: LoaderAddon): BindMachineKernel {
  return (kernel, memory) => {
    const operandCount = 1 + Math.max(-1, ...kernel.arguments.map((each) => ("operand" in each ? each.operand : -1)));
    const buffer = new ArrayBuffer(Math.max(minFrameBytes, callFrame.operands + word * operandCount));
    const base = new BigUint64Array(buffer);
    const frame = new Uint32Array(buffer);
    const call = addon.bind(BigUint64Array.of(kernel.address), frame);
    let bytes: Uint8Array = new Uint8Array(0);
    const [from, to, first] = [callFrame.from / word, callFrame.to / word, callFrame.operands / word];
    const withArray = (operands: readonly number[]): number => {
      // Empty at the first call, and after the memory has grown: growing detaches the buffer, and may move the memory. A shared memory never moves.
      if (bytes.length === 0) {
        bytes = new Uint8Array(memory.buffer);
        addon.locate(base, bytes);
      }
      const others = operands.length - rangeOperands;
      for (let index = 0; index < operandCount; index += 1) frame[first + index] = operands[index] ?? 0;
      frame[from] = operands[others] ?? 0;
      frame[to] = operands[others + 1] ?? 0;
      call();
      return 0;
    };
    return Object.assign((...operands: number[]) => withArray(operands), { withArray });
  };
}
