/** One text that must fit a grammar, as it grows. */
import type { CompiledGrammar, GrammarState } from "./compiled-grammar.ts";
import type { ConstraintStart } from "./loaded-grammar.ts";
import { clearBit, setBit } from "./token-vocabulary.ts";

/** A constraint, and the place in the text from which it applies. */
export interface ConstrainedPart {
  readonly grammar: CompiledGrammar;
  /** The text that precedes the constrained part. Default: all of the text is constrained. */
  readonly after?: string;
  /** Identifies the client that the text is generated for. */
  readonly client: string;
}

/** One text that fits a grammar. */
export class TokenConstraint {
  readonly #grammar: CompiledGrammar;
  readonly #client: string;
  readonly #endTokens: readonly number[];
  /** What the text must contain before the constraint begins. */
  #after: string | undefined;
  #start: ConstraintStart = {};
  /** Whether `#state` is the state of the text; false until the state of a text that continues another one is known. */
  #isOpen: boolean;
  readonly #tokens: number[] = [];
  #state: GrammarState;

  /**
   * `endTokens`: tokens that may follow where the text may end. `continues`: whether the text continues another one, so that its first token keeps its leading space. `end` must be
   * called when no token follows.
   */
  constructor({ grammar, after, client }: ConstrainedPart, endTokens: readonly number[], continues: boolean = false) {
    this.#grammar = grammar;
    this.#client = client;
    this.#endTokens = endTokens;
    this.#after = after;
    this.#state = grammar.start;
    this.#isOpen = !continues || after !== undefined;
    grammar.enter();
  }

  /** Whether the text may end here. */
  get accepts(): boolean {
    return this.#after === undefined && this.#state.accepts;
  }

  /** Whether the text must end here. */
  get isDone(): boolean {
    return this.#after === undefined && this.#state.isDone;
  }

  /** Begins to compute which tokens may follow, so that `allowed` waits for less. */
  prepare(): void {
    if (this.#after === undefined) this.#mask().catch(() => {}); // `allowed` asks again, and throws it
  }

  /** The tokens that may follow, a bit for each. Before the constrained part these are all but the end tokens. Throws INPUT_INVALID if that exceeds a limit. */
  async allowed(): Promise<Uint32Array> {
    if (this.#after !== undefined) {
      const all = new Uint32Array(this.#grammar.words).fill(0xff_ff_ff_ff);
      for (const token of this.#endTokens) clearBit(all, token);
      return all;
    }
    if (!this.#isOpen) await this.#open({ rest: "" });
    const mask = await this.#mask();
    if (!this.accepts) return mask;
    const withEnd = mask.slice();
    for (const token of this.#endTokens) setBit(withEnd, token);
    return withEnd;
  }

  /** Adds a token that is no end token. `text`: the whole text with it. Throws RUN_FAILED if it may not follow. */
  async push(token: number, text: string): Promise<void> {
    const call = { client: this.#client };
    if (this.#after === undefined) {
      const before = { start: this.#start, tokens: this.#tokens, state: this.#state };
      this.#state = await this.#grammar.advance(before, token, call);
      this.#tokens.push(token);
      return;
    }
    const at = text.indexOf(this.#after);
    if (at === -1) return;
    await this.#open({ rest: text.slice(at + this.#after.length) });
    this.#after = undefined;
  }

  /** Says that no token follows. */
  end(): void {
    this.#grammar.leave();
  }

  async #open(start: ConstraintStart): Promise<void> {
    this.#start = start;
    this.#state = await this.#grammar.open(start, [], { client: this.#client });
    this.#isOpen = true;
  }

  #mask(): Promise<Uint32Array> {
    const text = { start: this.#start, tokens: this.#tokens, state: this.#state };
    return this.#grammar.mask(text, { client: this.#client });
  }
}
