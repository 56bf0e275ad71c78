/** Gathers the facts for selection. The machine and the presence of each backend are read once, free memory at every load. */
import type { Availability, Backend, MachineFacts } from "../../backend.ts";
import type { MachineReader } from "../../devices/machine.ts";
import { messageOf } from "../../errors.ts";
import type { CircuitBreakers } from "../supervision/circuit-breakers.ts";
import type { BackendFacts, SelectionFacts } from "./selection-facts.ts";

/** Reads and caches the facts that selection decides on. */
export class FactsReader {
  readonly #backends: readonly Backend[];
  readonly #machine: MachineReader;
  readonly #presence = new Map<string, Promise<Availability>>();

  constructor(backends: readonly Backend[], machine: MachineReader) {
    this.#backends = backends;
    this.#machine = machine;
  }

  /** Facts about the machine. `again` reads them anew. */
  machine(options: { readonly again?: boolean } = {}): Promise<MachineFacts> {
    return this.#machine.read(options);
  }

  /** Facts for selection. `again` discards the cache, for example after a package was installed. */
  async read(circuits: CircuitBreakers, options: { readonly again?: boolean } = {}): Promise<SelectionFacts> {
    const machine = await this.#machine.read(options);
    if (options.again === true) this.#presence.clear();
    const [backends, availableMemory] = await Promise.all([
      Promise.all(this.#backends.map((backend) => this.#backendFacts(backend, machine))),
      this.#machine.availableMemory(),
    ]);
    return {
      backends,
      availableMemory: availableMemory.value,
      deviceFacts: machine.accelerators.map(({ device, memory, cudaVersion }) => ({
        device,
        ...(memory === undefined ? {} : { memoryBytes: memory.totalBytes }),
        ...(cudaVersion === undefined ? {} : { cudaVersion }),
      })),
      openCircuits: circuits.current(),
    };
  }

  /** Probes a backend by running a tiny graph on each of its devices. The result is not cached. */
  async run(backend: Backend, signal?: AbortSignal): Promise<Availability> {
    const machine = await this.#machine.read();
    return absentOnThrow(backend.probe({ machine, run: true, ...(signal === undefined ? {} : { signal }) }));
  }

  async #backendFacts(backend: Backend, machine: MachineFacts): Promise<BackendFacts> {
    const known = this.#presence.get(backend.name) ?? absentOnThrow(backend.probe({ machine, run: false }));
    this.#presence.set(backend.name, known);
    const availability = await known;
    return { name: backend.name, availability, capabilities: (device) => backend.capabilities(device) };
  }
}

/** A probe must not throw. If one does, its error becomes the reason of absence. */
function absentOnThrow(probe: Promise<Availability>): Promise<Availability> {
  return probe.catch((error: unknown) => ({ present: false, reason: `its probe failed: ${messageOf(error)}` }));
}
