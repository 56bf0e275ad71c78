/** What must be found out before a trace can go on: a value that only a run tells, or what the host computes between two programs. */
import type { Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import type { TraceLimits } from "./trace-budget.ts";
import type { GraphSource } from "./graph-source.ts";
import type { Traced } from "./traced-value.ts";
import type { ValueUnknown } from "./data-dependency-error.ts";

export type Question =
  /** Elements of a small tensor: a shape, an axis, a condition. They are constants of what is traced after. */
  { readonly kind: "value"; readonly value: Value } | { readonly kind: "host"; readonly work: HostWork };

/** What is computed outside of programs, because its results have shapes that only their computation tells. */
export type HostWork = HostNode | HostLoop;

/** An operator whose result depends in its shape on large values: the interpreter computes it as a whole. */
export interface HostNode {
  readonly kind: "node";
  readonly inputs: readonly (Traced | undefined)[];
  /** Takes the inputs with all their elements, and gives the outputs with theirs. */
  compute(inputs: readonly (Traced | undefined)[], limits: Partial<TraceLimits>): readonly Traced[];
}

/** The rounds of a loop whose end depends on values. Its body is a model of its own, so rounds of equal shapes share their programs. */
export interface HostLoop {
  readonly kind: "loop";
  /** For messages. */
  readonly name: string;
  /** Gives the condition and what is carried on, then the rows of this round, all by their places: "0", "1", ... Takes the round, the condition and what is carried likewise, and what is around it by `aroundName`. */
  readonly body: GraphSource;
  /** Names of what is around the body, is used in it and only known in a run. */
  readonly around: ReadonlyMap<string, Traced>;
  /** How many rounds there are at most; without an end where absent. A scalar. */
  readonly most: Value | undefined;
  /** Whether there is a first round: a scalar, of bool. True where absent. */
  readonly going: Value | undefined;
  readonly carried: readonly Traced[];
  /** How many rows a round gives. Those of all rounds are stacked. */
  readonly rows: number;
  /** What is stacked where there is no round. Error where that cannot be told. */
  none(row: number): Literal;
}

export function aroundName(name: string): string {
  return `around ${name}`;
}

/** What was asked where the error says so. */
export function questionOf({ question }: ValueUnknown): Question | undefined {
  return question as Question | undefined; // nothing but operators asks, and they state work of these kinds
}
