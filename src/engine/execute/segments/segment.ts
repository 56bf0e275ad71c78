/** A stage that can run: as a program, or, where making one would take longer, by the interpreter. */
import type { Tensor } from "../../../tensor.ts";
import type { Budget } from "../../build/trace-budget.ts";
import type { Graph, Value } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import type { Traced } from "../../build/traced-value.ts";
import { workOf } from "../../build/operation-cost.ts";
import { evaluateStep } from "../evaluate-step.ts";
import type { Pace } from "../yield-policy.ts";
import type { Program } from "../executable.ts";
import type { ProgramMaker } from "../compiler.ts";
import type { StageRun, StageSteps, UsedStage } from "./model-run.ts";
import type { TracedStage } from "./trace-segment.ts";

/** Elements by the values they belong to, during a run. */
export type Held = Map<Value, Literal>;

/** The stages of a loop's body. */
export interface LoopBody {
  readonly isEmpty: boolean;
  /** The first ones. */
  readonly stages: readonly Stage[];
  /** One round. All inputs have their elements. */
  run(inputs: ReadonlyMap<string, Traced>, wanted: undefined, run: StageRun): Promise<ReadonlyMap<string, Traced>>;
}

export class Stage implements UsedStage {
  readonly traced: TracedStage;
  /** What comes after it, by the answers. */
  readonly next: Map<string, Stage> = new Map();
  /** The body of the loop that comes after it, if one does. */
  readonly rounds: LoopBody | undefined;
  /** Steps of one run, and how many of them the interpreter computes. */
  readonly steps: StageSteps;
  /** The last run that used it. */
  lastRun = 0;
  readonly #maker: ProgramMaker;
  readonly #program: Program | undefined;

  /** A stage of fewer steps than `leastWork` is interpreted. `budget`: of its trace, of which making the program is a part. */
  constructor(
    traced: TracedStage,
    maker: ProgramMaker,
    { leastWork, rounds, budget }: { readonly leastWork: number; readonly rounds: LoopBody | undefined; readonly budget: Budget },
  ) {
    this.traced = traced;
    this.rounds = rounds;
    this.#maker = maker;
    const { graph } = traced;
    this.#program = graph.nodes.length > 0 && stepsOf(graph) >= leastWork ? maker.make(graph, { budget }) : undefined;
    const all = graph.nodes.length;
    this.steps = this.#program?.steps ?? { all, interpreted: all };
  }

  get hasProgram(): boolean {
    return this.#program !== undefined;
  }

  get isLeaf(): boolean {
    return this.next.size === 0 && (this.rounds?.isEmpty ?? true);
  }

  get arenaBytes(): number {
    return this.#program?.arenaBytes ?? 0;
  }

  /** What it holds in JavaScript: its trace. */
  get tracedBytes(): number {
    return this.traced.bytes;
  }

  /** What it holds beside the engine's memory. */
  get bytes(): number {
    return this.#program?.bytes ?? 0;
  }

  /** Adds what it gives to what is held. Without `wanted` all that it gives. Arrays that belong to nobody else are added to `own`. */
  async run(held: Held, wanted: ReadonlySet<Value> | undefined, pace: Pace, own: WeakSet<object>): Promise<void> {
    const { graph, takes, gives } = this.traced;
    if (this.#program === undefined) {
      interpret(graph, held);
      return;
    }
    const inputs = Object.fromEntries(takes.map((value, place) => [String(place), elementsOf(value, held) as Tensor]));
    const names =
      wanted && new Set([...gives.keys()].flatMap((place) => (wanted.has(gives[place] as Value) ? [String(place)] : [])));
    const results = await this.#maker.compute(this.#program, inputs, names, { pace });
    for (const [place, value] of gives.entries()) {
      const result = results[String(place)];
      if (result === undefined) continue;
      held.set(value, result);
      own.add(result.data);
    }
  }

  dispose(): void {
    this.#program?.dispose();
  }
}

export function elementsOf(value: Value, held: Held): Literal {
  const literal = value.constant ?? held.get(value);
  if (literal === undefined) throw new Error("a stage takes what no stage before it gave");
  return literal;
}

function stepsOf({ nodes }: Graph): number {
  return nodes.reduce((sum, { operation, inputs, outputs }) => {
    if (operation.kind === "reshape") return sum;
    const read = operation.kind === "gather" || operation.kind === "slice" ? [] : inputs; // those take what they give
    const [given, made] = [read, outputs].map((values) => values.map(({ type }) => type));
    return sum + workOf(operation, given ?? [], made ?? []);
  }, 0);
}

function interpret({ nodes, outputs: wanted }: Graph, held: Held): void {
  const made: Held = new Map();
  const literalOf = (value: Value): Literal => made.get(value) ?? elementsOf(value, held);
  for (const { operation, inputs, outputs } of nodes) {
    const results = evaluateStep(operation, inputs.map(literalOf));
    for (const [place, output] of outputs.entries()) made.set(output, results[place] as Literal);
  }
  for (const { value } of wanted) held.set(value, literalOf(value));
}
