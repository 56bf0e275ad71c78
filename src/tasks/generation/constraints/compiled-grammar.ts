/** A grammar that a host has compiled, with the states and masks that texts have asked for: what is known is not asked for again. */
import { InferyardError } from "../../../contract/errors.ts";
import type { CompiledFacts, GrammarHost, GrammarCall, HostedGrammar } from "./grammar-host.ts";
import type { StateFacts, ConstraintStart } from "./loaded-grammar.ts";

/** Memory for the states and masks of one grammar, in bytes. */
const maxStateBytes = 2 ** 24;
/** Estimated memory of a state and the step to it, in bytes. */
const stateBytes = 400;
/** How often a state is looked for whose home is lost each time. */
const maxAttempts = 5;

/** A state of a text. */
export interface GrammarState {
  /** Whether the text may end here. */
  readonly accepts: boolean;
  /** Whether the text must end here. */
  readonly isDone: boolean;
  /** Where the host has the state. State 0, the empty text, is in every home. */
  address: { readonly home: number; readonly state: number };
  /** The tokens that may follow. Undefined: not requested. */
  mask: Promise<Uint32Array> | undefined;
  /** By token: the next state, for tokens that were requested. */
  readonly next: Map<number, GrammarState>;
}

/** A text of a grammar: how it came to its state. */
export interface GrammarText {
  readonly start: ConstraintStart;
  readonly tokens: readonly number[];
  readonly state: GrammarState;
}

/** A compiled grammar. */
export class CompiledGrammar {
  readonly #host: GrammarHost;
  readonly #grammar: HostedGrammar;
  readonly #facts: CompiledFacts;
  /** States by their numbers, of one home. */
  readonly #states = new Map<number, GrammarState>();
  #home = 0;
  #start: GrammarState;
  #stateBytes = 0;
  #texts = 0;
  #isDropped = false;

  constructor(host: GrammarHost, grammar: HostedGrammar, facts: CompiledFacts) {
    this.#host = host;
    this.#grammar = grammar;
    this.#facts = facts;
    this.#start = getStart(facts);
  }

  /** Number of words of a mask. */
  get words(): number {
    return this.#grammar.vocabulary.words;
  }

  /** Estimated memory in bytes, of the host and of the results kept here. */
  get estimatedBytes(): number {
    return this.#facts.bytes + this.#grammar.text.length + this.#stateBytes;
  }

  /** The state of the empty text. */
  get start(): GrammarState {
    return this.#start;
  }

  /** Begins to use the grammar for a text. */
  enter(): void {
    this.#texts += 1;
  }

  /** Ends the use for a text. */
  leave(): void {
    this.#texts -= 1;
    this.#dropUnused();
  }

  /** Frees the memory of the host as soon as no text uses the grammar. */
  drop(): void {
    this.#isDropped = true;
    this.#dropUnused();
  }

  /** The state after some tokens. */
  async open(start: ConstraintStart, tokens: readonly number[], call: GrammarCall): Promise<GrammarState> {
    const { home, result } = await this.#host.perform(this.#grammar, "open", { start, tokens }, call);
    if (result === undefined) throw lostState();
    return this.#getState(home, result);
  }

  /** The state after one more token. Throws RUN_FAILED if the token may not follow, and INPUT_INVALID if reading it exceeds a limit. */
  async advance({ start, tokens, state }: GrammarText, token: number, call: GrammarCall): Promise<GrammarState> {
    const known = state.next.get(token);
    if (known !== undefined) return known;
    const { home: expected, state: number } = state.address;
    const asked = { ...call, home: number === 0 ? undefined : expected };
    const { home, result } = await this.#host.perform(this.#grammar, "advance", { state: number, token }, asked);
    const next = result === undefined ? await this.open(start, [...tokens, token], call) : this.#getState(home, result);
    state.next.set(token, next);
    return next;
  }

  /** The tokens that may follow, a bit for each; end tokens are not among them. Callers do not change the mask. Throws as `advance`. */
  mask(text: GrammarText, call: GrammarCall): Promise<Uint32Array> {
    const { state } = text;
    if (state.mask !== undefined) return state.mask;
    const mask = this.#askMask(text, call);
    state.mask = mask;
    mask.catch(() => (state.mask = undefined));
    this.#count(this.words * Uint32Array.BYTES_PER_ELEMENT);
    return mask;
  }

  async #askMask({ start, tokens, state }: GrammarText, call: GrammarCall): Promise<Uint32Array> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const { home, state: number } = state.address;
      const asked = { ...call, home: number === 0 ? undefined : home };
      const { result } = await this.#host.perform(this.#grammar, "mask", { state: number }, asked);
      if (result !== undefined) return result;
      state.address = (await this.open(start, tokens, call)).address;
    }
    throw lostState();
  }

  #getState(home: number, { state: number, accepts, isDone }: StateFacts): GrammarState {
    if (number === 0) return this.#start;
    if (home !== this.#home) this.#states.clear();
    this.#home = home;
    const known = this.#states.get(number);
    if (known !== undefined) return known;
    const state: GrammarState = { accepts, isDone, address: { home, state: number }, mask: undefined, next: new Map() };
    this.#states.set(number, state);
    this.#count(stateBytes);
    return state;
  }

  /** Above the limit all states are forgotten; texts keep their own, and come to new ones. */
  #count(bytes: number): void {
    this.#stateBytes += bytes;
    if (this.#stateBytes <= maxStateBytes) return;
    this.#stateBytes = bytes;
    this.#states.clear();
    this.#start = getStart(this.#facts);
  }

  #dropUnused(): void {
    if (this.#isDropped && this.#texts === 0) this.#host.drop(this.#grammar);
  }
}

function getStart({ start }: CompiledFacts): GrammarState {
  const { accepts, isDone } = start;
  return { accepts, isDone, address: { home: 0, state: 0 }, mask: undefined, next: new Map() };
}

function lostState(): InferyardError {
  return new InferyardError("HOST_DIED", `the thread that computes which tokens may follow was lost ${maxAttempts} times`);
}
