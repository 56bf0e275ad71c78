/**
 * All matches of a regular expression in a text, in time linear in the text whatever the expression: greedy matching in two passes (Frisch
 * and Cardelli 2004, "Greedy Regular Expression Matching").
 *
 * The first pass goes from the end of the text to its start, and finds for each position the states of the automaton from which the
 * accepting state can be reached. The second pass goes forward and takes, of the states it could go on in, the first from which it can be
 * reached: it never has to go back. A lookahead is a state like any other, whose condition the first pass has answered. Both passes are
 * memoized, as the transitions of a deterministic automaton that is built as texts call for it.
 */
import { characterLength } from "../alignment/aligned-text.ts";
import { EquivalenceClasses } from "./equivalence-classes.ts";
import { type RegexAutomaton, acceptState } from "./automaton.ts";

/** Memory of the deterministic automaton, in bytes. What is beyond it is refused, and it begins anew with the next text. */
const maxAutomatonBytes = 32 * 2 ** 20;
/** Units of a text for which memory is kept from one search to the next. */
const keptUnits = 65_536;
const unknown = -2;
const none = -1;

export class RegexSearch {
  readonly #program: RegexAutomaton;
  readonly #classes: EquivalenceClasses;
  /** Sets that lookbehinds ask for. */
  readonly #behind: readonly number[];
  /** Per set of reachable states: whether each state is in it. */
  #reachable: Uint8Array[] = [];
  #byStates = new Map<string, number>();
  /** Per set of states behind a character: the set before it, by what is before the character and its class. */
  #before: Int32Array[] = [];
  /** Per set of reachable states: the reading or accepting state that each state leads to there. */
  #choices: Int16Array[] = [];
  /** Classes there is room for in a row of `#before`. */
  #room = 16;
  /** Per position: the set of reachable states. */
  #sets = new Uint16Array(256);
  #bytes = 0;
  readonly #contexts = new Map<string, number>();
  /** Per class: the number of what lookbehinds can say of it. */
  readonly #contextOf: number[] = [];

  constructor(program: RegexAutomaton) {
    this.#program = program;
    this.#classes = new EquivalenceClasses(program.sets);
    const behind = program.states.flatMap((state) => (state.kind === "lookbehind" ? [state.set] : []));
    this.#behind = [...new Set(behind)];
    if (this.#behind.length > 4) throw new Error("lookbehinds ask for more than 4 different sets of characters");
  }

  /** Start and end of each match, in order, as they are found one behind the other. A match may be empty, but not right behind another. */
  matches(text: string): number[] {
    if (this.#bytes > maxAutomatonBytes / 2) this.#forget();
    this.#findReachable(text);
    const [sets, { states, start }] = [this.#sets, this.#program];
    const matches: number[] = [];
    let lastEnd = -1;
    for (let at = 0; at <= text.length;) {
      let state = this.#choiceAt(start, sets[at] as number);
      if (state === none) {
        at += at < text.length ? characterLength(text, at) : 1;
        continue;
      }
      let end = at;
      while (state !== acceptState) {
        end += characterLength(text, end);
        const reading = states[state];
        state = reading?.kind === "read" ? this.#choiceAt(reading.next, sets[end] as number) : acceptState;
      }
      if (end > at || at !== lastEnd) matches.push(at, end);
      lastEnd = end;
      at = end > at ? end : at < text.length ? at + characterLength(text, at) : at + 1;
    }
    if (sets.length > keptUnits) this.#sets = new Uint16Array(256);
    return matches;
  }

  /** Fills `#sets`, from the end of the text to its start. */
  #findReachable(text: string): void {
    const { length } = text;
    if (this.#sets.length <= length) this.#sets = new Uint16Array(Math.max(length + 1, Math.min(2 * length, keptUnits)));
    const [sets, classes] = [this.#sets, this.#classes];
    const looksBehind = this.#behind.length > 0;
    let point = length === 0 ? none : pointBefore(text, length);
    let set = this.#setBefore(none, 0, looksBehind && point !== none ? classes.of(point) : 0);
    sets[length] = set;
    for (let at = length; at > 0;) {
      at -= point > 0xffff ? 2 : 1;
      const kind = classes.of(point);
      point = at === 0 ? none : pointBefore(text, at);
      const kindBefore = looksBehind && point !== none ? classes.of(point) : 0;
      if (kind >= this.#room) this.#makeRoom(kind);
      const context = looksBehind ? this.#context(kindBefore) : 0;
      const row = this.#before[set] as Int32Array;
      const cell = context * this.#room + kind;
      let next = row[cell] as number;
      if (next === unknown) {
        next = this.#setBefore(set, kind, kindBefore);
        row[cell] = next;
      }
      set = next;
      sets[at] = set;
    }
  }

  /** The states from which acceptance can be reached before a character of `kind` that `after` follows; `after` none: at the end of the text. */
  #setBefore(after: number, kind: number, kindBefore: number): number {
    const { states, emptyOrder } = this.#program;
    const reachable = new Uint8Array(states.length);
    const has = (state: number): boolean => reachable[state] === 1;
    if (after !== none) {
      const [behind, members] = [this.#reachable[after], this.#classes.members[kind]];
      for (const [index, state] of states.entries())
        if (state.kind === "read" && members?.[state.set] === 1 && behind?.[state.next] === 1) reachable[index] = 1;
    }
    const before = this.#classes.members[kindBefore];
    for (const index of emptyOrder) {
      const state = states[index];
      if (state === undefined || state.kind === "read") continue;
      let reaches: boolean;
      if (state.kind === "accept") reaches = true;
      else if (state.kind === "choose") reaches = state.options.some(has);
      else if (state.kind === "lookahead") reaches = has(state.body) !== state.negated && has(state.next);
      else reaches = (before?.[state.set] === 1) !== state.negated && has(state.next);
      if (reaches) reachable[index] = 1;
    }
    return this.#numberOf(reachable);
  }

  #numberOf(reachable: Uint8Array): number {
    const key = keyOf(reachable);
    const known = this.#byStates.get(key);
    if (known !== undefined) return known;
    const number = this.#reachable.length;
    this.#bytes += 4 * reachable.length + this.#rowBytes;
    if (this.#bytes > maxAutomatonBytes || number > 0xffff) {
      this.#forget();
      throw new Error(`a regular expression takes more than ${maxAutomatonBytes / 2 ** 20} MiB of memory on this text`);
    }
    this.#reachable.push(reachable);
    this.#byStates.set(key, number);
    this.#before.push(this.#row());
    this.#choices.push(new Int16Array(reachable.length).fill(unknown));
    return number;
  }

  /** The reading or accepting state that the preferred choices lead to from a state; none where acceptance cannot be reached. */
  #choiceAt(from: number, set: number): number {
    const choices = this.#choices[set] as Int16Array;
    const known = choices[from] as number;
    if (known !== unknown) return known;
    const reachable = this.#reachable[set] as Uint8Array;
    const { states } = this.#program;
    let found = reachable[from] === 1 ? from : none;
    while (found !== none) {
      const state = states[found];
      if (state === undefined || state.kind === "read" || state.kind === "accept") break;
      found = state.kind === "choose" ? (state.options.find((option) => reachable[option] === 1) ?? none) : state.next;
    }
    choices[from] = found;
    return found;
  }

  /** What lookbehinds can tell of a class, as a number below 16. */
  #context(kind: number): number {
    const known = this.#contextOf[kind];
    if (known !== undefined) return known;
    const members = this.#classes.members[kind];
    const key = this.#behind.map((set) => members?.[set] ?? 0).join("");
    const context = this.#contexts.get(key) ?? this.#contexts.size;
    this.#contexts.set(key, context);
    this.#contextOf[kind] = context;
    return context;
  }

  get #rowLength(): number {
    return this.#room * 2 ** this.#behind.length;
  }

  get #rowBytes(): number {
    return 4 * this.#rowLength;
  }

  #row(): Int32Array {
    return new Int32Array(this.#rowLength).fill(unknown);
  }

  #makeRoom(kind: number): void {
    this.#bytes -= this.#before.length * this.#rowBytes;
    while (this.#room <= kind) this.#room *= 2;
    this.#bytes += this.#before.length * this.#rowBytes;
    if (this.#bytes > maxAutomatonBytes) {
      this.#forget();
      throw new Error(`a regular expression takes more than ${maxAutomatonBytes / 2 ** 20} MiB of memory on this text`);
    }
    this.#before = this.#before.map(() => this.#row());
  }

  #forget(): void {
    this.#reachable = [];
    this.#byStates = new Map();
    this.#before = [];
    this.#choices = [];
    this.#bytes = 0;
  }
}

/** The code point that ends at a position. */
function pointBefore(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  if (unit < 0xdc00 || unit > 0xdfff || end < 2) return unit;
  const high = text.charCodeAt(end - 2);
  return high >= 0xd800 && high <= 0xdbff ? (text.codePointAt(end - 2) ?? unit) : unit;
}

/** Sixteen states to a character. */
function keyOf(reachable: Uint8Array): string {
  let key = "";
  for (let index = 0; index < reachable.length; index += 16) {
    let word = 0;
    for (let bit = 0; bit < 16; bit++) word = (word << 1) | (reachable[index + bit] ?? 0);
    key += String.fromCharCode(word);
  }
  return key;
}
