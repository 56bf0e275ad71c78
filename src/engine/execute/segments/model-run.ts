/** One run of a model, through all stages and rounds of loops. */
import { InferyardError } from "../../../errors.ts";
import { Budget, defaultLimits, type TraceLimits } from "../../build/trace-budget.ts";
import type { Pace } from "../yield-policy.ts";

/** What one run may take. */
export interface RunLimits {
  /** Of each trace. */
  readonly trace: Partial<TraceLimits>;
  /** Bytes one run may compute in, beside the weights. Default: as many as the memory holds. */
  readonly runBytes?: number;
}

/** Says what the run needs, so that a caller can split its batch. */
export function runTooLarge(estimate: number, limit: number): InferyardError {
  return new InferyardError("LIMIT_EXCEEDED", `a run of these inputs takes ${estimate} bytes, and maxRunMemory allows ${limit}`, {
    remedy: "give fewer or shorter inputs at once, or set maxRunMemory higher",
    data: { estimate, limit },
  });
}

export interface StageSteps {
  readonly all: number;
  readonly interpreted: number;
}

/** What counts of a stage that runs. */
export interface UsedStage {
  readonly hasProgram: boolean;
  /** Steps of one run, and how many of them the interpreter computes. */
  readonly steps: StageSteps;
}

/** Steps of programs and iterations of loops in one run. */
const maxOperations = 5_000_000;

/** A round costs as much beside what it computes. */
const operationsOfRound = 16;

export class StageRun {
  readonly number: number;
  readonly pace: Pace;
  readonly limits: RunLimits;
  /** Arrays that the run made, and that nobody else has. */
  readonly own: WeakSet<object> = new WeakSet();
  readonly #used = new Set<UsedStage>();
  #operations = 0;
  #hosted = 0;
  #gathered = 0;

  constructor(number: number, pace: Pace, limits: RunLimits) {
    this.number = number;
    this.pace = pace;
    this.limits = limits;
  }

  /** What one trace within this run may cost, or one operator that the interpreter computes as a whole. */
  traceBudget(): Budget {
    const { signal } = this.pace;
    return new Budget({ ...this.limits.trace, ...(signal === undefined ? {} : { signal }) });
  }

  /** Bytes of rows that loops gather: of all loops together they must fit. OUT_OF_MEMORY where they do not. */
  gather(bytes: number, loop: string): void {
    this.#gathered += bytes;
    const { tensorBytes = defaultLimits.tensorBytes } = this.limits.trace;
    const allowed = Math.min(tensorBytes, this.limits.runBytes ?? tensorBytes);
    if (this.#gathered <= allowed) return;
    throw new InferyardError("OUT_OF_MEMORY", `${loop} gathers more than ${allowed} bytes in one run`, {
      remedy: "give smaller inputs: fewer or shorter ones at once",
    });
  }

  /** LIMIT_EXCEEDED where a program would take more memory than a run may: before any of it is allocated. */
  checkMemory(bytes: number): void {
    const { runBytes } = this.limits;
    if (runBytes === undefined || bytes <= runBytes) return;
    throw runTooLarge(bytes, runBytes);
  }

  use(stage: UsedStage): void {
    this.#used.add(stage);
    this.#count(stage.steps.all);
  }

  /** MODEL_UNSUPPORTED where a loop does not seem to end. */
  countRound(): void {
    this.#count(operationsOfRound);
  }

  /** An operator between two programs. */
  countHosted(): void {
    this.#hosted += 1;
  }

  /** Programs that ran, and steps of all that ran, each counted once however often it did. */
  get steps(): StageSteps & { readonly programs: number } {
    const stages = [...this.#used];
    return {
      programs: stages.filter(({ hasProgram }) => hasProgram).length,
      all: stages.reduce((sum, { steps }) => sum + steps.all, this.#hosted),
      interpreted: stages.reduce((sum, { steps }) => sum + steps.interpreted, this.#hosted),
    };
  }

  #count(operations: number): void {
    this.#operations += operations;
    if (this.#operations <= maxOperations) return;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model takes more than ${maxOperations} operations for one run`, {
      remedy: "look for a loop in it that does not end",
    });
  }
}
