/**
 * Folding, with a memory: what the first program of a model folds from the model's own tensors (weights without their zero points, turned,
 * widened) is folded once, and every later program is given the very same literals. So they are packed once as well.
 */
import { elementCount } from "../../tensor.ts";
import { heldLiteral, identityOf, type Literal } from "../graph/literal.ts";
import { exactly, literalKey } from "../graph/literal-key.ts";
import type { Operation } from "../graph/operations.ts";
import { evaluate, type Fold } from "../interpret/evaluate.ts";

/** Constants of so few elements are told apart by their elements: exporters write them anew for each use. */
const fewElements = 8;

export class FoldMemo {
  /** The model's tensors and what was folded from them, numbered. */
  readonly #numbers = new Map<object, number>();
  readonly #results = new Map<string, readonly Literal[]>();
  #isOpen = true;

  /** `weights`: the model's own tensors, the same ones in each of its traces. */
  constructor(weights: readonly Literal[]) {
    for (const literal of weights) this.#number(literal);
  }

  /** Whether the literal is one for all programs of the model. */
  isDurable(literal: Literal): boolean {
    return this.#numbers.has(identityOf(literal));
  }

  /** The operation's results, computed or known. */
  readonly fold: Fold = (operation, inputs) => {
    const key = this.#keyOf(operation, inputs);
    const known = key === undefined ? undefined : this.#results.get(key);
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

  #number(literal: Literal): void {
    const identity = identityOf(literal);
    if (!this.#numbers.has(identity)) this.#numbers.set(identity, this.#numbers.size);
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
