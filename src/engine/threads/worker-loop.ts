/** The loop of a worker thread: it computes chunks of kernel calls until a message arrives. */
import type { WasmMemory, WasmModule } from "../codegen/wasm/assembler/webassembly.ts";
import { type CompiledKernels, instantiateKernels } from "../codegen/wasm/compile.ts";
import { type BindMachineKernel, withBound } from "../codegen/x64/machine-code.ts";
import type { CompiledKernel } from "../codegen/wasm/kernel.ts";
import { WorkQueue } from "./work-queue.ts";

/** The message that sends a compiled module with further kernels to a worker thread. */
export interface ThreadMessage {
  /** Shared memory of the work queue. */
  readonly control: SharedArrayBuffer;
  /** Index of the thread; 0 is the calling thread. */
  readonly thread: number;
  /** The shared memory that kernels compute in. */
  readonly memory: WasmMemory;
  /** The compiled module with the new kernels. */
  readonly module: WasmModule;
  /** See `CompiledKernels`. */
  readonly machineCode?: NonNullable<CompiledKernels["machineCode"]>;
}

/** Milliseconds that an idle thread spins before it sleeps: calls of one run follow each other faster than that. */
const spinMs = 0.3;

/**
 * Creates the message handler of a worker thread. Each call of the handler instantiates the kernels of the message, then computes chunks and blocks
 * until another message is pending. `bind`: needed for messages with machine code.
 */
export function createWorkerLoop(): (message: ThreadMessage, bind?: BindMachineKernel) => void {
  const kernels: CompiledKernel[] = [];
  let messagesSeen = 0;
  return ({ control: buffer, thread, module, memory, machineCode }, bind) => {
    messagesSeen += 1;
    const functions = instantiateKernels(module, memory);
    const isBound = machineCode !== undefined && bind !== undefined;
    kernels.push(...(isBound ? withBound(functions, machineCode.kernels, memory, bind) : functions).values());
    const control = new WorkQueue(buffer);
    while (control.messageCount === messagesSeen) {
      try {
        control.takeChunks(kernels, thread);
      } catch {
        // The work queue has recorded the trap in the status of the call, which the calling thread reads.
      }
      control.waitForWork(spinMs, messagesSeen);
    }
  };
}
