/** The names of YiRage's design document (docs/ypk/multi_backend_design.md) for what `compileProgram` and `ProgramBackends` do. */
import { invalidInput } from "../contract/errors.ts";
import type { TensorMap } from "../contract/tensor.ts";
import { readOldSettings } from "./backends/old-settings.ts";
import type { BackendInfo, ProgramBackends } from "./backends/program-backends.ts";
import { standardProgramBackends } from "./backends/standard-program-backends.ts";
import { type CompileOptions, compileWithNotes } from "./compilation/compile-program.ts";
import type { ProgramDecision } from "./compilation/program-decision.ts";
import type { ProgramKernel, ProgramRunOptions } from "./compilation/program-kernel.ts";
import type { Program } from "./definition/program.ts";
import type { TensorArgument } from "./definition/tensor-arguments.ts";
import type { ProgramMode } from "./interface/program-backend.ts";
import { readWorldSize } from "./ranks/rank-options.ts";

/** Settings of a persistent kernel. */
export interface PersistentKernelOptions {
  readonly mode: ProgramMode;
  /** Default: what variables such as YIRAGE_BACKEND_USE_CUDA name, else "cuda", as in the document. */
  readonly backend?: string;
  /** Tried in this order after `backend`. Default: none. */
  readonly fallbackBackends?: readonly string[];
  /** See `RankOptions.worldSize`. Default: 1. */
  readonly worldSize?: number;
  /** See `RankOptions.rank`. Default: what RANK says if all ranks run this program, else 0, and this process starts the others. */
  readonly rank?: number;
  /** Backends to choose from. Default: those of this package. */
  readonly backends?: ProgramBackends;
}

/** A program on a backend that is chosen once, and keeps its weights and states there. */
export class PersistentKernel {
  readonly #options: Pick<CompileOptions, "mode" | "backend" | "fallbackBackends" | "backends" | "worldSize" | "rank">;
  readonly #notes: readonly string[];
  #kernel: ProgramKernel | undefined;

  /** Throws INPUT_INVALID for unknown names, duplicates and numbers out of range, and CONFIG_INVALID for unknown old settings. */
  constructor(options: PersistentKernelOptions) {
    const { mode, backend, fallbackBackends = [], worldSize = 1, rank, backends = standardProgramBackends() } = options;
    readWorldSize({ worldSize, rank }, process.env);
    const old = backend === undefined ? readOldSettings(process.env) : { names: [], notes: [] };
    const [first = "cuda", ...others] = backend === undefined ? old.names : [backend];
    const all = [first, ...others.filter((name) => !fallbackBackends.includes(name)), ...fallbackBackends];
    if (new Set(all).size !== all.length)
      throw invalidInput(`the backends ${all.join(", ")} name one twice`, "name each backend once");
    for (const name of all) backends.resolve(name);
    this.#options = { mode, backend: first, fallbackBackends: all.slice(1), backends, worldSize, rank };
    this.#notes = old.notes;
  }

  /** Compiles a program, as `compileProgram` does; an earlier program is disposed of afterwards. */
  async compile(
    program: Program,
    options: Omit<CompileOptions, "mode" | "backend" | "fallbackBackends" | "backends" | "worldSize" | "rank"> = {},
  ): Promise<ProgramDecision> {
    const before = this.#kernel;
    this.#kernel = await compileWithNotes(program, { ...options, ...this.#options }, this.#notes);
    await before?.dispose();
    return this.#kernel.decision;
  }

  /** The name of the backend that computes; undefined before `compile`. */
  get backend(): string | undefined {
    return this.#kernel?.backend;
  }

  /** See `ProgramKernel.decision`; undefined before `compile`. */
  get decision(): ProgramDecision | undefined {
    return this.#kernel?.decision;
  }

  /** See `ProgramKernel.run`. Throws INPUT_INVALID before `compile`. */
  async run(inputs: Readonly<Record<string, TensorArgument>> = {}, options: ProgramRunOptions = {}): Promise<TensorMap> {
    return await this.#compiled.run(inputs, options);
  }

  /** See `ProgramKernel.switchTo`. Throws INPUT_INVALID before `compile`. */
  async switchTo(backend: string): Promise<ProgramDecision> {
    return await this.#compiled.switchTo(backend);
  }

  /** Frees the program. */
  async dispose(): Promise<void> {
    await this.#kernel?.dispose();
  }

  get #compiled(): ProgramKernel {
    if (this.#kernel === undefined) throw invalidInput("the kernel is not compiled", "call compile(program) first");
    return this.#kernel;
  }
}

/** Names of backends, of the document's and of our own, under which something ran on this machine. */
export async function getAvailableBackends(backends: ProgramBackends = standardProgramBackends()): Promise<readonly string[]> {
  return await backends.available();
}

/** Whether something ran under this name on this machine. Throws INPUT_INVALID for a name that is unknown or has capitals. */
export async function isBackendAvailable(name: string, backends: ProgramBackends = standardProgramBackends()): Promise<boolean> {
  const { isAvailable } = await backends.info(name);
  return isAvailable;
}

/** What a name means here, what it requires and what was found. Throws INPUT_INVALID for a name that is unknown or has capitals. */
export async function getBackendInfo(name: string, backends: ProgramBackends = standardProgramBackends()): Promise<BackendInfo> {
  return await backends.info(name);
}
