/** Compiles a syntax tree to a nondeterministic finite automaton with prioritized choices (Thompson's construction). */
import { getOrInsert } from "../contract/checked.ts";
import { type CharacterSetNode, type RegexNode, type RepeatNode, isNullable } from "./syntax.ts";

/** Default maximum number of states of one automaton. The cost of a transition is proportional to it. */
const defaultMaxStates = 2048;
/** Maximum number of parts that are compiled for each state: those that match only the empty string need no state. */
const partsPerState = 16;

/**
 * A state of the nondeterministic automaton of a regular expression. Other states and character sets are referred to by index.
 */
export type State =
  | { readonly kind: "accept" }
  /** Consumes a character of a set. */
  | { readonly kind: "read"; readonly set: number; readonly next: number }
  /** Continues in one of several states without consuming a character, by descending preference. Fails if there are none. */
  | { readonly kind: "choose"; readonly options: readonly number[] }
  /** Continues if the accepting state is reachable from `body` (not reachable, if `negated`). */
  | { readonly kind: "lookahead"; readonly body: number; readonly negated: boolean; readonly next: number }
  /** Continues if the previous character is in a set (is not in it or does not exist, if `negated`). */
  | { readonly kind: "lookbehind"; readonly set: number; readonly negated: boolean; readonly next: number };

/** A regular expression compiled to a nondeterministic finite automaton. */
export interface RegexAutomaton {
  readonly states: readonly State[];
  /** Index of the start state. */
  readonly start: number;
  /** Indices of all states except "read" in topological order: every state follows the states that it continues in. Exists because empty loops are excluded. */
  readonly emptyOrder: readonly number[];
  /** The character sets that states refer to. */
  readonly sets: readonly CharacterSetNode[];
}

/** Index of the accepting state in every RegexAutomaton. */
export const acceptState = 0;

/** Compiles the syntax tree of a regular expression to an automaton. Throws Error if it needs more than `maxStates` states. */
export function compileRegex(node: RegexNode, maxStates: number = defaultMaxStates): RegexAutomaton {
  const compiler = new Compiler(maxStates);
  const start = compiler.compile(node, acceptState, acceptState);
  const { states, sets } = compiler;
  return { states, start, emptyOrder: getOrder(states), sets };
}

class Compiler {
  readonly states: State[] = [{ kind: "accept" }];
  readonly sets: CharacterSetNode[] = [];
  readonly #setNumbers = new Map<string, number>();
  readonly #maxStates: number;
  #parts = 0;

  constructor(maxStates: number) {
    this.#maxStates = maxStates;
  }

  /**
   * Returns the start state of `node`. After it the automaton continues in `next`, or in `unmoved` if no character has been consumed since the
   * current iteration of the innermost loop began: an empty iteration fails, as in ECMAScript (RepeatMatcher, step 2.b).
   */
  compile(node: RegexNode, unmoved: number, next: number): number {
    this.#parts += 1;
    if (this.#parts > partsPerState * this.#maxStates) throw this.#tooLarge();
    switch (node.kind) {
      case "set":
        return this.#add({ kind: "read", set: this.#getNumber(node), next });
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
        return this.#add({ kind: "lookbehind", set: this.#getNumber(node.set), negated: node.negated, next: unmoved });
      default:
        return node satisfies never;
    }
  }

  #sequence(parts: readonly RegexNode[], unmoved: number, next: number): number {
    let ends: Ends = [unmoved, next];
    for (const part of parts.toReversed()) ends = this.#before(part, ends);
    return ends[0];
  }

  /** Start states of a node, without and with a character consumed before it. */
  #before(node: RegexNode, [unmoved, next]: Ends): Ends {
    const first = this.compile(node, unmoved, next);
    return [first, unmoved === next ? first : this.compile(node, next, next)];
  }

  #repeat({ body, min, max, greedy }: RepeatNode, unmoved: number, next: number): number {
    const most = this.#maxStates;
    if (min > most || (max !== Infinity && max > most))
      throw new Error(`a part is repeated ${max === Infinity ? min : max} times, and may be ${most} times`);
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

  #getNumber(set: CharacterSetNode): number {
    const key = `${set.flag}${set.source}`;
    return getOrInsert(this.#setNumbers, key, () => this.sets.push(set) - 1);
  }

  #add(state: State): number {
    if (this.states.length >= this.#maxStates) throw this.#tooLarge();
    return this.states.push(state) - 1;
  }

  #tooLarge(): Error {
    return new Error(`it takes more than ${this.#maxStates} states`);
  }
}

/** The states that a node continues in: with no character consumed since the loop iteration began, and with one. */
type Ends = readonly [unmoved: number, next: number];

/** The states in topological order, by a depth-first search without recursion: automata are deep. */
function getOrder(states: readonly State[]): number[] {
  const order: number[] = [];
  const seen = new Uint8Array(states.length);
  const open = [...states.keys()].reverse();
  for (let index = open.at(-1); index !== undefined; index = open.at(-1)) {
    const state = states[index];
    if (state === undefined || state.kind === "read" || seen[index] === 2) open.pop();
    else if (seen[index] === 1) {
      seen[index] = 2;
      order.push(index);
    } else {
      seen[index] = 1;
      open.push(...getFollowing(state).filter((next) => seen[next] === 0));
    }
  }
  return order;
}

/** The states in which a state continues without consuming a character. */
function getFollowing(state: State): readonly number[] {
  if (state.kind === "choose") return state.options;
  if (state.kind === "lookahead") return [state.body, state.next];
  return state.kind === "lookbehind" ? [state.next] : [];
}
