/** A GGUF model in a llama library of the user's as a language model of the backend contract. */
import { setImmediate } from "node:timers/promises";
import type {
  DecodeOptions,
  DecodeStep,
  Device,
  KernelCount,
  LanguageModel,
  LanguageModelLimits,
  Library,
  ModelBase,
  SequenceId,
  SequenceOptions,
} from "../../contract/backend.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { Mutex } from "../../concurrency/mutex.ts";
import { llamaKernelId } from "../../kernels/kernel-ids.ts";
import { KernelTally } from "../../kernels/kernel-tally.ts";
import type { ForeignFunctions } from "../../libraries/ffi/index.ts";
import { decodeSequence, encodeSequence } from "../gguf/saved-sequence.ts";
import { SequenceTable } from "../../contract/sequence-table.ts";
import { checkSteps, checkTruncation } from "../sequences/check-steps.ts";
import type { LlamaContext } from "./llama-context.ts";
import type { LlamaFunctions } from "./llama-functions.ts";
import type { NativeLog } from "./native-log.ts";
import type { BatchToken, TokenBatch } from "./token-batch.ts";

/** Constructor arguments of the language model. */
export interface LibraryModelParts {
  readonly ffi: ForeignFunctions;
  readonly functions: LlamaFunctions;
  readonly context: LlamaContext;
  readonly batch: TokenBatch;
  readonly log: NativeLog;
  readonly library: Library;
  readonly device: Device;
  readonly limits: LanguageModelLimits;
  /** Bytes of the weights. */
  readonly bytes: number;
  /** Identity of the model in saved sequences, which other models refuse. */
  readonly identity: string;
  /** Sentences about where the model computes. */
  readonly evidence: readonly string[];
  /** Frees the model and the library, after the context. */
  readonly close: () => void;
}

/** A sequence of the contract. Its tokens say what it is; its slot, if it has one, holds the cache of the first `cached` of them. */
interface Sequence {
  readonly tokens: number[];
  slot: number | undefined;
  cached: number;
  /** State of a sequence without a slot, for `cached` tokens. */
  parked: Uint8Array | undefined;
}

/** A sequence in a call of `decode`. */
interface Work {
  readonly held: Sequence;
  readonly slot: number;
  /** Tokens that its cache lacks, those of the call last. */
  readonly pending: readonly number[];
  /** Positions in `pending` from which logits are read. */
  readonly firstLogits: number;
  readonly rows: Float32Array;
}

/** A language model whose tokens a llama library computes. */
export class LibraryLanguageModel implements LanguageModel {
  readonly kind = "language";
  readonly limits: LanguageModelLimits;
  readonly library: Library;
  readonly memory: ModelBase["memory"];
  readonly #parts: LibraryModelParts;
  readonly #sequences = new SequenceTable<Sequence>();
  readonly #mutex = new Mutex();
  readonly #tally = new KernelTally();
  #disposal: Promise<void> | undefined;

  constructor(parts: LibraryModelParts) {
    this.#parts = parts;
    this.limits = parts.limits;
    this.library = parts.library;
    this.memory = { bytes: parts.bytes, measure: "weights" };
  }

  async createSequence({ source, signal }: SequenceOptions = {}): Promise<SequenceId> {
    this.#refuseDisposed();
    throwIfAborted(signal);
    if (source !== undefined)
      throw new InferyardError("INPUT_INVALID", "this model has no encoder, so there is nothing to read a source text");
    return this.#sequences.add({ tokens: [], slot: undefined, cached: 0, parked: undefined });
  }

  async decode(steps: readonly DecodeStep[], { signal }: DecodeOptions = {}): Promise<readonly Float32Array[]> {
    this.#refuseDisposed();
    checkSteps(steps, this.limits.vocabulary);
    return await this.#mutex.runExclusive(async () => {
      throwIfAborted(signal);
      const { contextLength = Number.POSITIVE_INFINITY, vocabulary } = this.limits;
      const calls = steps.map((step) => ({ step, held: this.#sequences.get(step.sequence) }));
      for (const { step, held } of calls) {
        if (held.tokens.length + step.tokens.length <= contextLength) continue;
        throw new InferyardError(
          "INPUT_TOO_LONG",
          `${held.tokens.length} + ${step.tokens.length} tokens exceed the context length of ${contextLength}`,
        );
      }
      for (const { step, held } of calls) this.#sequences.set(step.sequence, held);
      const extra = calls.reduce((sum, { held, step }) => sum + held.tokens.length + step.tokens.length, 0);
      await this.#makeRoom(new Set(calls.map(({ held }) => held)), extra);
      const work = calls.map(({ step: { tokens, logits = 1 }, held }): Work => {
        const slot = this.#getSlot(held);
        const pending = [...held.tokens.slice(held.cached), ...tokens];
        return { held, slot, pending, firstLogits: pending.length - logits, rows: new Float32Array(logits * vocabulary) };
      });
      try {
        await this.#compute(work, signal);
      } catch (error) {
        for (const { held, slot } of work) held.cached = this.#parts.context.cut(slot, held.cached);
        throw error;
      }
      for (const { held, step } of calls) {
        held.tokens.push(...step.tokens);
        held.cached = held.tokens.length;
      }
      return work.map(({ rows }) => rows);
    });
  }

  async forkSequence(sequence: SequenceId): Promise<SequenceId> {
    this.#refuseDisposed();
    return await this.#mutex.runExclusive(async () => {
      const parent = this.#sequences.get(sequence);
      const { tokens, cached, slot } = parent;
      const child: Sequence = { tokens: [...tokens], slot: undefined, cached, parked: parent.parked };
      if (slot === undefined || cached === 0) return this.#sequences.add(child);
      const { context } = this.#parts;
      const own = (await context.reserve(cached)) ? context.takeSlot() : undefined;
      if (own === undefined) child.parked = context.readState(slot);
      else context.copy(slot, own);
      child.slot = own;
      return this.#sequences.add(child);
    });
  }

  async truncateSequence(sequence: SequenceId, length: number): Promise<void> {
    this.#refuseDisposed();
    await this.#mutex.runExclusive(async () => {
      const held = this.#sequences.get(sequence);
      checkTruncation(held.tokens.length, length);
      held.tokens.length = length;
      if (held.cached <= length) return;
      if (held.slot !== undefined) held.cached = this.#parts.context.cut(held.slot, length);
      else [held.cached, held.parked] = [0, undefined];
    });
  }

  async saveSequence(sequence: SequenceId): Promise<Uint8Array> {
    this.#refuseDisposed();
    return await this.#mutex.runExclusive(async () => {
      const { tokens, slot, cached, parked } = this.#sequences.get(sequence);
      const bytes = slot === undefined || cached === 0 ? parked : this.#parts.context.readState(slot);
      const isWhole = bytes !== undefined && cached === tokens.length;
      return encodeSequence(this.#parts.identity, { tokens, state: isWhole ? { bytes, group: 1 } : undefined });
    });
  }

  async restoreSequence(bytes: Uint8Array): Promise<SequenceId> {
    this.#refuseDisposed();
    const { tokens, state } = decodeSequence(this.#parts.identity, bytes);
    return this.#sequences.add({
      tokens: [...tokens],
      slot: undefined,
      cached: state === undefined ? 0 : tokens.length,
      parked: state?.bytes,
    });
  }

  async releaseSequence(sequence: SequenceId): Promise<void> {
    this.#refuseDisposed();
    await this.#mutex.runExclusive(async () => {
      const held = this.#sequences.release(sequence);
      if (held.slot !== undefined) this.#parts.context.giveSlot(held.slot);
    });
  }

  async evidence(): Promise<readonly string[]> {
    this.#refuseDisposed();
    return this.#parts.evidence;
  }

  async kernelCounts(): Promise<readonly KernelCount[]> {
    return this.#tally.counts;
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#mutex.runExclusive(async () => {
      this.#sequences.clear();
      this.#parts.context.free();
      this.#parts.close();
    });
    return this.#disposal;
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "the model was disposed");
  }

  /**
   * Makes room for sequences of `total` tokens together. Where the cache may not grow, the least recently used of the others give up their slots. Throws
   * OUT_OF_MEMORY.
   */
  async #makeRoom(used: ReadonlySet<Sequence>, total: number): Promise<void> {
    const { context } = this.#parts;
    const owned = [...used].reduce((sum, { slot, cached }) => sum + (slot === undefined ? 0 : cached), 0);
    const isEnough = async (): Promise<boolean> => {
      const missing = [...used].filter(({ slot }) => slot === undefined).length;
      return missing <= context.freeSlots && (await context.reserve(total - owned));
    };
    while (!(await isEnough())) {
      const idle = this.#sequences.values().find((each) => each.slot !== undefined && !used.has(each));
      if (idle === undefined) {
        throw new InferyardError(
          "OUT_OF_MEMORY",
          `there is no memory for the cache of ${used.size} sequences of ${total} tokens`,
          {
            remedy: "generate fewer texts at once, or shorter ones",
          },
        );
      }
      this.#park(idle);
    }
  }

  #park(idle: Sequence): void {
    const { slot, cached } = idle;
    if (slot === undefined) return;
    idle.parked = cached > 0 ? this.#parts.context.readState(slot) : undefined;
    this.#parts.context.giveSlot(slot);
    idle.slot = undefined;
  }

  /** The slot of a sequence, with its cache in it. */
  #getSlot(held: Sequence): number {
    if (held.slot !== undefined) return held.slot;
    const { context } = this.#parts;
    const slot = context.takeSlot();
    if (slot === undefined) throw new InferyardError("CONTRACT_VIOLATION", "a sequence has no slot for its cache");
    if (held.parked === undefined || !context.writeState(slot, held.parked, held.cached)) held.cached = 0;
    held.slot = slot;
    held.parked = undefined;
    return slot;
  }

  /** Computes the pending tokens of all sequences, in batches. */
  async #compute(work: readonly Work[], signal: AbortSignal | undefined): Promise<void> {
    const { batch } = this.#parts;
    const all = work.flatMap((each) => each.pending.map((_, index) => ({ each, index })));
    for (let start = 0; start < all.length; start += batch.capacity) {
      if (start > 0 && signal !== undefined) await setImmediate(); // so that an abort is seen
      throwIfAborted(signal);
      await this.#computeBatch(all.slice(start, start + batch.capacity));
    }
    throwIfAborted(signal);
  }

  async #computeBatch(part: readonly { readonly each: Work; readonly index: number }[]): Promise<void> {
    const { ffi, functions, context, batch, log } = this.#parts;
    const { vocabulary } = this.limits;
    const tokens = part.map(({ each: { held, slot, pending, firstLogits }, index }): BatchToken => ({
      token: pending[index] ?? 0,
      position: held.cached + index,
      slot,
      wantsLogits: index >= firstLogits,
    }));
    log.clear();
    let outcome = await functions.decode(context.address, batch.write(tokens));
    if (outcome === 1) {
      await context.compact(); // releases of 2024 need cells that lie together
      outcome = await functions.decode(context.address, batch.write(tokens));
    }
    if (outcome !== 0) {
      throw new InferyardError(
        outcome === 1 ? "OUT_OF_MEMORY" : "RUN_FAILED",
        `llama_decode returned ${outcome} for ${tokens.length} tokens${log.reason === undefined ? "" : `: ${log.reason}`}`,
      );
    }
    this.#tally.add(llamaKernelId(this.#parts.device));
    for (const [row, { each, index }] of part.entries()) {
      context.setUsed(each.slot, each.held.cached + index + 1);
      if (index < each.firstLogits) continue;
      const address = functions.logitsAt(context.address, row);
      if (address === 0n)
        throw new InferyardError("RUN_FAILED", `the library has no logits of token ${row} of a batch: ${log.reason ?? ""}`);
      each.rows.set(new Float32Array(ffi.memoryAt(address, 4 * vocabulary)), (index - each.firstLogits) * vocabulary);
    }
  }
}
