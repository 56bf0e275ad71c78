/** Deterministic automata over bytes: the regular parts of a constraint. */
import { addToList, getOrInsert } from "../../../../contract/checked.ts";
import { chargeStates, chargeSteps } from "../constraint-budget.ts";
import { getClasses, commonClasses, getClassCount, everyByte, getRepresentatives } from "./byte-classes.ts";
import { stepUtf8, utf8Classes, utf8States } from "./utf8.ts";

/** Reads a text byte by byte. States are numbers from 0; -1 means that the text does not fit. From every state an accepted text can be reached. */
export interface Automaton {
  readonly start: number;
  /** The state after a byte; -1 if none. */
  step(state: number, byte: number): number;
  /** Whether the text may end here. */
  accepts(state: number): boolean;
  /** Whether another byte may follow. */
  continues(state: number): boolean;
  /** Code points that may follow, whichever they are: after any text of up to that many, a text that fits can be reached. Default: 0, it depends on them. */
  freeCharacters?(state: number): number;
  /** The automaton of a text nested within this many objects and lists of JSON. Default: this one. */
  atDepth?(depth: number): Automaton;
}

/** An automaton by its rules, from which `explore` makes a table. */
export interface Rules<State> {
  readonly start: State;
  /** Equal states have equal keys. */
  key(state: State): string | number;
  /** The state after a byte; undefined if none. */
  step(state: State, byte: number): State | undefined;
  accepts(state: State): boolean;
  /** By byte: the number of its class. Bytes of one class lead to equal states. Default: a class for each byte. */
  readonly classes?: Uint8Array;
  /** Estimated memory of a state itself. Default: 0. */
  bytes?(state: State): number;
}

/** An automaton as a table. */
export class Dfa implements Automaton {
  readonly start = 0;
  readonly states: number;
  /** By byte: the number of its class. */
  readonly classes: Uint8Array;
  readonly #classCount: number;
  readonly #next: Int32Array;
  readonly #accepting: Uint8Array;
  readonly #continuing: Uint8Array;
  #free: Uint8Array | undefined;

  /** `next`: the state after each class of bytes, a row for each state. */
  constructor(classes: Uint8Array, next: Int32Array, accepting: Uint8Array) {
    this.classes = classes;
    this.#classCount = getClassCount(classes);
    this.states = accepting.length;
    this.#next = next;
    this.#accepting = accepting;
    this.#continuing = new Uint8Array(this.states);
    for (let state = 0; state < this.states; state += 1) {
      const row = next.subarray(state * this.#classCount, (state + 1) * this.#classCount);
      if (row.some((target) => target >= 0)) this.#continuing[state] = 1;
    }
  }

  /** One byte of each class of bytes that neither the automaton nor UTF-8 distinguishes. */
  get representatives(): readonly number[] {
    return getRepresentatives(commonClasses(this.classes, utf8Classes));
  }

  /** Whether no text fits. */
  get isEmpty(): boolean {
    return this.states === 0;
  }

  step(state: number, byte: number): number {
    return this.#next[state * this.#classCount + (this.classes[byte] ?? 0)] ?? -1;
  }

  accepts(state: number): boolean {
    return this.#accepting[state] === 1;
  }

  continues(state: number): boolean {
    return this.#continuing[state] === 1;
  }

  freeCharacters(state: number): number {
    this.#free ??= this.#freeStates();
    return this.#free[state * utf8States] === 1 ? Number.POSITIVE_INFINITY : 0;
  }

  /** For each state and state of UTF-8: 1 if no text that goes on from there ceases to fit. */
  #freeStates(): Uint8Array {
    const bytes = this.representatives;
    chargeStates(0, this.states * (2 * utf8States + 16 * bytes.length));
    chargeSteps(this.states * bytes.length);
    const free = new Uint8Array(this.states * utf8States).fill(1);
    const sources = new Map<number, number[]>();
    const open: number[] = [];
    const remove = (pair: number): void => {
      if (free[pair] === 0) return;
      free[pair] = 0;
      open.push(pair);
    };
    const seen = new Uint8Array(free.length);
    const found = [0];
    seen[0] = 1;
    for (let pair = found.pop(); pair !== undefined; pair = found.pop()) {
      const [state, utf8] = [Math.floor(pair / utf8States), pair % utf8States];
      for (const byte of bytes) {
        const nextUtf8 = stepUtf8(utf8, byte);
        if (nextUtf8 < 0) continue;
        const next = this.step(state, byte);
        if (next < 0) {
          remove(pair);
          continue;
        }
        const target = next * utf8States + nextUtf8;
        addToList(sources, target, pair);
        if (seen[target] === 1) continue;
        seen[target] = 1;
        found.push(target);
      }
    }
    for (let pair = open.pop(); pair !== undefined; pair = open.pop())
      for (const source of sources.get(pair) ?? []) remove(source);
    return free.map((value, pair) => (seen[pair] === 1 ? value : 0));
  }

  /** Whether a text fits. */
  matches(text: string): boolean {
    let state = this.isEmpty ? -1 : this.start;
    for (const byte of new TextEncoder().encode(text)) {
      if (state < 0) return false;
      state = this.step(state, byte);
    }
    return state >= 0 && this.accepts(state);
  }
}

/** Work of any table, beside its states and transitions: finding the classes of bytes, and an example of each. */
const tableSteps = 300;

/** Makes the table of an automaton, with the states from which an accepted text can be reached. Throws errors of the budget in force. */
export function explore<State>(rules: Rules<State>): Dfa {
  const { classes = everyByte } = rules;
  const representatives = getRepresentatives(classes);
  const states: State[] = [rules.start];
  const numbers = new Map<string | number, number>([[rules.key(rules.start), 0]]);
  const next: number[] = [];
  const stateBytes = representatives.length * 8 + 200;
  chargeStates(1, stateBytes + 300);
  chargeSteps(tableSteps);
  // Keys that are texts are made for each transition.
  const transitionSteps = typeof rules.key(rules.start) === "number" ? 2 : 6;
  for (let number = 0; number < states.length; number += 1) {
    chargeSteps(transitionSteps * representatives.length);
    for (const byte of representatives) {
      const target = rules.step(states[number] as State, byte);
      next.push(target === undefined ? -1 : getNumber(target));
    }
  }
  return trimmed(
    classes,
    next,
    states.map((state) => rules.accepts(state)),
  );

  function getNumber(state: State): number {
    const key = rules.key(state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    chargeStates(1, stateBytes + (rules.bytes?.(state) ?? 0));
    numbers.set(key, states.length);
    return states.push(state) - 1;
  }
}

/** The table without the states from which no text that fits is reached. */
function trimmed(classes: Uint8Array, next: readonly number[], accepting: readonly boolean[]): Dfa {
  const classCount = getClassCount(classes);
  const isLive = liveStates(next, accepting, classCount);
  if (isLive[0] !== 1) return new Dfa(classes, new Int32Array(), new Uint8Array());
  const numbers = new Int32Array(accepting.length).fill(-1);
  let kept = 0;
  for (const [state, live] of isLive.entries()) {
    if (live !== 1) continue;
    numbers[state] = kept;
    kept += 1;
  }
  const table = new Int32Array(kept * classCount);
  const ends = new Uint8Array(kept);
  for (const [state, number] of numbers.entries()) {
    if (number < 0) continue;
    ends[number] = accepting[state] === true ? 1 : 0;
    for (let kind = 0; kind < classCount; kind += 1) {
      const target = next[state * classCount + kind] ?? -1;
      table[number * classCount + kind] = target < 0 ? -1 : (numbers[target] ?? -1);
    }
  }
  return new Dfa(classes, table, ends);
}

/** By state: 1 if a text that fits can be reached from it. */
function liveStates(next: readonly number[], accepting: readonly boolean[], classCount: number): Uint8Array {
  // The transitions to state `s` come from the states `sources[starts[s]]` to `sources[starts[s + 1] - 1]`.
  const starts = new Int32Array(accepting.length + 1);
  for (const target of next) if (target >= 0) starts[target + 1] = (starts[target + 1] ?? 0) + 1;
  for (let state = 1; state <= accepting.length; state += 1) starts[state] = (starts[state] ?? 0) + (starts[state - 1] ?? 0);
  const filled = starts.slice();
  const sources = new Int32Array(starts[accepting.length] ?? 0);
  for (let index = 0; index < next.length; index += 1) {
    const target = next[index] as number;
    if (target < 0) continue;
    const at = filled[target] as number;
    sources[at] = Math.floor(index / classCount);
    filled[target] = at + 1;
  }
  const isLive = new Uint8Array(accepting.length);
  const open = accepting.flatMap((accepts, state) => (accepts ? [state] : []));
  for (const state of open) isLive[state] = 1;
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const end = starts[state + 1] ?? 0;
    for (let at = starts[state] ?? 0; at < end; at += 1) {
      const source = sources[at] as number;
      if (isLive[source] === 1) continue;
      isLive[source] = 1;
      open.push(source);
    }
  }
  return isLive;
}

/** Texts that fit all of these automata. */
export function intersection(first: Dfa, ...others: readonly Dfa[]): Dfa {
  return others.reduce((left, right) => product(left, right, (accepts, also) => accepts && also, false), first);
}

/** Texts of `left` that do not fit `right`. */
export function difference(left: Dfa, right: Dfa): Dfa {
  return product(left, right, (accepts, also) => accepts && !also, true);
}

/** `continuesAlone`: whether the left one goes on where the right one has no next state. */
function product(left: Dfa, right: Dfa, accepts: (left: boolean, right: boolean) => boolean, continuesAlone: boolean): Dfa {
  if (left.isEmpty || (right.isEmpty && !continuesAlone)) return emptyDfa;
  const size = right.states + 1;
  return explore<number>({
    start: left.start * size + (right.isEmpty ? 0 : right.start + 1),
    key: (state) => state,
    classes: commonClasses(left.classes, right.classes),
    step(state, byte) {
      const one = left.step(Math.floor(state / size), byte);
      const place = state % size;
      const other = place === 0 ? -1 : right.step(place - 1, byte);
      return one < 0 || (other < 0 && !continuesAlone) ? undefined : one * size + other + 1;
    },
    accepts(state) {
      const place = state % size;
      return accepts(left.accepts(Math.floor(state / size)), place > 0 && right.accepts(place - 1));
    },
  });
}

/** No text. */
export const emptyDfa: Dfa = new Dfa(new Uint8Array(256), new Int32Array(), new Uint8Array());

/** Estimated memory of a node of the trie from which `wordsDfa` makes its table. */
const nodeBytes = 150;

/** Automaton that accepts exactly these texts. */
export function wordsDfa(words: readonly string[]): Dfa {
  const encoder = new TextEncoder();
  interface Node {
    readonly number: number;
    readonly children: Map<number, Node>;
    isEnd: boolean;
  }
  let count = 0;
  const node = (): Node => ({ number: count++, children: new Map(), isEnd: false });
  const root = node();
  for (const word of words) {
    let place = root;
    const bytes = encoder.encode(word);
    const before = count;
    chargeSteps(20 + 4 * bytes.length);
    for (const byte of bytes) {
      const child = getOrInsert(place.children, byte, () => node());
      place = child;
    }
    place.isEnd = true;
    chargeStates(0, nodeBytes * (count - before));
  }
  return explore<Node>({
    start: root,
    key: ({ number }) => number,
    step: ({ children }, byte) => children.get(byte),
    accepts: ({ isEnd }) => isEnd,
    classes: getClasses(
      words.flatMap((word) => [...encoder.encode(word)].map((byte): readonly [number, number] => [byte, byte])),
    ),
  });
}

/** Texts of a number of code points: all of UTF-8 with `min` 0 and `max` Infinity. */
export function lengthDfa(min: number, max: number): Dfa {
  const highest = max === Number.POSITIVE_INFINITY ? min : max;
  return explore<number>({
    start: 0,
    key: (state) => state,
    classes: utf8Classes,
    step: (state, byte) => {
      const next = stepFreeText(state, byte, highest, max);
      return next < 0 ? undefined : next;
    },
    accepts: (state) => state % utf8States === 0 && state / utf8States >= min,
  });
}

/** The state of free text after a byte; -1 if none. States: 8 for each code point up to `highest`, one for each state of a decoder of UTF-8. */
export function stepFreeText(state: number, byte: number, highest: number, max: number): number {
  const [count, utf8] = [Math.floor(state / utf8States), state % utf8States];
  if (utf8 === 0 && count >= max) return -1;
  const next = stepUtf8(utf8, byte);
  if (next < 0) return -1;
  const total = next === 0 ? Math.min(count + 1, highest) : count;
  return total * utf8States + next;
}

/** All of UTF-8. */
export const everyText: Dfa = lengthDfa(0, Number.POSITIVE_INFINITY);

/** Any texts of `min` to `max` code points, without a table. */
export class FreeText implements Automaton {
  readonly start = 0;
  readonly #min: number;
  readonly #max: number;

  constructor(min: number = 0, max: number = Number.POSITIVE_INFINITY) {
    this.#min = min;
    this.#max = max;
  }

  step(state: number, byte: number): number {
    return stepFreeText(state, byte, this.#max === Number.POSITIVE_INFINITY ? this.#min : this.#max, this.#max);
  }

  accepts(state: number): boolean {
    return state % utf8States === 0 && state / utf8States >= this.#min;
  }

  continues(state: number): boolean {
    return state % utf8States !== 0 || state / utf8States < this.#max;
  }

  freeCharacters(state: number): number {
    return state % utf8States === 0 ? this.#max - state / utf8States : 0;
  }
}
