/**
 * Limits on what tracing one model may cost: operations, computing, memory and time. Everything that reads, traces, folds, optimizes or plans a model
 * charges a budget before it computes or allocates, so that no file, however it is written, can exceed them.
 */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";

/** The limits of one trace. Limits that depend on the size of a model grow with its weights: see `allowancePerWeightElement`. */
export interface TraceLimits {
  /** Largest tensor in bytes. A larger one throws OUT_OF_MEMORY before it is allocated. */
  readonly tensorBytes: number;
  /** Maximum number of nodes and loop iterations in one trace. */
  readonly operations: number;
  /** Largest tensor, in elements, that constant folding computes. A larger one is computed by each run of the graph. */
  readonly foldedElements: number;
  /** Most scalar operations of a matrix product, convolution, pooling or interpreted function that is folded; a larger one is left to the runs. */
  readonly foldedWork: number;
  /** Most scalar operations of all folds in one trace: see `estimatedWork`. */
  readonly work: number;
  /** Most memory in bytes that one trace may hold: folded tensors, nodes, loop outputs and sequence items. Setting `maxTraceMemory`. */
  readonly bytes: number;
  /** Most time in milliseconds that one trace may take. Setting `maxTraceTime`. */
  readonly milliseconds: number;
  /** Number of elements of the model's weights, from which its allowance is computed. */
  readonly weightElements: number;
  /** Cancels the trace; checked between operations. */
  readonly signal?: AbortSignal;
}

/** The trace limits that hold unless the settings of the model state others. */
export const defaultTraceLimits: TraceLimits = {
  tensorBytes: 2 ** 31,
  operations: 1_000_000,
  foldedElements: 2 ** 22,
  foldedWork: 2 ** 20,
  work: 2 ** 33,
  bytes: 2 ** 29,
  milliseconds: 30_000,
  weightElements: 0,
};

/**
 * Amount that each element of the weights adds to the limits, because folding weights (dequantization, transposition, widening) costs in proportion to them.
 */
export const allowancePerWeightElement: { readonly bytes: number; readonly milliseconds: number; readonly work: number } = {
  bytes: 16,
  milliseconds: 1 / 8192,
  work: 64,
};

/** Upper bound of `foldedElements` in elements, however many weights the model has. */
const maxFoldedElements = 2 ** 27;
/** Number of operations between two checks of the clock. */
const operationsPerClockCheck = 64;
/** Most scalar operations of constant folding between two checks of the clock, and what each charge counts as at least. */
const workPerClockCheck = 2 ** 16;
const minWorkOfCharge = 2 ** 10;
/** Estimated bytes of the objects of a trace: a logged step, a graph node, a literal without its elements, an item of a sequence. */
export const recordOverheadBytes: {
  readonly step: number;
  readonly node: number;
  readonly literal: number;
  readonly item: number;
} = {
  step: 1024,
  node: 1024,
  literal: 256,
  item: 16,
};

/** The charges of one step, a part of a trace whose temporary memory is released when it ends. */
interface StepCharges {
  /** Bytes by the object that holds them. */
  readonly byOwner: Map<object, number>;
  /** Bytes that are released with the step in any case. */
  untracked: number;
}

/** The running costs of one trace. A method throws MODEL_UNSUPPORTED, naming the limit and the current operator, when a limit is exceeded. */
export class TraceBudget {
  /** The limits, before the allowance for weights. */
  readonly limits: TraceLimits;
  /** The operator that is traced now, for messages. */
  currentOperator: string = "";
  readonly #started: number;
  readonly #allowed: { readonly bytes: number; readonly milliseconds: number; readonly work: number };
  readonly #sharedOwners = new Set<object>();
  readonly #frames: StepCharges[] = [{ byOwner: new Map(), untracked: 0 }];
  #held = 0;
  #shared = 0;
  #operations = 0;
  #work = 0;
  #workSinceClockCheck = 0;

  constructor(limits: Partial<TraceLimits> = {}) {
    this.limits = { ...defaultTraceLimits, ...limits };
    const { bytes, milliseconds, work, weightElements } = this.limits;
    this.#allowed = {
      bytes: bytes + weightElements * allowancePerWeightElement.bytes,
      milliseconds: milliseconds + weightElements * allowancePerWeightElement.milliseconds,
      work: work + weightElements * allowancePerWeightElement.work,
    };
    this.#started = performance.now();
  }

  /** Bytes charged and not released. */
  get heldBytes(): number {
    return this.#held;
  }

  /** Held bytes, excluding bytes shared by all traces of the model. */
  get ownBytes(): number {
    return this.#held - this.#shared;
  }

  /** Most bytes that the trace may hold, the allowance for weights included. */
  get allowedBytes(): number {
    return this.#allowed.bytes;
  }

  /** Largest tensor, in elements, that is folded into a graph: `limits.foldedElements`, or the number of weight elements if that is larger. */
  get foldedElements(): number {
    const { foldedElements, weightElements } = this.limits;
    return Math.max(foldedElements, Math.min(weightElements, maxFoldedElements));
  }

  /** Charges one node or loop iteration, so that every loop ends at a limit. Checks the clock now and then; throws ABORTED if the signal is set. */
  countOperation(): void {
    this.#operations += 1;
    const { operations, signal } = this.limits;
    throwIfAborted(signal);
    if (this.#operations % operationsPerClockCheck === 0) this.checkTime();
    if (this.#operations <= operations) return;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model takes more than ${operations} operations for one run${this.#at}`, {
      remedy: "look for a loop in it that does not end",
      data: { limit: "operations", allowed: operations },
    });
  }

  /** Whether the allowed time has passed. */
  get isExpired(): boolean {
    return performance.now() - this.#started > this.#allowed.milliseconds;
  }

  /** Throws MODEL_UNSUPPORTED if the allowed time has passed. */
  checkTime(): void {
    const { milliseconds } = this.#allowed;
    if (!this.isExpired) return;
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `tracing the model takes longer than maxTraceTime allows, ${Math.ceil(milliseconds)} milliseconds${this.#at}`,
      {
        remedy: "set maxTraceTime higher if the model is trusted, or run it on another backend",
        data: { limit: "maxTraceTime", allowed: milliseconds },
      },
    );
  }

  /** Charges scalar operations that are about to be computed. */
  chargeWork(steps: number): void {
    this.#work += steps;
    this.#workSinceClockCheck += Math.max(steps, minWorkOfCharge); // reading the clock costs more than a small fold
    if (this.#workSinceClockCheck >= workPerClockCheck) {
      this.#workSinceClockCheck = 0;
      this.checkTime();
    }
    if (this.#work <= this.#allowed.work) return;
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `tracing the model takes more than ${this.#allowed.work} scalar operations of constant folding${this.#at}`,
      { remedy: "run the model on another backend", data: { limit: "work", allowed: this.#allowed.work } },
    );
  }

  /** Throws if `bytes` more than the held ones exceed the limit. Called before they are allocated; charges nothing. `what` names them in the message. */
  requireBytes(bytes: number, what: string): void {
    if (this.#held + bytes <= this.#allowed.bytes) return;
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `tracing the model holds ${this.#held} bytes and needs ${bytes} more for ${what}${this.#at}, and maxTraceMemory allows ${this.#allowed.bytes}`,
      {
        remedy: "set maxTraceMemory higher if the model is trusted, give smaller inputs, or run it on another backend",
        data: { limit: "maxTraceMemory", allowed: this.#allowed.bytes },
      },
    );
  }

  /** Charges bytes that are released when the current step ends. */
  chargeStep(bytes: number, what: string): void {
    this.requireBytes(bytes, what);
    this.#held += bytes;
    this.#top.untracked += bytes;
  }

  /** Charges bytes that `owner` holds, once per owner. They are released when the current step ends, unless `endStep` or `retain` names the owner. */
  chargeOwner(owner: object, bytes: number, what: string): void {
    if (this.#frames.some(({ byOwner }) => byOwner.has(owner))) return;
    this.requireBytes(bytes, what);
    this.#held += bytes;
    this.#top.byOwner.set(owner, bytes);
  }

  /** Keeps the bytes of `owner` charged until the trace is dropped. */
  retain(owner: object): void {
    const bytes = this.#taken(owner);
    if (bytes !== undefined) this.#frames[0]?.byOwner.set(owner, bytes);
  }

  /** Charges bytes of `owner` that all traces of the model share, once per owner. They are never released. */
  share(owner: object, bytes: number, what: string): void {
    if (this.#sharedOwners.has(owner)) return;
    this.requireBytes(bytes, what);
    this.#sharedOwners.add(owner);
    this.#held += bytes;
    this.#shared += bytes;
  }

  /** Begins a step inside the current one. */
  beginStep(): void {
    this.#frames.push({ byOwner: new Map(), untracked: 0 });
  }

  /** Ends the current step. Charges of the owners that `kept` yields pass to the step around it; all others are released. */
  endStep(kept: () => Iterable<object>): void {
    this.requireBytes(recordOverheadBytes.step, "the record of a step");
    const frame = this.#pop();
    this.#held += recordOverheadBytes.step - frame.untracked;
    this.#top.untracked += recordOverheadBytes.step;
    if (frame.byOwner.size === 0) return;
    for (const owner of kept()) {
      const bytes = frame.byOwner.get(owner);
      if (bytes === undefined) continue;
      frame.byOwner.delete(owner);
      this.#top.byOwner.set(owner, bytes);
    }
    for (const bytes of frame.byOwner.values()) this.#held -= bytes;
  }

  #taken(owner: object): number | undefined {
    for (let depth = this.#frames.length - 1; depth >= 0; depth -= 1) {
      const owned = this.#frames[depth]?.byOwner;
      const bytes = owned?.get(owner);
      if (bytes === undefined) continue;
      owned?.delete(owner);
      return bytes;
    }
    return undefined;
  }

  get #top(): StepCharges {
    return this.#frames.at(-1) as StepCharges; // the outermost step never ends
  }

  #pop(): StepCharges {
    const frame = this.#frames.length > 1 ? this.#frames.pop() : undefined;
    if (frame === undefined) throw new InferyardError("CONTRACT_VIOLATION", "a trace step ended that had not begun");
    return frame;
  }

  get #at(): string {
    return this.currentOperator === "" ? "" : `, at ${this.currentOperator}`;
  }
}
