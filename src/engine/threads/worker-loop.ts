/** What a thread does: it computes chunks until there is mail. */
import type { WasmMemory, WasmModule } from "../codegen/wasm/assembler/webassembly.ts";
import { instantiateKernels } from "../codegen/wasm/compile.ts";
import type { KernelFunction } from "../codegen/wasm/kernel.ts";
import { WorkQueue } from "./work-queue.ts";

/** Kernels that a thread is to know from now on. The memory is shared. */
export interface ThreadMessage {
  readonly control: SharedArrayBuffer;
  readonly thread: number;
  readonly memory: WasmMemory;
  readonly module: WasmModule;
}

/** Calls of a model follow one another within so many milliseconds; after a model's last one others want the processor. */
const spinMs = 0.3;

/** Gives the function that takes messages, and returns whenever there is another one to take. */
export function createWorkerLoop(): (message: ThreadMessage) => void {
  const kernels: KernelFunction[] = [];
  let mailSeen = 0;
  return ({ control: buffer, thread, module, memory }) => {
    mailSeen += 1;
    kernels.push(...instantiateKernels(module, memory).values());
    const control = new WorkQueue(buffer);
    while (control.messageCount === mailSeen) {
      try {
        control.takeChunks(kernels, thread);
      } catch {
        // The kernel trapped; the caller reads it from the status.
      }
      control.waitForWork(spinMs, mailSeen);
    }
  };
}
