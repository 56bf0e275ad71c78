/**
 * Builds a program graph, operation by operation. What is known beforehand is computed at once by the interpreter, so that shape arithmetic never
 * reaches the graph; when all inputs are known the whole program is, and building it is running it.
 */
import { InferyardError, throwIfAborted } from "../../errors.ts";
import { elementCount } from "../../tensor.ts";
import { describeType, type Graph, type NamedValue, type TensorType, typeOf, type Value } from "../graph/graph.ts";
import { infer } from "../graph/infer/index.ts";
import type { Literal } from "../graph/literal.ts";
import type { Operation } from "../graph/operations.ts";
import { evaluate, type Fold } from "../interpret/evaluate.ts";

import { TraceLog } from "./trace-log.ts";
import type { Traced } from "./traced.ts";
import { ValueUnknown } from "./value-unknown.ts";
import { memoryOf, mostAxes, workOf } from "./work.ts";

export interface BuilderLimits {
  /** Bytes of one tensor; a larger one is refused before it is made. */
  readonly tensorBytes: number;
  /** Operations in all, those of every round of a loop counted. */
  readonly operations: number;
  /** Elements of one tensor that is computed while building. A larger one is left to the program, or refused where there is none. */
  readonly foldedElements: number;
  /** Steps of one matrix product that is computed while building; a longer one is left to the program, whose kernels are faster. A run has no such limit. */
  readonly foldedProduct: number;
  /** Bytes of all tensors that are computed while building, together. */
  readonly foldedBytes: number;
  /** Steps of all computations made while building, together: products of a matrix product, elements elsewhere. */
  readonly work: number;
  /** Looked at between operations. */
  readonly signal?: AbortSignal;
}

export const defaultLimits: BuilderLimits = {
  tensorBytes: 2 ** 31,
  operations: 5_000_000,
  foldedElements: 2 ** 27,
  foldedProduct: 2 ** 20,
  foldedBytes: 2 ** 34,
  work: 2 ** 38,
};

/** Elements of a table of weights, at least; shapes are looked up in smaller ones. */
const tableElements = 2 ** 16;
/** Elements looked up in a table, at most, while building: more are a text's positions, which would be computed and kept for each of its lengths. */
const foldedLookup = 2 ** 12;

/**
 * What is built: a program that runs many times, in which random numbers are drawn anew by each run, or one run, in which they are drawn at
 * once.
 */
export type Purpose = "program" | "run";

/** Elements of a tensor that may be asked for as one of a program's constants: those of shapes, axes, conditions. */
const mostAsked = 64;

export class Builder {
  readonly #limits: BuilderLimits;
  readonly #purpose: Purpose;
  readonly #fold: Fold;
  readonly #log: TraceLog;
  #operations = 0;
  #foldedBytes = 0;
  #work = 0;

  /** `fold` computes what is known; the interpreter where absent. `log`: of a trace that stopped, where this one is to go on. */
  constructor(
    limits: Partial<BuilderLimits> = {},
    purpose: Purpose = "program",
    fold: Fold = evaluate,
    log: TraceLog = new TraceLog(),
  ) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#purpose = purpose;
    this.#fold = fold;
    this.#log = log;
  }

  constant(literal: Literal): Value {
    return { type: typeOf(literal), constant: literal };
  }

  /** The elements, where they are known; ValueUnknown where not. `what` is said in its message. */
  known(value: Value, what: string): Literal {
    const known = this.#elements(value);
    if (known !== undefined) return known;
    throw new ValueUnknown(what, elementCount(value.type.shape) > mostAsked ? undefined : { kind: "value", value });
  }

  /** As `known`, of elements that are no parameters: however few they are, they will be others in each run. */
  knownData(value: Value, what: string): Literal {
    const known = this.#elements(value);
    if (known === undefined) throw new ValueUnknown(what, undefined);
    return known;
  }

  /** As a constant, where its elements were asked for. */
  settled(value: Value): Value {
    const literal = value.constant === undefined ? this.#log.answered(value) : undefined;
    return literal === undefined ? value : this.constant(literal);
  }

  /** A part of the trace, which is not done again when the trace goes on from where it had to stop. `isNamed`: names lead to all of its outputs. */
  step(work: () => readonly Traced[], isNamed = false): readonly Traced[] {
    return this.stepOrHost(work, () => undefined, isNamed);
  }

  /** The same of a part that the host may compute where the trace cannot: `host` says what it has to. */
  stepOrHost(
    work: () => readonly Traced[],
    host: (unknown: ValueUnknown) => object | undefined,
    isNamed = false,
  ): readonly Traced[] {
    const log = this.#log;
    const before = log.begin(isNamed);
    if (before !== undefined) return before;
    try {
      const outputs = work();
      log.finish(outputs);
      return outputs;
    } catch (error) {
      if (!(error instanceof ValueUnknown)) throw error;
      const asked = host(error);
      if (asked !== undefined) log.undo();
      throw asked === undefined ? error : new ValueUnknown(error.what, { kind: "host", work: asked });
    } finally {
      log.leave();
    }
  }

  /** The first output. */
  add(operation: Operation, ...inputs: readonly Value[]): Value {
    const [first] = this.addAll(operation, ...inputs);
    if (first === undefined) throw new Error(`"${operation.kind}" gives nothing`);
    return first;
  }

  addAll(operation: Operation, ...inputs: readonly Value[]): readonly Value[] {
    this.count();
    const types = infer(
      operation,
      inputs.map(({ type }) => type),
    );
    for (const type of types) this.checkSize(type);
    const literals = inputs.map(({ constant }) => constant);
    if (literals.every((literal) => literal !== undefined) && this.#folds(operation, inputs, types))
      return this.#fold(operation, literals).map((literal) => this.constant(literal));
    return this.#log.node(() => ({ operation, inputs, outputs: types.map((type): Value => ({ type })) })).outputs;
  }

  /** What was built, with these inputs and outputs. */
  graph(inputs: readonly NamedValue[], outputs: readonly NamedValue[]): Graph {
    return { inputs, nodes: this.#log.nodes, outputs };
  }

  /** Refuses a tensor before it is made: for those that operators make themselves, of sizes that the model states. */
  checkSize(type: TensorType): void {
    if (type.shape.length > mostAxes) throw new Error(`it would make a tensor of ${type.shape.length} axes`);
    if (type.shape.some((size) => !(size >= 0))) throw new Error(`it would make ${describeType(type)}`);
    const bytes = memoryOf(type);
    const { tensorBytes } = this.#limits;
    if (bytes <= tensorBytes) return;
    throw new InferyardError(
      "OUT_OF_MEMORY",
      `the model makes ${describeType(type)}, ${bytes} bytes, and ${tensorBytes} are allowed`,
      {
        remedy: "give smaller inputs: fewer or shorter ones at once",
      },
    );
  }

  /** Counts one operation, or one node or round that builds none: whatever does not end runs into the limit. */
  count(): void {
    this.#operations += 1;
    const { operations, signal } = this.#limits;
    throwIfAborted(signal);
    if (this.#operations <= operations) return;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model takes more than ${operations} operations for one run`, {
      remedy: "look for a loop in it that does not end",
    });
  }

  #elements(value: Value): Literal | undefined {
    return value.constant ?? this.#log.answer(value);
  }

  /** Whether what is known is computed now: always in a run, and there the limits hold. */
  #folds(operation: Operation, inputs: readonly Value[], types: readonly TensorType[]): boolean {
    const { foldedElements, foldedProduct, foldedBytes, work } = this.#limits;
    const isRun = this.#purpose === "run";
    if (operation.kind === "call" && operation.fresh === true && !isRun) return false;
    const largest = types.reduce((most, { shape }) => Math.max(most, elementCount(shape)), 0);
    if (largest > foldedElements && !isRun) return false;
    const steps = workOf(
      operation,
      inputs.map(({ type }) => type),
      types,
    );
    if (operation.kind === "matmul" && steps > foldedProduct && !isRun) return false;
    if (!isRun && isLookup(operation, inputs) && largest > foldedLookup) return false;
    this.#foldedBytes += types.reduce((sum, type) => sum + memoryOf(type), 0);
    this.#work += steps;
    if (largest <= foldedElements && this.#foldedBytes <= foldedBytes && this.#work <= work) return true;
    throw new InferyardError("OUT_OF_MEMORY", `the model takes more to compute than is allowed, at "${operation.kind}"`, {
      remedy: "give smaller inputs, or run it on a target that computes it faster",
      data: { foldedElements, foldedBytes, work },
    });
  }
}

function isLookup({ kind }: Operation, [table]: readonly Value[]): boolean {
  return kind === "gather" && table !== undefined && elementCount(table.type.shape) >= tableElements;
}
