/** The end of a trace that cannot go on by itself. */
import type { Value } from "../ir/graph.ts";
import type { Traced } from "./traced-value.ts";

/** Elements of a small tensor, or work of the host: `questionOf` tells of which kind. */
export type Asked = { readonly kind: "value"; readonly value: Value } | { readonly kind: "host"; readonly work: object };

/** Thrown where an operator must know a value that only a run tells. */
export class ValueUnknown extends Error {
  /** Absent where elements are wanted that are too many to be constants: only the operator as a whole can be computed then. */
  readonly question: Asked | undefined;
  /** What is not known, for messages. */
  readonly what: string;
  /** What the rest of the trace may use, as far as names tell. */
  readonly needed: Set<Traced> = new Set();

  constructor(what: string, question: Asked | undefined) {
    super(`${what} is only known while the model runs`);
    this.question = question;
    this.what = what;
  }
}
