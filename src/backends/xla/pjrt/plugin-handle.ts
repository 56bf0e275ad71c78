/** Handles of what a plugin allocated. A plugin that is given a freed handle, or is told to free one twice, ends the process. */
import { InferyardError } from "../../../contract/errors.ts";
import type { PjrtPlugin } from "./plugin.ts";
import type { PjrtFunctionName } from "./structs.ts";

/** How a handle is freed. */
interface Destructor {
  readonly function: PjrtFunctionName;
  /** The field of the function's arguments that has the handle. */
  readonly field: string;
  /** What the handle is, for errors. */
  readonly noun: string;
}

type Kind = "client" | "program" | "tensor";

const destructors: Readonly<Record<Kind, Destructor>> = {
  client: { function: "Client_Destroy", field: "client", noun: "client" },
  program: { function: "LoadedExecutable_Destroy", field: "executable", noun: "program" },
  tensor: { function: "Buffer_Destroy", field: "buffer", noun: "tensor" },
};

/** A handle, which is freed once and not used afterwards. */
export class PluginHandle {
  readonly #plugin: PjrtPlugin;
  readonly #destructor: Destructor;
  readonly #siblings: Set<PluginHandle> | undefined;
  #address: bigint;

  /** `siblings`: the handles that are freed with their client; this one is in the set until it is freed. */
  constructor(plugin: PjrtPlugin, kind: Kind, address: bigint, siblings?: Set<PluginHandle>) {
    this.#destructor = destructors[kind];
    if (address === 0n) throw new InferyardError("RUN_FAILED", `the plugin returned no ${this.#destructor.noun}`);
    this.#plugin = plugin;
    this.#address = address;
    this.#siblings = siblings;
    siblings?.add(this);
  }

  /** The address, for calls of the plugin. Throws DISPOSED if the handle was freed. */
  get address(): bigint {
    if (this.#address !== 0n) return this.#address;
    throw new InferyardError("DISPOSED", `the ${this.#destructor.noun} was freed`);
  }

  get isFreed(): boolean {
    return this.#address === 0n;
  }

  /** Frees the memory that the plugin allocated; further calls do nothing. */
  dispose(): void {
    if (this.isFreed) return;
    const address = this.#address;
    this.#address = 0n;
    this.#siblings?.delete(this);
    this.#plugin.call(this.#destructor.function, { [this.#destructor.field]: address });
  }
}
