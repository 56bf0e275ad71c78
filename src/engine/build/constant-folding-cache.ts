/**
 * Folding, with a memory: what the first program of a model folds from the model's own tensors (weights without their zero points, turned,
 * widened) is folded once, and every later program is given the very same literals. So they are packed once as well.
 *
 * Tensors are numbered, and what was folded is written down as text: the operation, and its operands by number or, if they are small, element by
 * element. A copy of the model, whose own tensors have the same numbers, can be given these texts. What it would fold with the same text is the
 * same tensor then, to the bit, and has the same number; it need not fold it.
 */
import { elementCount, type TensorData } from "../../tensor.ts";
import type { ElementType } from "../ir/element-types.ts";
import { LazyStorage } from "../ir/lazy-storage.ts";
import { withLazyStorage, storageIdentity, type Literal, literalWithStorage, reshaped } from "../ir/literal.ts";
import { exactText, literalKey } from "../ir/literal-key.ts";
import type { Operation } from "../ir/operations.ts";
import { evaluate, type ConstantFolder } from "../interpret/evaluate.ts";

/** Constants of so few elements are told apart by their elements: exporters write them anew for each use. */
const maxInlineElements = 8;

/** What is known of a numbered tensor without its elements. Plain data. */
interface FoldedTensor {
  readonly id: number;
  readonly dataType: ElementType;
  readonly shape: readonly number[];
  /** Of a small one. Large ones are folded when somebody asks. */
  readonly data?: TensorData;
}

/** What one copy has folded, for others. Survives being posted to another thread. */
export interface FoldingSnapshot {
  /** Results by the text of what was folded. */
  readonly results: ReadonlyMap<string, readonly FoldedTensor[]>;
  /** What was found out of large tensors, by their numbers. */
  readonly facts: ReadonlyMap<number, ReadonlyMap<string, unknown>>;
}

const emptySnapshot: FoldingSnapshot = { results: new Map(), facts: new Map() };

export class ConstantFoldingCache {
  /** The model's tensors and what was folded from them, numbered. */
  readonly #ids = new Map<object, number>();
  readonly #literals = new Map<number, Literal>();
  readonly #imported: FoldingSnapshot;
  #nextId = 0;
  readonly #results = new Map<string, readonly Literal[]>();
  #isRecording = true;

  /** `weights`: the model's own tensors, the same ones in each of its traces. `known`: of a copy with the very same tensors in the same order. */
  constructor(weights: readonly Literal[], known: FoldingSnapshot = emptySnapshot) {
    this.#imported = known;
    for (const literal of weights) this.#register(literal);
    for (const { id } of [...known.results.values()].flat()) this.#nextId = Math.max(this.#nextId, id + 1);
  }

  /** What other copies may be given. */
  get snapshot(): FoldingSnapshot {
    const results = [...this.#results].map(([key, literals]): [string, FoldedTensor[]] => [
      key,
      literals.map((literal) => this.#describe(literal)),
    ]);
    const facts = [...this.#literals].map(
      ([number, { storage }]) => [number, storage?.analyses ?? new Map<string, unknown>()] as const,
    );
    return {
      results: new Map([...this.#imported.results, ...results]),
      facts: new Map([...this.#imported.facts, ...facts.filter(([, found]) => found.size > 0)]),
    };
  }

  /** The number of a tensor that all programs of the model share. */
  idOf(literal: Literal): number | undefined {
    return this.#ids.get(storageIdentity(literal));
  }

  /** All tensors that have a number. */
  get literalsById(): ReadonlyMap<number, Literal> {
    return this.#literals;
  }

  /** Whether the literal is one for all programs of the model. */
  isModelConstant(literal: Literal): boolean {
    return this.#ids.has(storageIdentity(literal));
  }

  /** The operation's results, computed or known. */
  readonly fold: ConstantFolder = (operation, inputs) => {
    const key = this.#foldKey(operation, inputs);
    const known = key === undefined ? undefined : (this.#results.get(key) ?? this.#importedResults(key, operation, inputs));
    if (known !== undefined) return known;
    const results = evaluate(operation, inputs);
    if (key === undefined || !this.#isRecording) return results;
    const held = results.map((literal, index): Literal => {
      if (this.isModelConstant(literal)) return literal; // the operand's own elements, in another shape
      return withLazyStorage(literal, { materialize: () => (evaluate(operation, inputs)[index] as Literal).data });
    });
    for (const literal of held) this.#register(literal);
    this.#results.set(key, held);
    return held;
  };

  /**
   * Ends the first program: folds of later ones are their own. Nearly all of those depend on shapes, and without an end the memory would grow
   * with every new one. Large results are let go, since they are packed by now, and computed again should anybody ask.
   */
  close(): void {
    if (!this.#isRecording) return;
    this.#isRecording = false;
    for (const { storage } of [...this.#results.values()].flat()) storage?.release();
  }

  /** What follows is folded for all programs again. */
  reopen(): void {
    this.#isRecording = true;
  }

  #register(literal: Literal, given?: number): void {
    const identity = storageIdentity(literal);
    if (this.#ids.has(identity)) return;
    const number = given ?? this.#nextId;
    this.#nextId = Math.max(this.#nextId, number + 1);
    this.#ids.set(identity, number);
    this.#literals.set(number, literal);
    const facts = this.#imported.facts.get(number);
    if (facts !== undefined) literal.storage?.addAnalyses(facts);
  }

  #describe(literal: Literal): FoldedTensor {
    const { dataType, shape, storage } = literal;
    const id = this.#ids.get(storageIdentity(literal)) ?? -1;
    return { id, dataType, shape, ...(storage === undefined ? { data: literal.data.slice() } : {}) }; // a view is posted with all its buffer
  }

  /** What another copy has folded alike, and its number there. */
  #importedResults(key: string, operation: Operation, inputs: readonly Literal[]): readonly Literal[] | undefined {
    const results = this.#imported.results.get(key)?.map(({ id, dataType, shape, data }, index): Literal => {
      const same = this.#literals.get(id);
      if (same !== undefined) return reshaped(same, shape);
      const materialize = (): TensorData => (evaluate(operation, inputs)[index] as Literal).data;
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

  /** undefined where nothing large of the model takes part, or anything that is another trace's own. */
  #foldKey(operation: Operation, inputs: readonly Literal[]): string | undefined {
    if (operation.kind === "call") return undefined; // may draw random numbers
    let isWorthIt = false;
    const operands: string[] = [];
    for (const literal of inputs) {
      const { dataType, shape } = literal;
      if (elementCount(shape) <= maxInlineElements) {
        operands.push(literalKey(literal));
        continue;
      }
      const number = this.#ids.get(storageIdentity(literal));
      if (number === undefined) return undefined;
      isWorthIt = true;
      operands.push(`${dataType}[${shape.join()}]#${number}`);
    }
    return isWorthIt ? `${JSON.stringify(operation, jsonReplacer)}(${operands.join(";")})` : undefined;
  }
}

/** For JSON, which has no word for numbers that are not finite. */
function jsonReplacer(_name: string, value: unknown): unknown {
  return typeof value === "number" ? exactText(value) : value;
}
