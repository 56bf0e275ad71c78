/**
 * Builds a program graph, operation by operation. What is known beforehand is computed at once by the interpreter, so that shape arithmetic never
 * reaches the graph; when all inputs are known the whole program is, and building it is running it.
 */
import { InferyardError } from "../../errors.ts";
import { elementCount } from "../../tensor.ts";
import { TraceBudget, recordOverheadBytes, type TraceLimits } from "./trace-budget.ts";
import { describeType, type Graph, type NamedValue, type TensorType, typeOf, type Value } from "../ir/graph.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import { storageIdentity, type Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { evaluate, type ConstantFolder } from "../interpret/evaluate.ts";

import { TraceLog } from "./trace-log.ts";
import { isOptional, isSequence, type TracedValue } from "./traced-value.ts";
import { DataDependencyError } from "./data-dependency-error.ts";
import { literalBytes, isCostly, estimatedBytes, maxRank, scratchBytes, estimatedWork } from "./operation-cost.ts";

/** Elements of a table of weights, at least; shapes are looked up in smaller ones. */
const minTableElements = 2 ** 16;
/** Elements looked up in a table, at most, while building: more are a text's positions, which would be computed and kept for each of its lengths. */
const maxFoldedLookup = 2 ** 12;

/**
 * What is built: a program that runs many times, in which random numbers are drawn anew by each run, or one run, in which they are drawn at
 * once.
 */
export type BuildMode = "graph" | "eager";

/** Elements of a tensor that may be asked for as one of a program's constants: those of shapes, axes, conditions. */
const maxResolvedElements = 64;

export class Builder {
  /** Charged for everything that is built. */
  readonly budget: TraceBudget;
  readonly #mode: BuildMode;
  readonly #fold: ConstantFolder;
  readonly #log: TraceLog;

  /** `fold` computes what is known; the interpreter where absent. `log`: of a trace that stopped, where this one is to go on. */
  constructor(
    limits: Partial<TraceLimits> | TraceBudget = {},
    purpose: BuildMode = "graph",
    fold: ConstantFolder = evaluate,
    log: TraceLog = new TraceLog(),
  ) {
    this.budget = limits instanceof TraceBudget ? limits : new TraceBudget(limits);
    this.#mode = purpose;
    this.#fold = fold;
    this.#log = log;
  }

  constant(literal: Literal): Value {
    // Large tensors of the model itself are held: they are no part of what tracing takes.
    if (literal.storage === undefined) this.#own(literal);
    return { type: typeOf(literal), constant: literal };
  }

  /** The elements, where they are known; ValueUnknown where not. `what` is said in its message. */
  known(value: Value, what: string): Literal {
    const known = this.#knownElements(value);
    if (known !== undefined) return known;
    throw new DataDependencyError(
      what,
      elementCount(value.type.shape) > maxResolvedElements ? undefined : { kind: "value", value },
    );
  }

  /** As `known`, of elements that are no parameters: however few they are, they will be others in each run. */
  knownData(value: Value, what: string): Literal {
    const known = this.#knownElements(value);
    if (known === undefined) throw new DataDependencyError(what, undefined);
    return known;
  }

  /** As a constant, where its elements were asked for. */
  resolved(value: Value): Value {
    const literal = value.constant === undefined ? this.#log.resolved(value) : undefined;
    return literal === undefined ? value : this.constant(literal);
  }

  /** A part of the trace, which is not done again when the trace goes on from where it had to stop. `isNamed`: names lead to all of its outputs. */
  step(work: () => readonly TracedValue[], isNamed = false): readonly TracedValue[] {
    return this.stepOrInterpret(work, () => undefined, isNamed);
  }

  /** The same of a part that the host may compute where the trace cannot: `host` says what it has to. */
  stepOrInterpret(
    work: () => readonly TracedValue[],
    host: (unknown: DataDependencyError) => object | undefined,
    isNamed = false,
  ): readonly TracedValue[] {
    const log = this.#log;
    const before = log.begin(isNamed);
    if (before !== undefined) return before;
    this.budget.beginStep();
    try {
      const outputs = this.#endStep(work());
      log.finish(outputs);
      return outputs;
    } catch (error) {
      if (!(error instanceof DataDependencyError)) throw error;
      const asked = host(error);
      if (asked !== undefined) log.undo();
      throw asked === undefined ? error : new DataDependencyError(error.what, { kind: "interpreted-op", work: asked });
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
    checkAttributes(operation);
    const types = inferTypes(
      operation,
      inputs.map(({ type }) => type),
    );
    for (const type of types) this.checkSize(type);
    const literals = inputs.map(({ constant }) => constant);
    if (literals.every((literal) => literal !== undefined) && this.#shouldFold(operation, inputs, types))
      return this.#fold(operation, literals).map((literal): Value => {
        if (literal.storage === undefined) this.#own(literal);
        else this.budget.share(literal.storage, literalBytes(literal), describeType(literal)); // the memory of folds keeps it
        return { type: typeOf(literal), constant: literal };
      });
    for (const literal of literals) if (literal !== undefined) this.budget.retain(storageIdentity(literal));
    return this.#log.node(() => {
      const node = { operation, inputs, outputs: types.map((type): Value => ({ type })) };
      this.budget.chargeOwner(node, recordOverheadBytes.node, "a node of the program");
      this.budget.retain(node);
      return node;
    }).outputs;
  }

  /** What was built, with these inputs and outputs. */
  graph(inputs: readonly NamedValue[], outputs: readonly NamedValue[]): Graph {
    return { inputs, nodes: this.#log.nodes, outputs };
  }

  /** Refuses a tensor of impossible or excessive size. A dimension of 0 does not make up for the others: what loops over those would not end. */
  checkSize(type: TensorType): void {
    const { shape } = type;
    if (shape.length > maxRank) throw new Error(`it would make a tensor of ${shape.length} axes, and ${maxRank} are allowed`);
    if (shape.some((size) => !(size >= 0))) throw new Error(`it would make ${describeType(type)}`);
    const bytes = estimatedBytes({ dataType: type.dataType, shape: shape.map((size) => Math.max(size, 1)) });
    const { tensorBytes } = this.budget.limits;
    if (bytes <= tensorBytes) return;
    throw new InferyardError(
      "OUT_OF_MEMORY",
      `the model makes ${describeType(type)}, ${bytes} bytes, and ${tensorBytes} are allowed`,
      {
        remedy: "give smaller inputs: fewer or shorter ones at once",
        data: { limit: "tensorBytes", allowed: tensorBytes },
      },
    );
  }

  /**
   * Refuses what an operator is about to compute by itself, element by element, and give to `constant`: where the tensor, or a list of numbers or
   * objects of `elementBytes` each that it is made of, does not fit.
   */
  reserve(type: TensorType, elementBytes: number = 16): void {
    this.checkSize(type);
    const count = elementCount(type.shape);
    this.budget.requireBytes(literalBytes(type) + count * elementBytes, describeType(type));
    this.budget.chargeWork(count);
  }

  /** Counts one node or iteration that builds no operation: see `Budget.count`. */
  count(): void {
    this.budget.countOperation();
  }

  /** Ends the step of the budget: of what it charged, what is in the outputs stays. */
  #endStep(outputs: readonly TracedValue[]): readonly TracedValue[] {
    this.budget.endStep(() => ownersIn(outputs));
    for (const output of outputs) this.#ownItems(output);
    return outputs;
  }

  #own(literal: Literal): void {
    this.budget.chargeOwner(storageIdentity(literal), literalBytes(literal, literal), describeType(literal));
  }

  /** A sequence is copied for each change, so its items count wherever they stand. */
  #ownItems(traced: TracedValue): void {
    if (isSequence(traced)) this.budget.chargeOwner(traced.items, traced.items.length * recordOverheadBytes.item, "a sequence");
  }

  #knownElements(value: Value): Literal | undefined {
    return value.constant ?? this.#log.resolve(value);
  }

  /** Whether what is known is computed now: always in a run, and there the limits hold. */
  #shouldFold(operation: Operation, inputs: readonly Value[], types: readonly TensorType[]): boolean {
    const { budget } = this;
    const isRun = this.#mode === "eager";
    if (operation.kind === "call" && operation.nondeterministic === true && !isRun) return false;
    const largest = types.reduce((most, { shape }) => Math.max(most, elementCount(shape)), 0);
    if (largest > budget.foldedElements && !isRun) return false;
    const given = inputs.map(({ type }) => type);
    const steps = estimatedWork(operation, given, types);
    if (isCostly(operation) && steps > budget.limits.foldedWork && !isRun) return false;
    if (!isRun && isLookup(operation, inputs) && largest > maxFoldedLookup) return false;
    const label = `"${operation.kind}" of ${types.map(describeType).join(" and ")}`;
    budget.requireBytes(
      types.reduce((sum, type) => sum + literalBytes(type), scratchBytes(operation, given, types)),
      label,
    );
    budget.chargeWork(steps);
    return true;
  }
}

/** Lists in an operation that name axes, sizes or steps: no tensor has so many axes. */
function checkAttributes(operation: Operation): void {
  if (operation.kind === "call" || operation.kind === "elementwise") return;
  for (const [name, value] of Object.entries(operation)) {
    if (!Array.isArray(value) || value.length <= 2 * maxRank) continue;
    throw new Error(`its "${name}" has ${value.length} entries, and a tensor has ${maxRank} axes at most`);
  }
}

/** What holds the elements of the tensors in these, and their items. */
function* ownersIn(traced: readonly TracedValue[]): Generator<object> {
  for (const each of traced) {
    if (isSequence(each)) {
      yield each.items;
      yield* ownersIn(each.items);
    } else if (isOptional(each)) yield* ownersIn(each.content === undefined ? [] : [each.content]);
    else if (each.constant !== undefined) yield storageIdentity(each.constant);
  }
}

function isLookup({ kind }: Operation, [table]: readonly Value[]): boolean {
  return kind === "gather" && table !== undefined && elementCount(table.type.shape) >= minTableElements;
}
