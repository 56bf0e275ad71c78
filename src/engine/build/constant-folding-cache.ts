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
import { HeldElements } from "../ir/lazy-storage.ts";
import { heldLiteral, identityOf, type Literal, literalHeldBy, reshaped } from "../ir/literal.ts";
import { exactly, literalKey } from "../ir/literal-key.ts";
import type { Operation } from "../ir/operations.ts";
import { evaluate, type Fold } from "../interpret/evaluate.ts";

/** Constants of so few elements are told apart by their elements: exporters write them anew for each use. */
const fewElements = 8;

/** What is known of a numbered tensor without its elements. Plain data. */
interface KnownTensor {
  readonly number: number;
  readonly dataType: ElementType;
  readonly shape: readonly number[];
  /** Of a small one. Large ones are folded when somebody asks. */
  readonly data?: TensorData;
}

/** What one copy has folded, for others. Survives being posted to another thread. */
export interface KnownFolds {
  /** Results by the text of what was folded. */
  readonly results: ReadonlyMap<string, readonly KnownTensor[]>;
  /** What was found out of large tensors, by their numbers. */
  readonly facts: ReadonlyMap<number, ReadonlyMap<string, unknown>>;
}

const nothingKnown: KnownFolds = { results: new Map(), facts: new Map() };

export class FoldMemo {
  /** The model's tensors and what was folded from them, numbered. */
  readonly #numbers = new Map<object, number>();
  readonly #literals = new Map<number, Literal>();
  readonly #known: KnownFolds;
  #nextNumber = 0;
  readonly #results = new Map<string, readonly Literal[]>();
  #isOpen = true;

  /** `weights`: the model's own tensors, the same ones in each of its traces. `known`: of a copy with the very same tensors in the same order. */
  constructor(weights: readonly Literal[], known: KnownFolds = nothingKnown) {
    this.#known = known;
    for (const literal of weights) this.#number(literal);
    for (const { number } of [...known.results.values()].flat()) this.#nextNumber = Math.max(this.#nextNumber, number + 1);
  }

  /** What other copies may be given. */
  get known(): KnownFolds {
    const results = [...this.#results].map(([key, literals]): [string, KnownTensor[]] => [
      key,
      literals.map((literal) => this.#described(literal)),
    ]);
    const facts = [...this.#literals].map(([number, { held }]) => [number, held?.facts ?? new Map<string, unknown>()] as const);
    return {
      results: new Map([...this.#known.results, ...results]),
      facts: new Map([...this.#known.facts, ...facts.filter(([, found]) => found.size > 0)]),
    };
  }

  /** The number of a tensor that all programs of the model share. */
  numberOf(literal: Literal): number | undefined {
    return this.#numbers.get(identityOf(literal));
  }

  /** All tensors that have a number. */
  get numbered(): ReadonlyMap<number, Literal> {
    return this.#literals;
  }

  /** Whether the literal is one for all programs of the model. */
  isDurable(literal: Literal): boolean {
    return this.#numbers.has(identityOf(literal));
  }

  /** The operation's results, computed or known. */
  readonly fold: Fold = (operation, inputs) => {
    const key = this.#keyOf(operation, inputs);
    const known = key === undefined ? undefined : (this.#results.get(key) ?? this.#foldedElsewhere(key, operation, inputs));
    if (known !== undefined) return known;
    const results = evaluate(operation, inputs);
    if (key === undefined || !this.#isOpen) return results;
    const held = results.map((literal, index): Literal => {
      if (this.isDurable(literal)) return literal; // the operand's own elements, in another shape
      return heldLiteral(literal, { make: () => (evaluate(operation, inputs)[index] as Literal).data });
    });
    for (const literal of held) this.#number(literal);
    this.#results.set(key, held);
    return held;
  };

  /**
   * Ends the first program: folds of later ones are their own. Nearly all of those depend on shapes, and without an end the memory would grow
   * with every new one. Large results are let go, since they are packed by now, and computed again should anybody ask.
   */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const { held } of [...this.#results.values()].flat()) held?.letGo();
  }

  /** What follows is folded for all programs again. */
  reopen(): void {
    this.#isOpen = true;
  }

  #number(literal: Literal, given?: number): void {
    const identity = identityOf(literal);
    if (this.#numbers.has(identity)) return;
    const number = given ?? this.#nextNumber;
    this.#nextNumber = Math.max(this.#nextNumber, number + 1);
    this.#numbers.set(identity, number);
    this.#literals.set(number, literal);
    const facts = this.#known.facts.get(number);
    if (facts !== undefined) literal.held?.learn(facts);
  }

  #described(literal: Literal): KnownTensor {
    const { dataType, shape, held } = literal;
    const number = this.#numbers.get(identityOf(literal)) ?? -1;
    return { number, dataType, shape, ...(held === undefined ? { data: literal.data.slice() } : {}) }; // a view is posted with all its buffer
  }

  /** What another copy has folded alike, and its number there. */
  #foldedElsewhere(key: string, operation: Operation, inputs: readonly Literal[]): readonly Literal[] | undefined {
    const results = this.#known.results.get(key)?.map(({ number, dataType, shape, data }, index): Literal => {
      const same = this.#literals.get(number);
      if (same !== undefined) return reshaped(same, shape);
      const make = (): TensorData => (evaluate(operation, inputs)[index] as Literal).data;
      const literal =
        data === undefined ? literalHeldBy(new HeldElements(undefined, { make }), dataType, shape) : { dataType, shape, data };
      this.#number(literal, number);
      return literal;
    });
    if (results !== undefined) this.#results.set(key, results);
    return results;
  }

  /** undefined where nothing large of the model takes part, or anything that is another trace's own. */
  #keyOf(operation: Operation, inputs: readonly Literal[]): string | undefined {
    if (operation.kind === "call") return undefined; // may draw random numbers
    let isWorthIt = false;
    const operands: string[] = [];
    for (const literal of inputs) {
      const { dataType, shape } = literal;
      if (elementCount(shape) <= fewElements) {
        operands.push(literalKey(literal));
        continue;
      }
      const number = this.#numbers.get(identityOf(literal));
      if (number === undefined) return undefined;
      isWorthIt = true;
      operands.push(`${dataType}[${shape.join()}]#${number}`);
    }
    return isWorthIt ? `${JSON.stringify(operation, stated)}(${operands.join(";")})` : undefined;
  }
}

/** For JSON, which has no word for numbers that are not finite. */
function stated(_name: string, value: unknown): unknown {
  return typeof value === "number" ? exactly(value) : value;
}
