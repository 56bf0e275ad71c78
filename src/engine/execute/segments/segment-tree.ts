/**
 * The graph segments of a model, or of a loop body, as a tree. A model is split where shapes depend on data: the first segment is determined by the
 * shapes of the inputs, each following one by what resolved the data dependency at the end of the segment before it, which is either the elements of a
 * small tensor or the shapes of an interpreted operation's outputs. A run that takes the same path as an earlier one traces nothing.
 */
import { getType, type Value } from "../../ir/graph.ts";
import { byteSize, describeType, type TensorType } from "../../ir/tensor-type.ts";
import type { Literal } from "../../ir/literal.ts";
import { literalKey } from "../../ir/literal-key.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import type { InterpretedOp } from "../../build/data-dependency.ts";
import { TraceLog } from "../../build/trace-log.ts";
import { isSequence, isTensor, type TracedValue, tensorsIn, mapTensors } from "../../build/traced-value.ts";
import type { GraphCompiler } from "../graph-compiler.ts";
import type { SegmentCache } from "./segment-cache.ts";
import { runLoop } from "./run-loop.ts";
import { getValueElements, type LiveValues, type LoopBody, Segment } from "./segment.ts";
import type { ModelRun } from "./model-run.ts";
import { type SegmentStart, type TracedSegment, traceSegment } from "./trace-segment.ts";

/** The compiler and the cache that all segments of one model share. */
export interface SegmentServices {
  /** Compiles the graphs of segments. */
  readonly compiler: GraphCompiler;
  /** Caches segments for later runs. */
  readonly cache: SegmentCache;
}

/**
 * Estimated scalar operations from which a segment is compiled: below, interpreting it takes about a millisecond, less than compiling. Bodies of
 * loops with invariant shapes are compiled sooner.
 */
const minWorkToCompile = 2 ** 16;
const minLoopWorkToCompile = 2 ** 12;

/** The segments of one model or loop body. A segment is traced and compiled when a run first needs it. */
export class SegmentTree implements LoopBody {
  readonly #source: GraphSource;
  readonly #services: SegmentServices;
  /** Whether the tree belongs to a model and not to a loop body. The first segments of a model are always compiled. */
  readonly #isModel: boolean;
  readonly #first = new Map<string, Segment>();

  constructor(source: GraphSource, services: SegmentServices, isModel: boolean) {
    this.#source = source;
    this.#services = services;
    this.#isModel = isModel;
  }

  /** Whether the tree has no segments. */
  get isEmpty(): boolean {
    return this.#first.size === 0;
  }

  /** The segments that runs begin with, one per combination of input types. */
  get firstSegments(): readonly Segment[] {
    return [...this.#first.values()];
  }

  /** Creates the segments that follow from the types of the inputs alone, without a run, and returns the last of them. */
  prepare(inputs: ReadonlyMap<string, TracedValue>, run: ModelRun): Segment {
    const live: LiveValues = new Map();
    let segment = this.#firstSegment(inputs, live, run);
    const budget = run.traceBudget(); // limits the time: one data dependency may follow another without end
    for (;;) {
      budget.checkTime();
      const { terminator, graph } = segment.traced;
      if (terminator.kind !== "value" || graph.nodes.length > 0) return segment;
      segment = this.#afterValue(segment, terminator.value, live, run);
    }
  }

  /** Runs the model on inputs with known elements and returns the outputs named by `wanted`; undefined means all. */
  async run(
    inputs: ReadonlyMap<string, TracedValue>,
    wanted: ReadonlySet<string> | undefined,
    run: ModelRun,
  ): Promise<ReadonlyMap<string, TracedValue>> {
    const { cache } = this.#services;
    const live: LiveValues = new Map();
    let segment = this.#firstSegment(inputs, live, run);
    for (;;) {
      const now = segment;
      try {
        const { terminator, liveOut } = now.traced;
        run.countSegment(now);
        run.checkMemory(now.arenaBytes + getBytes([...live.values(), ...now.traced.graphOutputs.map(({ type }) => type)]));
        if (terminator.kind === "end") {
          const outputs = [...terminator.outputs].filter(([name]) => wanted?.has(name) ?? true);
          await now.run(
            live,
            wanted && new Set(outputs.flatMap(([, each]) => tensorsIn(each))),
            run.yieldPolicy,
            run.ownedArrays,
          );
          return new Map(outputs.map(([name, each]) => [name, mapTensors(each, (value) => withElements(value, live))]));
        }
        await now.run(live, undefined, run.yieldPolicy, run.ownedArrays);
        for (const value of live.keys()) if (!liveOut.has(value)) live.delete(value);
        segment =
          terminator.kind === "value"
            ? this.#afterValue(now, terminator.value, live, run)
            : await this.#afterInterpretedOp(now, terminator.op, live, run);
        await run.yieldPolicy.yieldIfDue();
      } finally {
        if (!cache.has(now)) cache.evict(now);
      }
    }
  }

  #firstSegment(inputs: ReadonlyMap<string, TracedValue>, live: LiveValues, run: ModelRun): Segment {
    const key = [...inputs].map(([name, each]) => `${JSON.stringify(name)}: ${typeKey(each)}`).join("; ");
    const segment = this.#cached(this.#first, key, run, () => {
      const entered = new Map([...inputs].map(([name, each]) => [name, withoutElements(each)]));
      const liveIn = new Set([...entered.values()].flatMap(tensorsIn));
      return { inputs: entered, log: new TraceLog(), liveIn, pinned: liveIn, branchPath: "" };
    });
    for (const [name, entered] of segment.traced.inputs) bindElements(entered, inputs.get(name), live);
    return segment;
  }

  /** Returns the successor of a segment that ends with a value on whose elements the trace depends. */
  #afterValue(segment: Segment, value: Value, live: LiveValues, run: ModelRun): Segment {
    const { dataType, shape, data } = getValueElements(value, live);
    const literal: Literal = { dataType, shape, data: (data as Uint8Array).slice() }; // the elements may be the caller's, who may change them
    const { inputs, log, liveOut, pinned, branchPath } = segment.traced;
    const key = literalKey(literal);
    return this.#successor(segment, key, run, () => {
      const further = dataType === "bool" ? `${branchPath} ${key}` : branchPath;
      return { inputs, log: log.withResolved(value, literal), liveIn: liveOut, pinned, branchPath: further };
    });
  }

  /** Runs the interpreted operation at the end of a segment and returns the successor of the segment. */
  async #afterInterpretedOp(segment: Segment, work: InterpretedOp, live: LiveValues, run: ModelRun): Promise<Segment> {
    const outputs = await this.#runInterpretedOp(segment, work, live, run);
    const { inputs, log, liveOut, pinned, branchPath } = segment.traced;
    const next = this.#successor(segment, outputs.map(typeKey).join("; "), run, () => {
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
    for (const [index, entered] of (next.traced.interpretedOutputs ?? []).entries()) bindElements(entered, outputs[index], live);
    return next;
  }

  async #runInterpretedOp(
    segment: Segment,
    work: InterpretedOp,
    live: LiveValues,
    run: ModelRun,
  ): Promise<readonly TracedValue[]> {
    const known = (value: Value): Value => withElements(value, live);
    if (work.kind === "loop" && segment.loopBody !== undefined) return await runLoop(work, known, segment.loopBody, run);
    if (work.kind === "loop") throw new Error("the segment of a loop has no loop body");
    run.countInterpretedOp();
    const inputs = work.inputs.map((each) => each && mapTensors(each, known));
    return work.compute(inputs, run.traceBudget().limits);
  }

  /** Returns the successor of a segment for `key`. If a segment is not cached, its successors are not cached either. */
  #successor(segment: Segment, key: string, run: ModelRun, start: () => SegmentStart): Segment {
    const { compiler, cache } = this.#services;
    if (cache.has(segment)) return this.#cached(segment.successors, key, run, start);
    return compiler.attempt(() => this.#create(start(), false, run));
  }

  /** Returns the segment with this key. Creates it at its first use and caches it if there is room. */
  #cached(segments: Map<string, Segment>, key: string, run: ModelRun, start: () => SegmentStart): Segment {
    const { compiler, cache } = this.#services;
    const known = segments.get(key);
    const segment = known ?? compiler.attempt(() => this.#create(start(), segments === this.#first, run));
    cache.touch(segment, run.number);
    if (known === undefined) cache.insert(segment, segments, key);
    return segment;
  }

  #create(start: SegmentStart, isFirst: boolean, run: ModelRun): Segment {
    const { compiler } = this.#services;
    compiler.openFoldingCache(start.branchPath);
    const budget = run.traceBudget();
    const traced = traceSegment(this.#source, start, compiler.fold, budget);
    const { terminator } = traced;
    const loop = terminator.kind === "interpreted-op" && terminator.op.kind === "loop" ? terminator.op : undefined;
    const loopBody = loop && new SegmentTree(loop.body, this.#services, false);
    return new Segment(traced, compiler, { minWork: this.#minWorkToCompile(traced, isFirst), loopBody, budget });
  }

  /**
   * Returns the estimated scalar operations from which a segment is compiled. Depends on the segment only and not on the number of its runs, so that
   * all runs give bit-identical results.
   */
  #minWorkToCompile(traced: TracedSegment, isFirst: boolean): number {
    if (this.#isModel && isFirst) return 0;
    return !this.#isModel && hasInvariantShapes(traced) ? minLoopWorkToCompile : minWorkToCompile;
  }
}

/** Whether the values that a loop body returns have the types of its inputs. All iterations then use the same executable. */
function hasInvariantShapes({ inputs, terminator }: TracedSegment): boolean {
  if (terminator.kind !== "end") return false;
  const [, ...carried] = [...terminator.outputs.values()].map(typeKey); // without the condition
  const given = [...inputs.keys()].filter((name) => /^\d+$/.test(name)).length - 2; // without iteration number and condition
  return carried.slice(0, given).every((type, index) => type === typeKey(inputs.get(String(index + 2)) as TracedValue));
}

function getBytes(tensors: readonly TensorType[]): number {
  return tensors.reduce((sum, type) => sum + byteSize(type), 0);
}

function withElements(value: Value, live: LiveValues): Value {
  if (value.constant !== undefined) return value;
  const literal = getValueElements(value, live);
  return { type: getType(literal), constant: literal };
}

/** Returns the value with the types of its tensors, without their elements. */
function withoutElements(traced: TracedValue): TracedValue {
  return mapTensors(traced, ({ type }) => ({ type }));
}

/** Binds the elements of `given` to the corresponding tensors of `entered`. */
function bindElements(entered: TracedValue, given: TracedValue | undefined, live: LiveValues): void {
  const tensors = given === undefined ? [] : tensorsIn(given);
  for (const [index, value] of tensorsIn(entered).entries()) {
    const literal = tensors[index]?.constant;
    if (literal !== undefined) live.set(value, literal);
  }
}

function typeKey(traced: TracedValue): string {
  if (isTensor(traced)) return describeType(traced.type);
  if (isSequence(traced)) return `(${traced.items.map(typeKey).join(", ")})`;
  return traced.content === undefined ? "none" : `some ${typeKey(traced.content)}`;
}
