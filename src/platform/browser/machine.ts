/** What a browser tells of the machine it is on, which is little: nothing here is guessed. */
import type { Fact, MachineFacts } from "../../backend.ts";
import type { MachineReader } from "../../devices/machine.ts";
import { type BrowserScope, browserScope } from "./global-scope.ts";

const gibibyte = 1024 ** 3;
/** Pages of 64 KiB a memory of WebAssembly has at most, with 32-bit addresses: more no engine here can use. */
const maxWasmMemoryBytes = 4 * gibibyte;

export function browserMachine(): MachineReader {
  return {
    read: async () => machineFacts(browserScope()),
    availableMemory: async () => memoryFacts(browserScope()).available,
  };
}

function machineFacts({ navigator, ...scope }: BrowserScope): MachineFacts {
  const cores = { value: Math.max(1, navigator.hardwareConcurrency), source: "navigator.hardwareConcurrency" };
  const silence = "a browser does not tell";
  return {
    platform: "browser",
    architecture: "wasm32",
    cpu: { model: { value: "unknown", source: silence }, features: { value: [], source: silence }, cores, quota: cores },
    memory: memoryFacts({ navigator, ...scope }),
    accelerators: [],
    absent: {},
  };
}

/** Free memory is never told: the bound of WebAssembly is what there is at most, and a load that finds less fails. */
function memoryFacts({ navigator }: BrowserScope): MachineFacts["memory"] {
  const { deviceMemory } = navigator;
  const limit: Fact<number> = {
    value: maxWasmMemoryBytes,
    source: "the most one WebAssembly memory can hold; a browser does not tell more",
  };
  if (deviceMemory === undefined) return { total: limit, available: limit };
  const total = { value: deviceMemory * gibibyte, source: "navigator.deviceMemory, rounded and capped by the browser" };
  return { total, available: total.value < limit.value ? total : limit };
}
