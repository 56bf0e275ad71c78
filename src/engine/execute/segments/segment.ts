/** A stage that can run: as a program, or, where making one would take longer, by the interpreter. */
import type { Tensor } from "../../../tensor.ts";
import type { TraceBudget } from "../../build/trace-budget.ts";
import type { Graph, Value } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import type { TracedValue } from "../../build/traced-value.ts";
import { estimatedWork } from "../../build/operation-cost.ts";
import { evaluateStep } from "../evaluate-step.ts";
import type { YieldPolicy } from "../yield-policy.ts";
import type { Executable } from "../executable.ts";
import type { Compiler } from "../compiler.ts";
import type { ModelRun, StepCounts, ExecutedSegment } from "./model-run.ts";
import type { TracedSegment } from "./trace-segment.ts";

/** Elements by the values they belong to, during a run. */
export type LiveValues = Map<Value, Literal>;

/** The stages of a loop's body. */
export interface LoopBody {
  readonly isEmpty: boolean;
  /** The first ones. */
  readonly firstSegments: readonly Segment[];
  /** One round. All inputs have their elements. */
  run(inputs: ReadonlyMap<string, TracedValue>, wanted: undefined, run: ModelRun): Promise<ReadonlyMap<string, TracedValue>>;
}

export class Segment implements ExecutedSegment {
  readonly traced: TracedSegment;
  /** What comes after it, by the answers. */
  readonly successors: Map<string, Segment> = new Map();
  /** The body of the loop that comes after it, if one does. */
  readonly loopBody: LoopBody | undefined;
  /** Steps of one run, and how many of them the interpreter computes. */
  readonly steps: StepCounts;
  /** The last run that used it. */
  lastRun = 0;
  readonly #compiler: Compiler;
  readonly #executable: Executable | undefined;

  /** A stage of fewer steps than `leastWork` is interpreted. `budget`: of its trace, of which making the program is a part. */
  constructor(
    traced: TracedSegment,
    maker: Compiler,
    {
      leastWork,
      loopBody,
      budget,
    }: { readonly leastWork: number; readonly loopBody: LoopBody | undefined; readonly budget: TraceBudget },
  ) {
    this.traced = traced;
    this.loopBody = loopBody;
    this.#compiler = maker;
    const { graph } = traced;
    this.#executable =
      graph.nodes.length > 0 && scalarOperations(graph) >= leastWork ? maker.compile(graph, { budget }) : undefined;
    const all = graph.nodes.length;
    this.steps = this.#executable?.steps ?? { all, interpreted: all };
  }

  get hasExecutable(): boolean {
    return this.#executable !== undefined;
  }

  get isLeaf(): boolean {
    return this.successors.size === 0 && (this.loopBody?.isEmpty ?? true);
  }

  get arenaBytes(): number {
    return this.#executable?.arenaBytes ?? 0;
  }

  /** What it holds in JavaScript: its trace. */
  get tracedBytes(): number {
    return this.traced.bytes;
  }

  /** What it holds beside the engine's memory. */
  get bytes(): number {
    return this.#executable?.bytes ?? 0;
  }

  /** Adds what it gives to what is held. Without `wanted` all that it gives. Arrays that belong to nobody else are added to `own`. */
  async run(held: LiveValues, wanted: ReadonlySet<Value> | undefined, pace: YieldPolicy, own: WeakSet<object>): Promise<void> {
    const { graph, graphInputs, graphOutputs } = this.traced;
    if (this.#executable === undefined) {
      interpret(graph, held);
      return;
    }
    const inputs = Object.fromEntries(graphInputs.map((value, place) => [String(place), elementsOf(value, held) as Tensor]));
    const names =
      wanted &&
      new Set([...graphOutputs.keys()].flatMap((place) => (wanted.has(graphOutputs[place] as Value) ? [String(place)] : [])));
    const results = await this.#compiler.execute(this.#executable, inputs, names, { pace });
    for (const [place, value] of graphOutputs.entries()) {
      const result = results[String(place)];
      if (result === undefined) continue;
      held.set(value, result);
      own.add(result.data);
    }
  }

  dispose(): void {
    this.#executable?.dispose();
  }
}

export function elementsOf(value: Value, held: LiveValues): Literal {
  const literal = value.constant ?? held.get(value);
  if (literal === undefined) throw new Error("a stage takes what no stage before it gave");
  return literal;
}

function scalarOperations({ nodes }: Graph): number {
  return nodes.reduce((sum, { operation, inputs, outputs }) => {
    if (operation.kind === "reshape") return sum;
    const read = operation.kind === "gather" || operation.kind === "slice" ? [] : inputs; // those take what they give
    const [given, made] = [read, outputs].map((values) => values.map(({ type }) => type));
    return sum + estimatedWork(operation, given ?? [], made ?? []);
  }, 0);
}

function interpret({ nodes, outputs: wanted }: Graph, held: LiveValues): void {
  const made: LiveValues = new Map();
  const literalOf = (value: Value): Literal => made.get(value) ?? elementsOf(value, held);
  for (const { operation, inputs, outputs } of nodes) {
    const results = evaluateStep(operation, inputs.map(literalOf));
    for (const [place, output] of outputs.entries()) made.set(output, results[place] as Literal);
  }
  for (const { value } of wanted) held.set(value, literalOf(value));
}
