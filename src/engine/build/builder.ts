/**
 * Builds a graph, operation by operation, with constant folding: an operation whose inputs are all constants is computed at once by the interpreter
 * and adds no node. So shape arithmetic never reaches the graph, and if all inputs of a model are constants, building its graph computes its outputs.
 */
import { InferyardError } from "../../contract/errors.ts";
import { required } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { TraceBudget, recordOverheadBytes, type TraceLimits } from "./trace-budget.ts";
import { type Graph, type NamedValue, getType, type Value } from "../ir/graph.ts";
import { describeType, type TensorType } from "../ir/tensor-type.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import { storageIdentity, type Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { evaluateNode, type ConstantFolder } from "../interpret/evaluate.ts";

import { TraceLog } from "./trace-log.ts";
import { isOptional, isSequence, type TracedValue } from "./traced-value.ts";
import { DataDependencyError } from "./data-dependency-error.ts";
import { literalBytes, isCostly, estimatedBytes, maxRank, scratchBytes, estimatedWork } from "./operation-cost.ts";

/** A gather from a table of at least so many elements is an embedding lookup; shape arithmetic gathers from smaller ones. */
const minTableElements = 2 ** 16;
/** Largest result, in elements, of an embedding lookup that is folded. A larger one, such as position embeddings, would be stored once per length. */
const maxFoldedLookup = 2 ** 12;

/**
 * Purpose of a builder. "graph": a graph that runs many times; large folds and nondeterministic operations are left to its runs. "eager": one evaluation;
 * everything with constant inputs is computed at once, and exceeding the limits throws. "decoding": as "graph", and operators that hold a cache append new rows
 * at the end of each sequence in it.
 */
export type BuildMode = "graph" | "eager" | "decoding";

/** Largest tensor, in elements, whose run-time value may become a constant of the next graph segment: a shape, an axis or a condition. */
const maxResolvedElements = 64;

/** Adds operations to a graph, or evaluates them where their inputs are constants. Throws where the model exceeds the limits of its budget. */
export class Builder {
  /** Charged for all operations, folds and memory of this trace. */
  readonly budget: TraceBudget;
  readonly #mode: BuildMode;
  readonly #fold: ConstantFolder;
  readonly #log: TraceLog;

  /**
   * `fold` evaluates an operation with constant inputs; default: the interpreter. `log` is that of a trace which stopped at a data dependency, when
   * this builder continues it.
   */
  constructor(
    limits: Partial<TraceLimits> | TraceBudget = {},
    mode: BuildMode = "graph",
    fold: ConstantFolder = evaluateNode,
    log: TraceLog = new TraceLog(),
  ) {
    this.budget = limits instanceof TraceBudget ? limits : new TraceBudget(limits);
    this.#mode = mode;
    this.#fold = fold;
    this.#log = log;
  }

  /** Whether operators that hold a cache append to its end: see `BuildMode`. */
  get appendsToCaches(): boolean {
    return this.#mode === "decoding";
  }

  /** The literal as a value of the graph. Its bytes are charged to the budget. */
  constant(literal: Literal): Value {
    // The model's large weights have lazy storage; they are not part of the memory of the trace.
    if (literal.storage === undefined) this.#own(literal);
    return { type: getType(literal), constant: literal };
  }

  /**
   * The elements of a tensor that parametrizes an operator (a shape, an axis). Throws DataDependencyError if only a run provides them: the trace
   * then continues in another segment, with the elements as a constant. `what` names the tensor in the message.
   */
  known(value: Value, what: string): Literal {
    const known = this.#knownElements(value);
    if (known !== undefined) return known;
    throw new DataDependencyError(
      what,
      elementCount(value.type.shape) > maxResolvedElements ? undefined : { kind: "value", value },
    );
  }

  /** As `known`, for a tensor that is data rather than a parameter: its elements differ in each run and never become constants of a segment. */
  knownData(value: Value, what: string): Literal {
    const known = this.#knownElements(value);
    if (known === undefined) throw new DataDependencyError(what, undefined);
    return known;
  }

  /** The value as a constant if an earlier segment resolved its elements; else the value itself. */
  resolved(value: Value): Value {
    const literal = value.constant === undefined ? this.#log.resolved(value) : undefined;
    return literal === undefined ? value : this.constant(literal);
  }

  /**
   * Runs `work`, a part of the trace that is logged as a unit: when the trace is repeated to continue after a data dependency, a completed step returns its
   * logged outputs. `isNamed`: the model names all outputs, so outputs without further references can be dropped.
   */
  step(work: () => readonly TracedValue[], isNamed = false): readonly TracedValue[] {
    return this.stepOrInterpret(work, () => undefined, isNamed);
  }

  /**
   * As `step`; if a data dependency stops `work`, `interpret` may return an operation to be interpreted in place of the step. Undefined lets the
   * error pass on.
   */
  stepOrInterpret(
    work: () => readonly TracedValue[],
    interpret: (error: DataDependencyError) => object | undefined,
    isNamed = false,
  ): readonly TracedValue[] {
    const log = this.#log;
    const logged = log.begin(isNamed);
    if (logged !== undefined) return logged;
    this.budget.beginStep();
    try {
      const outputs = this.#endStep(work());
      log.finish(outputs);
      return outputs;
    } catch (error) {
      if (!(error instanceof DataDependencyError)) throw error;
      const op = interpret(error);
      if (op !== undefined) log.undo();
      throw op === undefined ? error : new DataDependencyError(error.what, { kind: "interpreted-op", op });
    } finally {
      log.leave();
    }
  }

  /** Adds or folds an operation and returns its first output. */
  add(operation: Operation, ...inputs: readonly Value[]): Value {
    const [first] = this.addAll(operation, ...inputs);
    return required(first, `the output of "${operation.kind}"`);
  }

  /** Adds or folds an operation and returns all its outputs. Throws where the inputs do not fit the operation or an output exceeds a limit. */
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
        else this.budget.share(literal.storage, literalBytes(literal), describeType(literal)); // the constant-folding cache owns it
        return { type: getType(literal), constant: literal };
      });
    for (const literal of literals) if (literal !== undefined) this.budget.retain(storageIdentity(literal));
    return this.#log.node(() => {
      const node = { operation, inputs, outputs: types.map((type): Value => ({ type })) };
      this.budget.chargeOwner(node, recordOverheadBytes.node, "a node of the graph");
      this.budget.retain(node);
      return node;
    }).outputs;
  }

  /** The graph of all nodes added so far, with these inputs and outputs. */
  graph(inputs: readonly NamedValue[], outputs: readonly NamedValue[]): Graph {
    return { inputs, nodes: this.#log.nodes, outputs };
  }

  /**
   * Throws if a tensor of this type has a negative size or too many axes, OUT_OF_MEMORY if it exceeds `tensorBytes`. An axis of size 0 counts as 1:
   * the other axes may still be loop counts.
   */
  checkSize(type: TensorType): void {
    const { shape } = type;
    if (shape.length > maxRank) throw new Error(`the result has ${shape.length} axes, more than the ${maxRank} allowed`);
    if (shape.some((size) => !(size >= 0))) throw new Error(`the result would be ${describeType(type)}`);
    const bytes = estimatedBytes({ dataType: type.dataType, shape: shape.map((size) => Math.max(size, 1)) });
    const { tensorBytes } = this.budget.limits;
    if (bytes <= tensorBytes) return;
    throw new InferyardError(
      "OUT_OF_MEMORY",
      `the model computes ${describeType(type)}, ${bytes} bytes, more than the ${tensorBytes} allowed`,
      {
        remedy: "give smaller inputs: fewer or shorter ones at once",
        data: { limit: "tensorBytes", allowed: tensorBytes },
      },
    );
  }

  /**
   * Called before an operator computes a constant of this type in JavaScript: throws if the tensor, or a list of its elements at `elementBytes` bytes
   * each, exceeds the budget, and charges one step of work per element.
   */
  reserve(type: TensorType, elementBytes: number = 16): void {
    this.checkSize(type);
    const count = elementCount(type.shape);
    this.budget.requireBytes(literalBytes(type) + count * elementBytes, describeType(type));
    this.budget.chargeWork(count);
  }

  /** Charges one node or loop iteration that adds no operation, so that every loop of a trace ends at a limit (`TraceBudget.countOperation`). */
  count(): void {
    this.budget.countOperation();
  }

  /** Ends the budget's step: charges for what the outputs refer to stay, all others are released. */
  #endStep(outputs: readonly TracedValue[]): readonly TracedValue[] {
    this.budget.endStep(() => ownersIn(outputs));
    for (const output of outputs) this.#ownItems(output);
    return outputs;
  }

  #own(literal: Literal): void {
    this.budget.chargeOwner(storageIdentity(literal), literalBytes(literal, literal), describeType(literal));
  }

  /** ONNX sequences are immutable and copied on each change, so every sequence pays for its items. */
  #ownItems(traced: TracedValue): void {
    if (isSequence(traced)) this.budget.chargeOwner(traced.items, traced.items.length * recordOverheadBytes.item, "a sequence");
  }

  #knownElements(value: Value): Literal | undefined {
    return value.constant ?? this.#log.resolve(value);
  }

  /** Whether an operation with constant inputs is computed now: always in eager mode, where a limit that is exceeded throws. */
  #shouldFold(operation: Operation, inputs: readonly Value[], types: readonly TensorType[]): boolean {
    const { budget } = this;
    const isEager = this.#mode === "eager";
    if (operation.kind === "call" && operation.nondeterministic === true && !isEager) return false;
    const largest = types.reduce((max, { shape }) => Math.max(max, elementCount(shape)), 0);
    if (largest > budget.foldedElements && !isEager) return false;
    const inputTypes = inputs.map(({ type }) => type);
    const steps = estimatedWork(operation, inputTypes, types);
    if (isCostly(operation) && steps > budget.limits.foldedWork && !isEager) return false;
    if (!isEager && isLookup(operation, inputs) && largest > maxFoldedLookup) return false;
    const label = `"${operation.kind}" of ${types.map(describeType).join(" and ")}`;
    budget.requireBytes(
      types.reduce((sum, type) => sum + literalBytes(type), scratchBytes(operation, inputTypes, types)),
      label,
    );
    budget.chargeWork(steps);
    return true;
  }
}

/** Throws for an attribute list longer than any list of axes, sizes or pads can be. */
function checkAttributes(operation: Operation): void {
  if (operation.kind === "call" || operation.kind === "elementwise") return;
  for (const [name, value] of Object.entries(operation)) {
    if (!Array.isArray(value) || value.length <= 2 * maxRank) continue;
    throw new Error(`the attribute "${name}" has ${value.length} entries, and a tensor has at most ${maxRank} axes`);
  }
}

/** The objects that own memory in these values: the storage of constants and the item lists of sequences. */
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
