/** Entry point of a worker thread in Node.js: runs the worker loop on the messages it receives. */
import { parentPort } from "node:worker_threads";
import type { BindMachineKernel } from "../codegen/x64/machine-code.ts";
import { type ThreadMessage, createWorkerLoop } from "./worker-loop.ts";

const take = createWorkerLoop();
let binding: Promise<BindMachineKernel> | undefined;
let taken: Promise<void> = Promise.resolve();

parentPort?.on("message", (message: ThreadMessage) => {
  taken = taken.then(async () => {
    const { machineCode } = message;
    if (machineCode === undefined) return take(message);
    binding ??= loadBinding(machineCode.module);
    take(message, await binding);
  });
});

async function loadBinding(module: string): Promise<BindMachineKernel> {
  const { bindMachineCode } = (await import(module)) as { bindMachineCode: () => Promise<BindMachineKernel> };
  return await bindMachineCode();
}
