/** Which tokens may follow in a text that must fit a grammar. */
import type { ConstraintBudget } from "./constraint-budget.ts";
import type { GrammarNode } from "./grammar/grammar.ts";
import type { MachineState } from "./grammar/machine-state.ts";
import { PushdownMachine } from "./grammar/pushdown-machine.ts";
import { refusingDepth } from "./refusal.ts";
import { type TokenTree, type TokenVocabulary, clearBit, setBit } from "./token-vocabulary.ts";

/** A grammar over the tokens of one vocabulary. */
export class TokenGrammar {
  readonly machine: PushdownMachine;
  readonly vocabulary: TokenVocabulary;
  readonly #compiledBytes: number;

  /**
   * `compiledBytes`: estimated memory of the grammar itself. Throws INPUT_INVALID if no text fits the grammar, if a rule begins with itself, and what the budget in force
   * throws.
   */
  constructor(root: GrammarNode, vocabulary: TokenVocabulary, compiledBytes: number = 0) {
    this.machine = new PushdownMachine(root);
    this.vocabulary = vocabulary;
    this.#compiledBytes = compiledBytes;
  }

  /** Compiles a grammar within a budget. Throws INPUT_INVALID for what exceeds it, and what `compile` and the constructor throw. */
  static compile(compile: () => GrammarNode, vocabulary: TokenVocabulary, budget: ConstraintBudget): TokenGrammar {
    return budget.run(() =>
      refusingDepth(() => {
        const root = compile();
        return new TokenGrammar(root, vocabulary, budget.used.bytes);
      }),
    );
  }

  /** Estimated memory in bytes of the grammar and of what it has computed; it grows with the texts that are generated. */
  get estimatedBytes(): number {
    return this.#compiledBytes + this.machine.keptBytes;
  }

  /** The tokens that a text may begin with. The caller owns the mask. */
  firstMask(): Uint32Array<ArrayBuffer> {
    const mask = this.mask(this.machine.start);
    for (const token of this.vocabulary.firstTokens) {
      clearBit(mask, token);
      const bytes = this.vocabulary.getBytes(token, true);
      if (bytes.length > 0 && this.stepThrough(this.machine.start, bytes) !== undefined) setBit(mask, token);
    }
    return mask;
  }

  /** The state behind some bytes; undefined if they may not follow. */
  stepThrough(start: MachineState, bytes: Uint8Array): MachineState | undefined {
    let state: MachineState | undefined = start;
    for (const byte of bytes) {
      state = this.machine.step(state, byte);
      if (state === undefined) return undefined;
    }
    return state;
  }

  /** The tokens that may follow, a bit for each; end tokens are not among them. The caller owns the mask. */
  mask(state: MachineState): Uint32Array<ArrayBuffer> {
    const free = state.positions.reduce(
      (most, { automaton, state: place }) => Math.max(most, automaton.freeCharacters(place)),
      0,
    );
    const { mask: plain, isComplete } = this.vocabulary.plainTokens(free);
    // A single reading takes no longer plain token; otherwise another one may.
    const isSettled = free > 0 && (isComplete || state.positions.length === 1);
    const mask = new Uint32Array(this.vocabulary.words);
    if (free > 0) mask.set(plain);
    this.#walk(state, this.vocabulary.tree(!isSettled), mask);
    return mask;
  }

  #walk(start: MachineState, { bytes, depths, ends, tokens, maxDepth }: TokenTree, mask: Uint32Array): void {
    const states: MachineState[] = Array.from({ length: maxDepth + 1 }, () => start);
    const { items, starts } = tokens;
    for (let node = 0; node < bytes.length;) {
      const depth = depths[node] as number;
      const next = this.machine.step(states[depth - 1] as MachineState, bytes[node] as number);
      if (next === undefined) {
        node = ends[node] as number;
        continue;
      }
      states[depth] = next;
      const end = starts[node + 1] as number;
      for (let index = starts[node] as number; index < end; index += 1) setBit(mask, items[index] as number);
      node += 1;
    }
  }
}
