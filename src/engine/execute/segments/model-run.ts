/** One run of a model, through all stages and rounds of loops. */
import { InferyardError } from "../../../errors.ts";
import { TraceBudget, defaultTraceLimits, type TraceLimits } from "../../build/trace-budget.ts";
import type { YieldPolicy } from "../yield-policy.ts";

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

export interface StepCounts {
  readonly all: number;
  readonly interpreted: number;
}

/** What counts of a stage that runs. */
export interface ExecutedSegment {
  readonly hasExecutable: boolean;
  /** Steps of one run, and how many of them the interpreter computes. */
  readonly steps: StepCounts;
}

/** Steps of programs and iterations of loops in one run. */
const maxOperations = 5_000_000;

/** A round costs as much beside what it computes. */
const operationsPerIteration = 16;

export class ModelRun {
  readonly number: number;
  readonly yieldPolicy: YieldPolicy;
  readonly limits: RunLimits;
  /** Arrays that the run made, and that nobody else has. */
  readonly ownedArrays: WeakSet<object> = new WeakSet();
  readonly #segments = new Set<ExecutedSegment>();
  #operations = 0;
  #interpretedOps = 0;
  #gatheredBytes = 0;

  constructor(number: number, pace: YieldPolicy, limits: RunLimits) {
    this.number = number;
    this.yieldPolicy = pace;
    this.limits = limits;
  }

  /** What one trace within this run may cost, or one operator that the interpreter computes as a whole. */
  traceBudget(): TraceBudget {
    const { signal } = this.yieldPolicy;
    return new TraceBudget({ ...this.limits.trace, ...(signal === undefined ? {} : { signal }) });
  }

  /** Bytes of rows that loops gather: of all loops together they must fit. OUT_OF_MEMORY where they do not. */
  chargeGathered(bytes: number, loop: string): void {
    this.#gatheredBytes += bytes;
    const { tensorBytes = defaultTraceLimits.tensorBytes } = this.limits.trace;
    const allowed = Math.min(tensorBytes, this.limits.runBytes ?? tensorBytes);
    if (this.#gatheredBytes <= allowed) return;
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

  countSegment(stage: ExecutedSegment): void {
    this.#segments.add(stage);
    this.#count(stage.steps.all);
  }

  /** MODEL_UNSUPPORTED where a loop does not seem to end. */
  countIteration(): void {
    this.#count(operationsPerIteration);
  }

  /** An operator between two programs. */
  countInterpretedOp(): void {
    this.#interpretedOps += 1;
  }

  /** Programs that ran, and steps of all that ran, each counted once however often it did. */
  get steps(): StepCounts & { readonly programs: number } {
    const stages = [...this.#segments];
    return {
      programs: stages.filter(({ hasExecutable }) => hasExecutable).length,
      all: stages.reduce((sum, { steps }) => sum + steps.all, this.#interpretedOps),
      interpreted: stages.reduce((sum, { steps }) => sum + steps.interpreted, this.#interpretedOps),
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
