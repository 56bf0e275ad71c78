/**
 * Places for the caches of sequences. llama.cpp allocates a context for a fixed number of sequences of a fixed length; sequences of the contract are any
 * number, of any length. Contexts are therefore created when they are needed, for twice the tokens that are asked for. A context has several sequences,
 * which are computed together, unless these would take too much memory.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelBase } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { batchTokens } from "../gguf/memory.ts";
import type { SlotEngine, SlotState, SlotStep } from "../gguf/slotted-language-model.ts";
import { evaluate } from "./evaluate.ts";
import type { ContextAdapters, LlamaContext, LlamaModel, LlamaSequence } from "./library.ts";

/** A place for one sequence. */
export interface Slot {
  readonly sequence: LlamaSequence;
  /** Capacity in tokens. */
  readonly size: number;
  /** Sequences of its context. llama.cpp copies states only between contexts with equally many. */
  readonly group: number;
}

/** The state of a sequence, and the number of sequences of the context that it is from. */
export interface SlotGroupState extends SlotState {
  readonly group: number;
}

/** Limits of the slots. */
export interface SlotLimits {
  /** Number of logits of each position. */
  readonly vocabulary: number;
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

/** Settings of contexts whose caches and attention are in single precision instead of half precision. */
export const singlePrecision = {
  flashAttention: false,
  experimentalKvCacheKeyType: "F32",
  experimentalKvCacheValueType: "F32",
} as const;

/** The contexts of one model. */
export class SequenceSlots implements SlotEngine<Slot, SlotGroupState> {
  readonly #model: LlamaModel;
  readonly #limits: SlotLimits;
  readonly #contexts: LlamaContext[] = [];
  readonly #free: Slot[] = [];
  #tokens = 0;

  constructor(model: LlamaModel, limits: SlotLimits) {
    this.#model = model;
    this.#limits = limits;
  }

  /** Compute buffers are included. */
  get memory(): ModelBase["memory"] {
    const bytes = [this.#model, ...this.#contexts].reduce((sum, { memoryUsage: { ram, vram } }) => sum + ram + vram, 0);
    return { bytes, measure: "allocated" };
  }

  length({ sequence }: Slot): number {
    return sequence.nextTokenIndex;
  }

  /** Of the free places the smallest that fits, otherwise a new one; undefined where a new one would exceed the limit. */
  async reserve(current: Slot | undefined, tokens: number, signal: AbortSignal | undefined): Promise<Slot | undefined> {
    if (current !== undefined && current.size >= tokens) return current;
    const [best] = this.#free.filter(({ size }) => size >= tokens).sort((a, b) => a.size - b.size);
    if (best === undefined) return await this.#grow(tokens, signal);
    this.#free.splice(this.#free.indexOf(best), 1);
    return best;
  }

  async give(slot: Slot): Promise<void> {
    await slot.sequence.clearHistory();
    this.#free.push(slot);
  }

  /** What llama.cpp removes before `length` is computed again when it is needed. */
  async cut({ sequence }: Slot, length: number): Promise<void> {
    if (sequence.nextTokenIndex <= length) return;
    await sequence.eraseContextTokenRanges([{ start: length, end: sequence.nextTokenIndex }]);
  }

  async copy(from: Slot, to: Slot): Promise<void> {
    if (from.group !== to.group) return;
    await withFile(async (path) => {
      await from.sequence.saveStateToFile(path);
      await to.sequence.loadStateFromFile(path, { acceptRisk: true });
    });
  }

  async read({ sequence, group }: Slot): Promise<SlotGroupState> {
    return await withFile(async (path) => {
      await sequence.saveStateToFile(path);
      return { bytes: await readFile(path), length: sequence.nextTokenIndex, group };
    });
  }

  async write({ sequence, group }: Slot, state: SlotGroupState): Promise<void> {
    if (group !== state.group) return;
    await withFile(async (path) => {
      await writeFile(path, state.bytes);
      await sequence.loadStateFromFile(path, { acceptRisk: true }); // `read` in this process gave the bytes
    });
  }

  async append(
    steps: readonly SlotStep<Slot>[],
    signal: AbortSignal | undefined,
    onCall: () => void,
  ): Promise<readonly Float32Array[]> {
    const { vocabulary } = this.#limits;
    const results = await Promise.allSettled(
      steps.map(({ slot: { sequence }, tokens, logits, candidates }) =>
        evaluate(sequence, tokens, { count: logits, candidates }, vocabulary, signal, onCall),
      ),
    );
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return results.map((result) => (result as PromiseFulfilledResult<Float32Array>).value);
  }

  async dispose(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.dispose();
    this.#free.length = 0;
    await this.#model.dispose();
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

/** node-llama-cpp moves the state of a sequence through files alone. */
async function withFile<Result>(use: (path: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "inferyard-sequence-"));
  try {
    return await use(join(folder, "state"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
