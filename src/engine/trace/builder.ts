/**
 * Builds a program graph, operation by operation. What is known beforehand is computed at once by the interpreter, so that shape arithmetic never
 * reaches the graph; when all inputs are known the whole program is, and building it is running it.
 */
import { InferyardError, throwIfAborted } from "../../errors.ts";
import { elementCount } from "../../tensor.ts";
import {
  describeType,
  type Graph,
  type GraphNode,
  type NamedValue,
  type TensorType,
  typeOf,
  type Value,
} from "../graph/graph.ts";
import { infer } from "../graph/infer/index.ts";
import type { Literal } from "../graph/literal.ts";
import type { Operation } from "../graph/operations.ts";
import { evaluate, type Fold } from "../interpret/evaluate.ts";
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

/** Thrown where an operator must know a value that only a run tells: the program cannot be laid out beforehand. */
export class ValueUnknown extends Error {
  constructor(what: string) {
    super(`${what} is only known while the model runs`);
  }
}

export class Builder {
  readonly #nodes: GraphNode[] = [];
  readonly #limits: BuilderLimits;
  readonly #purpose: Purpose;
  readonly #fold: Fold;
  #operations = 0;
  #foldedBytes = 0;
  #work = 0;

  /** `fold` computes what is known; the interpreter where absent. */
  constructor(limits: Partial<BuilderLimits> = {}, purpose: Purpose = "program", fold: Fold = evaluate) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#purpose = purpose;
    this.#fold = fold;
  }

  constant(literal: Literal): Value {
    return { type: typeOf(literal), constant: literal };
  }

  /** The elements, where they are known; ValueUnknown where not. `what` is said in its message. */
  known(value: Value, what: string): Literal {
    if (value.constant === undefined) throw new ValueUnknown(what);
    return value.constant;
  }

  /** The first output. */
  add(operation: Operation, ...inputs: readonly Value[]): Value {
    const [first] = this.addAll(operation, ...inputs);
    if (first === undefined) throw new Error(`"${operation.kind}" gives nothing`);
    return first;
  }

  addAll(operation: Operation, ...inputs: readonly Value[]): readonly Value[] {
    this.step();
    const types = infer(
      operation,
      inputs.map(({ type }) => type),
    );
    for (const type of types) this.checkSize(type);
    const literals = inputs.map(({ constant }) => constant);
    if (literals.every((literal) => literal !== undefined) && this.#folds(operation, inputs, types))
      return this.#fold(operation, literals).map((literal) => this.constant(literal));
    const outputs = types.map((type): Value => ({ type }));
    this.#nodes.push({ operation, inputs, outputs });
    return outputs;
  }

  /** What was built, with these inputs and outputs. */
  graph(inputs: readonly NamedValue[], outputs: readonly NamedValue[]): Graph {
    return { inputs, nodes: this.#nodes, outputs };
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
  step(): void {
    this.#operations += 1;
    const { operations, signal } = this.#limits;
    throwIfAborted(signal);
    if (this.#operations <= operations) return;
    throw new InferyardError("MODEL_UNSUPPORTED", `the model takes more than ${operations} operations for one run`, {
      remedy: "look for a loop in it that does not end",
    });
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
