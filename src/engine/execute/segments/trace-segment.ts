/** One stage of a model: what is computed between one thing that must be asked and the next, as a graph. */
import { InferyardError } from "../../../errors.ts";
import type { Graph, GraphNode, NamedValue, Value } from "../../ir/graph.ts";
import type { ConstantFolder } from "../../interpret/evaluate.ts";
import type { TraceBudget } from "../../build/trace-budget.ts";
import { Builder } from "../../build/builder.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import { type DataDependency, dependencyOf } from "../../build/data-dependency.ts";
import { DataDependencyError } from "../../build/data-dependency-error.ts";
import type { TraceLog } from "../../build/trace-log.ts";
import { type TracedValue, tensorsIn } from "../../build/traced-value.ts";

/** Where a stage starts. */
export interface SegmentStart {
  /** What the model is given, without elements. */
  readonly inputs: ReadonlyMap<string, TracedValue>;
  /** What was traced before, up to what was asked last, with its answer. */
  readonly log: TraceLog;
  /** Values whose elements are there when the stage runs. */
  readonly liveIn: ReadonlySet<Value>;
  /** Those among them that cannot be computed again, and stay until the run ends. */
  readonly pinned: ReadonlySet<Value>;
  /** The way through the model's branches that leads here: the conditions that were asked for. */
  readonly branchPath: string;
  /** What the host computed just before, without elements. */
  readonly interpretedOutputs?: readonly TracedValue[];
}

export interface TracedSegment extends SegmentStart {
  /** Inputs and outputs are named by their places in `takes` and `gives`. */
  readonly graph: Graph;
  readonly graphInputs: readonly Value[];
  readonly graphOutputs: readonly Value[];
  /** What of all that is there then is needed afterwards. */
  readonly liveOut: ReadonlySet<Value>;
  /** Bytes that its trace holds beside the model's own tensors: folded tensors, nodes. */
  readonly bytes: number;
  readonly terminator: { readonly kind: "end"; readonly outputs: ReadonlyMap<string, TracedValue> } | DataDependency;
}

/** Traces from the start until something must be asked. MODEL_UNSUPPORTED where nobody could answer. */
export function traceSegment(source: GraphSource, start: SegmentStart, fold: ConstantFolder, budget: TraceBudget): TracedSegment {
  const { log } = start;
  const before = log.bytes;
  const { after: terminator, needed } = traceUntilDependency(source, start, fold, budget);
  log.bytes = before + budget.ownBytes;
  const fresh = log.nodes.filter(isNondeterministic).flatMap(({ outputs }) => outputs); // drawn once in a run
  const wanted = new Set([...needed, ...fresh].filter(({ constant }) => constant === undefined));
  const pinned = new Set([...start.pinned, ...fresh]);
  const { nodes, takes: graphInputs } = sliceGraph(log.nodes, wanted, start.liveIn);
  const graphOutputs = [...wanted].filter((value) => !start.liveIn.has(value));
  const liveOut = new Set([...graphOutputs, ...[...start.liveIn].filter((value) => wanted.has(value) || pinned.has(value))]);
  const graph: Graph = { inputs: graphInputs.map(numbered), nodes, outputs: graphOutputs.map(numbered) };
  return { ...start, pinned, graph, graphInputs, graphOutputs, liveOut, terminator, bytes: budget.ownBytes };
}

/** What comes after the stage, and what it or anything behind it needs. */
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
    const question = dependencyOf(error);
    if (question === undefined) throw new InferyardError("MODEL_UNSUPPORTED", message, { cause: error });
    const later = [...log.liveValues, ...[...liveValues].flatMap(tensorsIn)];
    // What was asked for before is a constant by now.
    return { after: question, needed: [...later.filter((value) => log.resolved(value) === undefined), ...usedBy(question)] };
  }
}

function usedBy(question: DataDependency): readonly Value[] {
  if (question.kind === "value") return [question.value];
  const { op } = question;
  const used = op.kind === "node" ? op.inputs : [op.maxIterations, op.initialCondition, ...op.carried, ...op.captures.values()];
  return used.flatMap((each) => (each === undefined ? [] : tensorsIn(each)));
}

function isNondeterministic({ operation }: GraphNode): boolean {
  return operation.kind === "call" && operation.nondeterministic === true;
}

/** The nodes that compute these values from what is available, in order, and what they take of it. */
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
