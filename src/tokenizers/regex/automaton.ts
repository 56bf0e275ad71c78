/** A syntax tree as a nondeterministic finite automaton with ordered choices (Thompson's construction). */
import { type CharacterSetNode, type RegexNode, type RepeatNode, isNullable } from "./syntax.ts";

/** States of one automaton. A transition is computed in time proportional to it. */
const maxStates = 2048;

export type State =
  | { readonly kind: "accept" }
  /** Reads a character of a set. */
  | { readonly kind: "read"; readonly set: number; readonly next: number }
  /** Goes on in one of several states, the first preferred. With none it fails. */
  | { readonly kind: "choose"; readonly options: readonly number[] }
  /** Goes on where the accepting state can be reached from `body` (cannot, if `negated`). */
  | { readonly kind: "lookahead"; readonly body: number; readonly negated: boolean; readonly next: number }
  /** Goes on where the character before is in a set (is not or is none, if `negated`). */
  | { readonly kind: "lookbehind"; readonly set: number; readonly negated: boolean; readonly next: number };

export interface RegexAutomaton {
  readonly states: readonly State[];
  readonly start: number;
  /** Indices of all states but "read", each behind the states it goes on in. Without an empty loop there is such an order. */
  readonly emptyOrder: readonly number[];
  readonly sets: readonly CharacterSetNode[];
}

/** The accepting state. */
export const acceptState = 0;

/** Throws Error for an expression that takes too many states. */
export function compileRegex(node: RegexNode): RegexAutomaton {
  const compiler = new Compiler();
  const start = compiler.compile(node, acceptState, acceptState);
  const { states, sets } = compiler;
  return { states, start, emptyOrder: orderOf(states), sets };
}

class Compiler {
  readonly states: State[] = [{ kind: "accept" }];
  readonly sets: CharacterSetNode[] = [];
  readonly #setNumbers = new Map<string, number>();

  /**
   * Returns the state in which `node` begins. Behind it the automaton goes on in `next`, or in `unmoved` where no character has been read
   * since the innermost iteration of a loop began: an iteration that reads nothing fails, as in ECMAScript (RepeatMatcher, step 2.b).
   */
  compile(node: RegexNode, unmoved: number, next: number): number {
    switch (node.kind) {
      case "set":
        return this.#add({ kind: "read", set: this.#numberOf(node), next });
      case "sequence":
        return this.#sequence(node.parts, unmoved, next);
      case "alternatives":
        return this.#add({ kind: "choose", options: node.options.map((option) => this.compile(option, unmoved, next)) });
      case "repeat":
        return this.#repeat(node, unmoved, next);
      case "lookahead": {
        const body = this.compile(node.body, acceptState, acceptState);
        return this.#add({ kind: "lookahead", body, negated: node.negated, next: unmoved });
      }
      case "lookbehind":
        return this.#add({ kind: "lookbehind", set: this.#numberOf(node.set), negated: node.negated, next: unmoved });
      default:
        return node satisfies never;
    }
  }

  #sequence(parts: readonly RegexNode[], unmoved: number, next: number): number {
    let ends: Ends = [unmoved, next];
    for (const part of parts.toReversed()) ends = this.#before(part, ends);
    return ends[0];
  }

  /** Where a node begins, without and with a character read before it. */
  #before(node: RegexNode, [unmoved, next]: Ends): Ends {
    const first = this.compile(node, unmoved, next);
    return [first, unmoved === next ? first : this.compile(node, next, next)];
  }

  #repeat({ body, min, max, greedy }: RepeatNode, unmoved: number, next: number): number {
    if (min > maxStates || (max !== Infinity && max > maxStates))
      throw new Error(`a part is repeated ${max === Infinity ? min : max} times, and may be ${maxStates} times`);
    const choose = (state: number, otherwise: number): State => ({
      kind: "choose",
      options: greedy ? [state, otherwise] : [otherwise, state],
    });
    let ends: Ends = [unmoved, next];
    if (max === Infinity) {
      const loop = this.#add({ kind: "choose", options: [] });
      const iteration = this.compile(body, isNullable(body) ? this.#dead() : loop, loop);
      this.states[loop] = choose(iteration, next);
      if (min === 1 && !isNullable(body)) return iteration;
      ends = [unmoved === next ? loop : this.#add(choose(iteration, unmoved)), loop];
    } else {
      for (let count = min; count < max; count++) {
        const iteration = this.compile(body, isNullable(body) ? this.#dead() : ends[1], ends[1]);
        const moved = this.#add(choose(iteration, next));
        ends = [unmoved === next ? moved : this.#add(choose(iteration, unmoved)), moved];
      }
    }
    for (let count = 0; count < min; count++) ends = this.#before(body, ends);
    return ends[0];
  }

  #dead(): number {
    return this.#add({ kind: "choose", options: [] });
  }

  #numberOf(set: CharacterSetNode): number {
    const key = `${set.flag}${set.source}`;
    const known = this.#setNumbers.get(key) ?? this.sets.push(set) - 1;
    this.#setNumbers.set(key, known);
    return known;
  }

  #add(state: State): number {
    if (this.states.length >= maxStates) throw new Error(`it takes more than ${maxStates} states`);
    return this.states.push(state) - 1;
  }
}

/** The states a node goes on in: with no character read since the loop's iteration began, and with one. */
type Ends = readonly [unmoved: number, next: number];

function orderOf(states: readonly State[]): number[] {
  const order: number[] = [];
  const seen = new Uint8Array(states.length);
  const visit = (index: number): void => {
    if (seen[index] === 1) return;
    seen[index] = 1;
    const state = states[index];
    if (state === undefined || state.kind === "read") return;
    if (state.kind === "choose") for (const option of state.options) visit(option);
    else if (state.kind === "lookahead") for (const after of [state.body, state.next]) visit(after);
    else if (state.kind === "lookbehind") visit(state.next);
    order.push(index);
  };
  for (let index = 0; index < states.length; index++) visit(index);
  return order;
}
