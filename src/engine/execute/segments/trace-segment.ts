/** Traces one graph segment: what a model computes between two data dependencies. */
import { InferyardError } from "../../../contract/errors.ts";
import type { Graph, GraphNode, NamedValue, Value } from "../../ir/graph.ts";
import type { ConstantFolder } from "../../interpret/evaluate.ts";
import type { TraceBudget } from "../../build/trace-budget.ts";
import { Builder } from "../../build/builder.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import { type DataDependency, getDependency } from "../../build/data-dependency.ts";
import { DataDependencyError } from "../../build/data-dependency-error.ts";
import type { TraceLog } from "../../build/trace-log.ts";
import { type TracedValue, tensorsIn } from "../../build/traced-value.ts";

/** The start of a segment: the model's inputs, the log of the trace that it continues, and the values that earlier segments computed. */
export interface SegmentStart {
  /** The model's inputs, types only. */
  readonly inputs: ReadonlyMap<string, TracedValue>;
  /** The log of the trace, up to and including the resolved data dependency. */
  readonly log: TraceLog;
  /** Values whose elements are available when the segment runs. */
  readonly liveIn: ReadonlySet<Value>;
  /** Values among `liveIn` that cannot be recomputed and stay live until the run ends. */
  readonly pinned: ReadonlySet<Value>;
  /** The branch path of the segment: the values of the conditions on which the trace has depended. */
  readonly branchPath: string;
  /** The outputs of the interpreted operation that precedes the segment, types only. */
  readonly interpretedOutputs?: readonly TracedValue[];
}

/** The graph of one segment, the data dependency it ends at, and the values it passes to later segments. */
export interface TracedSegment extends SegmentStart {
  /** The computation of the segment. Inputs and outputs are named by their indices in `graphInputs` and `graphOutputs`. */
  readonly graph: Graph;
  /** Live values that the graph reads. */
  readonly graphInputs: readonly Value[];
  /** Values that the graph computes for later segments. */
  readonly graphOutputs: readonly Value[];
  /** Values available at the end of the segment that later segments need. */
  readonly liveOut: ReadonlySet<Value>;
  /** Bytes that the trace holds besides the tensors of the model: folded constants and nodes. */
  readonly bytes: number;
  /** The end of the segment: the end of the model with its outputs, or a data dependency. */
  readonly terminator: { readonly kind: "end"; readonly outputs: ReadonlyMap<string, TracedValue> } | DataDependency;
}

/** Traces the model from `start` to the next data dependency or to the end of the model. Throws MODEL_UNSUPPORTED if a data dependency cannot be resolved. */
export function traceSegment(source: GraphSource, start: SegmentStart, fold: ConstantFolder, budget: TraceBudget): TracedSegment {
  const { log } = start;
  const before = log.bytes;
  const { after: terminator, needed } = traceUntilDependency(source, start, fold, budget);
  log.bytes = before + budget.ownBytes;
  const fresh = log.nodes.filter(isNondeterministic).flatMap(({ outputs }) => outputs); // computed once per run, so their values are kept
  const wanted = new Set([...needed, ...fresh].filter(({ constant }) => constant === undefined));
  const pinned = new Set([...start.pinned, ...fresh]);
  const { nodes, takes: graphInputs } = sliceGraph(log.nodes, wanted, start.liveIn);
  const graphOutputs = [...wanted].filter((value) => !start.liveIn.has(value));
  const liveOut = new Set([...graphOutputs, ...[...start.liveIn].filter((value) => wanted.has(value) || pinned.has(value))]);
  const graph: Graph = { inputs: graphInputs.map(numbered), nodes, outputs: graphOutputs.map(numbered) };
  return { ...start, pinned, graph, graphInputs, graphOutputs, liveOut, terminator, bytes: budget.ownBytes };
}

/** Traces to the next data dependency or to the end. Returns the terminator of the segment and the values that the rest of the model needs. */
function traceUntilDependency(
  source: GraphSource,
  { inputs, log }: SegmentStart,
  fold: ConstantFolder,
  budget: TraceBudget,
): { readonly after: TracedSegment["terminator"]; readonly needed: readonly Value[] } {
  try {
    const outputs = source.trace(inputs, new Builder(budget, "graph", fold, log));
    return { after: { kind: "end", outputs }, needed: [...outputs.values()].flatMap(tensorsIn) };
  } catch (error) {
    if (!(error instanceof DataDependencyError)) throw error;
    const { message, liveValues } = error;
    const dependency = getDependency(error);
    if (dependency === undefined) throw new InferyardError("MODEL_UNSUPPORTED", message, { cause: error });
    const later = [...log.liveValues, ...[...liveValues].flatMap(tensorsIn)];
    // Values resolved earlier are constants by now.
    return { after: dependency, needed: [...later.filter((value) => log.resolved(value) === undefined), ...usedBy(dependency)] };
  }
}

function usedBy(dependency: DataDependency): readonly Value[] {
  if (dependency.kind === "value") return [dependency.value];
  const { op } = dependency;
  const used = op.kind === "node" ? op.inputs : [op.maxIterations, op.initialCondition, ...op.carried, ...op.captures.values()];
  return used.flatMap((each) => (each === undefined ? [] : tensorsIn(each)));
}

function isNondeterministic({ operation }: GraphNode): boolean {
  return operation.kind === "call" && operation.nondeterministic === true;
}

/** Returns the nodes that compute the wanted values from available ones, in execution order, and the available values that these nodes read. */
function sliceGraph(
  nodes: readonly GraphNode[],
  wanted: ReadonlySet<Value>,
  available: ReadonlySet<Value>,
): { readonly nodes: readonly GraphNode[]; readonly takes: readonly Value[] } {
  const missing = new Set([...wanted].filter((value) => !available.has(value)));
  const takes = new Set<Value>();
  const kept = nodes.toReversed().filter(({ inputs, outputs }) => {
    if (!outputs.some((output) => missing.has(output))) return false;
    for (const input of inputs) {
      if (input.constant !== undefined) continue;
      (available.has(input) ? takes : missing).add(input);
    }
    return true;
  });
  return { nodes: kept.reverse(), takes: [...takes] };
}

function numbered(value: Value, place: number): NamedValue {
  return { name: String(place), value };
}
