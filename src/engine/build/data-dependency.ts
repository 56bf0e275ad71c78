/** What must be found out before a trace can go on: a value that only a run tells, or what the host computes between two programs. */
import type { Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import type { TraceLimits } from "./trace-budget.ts";
import type { GraphSource } from "./graph-source.ts";
import type { TracedValue } from "./traced-value.ts";
import type { DataDependencyError } from "./data-dependency-error.ts";

export type DataDependency =
  /** Elements of a small tensor: a shape, an axis, a condition. They are constants of what is traced after. */
  { readonly kind: "value"; readonly value: Value } | { readonly kind: "interpreted-op"; readonly work: InterpretedOp };

/** What is computed outside of programs, because its results have shapes that only their computation tells. */
export type InterpretedOp = InterpretedNode | InterpretedLoop;

/** An operator whose result depends in its shape on large values: the interpreter computes it as a whole. */
export interface InterpretedNode {
  readonly kind: "node";
  readonly inputs: readonly (TracedValue | undefined)[];
  /** Takes the inputs with all their elements, and gives the outputs with theirs. */
  compute(inputs: readonly (TracedValue | undefined)[], limits: Partial<TraceLimits>): readonly TracedValue[];
}

/** The rounds of a loop whose end depends on values. Its body is a model of its own, so rounds of equal shapes share their programs. */
export interface InterpretedLoop {
  readonly kind: "loop";
  /** For messages. */
  readonly name: string;
  /** Gives the condition and what is carried on, then the rows of this round, all by their places: "0", "1", ... Takes the round, the condition and what is carried likewise, and what is around it by `aroundName`. */
  readonly body: GraphSource;
  /** Names of what is around the body, is used in it and only known in a run. */
  readonly captures: ReadonlyMap<string, TracedValue>;
  /** How many rounds there are at most; without an end where absent. A scalar. */
  readonly maxIterations: Value | undefined;
  /** Whether there is a first round: a scalar, of bool. True where absent. */
  readonly initialCondition: Value | undefined;
  readonly carried: readonly TracedValue[];
  /** How many rows a round gives. Those of all rounds are stacked. */
  readonly scanOutputCount: number;
  /** What is stacked where there is no round. Error where that cannot be told. */
  emptyScanOutput(row: number): Literal;
}

export function captureName(name: string): string {
  return `captured ${name}`;
}

/** What was asked where the error says so. */
export function dependencyOf({ dependency }: DataDependencyError): DataDependency | undefined {
  return dependency as DataDependency | undefined; // nothing but operators asks, and they state work of these kinds
}
