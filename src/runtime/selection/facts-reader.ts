/** Gathers the facts for selection. The machine and the presence of each backend are read once, free memory at every load. */
import type { Availability, Backend, Library, MachineFacts, ProbeOptions } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { MachineReader } from "../../devices/machine.ts";
import { isInRange } from "../../devices/versions.ts";
import { getMessage } from "../../contract/errors.ts";
import { getCacheEstimate, getCapabilities, checkAvailability } from "../../contract/shapes/held-contract.ts";
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

  /** Facts about the machine. `again` reads them once more. */
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
        ...omitUndefined({ cudaVersion }),
      })),
      openCircuits: circuits.current(),
    };
  }

  /** Discards the facts about a backend, after it was replaced by another one of the same name. */
  forget(backend: string): void {
    this.#presence.delete(backend);
  }

  /** Probes a backend by running a tiny graph on each of its devices, unless it is absent. The result is not cached. `full`: see `ProbeOptions`. */
  async run(backend: Backend, options: Pick<ProbeOptions, "full" | "signal"> = {}): Promise<Availability> {
    const machine = await this.#machine.read();
    const presence = await getAvailability(backend, { machine, run: false });
    return presence.present ? getAvailability(backend, { machine, run: true, ...options }) : presence;
  }

  async #backendFacts(backend: Backend, machine: MachineFacts): Promise<BackendFacts> {
    const known = this.#presence.get(backend.name) ?? getAvailability(backend, { machine, run: false });
    this.#presence.set(backend.name, known);
    const availability = await known;
    return {
      name: backend.name,
      availability,
      capabilities: (device) => getCapabilities(backend, device),
      estimateCache: (model, device, settings) => getCacheEstimate(backend, model, device, settings),
    };
  }
}

/**
 * The result of a backend's probe. A probe must not throw: if one does, its error becomes the reason of absence. A library whose
 * version the backend does not support counts as absent, whatever the probe found.
 */
async function getAvailability(backend: Backend, options: ProbeOptions): Promise<Availability> {
  try {
    const availability = checkAvailability(backend, await backend.probe(options));
    return unsupportedVersion(backend, availability.library) ?? availability;
  } catch (error) {
    return { present: false, reason: `its probe failed: ${getMessage(error)}` };
  }
}

function unsupportedVersion({ requires = [] }: Backend, library: Library | undefined): Availability | undefined {
  const requirement = requires.find(({ name }) => name === library?.name);
  const { range, install } = requirement ?? {};
  if (library === undefined || range === undefined || isInRange(library.version, range)) return undefined;
  const reason = `${library.name} ${library.version} is installed; ${range} is needed`;
  return { present: false, reason, library, ...omitUndefined({ remedy: install }) };
}
