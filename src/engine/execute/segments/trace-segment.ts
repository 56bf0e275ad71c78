/** One stage of a model: what is computed between one thing that must be asked and the next, as a graph. */
import { InferyardError } from "../../../errors.ts";
import type { Graph, GraphNode, NamedValue, Value } from "../../ir/graph.ts";
import type { Fold } from "../../interpret/evaluate.ts";
import type { Budget } from "../../build/trace-budget.ts";
import { Builder } from "../../build/builder.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import { type Question, questionOf } from "../../build/data-dependency.ts";
import { ValueUnknown } from "../../build/data-dependency-error.ts";
import type { TraceLog } from "../../build/trace-log.ts";
import { type Traced, tensorsIn } from "../../build/traced-value.ts";

/** Where a stage starts. */
export interface StageStart {
  /** What the model is given, without elements. */
  readonly inputs: ReadonlyMap<string, Traced>;
  /** What was traced before, up to what was asked last, with its answer. */
  readonly log: TraceLog;
  /** Values whose elements are there when the stage runs. */
  readonly available: ReadonlySet<Value>;
  /** Those among them that cannot be computed again, and stay until the run ends. */
  readonly roots: ReadonlySet<Value>;
  /** The way through the model's branches that leads here: the conditions that were asked for. */
  readonly way: string;
  /** What the host computed just before, without elements. */
  readonly entered?: readonly Traced[];
}

export interface TracedStage extends StageStart {
  /** Inputs and outputs are named by their places in `takes` and `gives`. */
  readonly graph: Graph;
  readonly takes: readonly Value[];
  readonly gives: readonly Value[];
  /** What of all that is there then is needed afterwards. */
  readonly keeps: ReadonlySet<Value>;
  /** Bytes that its trace holds beside the model's own tensors: folded tensors, nodes. */
  readonly bytes: number;
  readonly after: { readonly kind: "end"; readonly outputs: ReadonlyMap<string, Traced> } | Question;
}

/** Traces from the start until something must be asked. MODEL_UNSUPPORTED where nobody could answer. */
export function traceStage(source: GraphSource, start: StageStart, fold: Fold, budget: Budget): TracedStage {
  const { log } = start;
  const before = log.bytes;
  const { after, needed } = traced(source, start, fold, budget);
  log.bytes = before + budget.ownBytes;
  const fresh = log.nodes.filter(drawsAnew).flatMap(({ outputs }) => outputs); // drawn once in a run
  const wanted = new Set([...needed, ...fresh].filter(({ constant }) => constant === undefined));
  const roots = new Set([...start.roots, ...fresh]);
  const { nodes, takes } = cutOut(log.nodes, wanted, start.available);
  const gives = [...wanted].filter((value) => !start.available.has(value));
  const keeps = new Set([...gives, ...[...start.available].filter((value) => wanted.has(value) || roots.has(value))]);
  const graph: Graph = { inputs: takes.map(placed), nodes, outputs: gives.map(placed) };
  return { ...start, roots, graph, takes, gives, keeps, after, bytes: budget.ownBytes };
}

/** What comes after the stage, and what it or anything behind it needs. */
function traced(
  source: GraphSource,
  { inputs, log }: StageStart,
  fold: Fold,
  budget: Budget,
): { readonly after: TracedStage["after"]; readonly needed: readonly Value[] } {
  try {
    const outputs = source.trace(inputs, new Builder(budget, "program", fold, log));
    return { after: { kind: "end", outputs }, needed: [...outputs.values()].flatMap(tensorsIn) };
  } catch (error) {
    if (!(error instanceof ValueUnknown)) throw error;
    const { message, needed } = error;
    const question = questionOf(error);
    if (question === undefined) throw new InferyardError("MODEL_UNSUPPORTED", message, { cause: error });
    const later = [...log.held, ...[...needed].flatMap(tensorsIn)];
    // What was asked for before is a constant by now.
    return { after: question, needed: [...later.filter((value) => log.answered(value) === undefined), ...usedBy(question)] };
  }
}

function usedBy(question: Question): readonly Value[] {
  if (question.kind === "value") return [question.value];
  const { work } = question;
  const used = work.kind === "node" ? work.inputs : [work.most, work.going, ...work.carried, ...work.around.values()];
  return used.flatMap((each) => (each === undefined ? [] : tensorsIn(each)));
}

function drawsAnew({ operation }: GraphNode): boolean {
  return operation.kind === "call" && operation.fresh === true;
}

/** The nodes that compute these values from what is available, in order, and what they take of it. */
function cutOut(
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

function placed(value: Value, place: number): NamedValue {
  return { name: String(place), value };
}
