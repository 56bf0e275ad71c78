/**
 * Places for the caches of sequences. llama.cpp allocates a context for a fixed number of sequences of a fixed length; sequences of the contract are any
 * number, of any length. Contexts are therefore created when they are needed, for twice the tokens that are asked for. A context has several sequences,
 * which are computed together, unless these would take too much memory.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { batchTokens } from "../gguf/memory.ts";
import type { ContextAdapters, LlamaContext, LlamaModel, LlamaSequence } from "./library.ts";

/** A place for one sequence. */
export interface Slot {
  readonly sequence: LlamaSequence;
  /** Capacity in tokens. */
  readonly size: number;
  /** Sequences of its context. llama.cpp copies states only between contexts with equally many. */
  readonly group: number;
}

/** Limits of the slots. */
export interface SlotLimits {
  /** Maximum number of tokens of a sequence. */
  readonly contextLength: number;
  readonly threads: number;
  /** Whether caches and attention are in single precision instead of half precision. */
  readonly isSinglePrecision: boolean;
  /** Tokens of all places together that are allocated before places of idle sequences are taken. */
  readonly maxTokens: number;
  /** Adapters of all contexts. Default: none. */
  readonly lora?: ContextAdapters | undefined;
}

/** Tokens of the smallest place: shorter texts are not worth a context of their own. */
const minTokens = 512;
/** Sequences of a context, where they take at most this part of the tokens that may be allocated; otherwise one. */
const groupSize = 4;
const maxGroupPart = 0.25;

const singlePrecision = {
  flashAttention: false,
  experimentalKvCacheKeyType: "F32",
  experimentalKvCacheValueType: "F32",
} as const;

/** The contexts of one model. */
export class SequenceSlots {
  readonly #model: LlamaModel;
  readonly #limits: SlotLimits;
  readonly #contexts: LlamaContext[] = [];
  readonly #free: Slot[] = [];
  #tokens = 0;

  constructor(model: LlamaModel, limits: SlotLimits) {
    this.#model = model;
    this.#limits = limits;
  }

  /** Bytes of all contexts, compute buffers included. */
  get bytes(): number {
    return this.#contexts.reduce((sum, { memoryUsage: { ram, vram } }) => sum + ram + vram, 0);
  }

  /** A free place for at least `tokens` tokens: the smallest, otherwise a new one; undefined where a new one would exceed the limit. */
  async take(tokens: number, signal: AbortSignal | undefined): Promise<Slot | undefined> {
    const fitting = this.#free.filter(({ size }) => size >= tokens).sort((a, b) => a.size - b.size);
    const [best] = fitting;
    if (best !== undefined) {
      this.#free.splice(this.#free.indexOf(best), 1);
      return best;
    }
    return await this.#grow(tokens, signal);
  }

  /** Gives a place back. Its cache is emptied. */
  async give(slot: Slot): Promise<void> {
    await slot.sequence.clearHistory();
    this.#free.push(slot);
  }

  /** Frees all contexts. */
  async dispose(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.dispose();
    this.#free.length = 0;
  }

  async #grow(tokens: number, signal: AbortSignal | undefined): Promise<Slot | undefined> {
    const { contextLength, threads, maxTokens } = this.#limits;
    // node-llama-cpp needs room for a token more than a place holds.
    const size = Math.min(Math.max(contextLength, 16), Math.max(minTokens, 2 ** Math.ceil(Math.log2(2 * tokens))));
    const sequences = groupSize * size <= maxGroupPart * maxTokens ? groupSize : 1;
    // The first place is made whatever it needs.
    if (this.#tokens > 0 && this.#tokens + size * sequences > maxTokens) return undefined;
    const context = await this.#create({ contextSize: size, sequences, threads }, signal);
    this.#contexts.push(context);
    this.#tokens += size * sequences;
    for (let index = 0; index < sequences; index += 1)
      this.#free.push({ sequence: context.getSequence(), size, group: sequences });
    return this.#free.pop();
  }

  async #create(
    sizes: { readonly contextSize: number; readonly sequences: number; readonly threads: number },
    signal: AbortSignal | undefined,
  ): Promise<LlamaContext> {
    const { isSinglePrecision, lora } = this.#limits;
    try {
      return await this.#model.createContext({
        ...sizes,
        batchSize: batchTokens,
        swaFullCache: true,
        failedCreationRemedy: false,
        ...(isSinglePrecision ? singlePrecision : {}),
        ...omitUndefined({ lora, createSignal: signal }),
      });
    } catch (cause) {
      const what = `${sizes.sequences} sequences of ${sizes.contextSize} tokens`;
      throw new InferyardError("OUT_OF_MEMORY", `llama.cpp could not allocate the caches of ${what}`, {
        cause,
        remedy: "load the model with a smaller context length",
      });
    }
  }
}
