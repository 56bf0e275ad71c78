/** Entry point of a worker thread in Node.js: runs the worker loop on the messages it receives. */
import { parentPort } from "node:worker_threads";
import type { BindMachineKernel } from "../codegen/x64/machine-code.ts";
import { type ThreadMessage, createWorkerLoop } from "./worker-loop.ts";

/**
 * Takes messages one after the other: the first one with machine code waits for the module that binds it, and those after it wait too. A thread that cannot bind machine
 * code takes no message from then on, and the other threads compute its part: WebAssembly in its place would differ in the last bits of float32.
 */
class MessageQueue {
  readonly #take = createWorkerLoop();
  #binding: Promise<BindMachineKernel | undefined> | undefined;
  #taken: Promise<void> = Promise.resolve();
  #isUseless = false;

  add(message: ThreadMessage): void {
    this.#taken = this.#taken.then(async () => {
      const { machineCode } = message;
      if (this.#isUseless) return;
      if (machineCode === undefined) return this.#take(message);
      this.#binding ??= loadBinding(machineCode.module).catch(() => undefined);
      const bind = await this.#binding;
      if (bind === undefined) this.#isUseless = true;
      else this.#take(message, bind);
    });
  }
}

async function loadBinding(module: string): Promise<BindMachineKernel> {
  const { bindMachineCode } = (await import(module)) as { bindMachineCode: () => Promise<BindMachineKernel> };
  return await bindMachineCode();
}

const queue = new MessageQueue();
parentPort?.on("message", (message: ThreadMessage) => queue.add(message));
