/**
 * Finds all matches of a regular expression in time linear in the text, for any expression: greedy matching in two passes (Frisch and Cardelli
 * 2004, "Greedy Regular Expression Matching").
 *
 * The first pass runs from the end of the text to its start and computes, for each position, the automaton states from which the accepting state
 * is reachable. The second pass runs forward and continues in the first preferred state from which it is reachable, so that it never backtracks.
 * The conditions of lookaheads are answered by the first pass. The transitions of both passes are memoized, as a deterministic automaton that is
 * built lazily.
 */
import { EquivalenceClasses } from "./equivalence-classes.ts";
import { type RegexAutomaton, acceptState } from "./automaton.ts";

/** Maximum memory of the deterministic automaton in bytes. Beyond it a search throws, and the automaton is rebuilt for the next text. */
const maxAutomatonBytes = 32 * 2 ** 20;
/** Maximum length of a text in UTF-16 code units for which memory is kept between searches. */
const keptUnits = 65_536;
const unknown = -2;
const none = -1;

/**
 * Searches texts for the matches of one regular expression in time linear in the text. Keeps memoized transitions between
 * searches.
 */
export class RegexSearch {
  readonly #program: RegexAutomaton;
  readonly #classes: EquivalenceClasses;
  /** Character sets that lookbehinds refer to. */
  readonly #behind: readonly number[];
  /** By state set: 1 for each state in it. */
  #reachable: Uint8Array[] = [];
  #byStates = new Map<string, number>();
  /** Backward transitions. By state set after a character: the state set before it, by lookbehind context and character class. */
  #before: Int32Array[] = [];
  /** Forward choices. By state set: for each state the "read" or "accept" state that its preferred choices lead to. */
  #choices: Int16Array[] = [];
  /** Number of character classes that a row of `#before` has room for. */
  #room = 16;
  /** By position in the text: index of the state set. */
  #sets = new Uint16Array(256);
  #bytes = 0;
  /** Whether only the last of `#sets` is read, so that state sets may be forgotten on the way. */
  #mayForget = false;
  readonly #contexts = new Map<string, number>();
  /** By character class: its lookbehind context. */
  readonly #contextOf: number[] = [];

  constructor(program: RegexAutomaton) {
    this.#program = program;
    this.#classes = new EquivalenceClasses(program.sets);
    const behind = program.states.flatMap((state) => (state.kind === "lookbehind" ? [state.set] : []));
    this.#behind = [...new Set(behind)];
    if (this.#behind.length > 4) throw new Error("lookbehinds ask for more than 4 different sets of characters");
  }

  /**
   * All non-overlapping matches, leftmost first, flattened: start, end, ... in UTF-16 code units. A match may be empty, but not directly after
   * another. Throws Error if the automaton exceeds its memory.
   */
  matches(text: string): number[] {
    this.#mayForget = false;
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

  /**
   * Whether the expression matches at the start of a text. Unlike `matches` it cannot fail: what exceeds the memory is forgotten, and computed again where it is
   * needed.
   */
  matchesStart(text: string): boolean {
    this.#mayForget = true;
    this.#findReachable(text);
    return this.#reachable[this.#sets[0] as number]?.[this.#program.start] === 1;
  }

  /** First pass: fills `#sets` from the end of the text to its start. */
  #findReachable(text: string): void {
    const { length } = text;
    if (this.#bytes > maxAutomatonBytes / 2) this.#forget();
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
      if (kind >= this.#room) set = this.#makeRoom(kind, set);
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

  /** The state set before a character of class `kind`, given the state set `after` it; `after` none: at the end of the text. */
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
    return this.#getNumber(reachable);
  }

  #getNumber(reachable: Uint8Array): number {
    const key = getKey(reachable);
    const known = this.#byStates.get(key);
    if (known !== undefined) return known;
    const bytes = 4 * reachable.length + this.#rowBytes;
    if (this.#bytes + bytes > maxAutomatonBytes || this.#reachable.length > 0xffff) this.#overflow();
    this.#bytes += bytes;
    const number = this.#reachable.length;
    this.#reachable.push(reachable);
    this.#byStates.set(key, number);
    this.#before.push(this.#row());
    this.#choices.push(new Int16Array(reachable.length).fill(unknown));
    return number;
  }

  /** The "read" or "accept" state that the preferred choices lead to from a state; none if acceptance is not reachable. */
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

  /** The lookbehind context of a character class: which of the lookbehind sets contain it, as a number below 16. */
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

  /** Makes room for a character class. Returns the number of the state set `set`, which may have become another one. */
  #makeRoom(kind: number, set: number): number {
    const reachable = this.#reachable[set] as Uint8Array;
    this.#bytes -= this.#before.length * this.#rowBytes;
    while (this.#room <= kind) this.#room *= 2;
    this.#bytes += this.#before.length * this.#rowBytes;
    if (this.#bytes > maxAutomatonBytes) this.#overflow();
    this.#before = this.#before.map(() => this.#row());
    return this.#getNumber(reachable);
  }

  #overflow(): void {
    this.#forget();
    if (this.#mayForget) return;
    throw new Error(`a regular expression takes more than ${maxAutomatonBytes / 2 ** 20} MiB of memory on this text`);
  }

  #forget(): void {
    this.#reachable = [];
    this.#byStates = new Map();
    this.#before = [];
    this.#choices = [];
    this.#bytes = 0;
  }
}

/** Number of UTF-16 code units of the character that begins at a position. */
function characterLength(text: string, at: number): 1 | 2 {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** The code point that ends at a position. */
function pointBefore(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  if (unit < 0xdc00 || unit > 0xdfff || end < 2) return unit;
  const high = text.charCodeAt(end - 2);
  return high >= 0xd800 && high <= 0xdbff ? (text.codePointAt(end - 2) ?? unit) : unit;
}

/** A state set as a string, 16 states per character. */
function getKey(reachable: Uint8Array): string {
  let key = "";
  for (let index = 0; index < reachable.length; index += 16) {
    let word = 0;
    for (let bit = 0; bit < 16; bit++) word = (word << 1) | (reachable[index + bit] ?? 0);
    key += String.fromCharCode(word);
  }
  return key;
}
