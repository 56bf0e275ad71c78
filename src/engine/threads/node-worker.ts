/** Entry point of a worker thread in Node.js: runs the worker loop on the messages it receives. */
import { parentPort } from "node:worker_threads";
import type { BindMachineKernel } from "../codegen/x64/machine-code.ts";
import { type ThreadMessage, createWorkerLoop } from "./worker-loop.ts";

/**
 * Takes messages one after the other: the first one with machine code waits for the module that binds it, and those after it wait too. A thread that cannot bind machine
 * code takes no message from then on, so that it computes nothing: WebAssembly in its place would differ in the last bits of float32.
 */
class MessageQueue {
  readonly #take = createWorkerLoop();
  #binding: Promise<BindMachineKernel> | undefined;
  #taken: Promise<void> = Promise.resolve();

  add(message: ThreadMessage): void {
    this.#taken = this.#taken.then(async () => {
      const { machineCode } = message;
      if (machineCode === undefined) return this.#take(message);
      this.#binding ??= loadBinding(machineCode.module);
      this.#take(message, await this.#binding);
    });
    this.#taken.catch(ignore);
  }
}

/** The other threads compute what this one would: no thread waits for one that has not begun. */
function ignore(): void {}

async function loadBinding(module: string): Promise<BindMachineKernel> {
  const { bindMachineCode } = (await import(module)) as { bindMachineCode: () => Promise<BindMachineKernel> };
  return await bindMachineCode();
}

const queue = new MessageQueue();
parentPort?.on("message", (message: ThreadMessage) => queue.add(message));
