/** A GGUF model in llama.cpp as a language model of the backend contract. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
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
import { llamaKernelId } from "../../kernels/kernel-ids.ts";
import { KernelTally } from "../../kernels/kernel-tally.ts";
import { Mutex } from "../../concurrency/mutex.ts";
import { SequenceTable } from "../../contract/sequence-table.ts";
import { checkSteps, checkTruncation } from "../sequences/check-steps.ts";
import type { EvaluatedToken, LlamaModel, WantedNext } from "./library.ts";
import { decodeSequence, encodeSequence, type SequenceState } from "../gguf/saved-sequence.ts";
import { copyState, readState, writeState } from "./sequence-file.ts";
import type { SequenceSlots, Slot } from "./sequence-slots.ts";

/** Constructor arguments of the language model. */
export interface LlamaParts {
  readonly model: LlamaModel;
  readonly slots: SequenceSlots;
  readonly library: Library;
  readonly limits: LanguageModelLimits;
  /** Identity of the model in saved sequences, which other models refuse. */
  readonly identity: string;
  readonly device: Device;
  /** Sentences about where the model computes. */
  readonly evidence: readonly string[];
}

/** A sequence of the contract. Its tokens say what it is; its place, if it has one, holds their cache. */
interface Sequence {
  readonly tokens: number[];
  slot: Slot | undefined;
  /** State of a sequence whose place was taken. */
  parked: SequenceState | undefined;
}

/** Tokens that are computed before the signal is looked at. */
const chunkTokens = 512;

/** A language model whose tokens llama.cpp computes. */
export class LlamaLanguageModel implements LanguageModel {
  readonly kind = "language";
  readonly limits: LanguageModelLimits;
  readonly library: Library;
  readonly #parts: LlamaParts;
  readonly #sequences = new SequenceTable<Sequence>();
  readonly #mutex = new Mutex();
  readonly #tally = new KernelTally();
  #disposal: Promise<void> | undefined;

  constructor(parts: LlamaParts) {
    this.#parts = parts;
    this.limits = parts.limits;
    this.library = parts.library;
  }

  get memory(): ModelBase["memory"] {
    const { ram, vram } = this.#parts.model.memoryUsage;
    return { bytes: ram + vram + this.#parts.slots.bytes, measure: "allocated" };
  }

  async createSequence({ source, signal }: SequenceOptions = {}): Promise<SequenceId> {
    this.#refuseDisposed();
    throwIfAborted(signal);
    if (source !== undefined)
      throw new InferyardError("INPUT_INVALID", "this model has no encoder, so there is nothing to read a source text");
    return this.#sequences.add({ tokens: [], slot: undefined, parked: undefined });
  }

  async decode(steps: readonly DecodeStep[], { signal }: DecodeOptions = {}): Promise<readonly Float32Array[]> {
    this.#refuseDisposed();
    checkSteps(steps, this.limits.vocabulary);
    return await this.#mutex.runExclusive(async () => {
      throwIfAborted(signal);
      const { contextLength = Number.POSITIVE_INFINITY } = this.limits;
      const calls = steps.map((step) => ({ ...step, id: step.sequence, held: this.#sequences.get(step.sequence) }));
      for (const { held, tokens } of calls) {
        if (held.tokens.length + tokens.length <= contextLength) continue;
        throw new InferyardError(
          "INPUT_TOO_LONG",
          `${held.tokens.length} + ${tokens.length} tokens exceed the context length of ${contextLength}`,
        );
      }
      const used = new Set(calls.map(({ held }) => held));
      try {
        for (const { id, held, tokens } of calls) {
          this.#sequences.set(id, held);
          await this.#place(held, held.tokens.length + tokens.length, used, signal);
        }
        const results = await Promise.allSettled(
          calls.map(({ held, tokens, logits = 1, candidates }) =>
            this.#append(held, tokens, { count: logits, candidates }, signal),
          ),
        );
        const failed = results.find((result) => result.status === "rejected");
        if (failed !== undefined) throw failed.reason;
        for (const { held, tokens } of calls) held.tokens.push(...tokens);
        return results.map((result) => (result as PromiseFulfilledResult<Float32Array>).value);
      } catch (error) {
        await Promise.all(calls.map(({ held }) => this.#cut(held)));
        throw error;
      }
    });
  }

  async forkSequence(sequence: SequenceId): Promise<SequenceId> {
    this.#refuseDisposed();
    return await this.#mutex.runExclusive(async () => {
      const parent = this.#sequences.get(sequence);
      const child: Sequence = { tokens: [...parent.tokens], slot: undefined, parked: parent.parked };
      if (parent.slot !== undefined && parent.tokens.length > 0) {
        const slot = await this.#freeSlot(parent.tokens.length + 1, new Set([parent]), undefined);
        try {
          await copyState(parent.slot, slot);
        } catch (error) {
          await this.#parts.slots.give(slot);
          throw error;
        }
        child.slot = slot;
      }
      return this.#sequences.add(child);
    });
  }

  async truncateSequence(sequence: SequenceId, length: number): Promise<void> {
    this.#refuseDisposed();
    await this.#mutex.runExclusive(async () => {
      const held = this.#sequences.get(sequence);
      checkTruncation(held.tokens.length, length);
      held.tokens.length = length;
      if (held.slot === undefined) held.parked = undefined;
      else await this.#cut(held);
    });
  }

  async saveSequence(sequence: SequenceId): Promise<Uint8Array> {
    this.#refuseDisposed();
    return await this.#mutex.runExclusive(async () => {
      const { tokens, slot, parked } = this.#sequences.get(sequence);
      const state = slot === undefined || tokens.length === 0 ? parked : await readState(slot);
      return encodeSequence(this.#parts.identity, { tokens, state });
    });
  }

  async restoreSequence(bytes: Uint8Array): Promise<SequenceId> {
    this.#refuseDisposed();
    const { tokens, state } = decodeSequence(this.#parts.identity, bytes);
    return this.#sequences.add({ tokens: [...tokens], slot: undefined, parked: state });
  }

  async releaseSequence(sequence: SequenceId): Promise<void> {
    this.#refuseDisposed();
    await this.#mutex.runExclusive(async () => {
      const held = this.#sequences.release(sequence);
      if (held.slot !== undefined) await this.#parts.slots.give(held.slot);
    });
  }

  async evidence(): Promise<readonly string[]> {
    this.#refuseDisposed();
    return this.#parts.evidence;
  }

  /** Counts calls of node-llama-cpp: one for each sequence and each 512 tokens. llama.cpp may compute several together. */
  async kernelCounts(): Promise<readonly KernelCount[]> {
    this.#refuseDisposed();
    return this.#tally.counts;
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#mutex.runExclusive(async () => {
      this.#sequences.clear();
      await this.#parts.slots.dispose();
      await this.#parts.model.dispose();
    });
    return this.#disposal;
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "the model was disposed");
  }

  /** Gives a sequence a slot for `tokens` tokens, with the cache of its present tokens. `used`: sequences that keep theirs. */
  async #place(held: Sequence, tokens: number, used: ReadonlySet<Sequence>, signal: AbortSignal | undefined): Promise<void> {
    const { slot: old } = held;
    if (old !== undefined && old.size >= tokens) return await this.#complete(held, old, signal);
    const slot = await this.#freeSlot(tokens, used, signal);
    try {
      if (old !== undefined && held.tokens.length > 0) await copyState(old, slot);
      else if (held.parked !== undefined) await writeState(slot, held.parked);
      await this.#complete(held, slot, signal);
    } catch (error) {
      await this.#parts.slots.give(slot);
      throw error;
    }
    held.slot = slot;
    held.parked = undefined;
    if (old !== undefined) await this.#parts.slots.give(old);
  }

  /** Computes what the cache in a place lacks of the sequence's tokens. */
  async #complete({ tokens }: Sequence, slot: Slot, signal: AbortSignal | undefined): Promise<void> {
    await this.#evaluate(slot, tokens.slice(slot.sequence.nextTokenIndex), { count: 0 }, signal);
  }

  /** A free place. Where there is no memory for another one, the least recently used sequences give theirs up. */
  async #freeSlot(tokens: number, used: ReadonlySet<Sequence>, signal: AbortSignal | undefined): Promise<Slot> {
    for (;;) {
      const slot = await this.#parts.slots.take(tokens, signal);
      if (slot !== undefined) return slot;
      const idle = this.#sequences.values().find((each) => each.slot !== undefined && !used.has(each));
      if (idle?.slot === undefined) {
        throw new InferyardError("OUT_OF_MEMORY", `there is no memory for the cache of another sequence of ${tokens} tokens`, {
          remedy: "generate fewer texts at once, or shorter ones",
        });
      }
      if (idle.tokens.length > 0) idle.parked = await readState(idle.slot);
      await this.#parts.slots.give(idle.slot);
      idle.slot = undefined;
    }
  }

  async #append(
    { slot }: Sequence,
    tokens: readonly number[],
    logits: WantedLogits,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    if (slot === undefined) throw new InferyardError("CONTRACT_VIOLATION", "a sequence has no place for its cache");
    return await this.#evaluate(slot, tokens, logits, signal);
  }

  async #evaluate(
    slot: Slot,
    tokens: readonly number[],
    logits: WantedLogits,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    const id = llamaKernelId(this.#parts.device);
    return await evaluate(slot, tokens, logits, this.limits.vocabulary, signal, () => this.#tally.add(id));
  }

  /** Removes what the cache holds beyond the sequence's tokens. What llama.cpp removes with it is computed again when it is needed. */
  async #cut(held: Sequence): Promise<void> {
    const { slot, tokens } = held;
    if (slot === undefined || slot.sequence.nextTokenIndex <= tokens.length) return;
    await slot.sequence.eraseContextTokenRanges([{ start: tokens.length, end: slot.sequence.nextTokenIndex }]);
  }
}

/** Which logits are read: of how many last positions, and how many of each. Default: all of each. */
interface WantedLogits {
  readonly count: number;
  readonly candidates?: number | undefined;
}

/** Appends tokens to the cache in a place, and returns the logits of the last `count` of them, row by row. `onCall` is called after each call of llama.cpp. */
export async function evaluate(
  { sequence }: Pick<Slot, "sequence">,
  tokens: readonly number[],
  { count, candidates }: WantedLogits,
  vocabulary: number,
  signal: AbortSignal | undefined,
  onCall: () => void = () => {},
): Promise<Float32Array> {
  const rows = new Float32Array(count * vocabulary).fill(Number.NEGATIVE_INFINITY);
  const first = tokens.length - count;
  const generateNext = wantedNext(candidates);
  for (let start = 0; start < tokens.length; start += chunkTokens) {
    throwIfAborted(signal);
    const chunk = tokens.slice(start, start + chunkTokens);
    const asked = chunk.map((token, index): EvaluatedToken => {
      return start + index < first ? token : [token, { generateNext }];
    });
    const results = await sequence.controlledEvaluate(asked);
    onCall();
    for (const [index, result] of results.entries()) {
      const row = start + index - first;
      if (row < 0) continue;
      for (const [token, logit] of result?.next.logits ?? []) rows[row * vocabulary + token] = logit;
    }
  }
  throwIfAborted(signal);
  return rows;
}

function wantedNext(candidates: number | undefined): WantedNext {
  if (candidates === undefined) return { logits: true };
  if (candidates === 1) return { logits: { filter: { includeSelected: true } }, options: { temperature: 0 } };
  return { logits: { filter: { includeTop: candidates } } };
}
