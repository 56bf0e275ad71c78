/** The error that ends a trace at a data dependency: an operator needs elements that are known only while the model runs. */
import type { Value } from "../ir/graph.ts";
import type { TracedValue } from "./traced-value.ts";

/**
 * Value that a trace needs before it can continue. `DataDependency` in data-dependency.ts is the same with the type of `op`, which cannot be declared here
 * because that file imports the builder, which throws this error.
 */
export type UntypedDependency =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "interpreted-op"; readonly op: object };

/** Thrown by `Builder.known` and `Builder.knownData` for a tensor whose elements only a run provides. */
export class DataDependencyError extends Error {
  /**
   * The value that is needed; undefined if the tensor has too many elements to become a constant of the graph: then only the whole operator can be interpreted.
   */
  readonly dependency: UntypedDependency | undefined;
  /** Names the tensor in messages, for example "input 1 of Reshape "r"". */
  readonly what: string;
  /** The values that the untraced rest of the model may still read. Filled while the error passes through the graphs that are being traced. */
  readonly liveValues: Set<TracedValue> = new Set();

  constructor(what: string, dependency: UntypedDependency | undefined) {
    super(`${what} is only known while the model runs`);
    this.dependency = dependency;
    this.what = what;
  }
}
