/**
 * Constant folding that is shared by all graphs of a model. The first graph folds what depends on weights alone (dequantized, transposed or widened
 * weights); later graphs receive the same literals, so that each weight is folded and packed once.
 *
 * Weights and results have ids. A fold is identified by its fold key: the operation as text, with each operand as its id or, if it is small, its
 * elements. Another replica of the model, whose weights have the same ids, can import the keys: a fold with the same key gives the same tensor, bit
 * for bit, and the same id, so the replica need not compute it to refer to its packed form.
 */
import { required } from "../../contract/checked.ts";
import { elementCount, type TensorData } from "../../contract/tensor.ts";
import type { ElementType } from "../ir/element-types.ts";
import { LazyStorage } from "../ir/lazy-storage.ts";
import { withLazyStorage, storageIdentity, type Literal, literalWithStorage, reshaped } from "../ir/literal.ts";
import { exactText, literalKey } from "../ir/literal-key.ts";
import type { Operation } from "../ir/operations.ts";
import { evaluateNode, type ConstantFolder } from "../interpret/evaluate.ts";

/** Constants of at most so many elements are identified by their elements, because exporters repeat them for each use. */
const maxInlineElements = 8;

/** A fold result as plain data. */
interface FoldedTensor {
  readonly id: number;
  readonly dataType: ElementType;
  readonly shape: readonly number[];
  /** The elements of a small tensor. Absent for a large one, which is folded when its elements are read. */
  readonly data?: TensorData;
}

/** The contents of a constant-folding cache, from which other replicas of the model fill theirs. Can be cloned to another thread. */
export interface FoldingSnapshot {
  /** Results by fold key. */
  readonly results: ReadonlyMap<string, readonly FoldedTensor[]>;
  /** Analyses of large tensors (`LazyStorage.analysis`) by tensor id. */
  readonly analyses: ReadonlyMap<number, ReadonlyMap<string, unknown>>;
}

const emptySnapshot: FoldingSnapshot = { results: new Map(), analyses: new Map() };

/** Evaluates operations on constants for one loaded model and keeps those results that all its graphs share. */
export class ConstantFoldingCache {
  /** Ids of weights and results by storage identity. */
  readonly #ids = new Map<object, number>();
  readonly #literals = new Map<number, Literal>();
  readonly #imported: FoldingSnapshot;
  #nextId = 0;
  readonly #results = new Map<string, readonly Literal[]>();
  #isRecording = true;

  /** `weights` are the model's weights, the same literals in each trace. `imported` is the snapshot of a replica with the same weights in the same order. */
  constructor(weights: readonly Literal[], imported: FoldingSnapshot = emptySnapshot) {
    this.#imported = imported;
    for (const literal of weights) this.#register(literal);
    for (const { id } of [...imported.results.values()].flat()) this.#nextId = Math.max(this.#nextId, id + 1);
  }

  /** The contents of this cache, imported ones included. */
  get snapshot(): FoldingSnapshot {
    const results = [...this.#results].map(([key, literals]): [string, FoldedTensor[]] => [
      key,
      literals.map((literal) => this.#describe(literal)),
    ]);
    const analyses = [...this.#literals].map(
      ([id, { storage }]) => [id, storage?.analyses ?? new Map<string, unknown>()] as const,
    );
    return {
      results: new Map([...this.#imported.results, ...results]),
      analyses: new Map([...this.#imported.analyses, ...analyses.filter(([, found]) => found.size > 0)]),
    };
  }

  /** The id of a weight or shared fold result; undefined for any other tensor. */
  getId(literal: Literal): number | undefined {
    return this.#ids.get(storageIdentity(literal));
  }

  /** All weights and shared fold results by id. */
  get literalsById(): ReadonlyMap<number, Literal> {
    return this.#literals;
  }

  /** Whether all graphs of the model share the literal: it is a weight or a cached fold result. */
  isModelConstant(literal: Literal): boolean {
    return this.#ids.has(storageIdentity(literal));
  }

  /** The results of an operation on constants, cached or computed. Results that depend on weights alone are added to the cache until `close`. */
  readonly fold: ConstantFolder = (operation, inputs) => {
    const key = this.#foldKey(operation, inputs);
    const known = key === undefined ? undefined : (this.#results.get(key) ?? this.#importedResults(key, operation, inputs));
    if (known !== undefined) return known;
    const results = evaluateNode(operation, inputs);
    if (key === undefined || !this.#isRecording) return results;
    const cached = results.map((literal, index): Literal => {
      if (this.isModelConstant(literal)) return literal; // a reshape, which shares the storage of its operand
      return withLazyStorage(literal, { materialize: () => (evaluateNode(operation, inputs)[index] as Literal).data });
    });
    for (const literal of cached) this.#register(literal);
    this.#results.set(key, cached);
    return cached;
  };

  /**
   * Stops adding results. Called after the first graph: nearly all folds of later graphs depend on input shapes, and caching them would grow without
   * bound. Releases the elements of large results, which are packed by now; reading them computes them again.
   */
  close(): void {
    if (!this.#isRecording) return;
    this.#isRecording = false;
    for (const { storage } of [...this.#results.values()].flat()) storage?.release();
  }

  /** Adds results again: called before a branch of the model that no graph has taken yet, whose weights are not folded. */
  reopen(): void {
    this.#isRecording = true;
  }

  #register(literal: Literal, givenId?: number): void {
    const identity = storageIdentity(literal);
    if (this.#ids.has(identity)) return;
    const id = givenId ?? this.#nextId;
    this.#nextId = Math.max(this.#nextId, id + 1);
    this.#ids.set(identity, id);
    this.#literals.set(id, literal);
    const analyses = this.#imported.analyses.get(id);
    if (analyses !== undefined) literal.storage?.addAnalyses(analyses);
  }

  #describe(literal: Literal): FoldedTensor {
    const { dataType, shape, storage } = literal;
    const id = required(this.#ids.get(storageIdentity(literal)), "the id of a fold result");
    return { id, dataType, shape, ...(storage === undefined ? { data: literal.data.slice() } : {}) }; // a view is posted with all its buffer
  }

  /** The results that another replica has under this key, with the ids they have there. */
  #importedResults(key: string, operation: Operation, inputs: readonly Literal[]): readonly Literal[] | undefined {
    const results = this.#imported.results.get(key)?.map(({ id, dataType, shape, data }, index): Literal => {
      const same = this.#literals.get(id);
      if (same !== undefined) return reshaped(same, shape);
      const materialize = (): TensorData => (evaluateNode(operation, inputs)[index] as Literal).data;
      const literal =
        data === undefined
          ? literalWithStorage(new LazyStorage(undefined, { materialize }), dataType, shape)
          : { dataType, shape, data };
      this.#register(literal, id);
      return literal;
    });
    if (results !== undefined) this.#results.set(key, results);
    return results;
  }

  /** The fold key; undefined if no weight takes part, or an operand that belongs to one trace only. */
  #foldKey(operation: Operation, inputs: readonly Literal[]): string | undefined {
    if (operation.kind === "call") return undefined; // may be nondeterministic
    let readsWeights = false;
    const operands: string[] = [];
    for (const literal of inputs) {
      const { dataType, shape } = literal;
      if (elementCount(shape) <= maxInlineElements) {
        operands.push(literalKey(literal));
        continue;
      }
      const id = this.#ids.get(storageIdentity(literal));
      if (id === undefined) return undefined;
      readsWeights = true;
      operands.push(`${dataType}[${shape.join()}]#${id}`);
    }
    return readsWeights ? `${JSON.stringify(operation, jsonReplacer)}(${operands.join(";")})` : undefined;
  }
}

/** Writes numbers as exact text, since JSON has no NaN, Infinity or -0. */
function jsonReplacer(_name: string, value: unknown): unknown {
  return typeof value === "number" ? exactText(value) : value;
}
