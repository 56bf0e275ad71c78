/** A graph segment that can run. It is compiled, or interpreted if compiling would take longer than running. */
import { required } from "../../../contract/checked.ts";
import type { Tensor } from "../../../contract/tensor.ts";
import type { TraceBudget } from "../../build/trace-budget.ts";
import type { Graph, Value } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import type { TracedValue } from "../../build/traced-value.ts";
import { estimatedWork } from "../../build/operation-cost.ts";
import { evaluateStep } from "../evaluate-step.ts";
import type { YieldPolicy } from "../yield-policy.ts";
import type { CompiledGraph, GraphCompiler } from "../graph-compiler.ts";
import type { ModelRun, StepCounts, ExecutedSegment } from "./model-run.ts";
import type { TracedSegment } from "./trace-segment.ts";

/** Elements of the values that one segment computed and a later segment reads, during one run. */
export type LiveValues = Map<Value, Literal>;

/** The segments of a loop's body, which run once per iteration. */
export interface LoopBody {
  /** Whether no segment exists yet. */
  readonly isEmpty: boolean;
  /** The segments that iterations begin with. */
  readonly firstSegments: readonly Segment[];
  /** Runs one iteration on inputs with known elements. */
  run(inputs: ReadonlyMap<string, TracedValue>, wanted: undefined, run: ModelRun): Promise<ReadonlyMap<string, TracedValue>>;
}

/** One graph segment of a model: a graph that ends at a data dependency or at the outputs, and the segments that can follow it. */
export class Segment implements ExecutedSegment {
  /** The graph of the segment and the result of tracing it. */
  readonly traced: TracedSegment;
  /** The segments that can follow, by the key of the elements or shapes that resolved the data dependency. */
  readonly successors: Map<string, Segment> = new Map();
  /** The body of the loop at the end of the segment; undefined when it does not end with a loop. */
  readonly loopBody: LoopBody | undefined;
  /** Steps of one run, and how many of them the interpreter computes. */
  readonly steps: StepCounts;
  /** Sequence number of the last run that used the segment. */
  lastRun = 0;
  readonly #executable: CompiledGraph | undefined;

  /**
   * Compiles the segment, unless it has fewer estimated scalar operations than `minWork`. `budget` is the budget of the trace; its time limit
   * includes compilation.
   */
  constructor(
    traced: TracedSegment,
    compiler: GraphCompiler,
    {
      minWork,
      loopBody,
      budget,
    }: { readonly minWork: number; readonly loopBody: LoopBody | undefined; readonly budget: TraceBudget },
  ) {
    this.traced = traced;
    this.loopBody = loopBody;
    const { graph } = traced;
    this.#executable =
      graph.nodes.length > 0 && scalarOperations(graph) >= minWork ? compiler.compile(graph, { budget }) : undefined;
    const all = graph.nodes.length;
    this.steps = this.#executable?.steps ?? { all, interpreted: all };
  }

  /** The compiled graph; undefined if the segment is interpreted. */
  get executable(): CompiledGraph | undefined {
    return this.#executable;
  }

  /** Whether the segment is compiled. */
  get hasExecutable(): boolean {
    return this.#executable !== undefined;
  }

  /** Whether no successor of the segment is cached. */
  get isLeaf(): boolean {
    return this.successors.size === 0 && (this.loopBody?.isEmpty ?? true);
  }

  /** Size in bytes of the arena of the executable; 0 if the segment is interpreted. */
  get arenaBytes(): number {
    return this.#executable?.arenaBytes ?? 0;
  }

  /** Bytes that the trace of the segment holds in JavaScript memory. */
  get tracedBytes(): number {
    return this.traced.bytes;
  }

  /** Bytes that the executable holds outside of engine memory. */
  get bytes(): number {
    return this.#executable?.bytes ?? 0;
  }

  /**
   * Runs the segment and adds its outputs to `live`. `wanted` are the outputs to compute; undefined means all. Adds newly allocated arrays with no
   * other reference to `owned`.
   */
  async run(
    live: LiveValues,
    wanted: ReadonlySet<Value> | undefined,
    yieldPolicy: YieldPolicy,
    owned: WeakSet<object>,
  ): Promise<void> {
    const { graph, graphInputs, graphOutputs } = this.traced;
    if (this.#executable === undefined) {
      interpret(graph, live);
      return;
    }
    const inputs = Object.fromEntries(
      graphInputs.map((value, index) => [String(index), getValueElements(value, live) as Tensor]),
    );
    const names =
      wanted &&
      new Set([...graphOutputs.keys()].flatMap((index) => (wanted.has(graphOutputs[index] as Value) ? [String(index)] : [])));
    const results = await this.#executable.run(inputs, names, { yieldPolicy });
    for (const [index, value] of graphOutputs.entries()) {
      const result = results[String(index)];
      if (result === undefined) continue;
      live.set(value, result);
      owned.add(result.data);
    }
  }

  /** Releases the executable. */
  dispose(): void {
    this.#executable?.dispose();
  }
}

/** Returns the elements of a constant or live value. Throws if the value is not live, which is an internal error. */
export function getValueElements(value: Value, live: LiveValues): Literal {
  const literal = value.constant ?? live.get(value);
  if (literal === undefined) throw new Error("a segment reads a value that no earlier segment computed");
  return literal;
}

function scalarOperations({ nodes }: Graph): number {
  return nodes.reduce((sum, { operation, inputs, outputs }) => {
    if (operation.kind === "reshape") return sum;
    const read = operation.kind === "gather" || operation.kind === "slice" ? [] : inputs; // their cost is that of the elements they return
    const [given, made] = [read, outputs].map((values) => values.map(({ type }) => type));
    return sum + estimatedWork(operation, given ?? [], made ?? []);
  }, 0);
}

function interpret({ nodes, outputs: wanted }: Graph, live: LiveValues): void {
  const made: LiveValues = new Map();
  const toLiteral = (value: Value): Literal => made.get(value) ?? getValueElements(value, live);
  for (const { operation, inputs, outputs } of nodes) {
    const results = evaluateStep(operation, inputs.map(toLiteral));
    for (const [index, output] of outputs.entries())
      made.set(output, required(results[index], "the result of an interpreted step"));
  }
  for (const { value } of wanted) live.set(value, toLiteral(value));
}
