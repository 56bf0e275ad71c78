/** The registry of backends of programs. */
import { type InferyardError, invalidInput } from "../../contract/errors.ts";
import type { ProgramAvailability, ProgramBackend } from "../interface/program-backend.ts";
import { type BackendName, backendNames } from "./backend-names.ts";

/** A name that was asked for, and what computes under it. */
export interface ResolvedBackend {
  /** The name as it was asked for: "mkl", "xla:cpu". */
  readonly asked: string;
  readonly backend: ProgramBackend;
  readonly qualifier: string | undefined;
}

/** Why a name cannot be used. */
export interface RefusedBackend {
  readonly asked: string;
  /** A sentence without a full stop. */
  readonly reason: string;
}

/** One name of a backend, and what was found of it on this machine. */
export interface BackendInfo extends BackendName {
  /** Whether something ran under this name on this machine. */
  readonly isAvailable: boolean;
  /** What was found, or why it is not available: a sentence without a full stop. */
  readonly reason: string;
  readonly remedy?: string | undefined;
  /** The backend that computes is part of this build. */
  readonly isBuilt: boolean;
}

/**
 * Backends of programs by name. A registry has its own backends and no global state; registering and asking may overlap, since a registration is complete when
 * `register` returns.
 */
export class ProgramBackends {
  readonly #backends = new Map<string, ProgramBackend>();
  #isStandard: boolean;

  /** `isStandard`: these are the backends of this package with their defaults. Throws INPUT_INVALID as `register` does. */
  constructor(backends: readonly ProgramBackend[] = [], { isStandard = false }: { readonly isStandard?: boolean } = {}) {
    for (const backend of backends) this.register(backend);
    this.#isStandard = isStandard;
  }

  /** Whether another process of this package has the same backends. */
  get isStandard(): boolean {
    return this.#isStandard;
  }

  /** Adds a backend. Throws INPUT_INVALID for a name that is registered already, or is not of lower-case letters, digits and hyphens. */
  register(backend: ProgramBackend): void {
    const { name } = backend;
    if (typeof name !== "string" || !/^[a-z][a-z0-9-]*$/.test(name))
      throw invalidInput(
        `the name of a backend is ${JSON.stringify(name)}`,
        "names are of lower-case letters, digits and hyphens, and begin with a letter",
      );
    if (this.#backends.has(name)) throw invalidInput(`a backend with the name "${name}" is registered already`);
    const described = backendNames.find((each) => each.name === name);
    if (described !== undefined && described.computedBy !== name)
      throw invalidInput(`the name "${name}" means ${described.computedBy ?? "nothing"} here: ${described.note}`);
    this.#backends.set(name, backend);
    this.#isStandard = false;
  }

  /** Names of the registered backends, in the order of registration. */
  get names(): readonly string[] {
    return [...this.#backends.keys()];
  }

  /**
   * What computes under a name, or why nothing does. Throws INPUT_INVALID for a name that is unknown, has capitals, or has a qualifier that the backend does not
   * have.
   */
  resolve(asked: string): ResolvedBackend | RefusedBackend {
    checkSpelling(asked);
    const [name = "", ...rest] = asked.split(":");
    const stated = rest.length === 0 ? undefined : rest.join(":");
    const described = backendNames.find((each) => each.name === name);
    if (described === undefined && !this.#backends.has(name)) throw this.#unknown(asked);
    const computedBy = described === undefined ? name : described.computedBy;
    if (computedBy === undefined) return { asked, reason: `${name} is ${described?.note}` };
    const [backendName = "", implied] = computedBy.split(":");
    const backend = this.#backends.get(backendName);
    if (backend === undefined)
      return {
        asked,
        reason: `the backend ${backendName} is not compiled in: this build has ${this.names.join(", ") || "none"}`,
      };
    if (stated !== undefined && (implied !== undefined || !backend.qualifiers.includes(stated)))
      throw invalidInput(
        `"${asked}" has no device or level "${stated}"`,
        implied === undefined && backend.qualifiers.length > 0
          ? `write ${backend.qualifiers.map((each) => `${name}:${each}`).join(", ")}`
          : `write "${name}"`,
      );
    return { asked, backend, qualifier: stated ?? implied };
  }

  /** What is known of a name, and what was found here. Throws INPUT_INVALID as `resolve` does. */
  async info(asked: string): Promise<BackendInfo> {
    const found = this.resolve(asked);
    const name = asked.split(":", 1)[0] ?? "";
    const described = backendNames.find((each) => each.name === name) ?? describeOther(name);
    if (!("backend" in found)) return { ...described, isBuilt: false, isAvailable: false, reason: found.reason };
    const { isAvailable, reason, ...others } = await probeSafely(found);
    return { ...described, isBuilt: true, isAvailable, reason, ...("remedy" in others ? { remedy: others.remedy } : {}) };
  }

  /** Names, of the document's and of our own, under which something ran on this machine. */
  async available(): Promise<readonly string[]> {
    const names = new Set([...backendNames.map(({ name }) => name), ...this.names]);
    const infos = await Promise.all([...names].map(async (name) => ({ name, info: await this.info(name) })));
    return infos.filter(({ info }) => info.isAvailable).map(({ name }) => name);
  }

  #unknown(asked: string): InferyardError {
    const known = [...new Set([...backendNames.map(({ name }) => name), ...this.names])];
    return invalidInput(`there is no backend "${asked}"`, `the names are ${known.join(", ")}`);
  }
}

/** Asks a backend what is there. What it throws is a reason like others. */
export async function probeSafely({ backend, qualifier }: ResolvedBackend): Promise<ProgramAvailability> {
  try {
    return await backend.probe(qualifier);
  } catch (error) {
    return { isAvailable: false, reason: `its probe failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function checkSpelling(asked: unknown): asserts asked is string {
  if (typeof asked !== "string" || asked === "") throw invalidInput(`the name of a backend is ${JSON.stringify(asked)}`);
  const small = asked.toLowerCase();
  if (small !== asked) throw invalidInput(`there is no backend "${asked}"`, `names are in small letters: write "${small}"`);
}

function describeOther(name: string): BackendName {
  return {
    name,
    displayName: name,
    computedBy: name,
    requiresGpu: false,
    requiredLibraries: [],
    note: "a backend that the program registered",
  };
}
