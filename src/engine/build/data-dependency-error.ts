/** The end of a trace that cannot go on by itself. */
import type { Value } from "../ir/graph.ts";
import type { TracedValue } from "./traced-value.ts";

/** Elements of a small tensor, or work of the host: `questionOf` tells of which kind. */
export type UntypedDependency =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "interpreted-op"; readonly work: object };

/** Thrown where an operator must know a value that only a run tells. */
export class DataDependencyError extends Error {
  /** Absent where elements are wanted that are too many to be constants: only the operator as a whole can be computed then. */
  readonly dependency: UntypedDependency | undefined;
  /** What is not known, for messages. */
  readonly what: string;
  /** What the rest of the trace may use, as far as names tell. */
  readonly liveValues: Set<TracedValue> = new Set();

  constructor(what: string, question: UntypedDependency | undefined) {
    super(`${what} is only known while the model runs`);
    this.dependency = question;
    this.what = what;
  }
}
