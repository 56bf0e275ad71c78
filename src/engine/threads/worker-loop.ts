/** The loop of a worker thread: it computes chunks of kernel calls until a message arrives. */
import type { WasmMemory, WasmModule } from "../codegen/wasm/assembler/webassembly.ts";
import { instantiateKernels } from "../codegen/wasm/compile.ts";
import type { KernelFunction } from "../codegen/wasm/kernel.ts";
import { WorkQueue } from "./work-queue.ts";

/** Kernels for a thread to compile, and the queue and memory to use them with. */
/** Shared memory of the work queue. */
export interface ThreadMessage {
  /** Number of the thread; the caller is 0. */
  readonly control: SharedArrayBuffer;
  /** The shared memory that kernels compute in. */
  readonly thread: number;
  /** The module with the new kernels. */
  readonly memory: WasmMemory;
  readonly module: WasmModule;
}

/** Milliseconds that an idle thread spins before it sleeps: calls of one run follow each other faster than that. */
const spinMs = 0.3;

/** Creates the function that handles messages. Each call blocks, computing chunks, until another message is waiting. */
export function createWorkerLoop(): (message: ThreadMessage) => void {
  const kernels: KernelFunction[] = [];
  let messagesSeen = 0;
  return ({ control: buffer, thread, module, memory }) => {
    messagesSeen += 1;
    kernels.push(...instantiateKernels(module, memory).values());
    const control = new WorkQueue(buffer);
    while (control.messageCount === messagesSeen) {
      try {
        control.takeChunks(kernels, thread);
      } catch {
        // The caller finds the trap in the status of the call.
      }
      control.waitForWork(spinMs, messagesSeen);
    }
  };
}
