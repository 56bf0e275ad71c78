/**
 * What compiling a constraint, and computing the tokens that may follow, may take. The counts are deterministic: the same constraint is refused on every machine. The
 * deadline is not, and comes on top for machines that are slow or busy.
 */
import { InferyardError, invalidInput } from "../../../contract/errors.ts";

/** Greatest amounts of one computation. */
export interface ConstraintLimits {
  /** States of automata, and parts of grammars. */
  readonly states: number;
  /** Estimated bytes that the computation allocates and keeps. */
  readonly bytes: number;
  /** Units of work, such as transitions of automata that are looked at. A million takes about 50 ms. */
  readonly steps: number;
  /** Elapsed time, in milliseconds. */
  readonly milliseconds: number;
}

/** Limits of compiling one constraint, unless others are given. */
export const defaultConstraintLimits: ConstraintLimits = {
  states: 500_000,
  bytes: 64 * 2 ** 20,
  steps: 5_000_000,
  milliseconds: 30_000,
};

/** Where in a constraint something is. */
export interface ConstraintPlace {
  /** The keyword of JSON Schema. */
  readonly keyword?: string;
  /** JSON pointer of the schema that has the keyword. */
  readonly pointer?: string;
  /** Line of a grammar, from 1. */
  readonly line?: number;
}

const units: Readonly<Record<keyof ConstraintLimits, string>> = {
  states: "states",
  bytes: "bytes of memory",
  steps: "steps of work",
  milliseconds: "milliseconds",
};

/** Steps between two looks at the clock. */
const clockSteps = 20_000;

/** The budget in force. Constraints are compiled synchronously, so that it belongs to one computation. */
let current: ConstraintBudget | undefined;

function runWith<Result>(budget: ConstraintBudget, compute: () => Result): Result {
  const before = current;
  current = budget;
  try {
    return compute();
  } finally {
    current = before;
  }
}

/** Counts the steps and bytes of one computation. */
export class ConstraintBudget {
  readonly limits: ConstraintLimits;
  readonly #clock: () => number;
  readonly #isCancelled: () => boolean;
  readonly #started: number;
  readonly #used: { states: number; bytes: number; steps: number } = { states: 0, bytes: 0, steps: 0 };
  #place: ConstraintPlace | undefined;
  #nextLook = clockSteps;

  /** `limits`: those that are left out are `defaultConstraintLimits`. `clock`: a time in milliseconds. `isCancelled`: whether nobody waits for the result. */
  constructor(
    limits: Partial<ConstraintLimits> = {},
    clock: () => number = () => performance.now(),
    isCancelled: () => boolean = () => false,
  ) {
    this.limits = { ...defaultConstraintLimits, ...limits };
    this.#clock = clock;
    this.#isCancelled = isCancelled;
    this.#started = clock();
  }

  /** Amount charged until now. */
  get used(): Readonly<Pick<ConstraintLimits, "states" | "bytes" | "steps">> {
    return { ...this.#used };
  }

  /** Runs `compute` and charges its work to this budget, and to no other. */
  run<Result>(compute: () => Result): Result {
    return runWith(this, compute);
  }

  /** Throws INPUT_INVALID once more than the limit is charged, or the deadline is over, and ABORTED once nobody waits for the result. */
  charge(unit: "states" | "bytes" | "steps", amount: number): void {
    this.#used[unit] += amount;
    if (this.#used[unit] > this.limits[unit]) throw this.#exceeded(unit, this.#used[unit]);
    if (unit === "steps" && this.#used.steps >= this.#nextLook) this.#look();
  }

  /** Runs `compute`. If it exceeds the budget, the error names this place, unless an inner one is known. */
  at<Result>(place: ConstraintPlace, compute: () => Result): Result {
    const before = this.#place;
    this.#place = place;
    const result = compute();
    this.#place = before; // an error keeps the innermost place
    return result;
  }

  #look(): void {
    this.#nextLook = this.#used.steps + clockSteps;
    if (this.#isCancelled()) throw new InferyardError("ABORTED", "nobody waits for the constraint any more");
    const elapsed = this.#clock() - this.#started;
    if (elapsed > this.limits.milliseconds) throw this.#exceeded("milliseconds", Math.round(elapsed));
  }

  #exceeded(unit: keyof ConstraintLimits, number: number): InferyardError {
    const place = this.#place;
    const limit = this.limits[unit];
    return invalidInput(
      `${getPlaceName(place)}: compiling it needs more than ${limit} ${units[unit]}, the limit of one constraint`,
      "simplify the constraint, or raise the limit",
      { refused: true, ...place, unit, number, limit },
    );
  }
}

/** How messages name a place in a constraint. */
export function getPlaceName({ keyword, pointer, line }: ConstraintPlace = {}): string {
  if (line !== undefined) return `line ${line} of the grammar`;
  if (pointer === undefined) return "the constraint";
  return keyword === undefined ? `the schema at "${pointer}"` : `the schema at "${pointer}", keyword "${keyword}"`;
}

/** Runs `compute` and charges its work to the budget in force; if there is none, to a new one with the default limits. */
export function withinBudget<Result>(compute: () => Result): Result {
  return current === undefined ? new ConstraintBudget().run(compute) : compute();
}

/** Bytes that are taken and collected in the time of one step. */
const bytesPerStep = 32;

/** Charges states, their bytes, and the work of taking and collecting these to the budget in force, if there is one. */
export function chargeStates(states: number, bytes: number): void {
  current?.charge("states", states);
  current?.charge("bytes", bytes);
  current?.charge("steps", Math.ceil(bytes / bytesPerStep));
}

/** Charges units of work to the budget in force, if there is one. */
export function chargeSteps(steps: number): void {
  current?.charge("steps", steps);
}

/** Runs `compute`. If it exceeds the budget in force, the error names this place. */
export function atPlace<Result>(place: ConstraintPlace, compute: () => Result): Result {
  return current === undefined ? compute() : current.at(place, compute);
}
