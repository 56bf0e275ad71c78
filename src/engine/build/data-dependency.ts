/** Data dependencies: what a run must provide before a trace can go on. They split a model into graph segments. */
import type { Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import type { TraceLimits } from "./trace-budget.ts";
import type { GraphSource } from "./graph-source.ts";
import type { TracedValue } from "./traced-value.ts";
import type { DataDependencyError } from "./data-dependency-error.ts";

/** Reason why a trace stops: a value that only a run of the graph built so far can compute, or an operation that runs between two graphs. */
export type DataDependency =
  /** The elements of a small tensor (a shape, an axis, a condition). The rest of the trace uses them as constants. */
  | { readonly kind: "value"; readonly value: Value }
  /** An operator or loop that runs outside of graphs, between two segments. */
  | { readonly kind: "interpreted-op"; readonly op: InterpretedOp };

/** An operation that is computed between two graph segments, because the shapes of its results depend on the elements of its inputs. */
export type InterpretedOp = InterpretedNode | InterpretedLoop;

/** An operator that the interpreter computes whole, such as NonZero: the shape of its result depends on a large tensor. */
export interface InterpretedNode {
  readonly kind: "node";
  /** Inputs of the operation; undefined for an optional input that the model leaves out. */
  readonly inputs: readonly (TracedValue | undefined)[];
  /** Evaluates the operator. `inputs` are those above with their elements; so are the results. Throws where `limits` are exceeded. */
  compute(inputs: readonly (TracedValue | undefined)[], limits: Partial<TraceLimits>): readonly TracedValue[];
}

/**
 * A loop whose trip count depends on data (ONNX Loop). The body is traced as a model of its own, so that iterations with equal shapes share one
 * executable.
 */
export interface InterpretedLoop {
  readonly kind: "loop";
  /** Names the loop in messages. */
  readonly name: string;
  /**
   * One iteration. Inputs: "0" the iteration number, "1" the condition, "2", ... the loop-carried values, and captured values under
   * `captureName(name)`. Outputs: "0" the condition, "1", ... the loop-carried values, then the scan outputs.
   */
  readonly body: GraphSource;
  /** Values from outside of the body that it reads and that only a run provides, by their name in the model. */
  readonly captures: ReadonlyMap<string, TracedValue>;
  /** Maximum number of iterations, an integer scalar. Undefined: no limit. */
  readonly maxIterations: Value | undefined;
  /** Whether the first iteration runs, a bool scalar. Undefined: true. */
  readonly initialCondition: Value | undefined;
  /** Loop-carried values before the first iteration. */
  readonly carried: readonly TracedValue[];
  /** Number of scan outputs: each iteration gives one row of each, and the rows are stacked along a new first axis. */
  readonly scanOutputCount: number;
  /** Scan output `row` of a loop without iterations. Throws MODEL_UNSUPPORTED if the model does not declare its type. */
  emptyScanOutput(row: number): Literal;
}

/** The name of the input through which a loop body receives the value `name` of the graph around it. */
export function captureName(name: string): string {
  return `captured ${name}`;
}

/** The dependency that the error states; undefined if nothing can resolve it and the model is unsupported. */
export function getDependency({ dependency }: DataDependencyError): DataDependency | undefined {
  return dependency as DataDependency | undefined; // only operators create these errors, and every `op` of theirs is an InterpretedOp
}
