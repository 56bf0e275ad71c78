/** The limits and counts of one run of a model, across all its segments and loop iterations. */
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { TraceBudget, defaultTraceLimits, type TraceLimits } from "../../build/trace-budget.ts";
import type { YieldPolicy } from "../yield-policy.ts";

/** Limits of one run. */
export interface RunLimits {
  /** Limits of each trace within the run. */
  readonly trace: Partial<TraceLimits>;
  /** Bytes one run may compute in, besides the weights. Default: limited by the engine's memory only. */
  readonly runBytes?: number;
}

/**
 * Creates the LIMIT_EXCEEDED error of a run that needs `estimate` bytes where `limit` are allowed. The error carries both, so that the caller can
 * split the batch.
 */
export function runTooLarge(estimate: number, limit: number): InferyardError {
  return new InferyardError("LIMIT_EXCEEDED", `a run of these inputs takes ${estimate} bytes, and maxRunMemory allows ${limit}`, {
    remedy: "give fewer or shorter inputs at once, or set maxRunMemory higher",
    data: { estimate, limit },
  });
}

/** Number of steps that were executed, and how many of them the interpreter computed. */
export interface StepCounts {
  /** All steps. */
  readonly all: number;
  /** Steps that the interpreter computes. */
  readonly interpreted: number;
}

/** The properties of a segment that a run counts. */
export interface ExecutedSegment {
  /** Whether the segment is compiled. */
  readonly hasExecutable: boolean;
  /** Steps of one run of the segment, and how many of them the interpreter computes. */
  readonly steps: StepCounts;
}

/** Upper bound on executed steps and loop iterations of one run. */
const maxOperations = 5_000_000;

/** Fixed overhead of one loop iteration, in steps. */
const operationsPerIteration = 16;

/** The state of one run of a model across all its segments: limits, counters, and when it yields to the event loop. */
export class ModelRun {
  /** Sequence number of the run. Later runs have larger numbers. */
  readonly number: number;
  /** Decides when the run yields to the event loop. */
  readonly yieldPolicy: YieldPolicy;
  /** Limits of the run. */
  readonly limits: RunLimits;
  /** Arrays that this run allocated and that nothing else refers to: they can be returned without copying. */
  readonly ownedArrays: WeakSet<object> = new WeakSet();
  readonly #segments = new Set<ExecutedSegment>();
  #operations = 0;
  #interpretedOps = 0;
  #gatheredBytes = 0;

  constructor(number: number, yieldPolicy: YieldPolicy, limits: RunLimits) {
    this.number = number;
    this.yieldPolicy = yieldPolicy;
    this.limits = limits;
  }

  /** Creates a budget for one trace within this run, or for one operation that the interpreter computes. */
  traceBudget(): TraceBudget {
    const { signal } = this.yieldPolicy;
    return new TraceBudget({ ...this.limits.trace, ...omitUndefined({ signal }) });
  }

  /** Adds `bytes` to the size of the scan outputs of all loops of the run. Throws OUT_OF_MEMORY, which names `loop`, if the total exceeds the limit. */
  chargeGathered(bytes: number, loop: string): void {
    this.#gatheredBytes += bytes;
    const { tensorBytes = defaultTraceLimits.tensorBytes } = this.limits.trace;
    const allowed = Math.min(tensorBytes, this.limits.runBytes ?? tensorBytes);
    if (this.#gatheredBytes <= allowed) return;
    throw new InferyardError("OUT_OF_MEMORY", `${loop} gathers more than ${allowed} bytes in one run`, {
      remedy: "give smaller inputs: fewer or shorter ones at once",
    });
  }

  /** Throws LIMIT_EXCEEDED when a segment needs more bytes than a run may take, before any are allocated. */
  checkMemory(bytes: number): void {
    const { runBytes } = this.limits;
    if (runBytes === undefined || bytes <= runBytes) return;
    throw runTooLarge(bytes, runBytes);
  }

  /** Counts the steps of a segment that is about to run. Throws MODEL_UNSUPPORTED when the run executes too many. */
  countSegment(segment: ExecutedSegment): void {
    this.#segments.add(segment);
    this.#count(segment.steps.all);
  }

  /** Counts one loop iteration. Throws MODEL_UNSUPPORTED when a run executes too many steps, as in a loop that does not end. */
  countIteration(): void {
    this.#count(operationsPerIteration);
  }

  /** Counts an operation that the interpreter computed between two segments. */
  countInterpretedOp(): void {
    this.#interpretedOps += 1;
  }

  /** Number of executables that ran, and steps of all segments that ran, each segment counted once. */
  get steps(): StepCounts & { readonly executables: number } {
    const segments = [...this.#segments];
    return {
      executables: segments.filter(({ hasExecutable }) => hasExecutable).length,
      all: segments.reduce((sum, { steps }) => sum + steps.all, this.#interpretedOps),
      interpreted: segments.reduce((sum, { steps }) => sum + steps.interpreted, this.#interpretedOps),
    };
  }

  #count(operations: number): void {
    this.#operations += operations;
    if (this.#operations <= maxOperations) return;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model takes more than ${maxOperations} operations for one run`, {
      remedy: "check the model for a loop that does not end",
    });
  }
}
