/** Facts about the machine that a browser reveals. Nothing is guessed. */
import type { Fact, MachineFacts } from "../../contract/backend.ts";
import type { MachineReader } from "../../devices/machine.ts";
import { type BrowserScope, browserScope } from "../../platform/browser/global-scope.ts";

const gibibyte = 1024 ** 3;
/** Maximum bytes of a WebAssembly memory with 32-bit addresses; no engine here can use more. */
const maxWasmMemoryBytes = 4 * gibibyte;

/** Creates a reader of the facts about the machine that a browser makes known to a page. */
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

/** Browsers do not report free memory. The limit of WebAssembly is used, and a load that finds less fails. */
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
