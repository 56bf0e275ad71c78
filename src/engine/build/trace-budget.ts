/**
 * What tracing one program may cost: operations, steps of computing, bytes held and time. Everything that imports, traces, folds, optimizes or
 * plans a model charges one of these before it computes or allocates, so that no file, however written, takes more than its settings allow.
 */
import { InferyardError, throwIfAborted } from "../../errors.ts";

export interface TraceLimits {
  /** Bytes of one tensor; a larger one is refused before it is made. */
  readonly tensorBytes: number;
  /** Nodes and iterations of loops in one trace. */
  readonly operations: number;
  /** Elements of one tensor that is folded. A larger one is left to the program, or refused where there is none. */
  readonly foldedElements: number;
  /** Steps of one matrix product, convolution or host function that is folded; a longer one is left to the program. */
  readonly foldedWork: number;
  /** Steps of all folds in one trace: products of a matrix product, elements elsewhere. */
  readonly work: number;
  /** Bytes of memory one trace may hold: folded tensors, nodes, rows and items that are gathered. Setting `maxTraceMemory`. */
  readonly bytes: number;
  /** Milliseconds one trace may take. Setting `maxTraceTime`. */
  readonly milliseconds: number;
  /** Elements of the model's own tensors: see `perWeightElement`. */
  readonly weightElements: number;
  /** Checked between operations. */
  readonly signal?: AbortSignal;
}

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

/** Folding the weights of a model (dequantize, transpose, widen) costs in proportion to them, so each element of a weight adds to what is allowed. */
export const allowancePerWeightElement: { readonly bytes: number; readonly milliseconds: number; readonly work: number } = {
  bytes: 16,
  milliseconds: 1 / 8192,
  work: 64,
};

/** Elements of one folded tensor, however many weights the model has. */
const maxFoldedElements = 2 ** 27;
/** Operations between two looks at the clock. */
const operationsPerClockCheck = 64;
/** Bytes of the record of a step, a node of the graph, a literal, beside its elements; and of an item in a sequence. */
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

/** What one step of a trace has charged so far. */
interface StepCharges {
  /** Bytes by the identity of what holds them. */
  readonly byOwner: Map<object, number>;
  /** Bytes that nothing outlives the step with. */
  untracked: number;
}

export class TraceBudget {
  readonly limits: TraceLimits;
  /** What is traced now, for messages. */
  currentOperator: string = "";
  readonly #started: number;
  readonly #allowed: { readonly bytes: number; readonly milliseconds: number; readonly work: number };
  readonly #sharedOwners = new Set<object>();
  readonly #frames: StepCharges[] = [{ byOwner: new Map(), untracked: 0 }];
  #held = 0;
  #shared = 0;
  #operations = 0;
  #work = 0;

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

  /** Those among them that belong to this trace alone. */
  get ownBytes(): number {
    return this.#held - this.#shared;
  }

  /** Bytes that may be held. */
  get allowedBytes(): number {
    return this.#allowed.bytes;
  }

  /** Elements of one tensor that may be folded into a program: as many as the model's own tensors have, and a few in any case. */
  get foldedElements(): number {
    const { foldedElements, weightElements } = this.limits;
    return Math.max(foldedElements, Math.min(weightElements, maxFoldedElements));
  }

  /** One operation, or one iteration that builds none: whatever does not end runs into a limit here. */
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

  /** Whether the time that is allowed has passed. */
  get isExpired(): boolean {
    return performance.now() - this.#started > this.#allowed.milliseconds;
  }

  /** MODEL_UNSUPPORTED where the trace has taken longer than it may. */
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

  /** Steps that are about to be computed. */
  chargeWork(steps: number): void {
    this.#work += steps;
    this.checkTime();
    if (this.#work <= this.#allowed.work) return;
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `tracing the model takes more than ${this.#allowed.work} steps of computing${this.#at}`,
      { remedy: "run the model on another backend", data: { limit: "work", allowed: this.#allowed.work } },
    );
  }

  /** Refuses before memory is allocated that would not fit beside what is held. */
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

  /** Bytes that are released with the current step. */
  chargeStep(bytes: number, what: string): void {
    this.requireBytes(bytes, what);
    this.#held += bytes;
    this.#top.untracked += bytes;
  }

  /** Bytes that `owner` holds. They are released with the current step, unless `end` or `retain` names the owner. */
  chargeOwner(owner: object, bytes: number, what: string): void {
    if (this.#frames.some(({ byOwner }) => byOwner.has(owner))) return;
    this.requireBytes(bytes, what);
    this.#held += bytes;
    this.#top.byOwner.set(owner, bytes);
  }

  /** What `owner` holds stays until the trace is dropped. */
  retain(owner: object): void {
    const bytes = this.#taken(owner);
    if (bytes !== undefined) this.#frames[0]?.byOwner.set(owner, bytes);
  }

  /** What `owner` holds is kept for all traces of the model. */
  share(owner: object, bytes: number, what: string): void {
    if (this.#sharedOwners.has(owner)) return;
    this.requireBytes(bytes, what);
    this.#sharedOwners.add(owner);
    this.#held += bytes;
    this.#shared += bytes;
  }

  /** Begins a step, which is a part of the one before. */
  beginStep(): void {
    this.#frames.push({ byOwner: new Map(), untracked: 0 });
  }

  /** Ends the step that began last; only what `kept` yields of its charges is held on, by the step around it. A step that fails ends the trace. */
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
    return this.#frames.at(-1) as StepCharges; // the first one is never taken off
  }

  #pop(): StepCharges {
    const frame = this.#frames.length > 1 ? this.#frames.pop() : undefined;
    if (frame === undefined) throw new InferyardError("CONTRACT_VIOLATION", "a step of a trace ended that had not begun");
    return frame;
  }

  get #at(): string {
    return this.currentOperator === "" ? "" : `, at ${this.currentOperator}`;
  }
}
