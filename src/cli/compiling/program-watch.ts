/** What runs of a model needed of the compiled programs on disk. */
import type { ProgramCounts } from "../../contract/backend.ts";
import type { ListedProgram, ProgramFolder } from "../../backends/xla/program-cache/program-folder.ts";

/** Programs that one run needed. */
export interface CompiledStep extends ProgramCounts {
  /** The shape as the user wrote it, such as "3x100". */
  readonly shape: string;
  /** Programs that were written or read; empty if programs of an earlier step serve the shape too. */
  readonly programs: readonly ListedProgram[];
}

const none: ProgramCounts = { compiled: 0, compileMs: 0, cached: 0, cachedBytes: 0 };

/** Compares the folder of compiled programs, and the counts of a model, before and after each run. */
export class ProgramWatch {
  readonly #folder: ProgramFolder;
  #used: ReadonlyMap<string, number>;
  #counts: ProgramCounts = none;

  /** Notes the state before the model is loaded. */
  constructor(folder: ProgramFolder) {
    this.#folder = folder;
    this.#used = getTimes(folder.files());
  }

  /** Programs written or read since the last call. `counts`: current counts of the model. */
  step(shape: string, counts: ProgramCounts = none): CompiledStep {
    const [before, known] = [this.#counts, this.#used];
    const programs = this.#folder.list();
    this.#counts = counts;
    this.#used = getTimes(programs);
    return {
      shape,
      compiled: counts.compiled - before.compiled,
      compileMs: counts.compileMs - before.compileMs,
      cached: counts.cached - before.cached,
      cachedBytes: counts.cachedBytes - before.cachedBytes,
      programs: programs.filter(({ key, usedMs }) => known.get(key) !== usedMs),
    };
  }
}

function getTimes(files: readonly { readonly key: string; readonly usedMs: number }[]): ReadonlyMap<string, number> {
  return new Map(files.map(({ key, usedMs }) => [key, usedMs]));
}
