/**
 * The stages of a model, or of a loop's body. The first one depends on the shapes of the inputs alone; each next one on the answer to what the one
 * before had to ask: the elements of a small tensor, or the shapes of what the host computed. So a run that meets the same shapes and answers as
 * one before traces nothing.
 */
import { byteSize, describeType, type TensorType, typeOf, type Value } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import { literalKey } from "../../ir/literal-key.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import type { HostWork } from "../../build/data-dependency.ts";
import { TraceLog } from "../../build/trace-log.ts";
import { isSequence, isTensor, type Traced, tensorsIn, withTensors } from "../../build/traced-value.ts";
import type { ProgramMaker } from "../compiler.ts";
import type { KeptStages } from "./segment-cache.ts";
import { runLoop } from "./run-loop.ts";
import { elementsOf, type Held, type LoopBody, Stage } from "./segment.ts";
import type { StageRun } from "./model-run.ts";
import { type StageStart, type TracedStage, traceStage } from "./trace-segment.ts";

/** What the stages of one model share. */
export interface StageWorkshop {
  readonly maker: ProgramMaker;
  readonly kept: KeptStages;
}

/** Steps from which on a program is made: interpreted they take a millisecond, and a program takes some to make. Of rounds that are all alike it is made sooner. */
const leastOnce = 2 ** 16;
const leastOfRounds = 2 ** 12;

export class StageTree implements LoopBody {
  readonly #source: GraphSource;
  readonly #workshop: StageWorkshop;
  /** Its first stages are programs however little they compute. */
  readonly #isModel: boolean;
  readonly #first = new Map<string, Stage>();

  constructor(source: GraphSource, workshop: StageWorkshop, isModel: boolean) {
    this.#source = source;
    this.#workshop = workshop;
    this.#isModel = isModel;
  }

  get isEmpty(): boolean {
    return this.#first.size === 0;
  }

  /** The first ones. */
  get stages(): readonly Stage[] {
    return [...this.#first.values()];
  }

  /** Makes the stages that can be made without running one, and gives the last of them. */
  prepare(inputs: ReadonlyMap<string, Traced>, run: StageRun): Stage {
    const held: Held = new Map();
    let stage = this.#start(inputs, held, run);
    const budget = run.traceBudget(); // of time: questions may follow one another without an end
    for (;;) {
      budget.checkTime();
      const { after, graph } = stage.traced;
      if (after.kind !== "value" || graph.nodes.length > 0) return stage;
      stage = this.#answered(stage, after.value, held, run);
    }
  }

  /** Computes the outputs, of which `wanted` names some. All inputs have their elements. */
  async run(
    inputs: ReadonlyMap<string, Traced>,
    wanted: ReadonlySet<string> | undefined,
    run: StageRun,
  ): Promise<ReadonlyMap<string, Traced>> {
    const { kept } = this.#workshop;
    const held: Held = new Map();
    let stage = this.#start(inputs, held, run);
    for (;;) {
      const now = stage;
      try {
        const { after, keeps } = now.traced;
        run.use(now);
        run.checkMemory(now.arenaBytes + bytesOf([...held.values(), ...now.traced.gives.map(({ type }) => type)]));
        if (after.kind === "end") {
          const outputs = [...after.outputs].filter(([name]) => wanted?.has(name) ?? true);
          await now.run(held, wanted && new Set(outputs.flatMap(([, each]) => tensorsIn(each))), run.pace, run.own);
          return new Map(outputs.map(([name, each]) => [name, withTensors(each, (value) => known(value, held))]));
        }
        await now.run(held, undefined, run.pace, run.own);
        for (const value of held.keys()) if (!keeps.has(value)) held.delete(value);
        stage =
          after.kind === "value" ? this.#answered(now, after.value, held, run) : await this.#hosted(now, after.work, held, run);
        await run.pace.turn();
      } finally {
        if (!kept.isKept(now)) kept.discard(now);
      }
    }
  }

  #start(inputs: ReadonlyMap<string, Traced>, held: Held, run: StageRun): Stage {
    const key = [...inputs].map(([name, each]) => `${JSON.stringify(name)}: ${typeKey(each)}`).join("; ");
    const stage = this.#kept(this.#first, key, run, () => {
      const entered = new Map([...inputs].map(([name, each]) => [name, emptied(each)]));
      const available = new Set([...entered.values()].flatMap(tensorsIn));
      return { inputs: entered, log: new TraceLog(), available, roots: available, way: "" };
    });
    for (const [name, entered] of stage.traced.inputs) bind(entered, inputs.get(name), held);
    return stage;
  }

  /** The stage after one that asked for elements. */
  #answered(stage: Stage, value: Value, held: Held, run: StageRun): Stage {
    const { dataType, shape, data } = elementsOf(value, held);
    const literal: Literal = { dataType, shape, data: (data as Uint8Array).slice() }; // the caller's own may change
    const { inputs, log, keeps, roots, way } = stage.traced;
    const key = literalKey(literal);
    return this.#after(stage, key, run, () => {
      const further = dataType === "bool" ? `${way} ${key}` : way;
      return { inputs, log: log.withAnswer(value, literal), available: keeps, roots, way: further };
    });
  }

  /** The stage after one behind which the host computes something. */
  async #hosted(stage: Stage, work: HostWork, held: Held, run: StageRun): Promise<Stage> {
    const outputs = await this.#computed(stage, work, held, run);
    const { inputs, log, keeps, roots, way } = stage.traced;
    const next = this.#after(stage, outputs.map(typeKey).join("; "), run, () => {
      const entered = outputs.map(emptied);
      const values = entered.flatMap(tensorsIn);
      return {
        inputs,
        log: log.withResult(entered),
        available: new Set([...keeps, ...values]),
        roots: new Set([...roots, ...values]),
        way,
        entered,
      };
    });
    for (const [place, entered] of (next.traced.entered ?? []).entries()) bind(entered, outputs[place], held);
    return next;
  }

  async #computed(stage: Stage, work: HostWork, held: Held, run: StageRun): Promise<readonly Traced[]> {
    const knownIn = (value: Value): Value => known(value, held);
    if (work.kind === "loop" && stage.rounds !== undefined) return await runLoop(work, knownIn, stage.rounds, run);
    if (work.kind === "loop") throw new Error("a loop has no stages");
    run.countHosted();
    const inputs = work.inputs.map((each) => each && withTensors(each, knownIn));
    return work.compute(inputs, run.traceBudget().limits);
  }

  /** Those after a stage that cannot be kept cannot be either. */
  #after(stage: Stage, key: string, run: StageRun, start: () => StageStart): Stage {
    const { maker, kept } = this.#workshop;
    if (kept.isKept(stage)) return this.#kept(stage.next, key, run, start);
    return maker.attempt(() => this.#made(start(), false, run));
  }

  /** The stage of this key, made where it is met first, and kept where there is room. */
  #kept(stages: Map<string, Stage>, key: string, run: StageRun, start: () => StageStart): Stage {
    const { maker, kept } = this.#workshop;
    const known = stages.get(key);
    const stage = known ?? maker.attempt(() => this.#made(start(), stages === this.#first, run));
    kept.touch(stage, run.number);
    if (known === undefined) kept.keep(stage, stages, key);
    return stage;
  }

  #made(start: StageStart, isFirst: boolean, run: StageRun): Stage {
    const { maker } = this.#workshop;
    maker.openFolds(start.way);
    const budget = run.traceBudget();
    const traced = traceStage(this.#source, start, maker.fold, budget);
    const { after } = traced;
    const loop = after.kind === "host" && after.work.kind === "loop" ? after.work : undefined;
    const rounds = loop && new StageTree(loop.body, this.#workshop, false);
    return new Stage(traced, maker, { leastWork: this.#leastWork(traced, isFirst), rounds, budget });
  }

  /** Depends on the stage alone, never on how often it ran: so a model gives the same bits in each run. */
  #leastWork(traced: TracedStage, isFirst: boolean): number {
    if (this.#isModel && isFirst) return 0;
    return !this.#isModel && isSteady(traced) ? leastOfRounds : leastOnce;
  }
}

/** Whether a loop's body carries on what has the shapes of what it was given, so that further rounds run the same program. */
function isSteady({ inputs, after }: TracedStage): boolean {
  if (after.kind !== "end") return false;
  const [, ...carried] = [...after.outputs.values()].map(typeKey); // behind the condition
  const given = [...inputs.keys()].filter((name) => /^\d+$/.test(name)).length - 2; // beside round and condition
  return carried.slice(0, given).every((type, place) => type === typeKey(inputs.get(String(place + 2)) as Traced));
}

function bytesOf(tensors: readonly TensorType[]): number {
  return tensors.reduce((sum, type) => sum + byteSize(type), 0);
}

function known(value: Value, held: Held): Value {
  if (value.constant !== undefined) return value;
  const literal = elementsOf(value, held);
  return { type: typeOf(literal), constant: literal };
}

/** The same without elements. */
function emptied(traced: Traced): Traced {
  return withTensors(traced, ({ type }) => ({ type }));
}

/** Gives values their elements, which lie at the same places in the other. */
function bind(entered: Traced, given: Traced | undefined, held: Held): void {
  const tensors = given === undefined ? [] : tensorsIn(given);
  for (const [place, value] of tensorsIn(entered).entries()) {
    const literal = tensors[place]?.constant;
    if (literal !== undefined) held.set(value, literal);
  }
}

function typeKey(traced: Traced): string {
  if (isTensor(traced)) return describeType(traced.type);
  if (isSequence(traced)) return `(${traced.items.map(typeKey).join(", ")})`;
  return traced.content === undefined ? "none" : `some ${typeKey(traced.content)}`;
}
