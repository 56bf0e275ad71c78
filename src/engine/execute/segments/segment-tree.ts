/**
 * The stages of a model, or of a loop's body. The first one depends on the shapes of the inputs alone; each next one on the answer to what the one
 * before had to ask: the elements of a small tensor, or the shapes of what the host computed. So a run that meets the same shapes and answers as
 * one before traces nothing.
 */
import { byteSize, describeType, type TensorType, typeOf, type Value } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import { literalKey } from "../../ir/literal-key.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import type { InterpretedOp } from "../../build/data-dependency.ts";
import { TraceLog } from "../../build/trace-log.ts";
import { isSequence, isTensor, type TracedValue, tensorsIn, mapTensors } from "../../build/traced-value.ts";
import type { Compiler } from "../compiler.ts";
import type { SegmentCache } from "./segment-cache.ts";
import { runLoop } from "./run-loop.ts";
import { elementsOf, type LiveValues, type LoopBody, Segment } from "./segment.ts";
import type { ModelRun } from "./model-run.ts";
import { type SegmentStart, type TracedSegment, traceSegment } from "./trace-segment.ts";

/** What the stages of one model share. */
export interface SegmentServices {
  readonly compiler: Compiler;
  readonly cache: SegmentCache;
}

/** Steps from which on a program is made: interpreted they take a millisecond, and a program takes some to make. Of rounds that are all alike it is made sooner. */
const minWorkToCompile = 2 ** 16;
const minLoopWorkToCompile = 2 ** 12;

export class SegmentTree implements LoopBody {
  readonly #source: GraphSource;
  readonly #services: SegmentServices;
  /** Its first stages are programs however little they compute. */
  readonly #isModel: boolean;
  readonly #first = new Map<string, Segment>();

  constructor(source: GraphSource, workshop: SegmentServices, isModel: boolean) {
    this.#source = source;
    this.#services = workshop;
    this.#isModel = isModel;
  }

  get isEmpty(): boolean {
    return this.#first.size === 0;
  }

  /** The first ones. */
  get firstSegments(): readonly Segment[] {
    return [...this.#first.values()];
  }

  /** Makes the stages that can be made without running one, and gives the last of them. */
  prepare(inputs: ReadonlyMap<string, TracedValue>, run: ModelRun): Segment {
    const held: LiveValues = new Map();
    let stage = this.#firstSegment(inputs, held, run);
    const budget = run.traceBudget(); // of time: questions may follow one another without an end
    for (;;) {
      budget.checkTime();
      const { terminator, graph } = stage.traced;
      if (terminator.kind !== "value" || graph.nodes.length > 0) return stage;
      stage = this.#afterValue(stage, terminator.value, held, run);
    }
  }

  /** Computes the outputs, of which `wanted` names some. All inputs have their elements. */
  async run(
    inputs: ReadonlyMap<string, TracedValue>,
    wanted: ReadonlySet<string> | undefined,
    run: ModelRun,
  ): Promise<ReadonlyMap<string, TracedValue>> {
    const { cache } = this.#services;
    const held: LiveValues = new Map();
    let stage = this.#firstSegment(inputs, held, run);
    for (;;) {
      const now = stage;
      try {
        const { terminator, liveOut } = now.traced;
        run.countSegment(now);
        run.checkMemory(now.arenaBytes + bytesOf([...held.values(), ...now.traced.graphOutputs.map(({ type }) => type)]));
        if (terminator.kind === "end") {
          const outputs = [...terminator.outputs].filter(([name]) => wanted?.has(name) ?? true);
          await now.run(
            held,
            wanted && new Set(outputs.flatMap(([, each]) => tensorsIn(each))),
            run.yieldPolicy,
            run.ownedArrays,
          );
          return new Map(outputs.map(([name, each]) => [name, mapTensors(each, (value) => withElements(value, held))]));
        }
        await now.run(held, undefined, run.yieldPolicy, run.ownedArrays);
        for (const value of held.keys()) if (!liveOut.has(value)) held.delete(value);
        stage =
          terminator.kind === "value"
            ? this.#afterValue(now, terminator.value, held, run)
            : await this.#afterInterpretedOp(now, terminator.op, held, run);
        await run.yieldPolicy.yieldIfDue();
      } finally {
        if (!cache.has(now)) cache.evict(now);
      }
    }
  }

  #firstSegment(inputs: ReadonlyMap<string, TracedValue>, held: LiveValues, run: ModelRun): Segment {
    const key = [...inputs].map(([name, each]) => `${JSON.stringify(name)}: ${typeKey(each)}`).join("; ");
    const stage = this.#cached(this.#first, key, run, () => {
      const entered = new Map([...inputs].map(([name, each]) => [name, withoutElements(each)]));
      const liveIn = new Set([...entered.values()].flatMap(tensorsIn));
      return { inputs: entered, log: new TraceLog(), liveIn, pinned: liveIn, branchPath: "" };
    });
    for (const [name, entered] of stage.traced.inputs) bindElements(entered, inputs.get(name), held);
    return stage;
  }

  /** The stage after one that asked for elements. */
  #afterValue(stage: Segment, value: Value, held: LiveValues, run: ModelRun): Segment {
    const { dataType, shape, data } = elementsOf(value, held);
    const literal: Literal = { dataType, shape, data: (data as Uint8Array).slice() }; // the caller's own may change
    const { inputs, log, liveOut, pinned, branchPath } = stage.traced;
    const key = literalKey(literal);
    return this.#successor(stage, key, run, () => {
      const further = dataType === "bool" ? `${branchPath} ${key}` : branchPath;
      return { inputs, log: log.withResolved(value, literal), liveIn: liveOut, pinned, branchPath: further };
    });
  }

  /** The stage after one behind which the host computes something. */
  async #afterInterpretedOp(stage: Segment, work: InterpretedOp, held: LiveValues, run: ModelRun): Promise<Segment> {
    const outputs = await this.#runInterpretedOp(stage, work, held, run);
    const { inputs, log, liveOut, pinned, branchPath } = stage.traced;
    const next = this.#successor(stage, outputs.map(typeKey).join("; "), run, () => {
      const interpretedOutputs = outputs.map(withoutElements);
      const values = interpretedOutputs.flatMap(tensorsIn);
      return {
        inputs,
        log: log.withOutputs(interpretedOutputs),
        liveIn: new Set([...liveOut, ...values]),
        pinned: new Set([...pinned, ...values]),
        branchPath,
        interpretedOutputs,
      };
    });
    for (const [place, entered] of (next.traced.interpretedOutputs ?? []).entries()) bindElements(entered, outputs[place], held);
    return next;
  }

  async #runInterpretedOp(stage: Segment, work: InterpretedOp, held: LiveValues, run: ModelRun): Promise<readonly TracedValue[]> {
    const knownIn = (value: Value): Value => withElements(value, held);
    if (work.kind === "loop" && stage.loopBody !== undefined) return await runLoop(work, knownIn, stage.loopBody, run);
    if (work.kind === "loop") throw new Error("a loop has no stages");
    run.countInterpretedOp();
    const inputs = work.inputs.map((each) => each && mapTensors(each, knownIn));
    return work.compute(inputs, run.traceBudget().limits);
  }

  /** Those after a stage that cannot be kept cannot be either. */
  #successor(stage: Segment, key: string, run: ModelRun, start: () => SegmentStart): Segment {
    const { compiler, cache } = this.#services;
    if (cache.has(stage)) return this.#cached(stage.successors, key, run, start);
    return compiler.attempt(() => this.#create(start(), false, run));
  }

  /** The stage of this key, made where it is met first, and kept where there is room. */
  #cached(stages: Map<string, Segment>, key: string, run: ModelRun, start: () => SegmentStart): Segment {
    const { compiler, cache } = this.#services;
    const known = stages.get(key);
    const stage = known ?? compiler.attempt(() => this.#create(start(), stages === this.#first, run));
    cache.touch(stage, run.number);
    if (known === undefined) cache.insert(stage, stages, key);
    return stage;
  }

  #create(start: SegmentStart, isFirst: boolean, run: ModelRun): Segment {
    const { compiler } = this.#services;
    compiler.openFoldingCache(start.branchPath);
    const budget = run.traceBudget();
    const traced = traceSegment(this.#source, start, compiler.fold, budget);
    const { terminator } = traced;
    const loop = terminator.kind === "interpreted-op" && terminator.op.kind === "loop" ? terminator.op : undefined;
    const loopBody = loop && new SegmentTree(loop.body, this.#services, false);
    return new Segment(traced, compiler, { leastWork: this.#minWorkToCompile(traced, isFirst), loopBody, budget });
  }

  /** Depends on the stage alone, never on how often it ran: so a model gives the same bits in each run. */
  #minWorkToCompile(traced: TracedSegment, isFirst: boolean): number {
    if (this.#isModel && isFirst) return 0;
    return !this.#isModel && hasInvariantShapes(traced) ? minLoopWorkToCompile : minWorkToCompile;
  }
}

/** Whether a loop's body carries on what has the shapes of what it was given, so that further rounds run the same program. */
function hasInvariantShapes({ inputs, terminator }: TracedSegment): boolean {
  if (terminator.kind !== "end") return false;
  const [, ...carried] = [...terminator.outputs.values()].map(typeKey); // behind the condition
  const given = [...inputs.keys()].filter((name) => /^\d+$/.test(name)).length - 2; // beside round and condition
  return carried.slice(0, given).every((type, place) => type === typeKey(inputs.get(String(place + 2)) as TracedValue));
}

function bytesOf(tensors: readonly TensorType[]): number {
  return tensors.reduce((sum, type) => sum + byteSize(type), 0);
}

function withElements(value: Value, held: LiveValues): Value {
  if (value.constant !== undefined) return value;
  const literal = elementsOf(value, held);
  return { type: typeOf(literal), constant: literal };
}

/** The same without elements. */
function withoutElements(traced: TracedValue): TracedValue {
  return mapTensors(traced, ({ type }) => ({ type }));
}

/** Gives values their elements, which lie at the same places in the other. */
function bindElements(entered: TracedValue, given: TracedValue | undefined, held: LiveValues): void {
  const tensors = given === undefined ? [] : tensorsIn(given);
  for (const [place, value] of tensorsIn(entered).entries()) {
    const literal = tensors[place]?.constant;
    if (literal !== undefined) held.set(value, literal);
  }
}

function typeKey(traced: TracedValue): string {
  if (isTensor(traced)) return describeType(traced.type);
  if (isSequence(traced)) return `(${traced.items.map(typeKey).join(", ")})`;
  return traced.content === undefined ? "none" : `some ${typeKey(traced.content)}`;
}
