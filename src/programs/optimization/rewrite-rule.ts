/** What a rewrite rule is. */
import type { OnnxNode } from "../../engine/onnx/onnx-model.ts";
import type { GraphEdit, OperatorGraph } from "./operator-graph.ts";

/** A place in a graph where a rule applies. */
export interface RewriteMatch {
  /** The value that the rewrite is named after: the output of the last node that it replaces. */
  readonly site: string;
  /** The nodes whose meaning the rule relies on. What they read is arbitrary. */
  readonly matched: readonly OnnxNode[];
  /** Makes the changes. */
  rewrite(edit: GraphEdit): void;
}

/** An algebraic identity as a rewrite of graphs. That it holds is proved for each place, not assumed. */
export interface RewriteRule {
  /** Lower-case words with hyphens. */
  readonly name: string;
  /** The identity, for people. */
  readonly identity: string;
  /** The places where the rule applies, in the order of the graph. */
  matches(graph: OperatorGraph): Iterable<RewriteMatch>;
}
