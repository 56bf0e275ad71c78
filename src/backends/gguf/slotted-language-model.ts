/**
 * A language model whose engine keeps the caches of sequences in slots: llama.cpp allocates memory for a number of sequences, and sequences of the contract
 * are any number, of any length.
 */
import { Mutex } from "../../concurrency/mutex.ts";
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
import { SequenceTable } from "../../contract/sequence-table.ts";
import { llamaKernelId } from "../../kernels/kernel-ids.ts";
import { KernelTally } from "../../kernels/kernel-tally.ts";
import { checkSourceKind, checkLength, checkSteps, checkTruncation } from "../sequences/check-steps.ts";

/** The keys and values of a sequence outside of a slot. */
export interface SlotState {
  readonly bytes: Uint8Array;
  /** Number of tokens that they belong to. */
  readonly length: number;
}

/** Tokens to append to the sequence in a slot, at least one. */
export interface SlotStep<Slot> {
  readonly slot: Slot;
  readonly tokens: readonly number[];
  /** Number of last positions whose logits are returned. */
  readonly logits: number;
  /** Number of highest logits of each position that are needed; undefined: all. */
  readonly candidates: number | undefined;
}

/** The slots of one loaded model, and the computation of tokens in them. Calls do not overlap. */
export interface SlotEngine<Slot, State extends SlotState = SlotState> {
  readonly memory: ModelBase["memory"];
  /** Number of tokens whose keys and values are in a slot. */
  length(slot: Slot): number;
  /**
   * A slot with room for `tokens` tokens: `current` if it has the room, else an empty one. Undefined if there is none unless other slots are given back.
   * Throws OUT_OF_MEMORY if the engine cannot allocate it.
   */
  reserve(current: Slot | undefined, tokens: number, signal: AbortSignal | undefined): Promise<Slot | undefined>;
  /** Gives a slot back; its content is lost. */
  give(slot: Slot): Promise<void>;
  /** Removes the tokens from position `length` on, and what a failed call left there; all tokens if the engine cannot remove a part. */
  cut(slot: Slot, length: number): Promise<void>;
  /** Copies the content of a slot to an empty one. The target stays empty if it cannot take the content. */
  copy(from: Slot, to: Slot): Promise<void>;
  read(slot: Slot): Promise<State>;
  /** Fills an empty slot with the state of another one. It stays empty if it cannot take the state. */
  write(slot: Slot, state: State): Promise<void>;
  /** Returns the logits of each step, row by row. `onCall` is called after each call of the library. A call that fails may leave tokens in the slots. */
  append(steps: readonly SlotStep<Slot>[], signal: AbortSignal | undefined, onCall: () => void): Promise<readonly Float32Array[]>;
  /** Frees the slots and the model. */
  dispose(): Promise<void>;
}

/** Constructor arguments of the language model. */
export interface SlottedModelParts<Slot, State extends SlotState> {
  readonly engine: SlotEngine<Slot, State>;
  readonly library: Library;
  readonly limits: LanguageModelLimits;
  readonly device: Device;
  /** Sentences about where the model computes. */
  readonly evidence: readonly string[];
}

/** A sequence of the contract. Its tokens say what it is; what its slot lacks of them is computed with the next step. */
interface Sequence<Slot, State> {
  readonly tokens: number[];
  slot: Slot | undefined;
  /** State of a sequence whose slot was given to another one. */
  parked: State | undefined;
}

/** A language model whose tokens llama.cpp computes. */
export class SlottedLanguageModel<Slot, State extends SlotState> implements LanguageModel {
  readonly kind = "language";
  readonly limits: LanguageModelLimits;
  readonly library: Library;
  readonly #parts: SlottedModelParts<Slot, State>;
  readonly #engine: SlotEngine<Slot, State>;
  readonly #sequences = new SequenceTable<Sequence<Slot, State>>();
  readonly #mutex = new Mutex();
  readonly #tally = new KernelTally();
  #disposal: Promise<void> | undefined;

  constructor(parts: SlottedModelParts<Slot, State>) {
    this.#parts = parts;
    this.#engine = parts.engine;
    this.limits = parts.limits;
    this.library = parts.library;
  }

  get memory(): ModelBase["memory"] {
    return this.#engine.memory;
  }

  async createSequence(options: SequenceOptions = {}): Promise<SequenceId> {
    this.#refuseDisposed();
    throwIfAborted(options.signal);
    checkSourceKind(options, this.limits);
    return this.#sequences.add({ tokens: [], slot: undefined, parked: undefined });
  }

  async decode(steps: readonly DecodeStep[], { signal }: DecodeOptions = {}): Promise<readonly Float32Array[]> {
    checkSteps(steps, this.limits.vocabulary);
    return await this.#exclusive(async () => {
      throwIfAborted(signal);
      const calls = steps.map((step) => ({ ...step, held: this.#sequences.get(step.sequence) }));
      for (const { held, tokens } of calls) checkLength(held.tokens.length + tokens.length, this.limits.contextLength);
      for (const { sequence, held } of calls) this.#sequences.set(sequence, held);
      const used = new Set(calls.map(({ held }) => held));
      const work: SlotStep<Slot>[] = [];
      try {
        for (const { held, tokens, logits = 1, candidates } of calls) {
          const slot = await this.#place(held, held.tokens.length + tokens.length, used, signal);
          const missing = held.tokens.slice(this.#engine.length(slot));
          work.push({ slot, tokens: [...missing, ...tokens], logits, candidates });
        }
        const rows = await this.#engine.append(work, signal, () => this.#tally.add(llamaKernelId(this.#parts.device)));
        for (const { held, tokens } of calls) held.tokens.push(...tokens);
        return rows;
      } catch (error) {
        for (const { held } of calls) await this.#cut(held);
        throw error;
      }
    });
  }

  async forkSequence(sequence: SequenceId): Promise<SequenceId> {
    return await this.#exclusive(async () => {
      const { tokens, slot: from, parked } = this.#sequences.get(sequence);
      const child: Sequence<Slot, State> = { tokens: [...tokens], slot: undefined, parked };
      if (from !== undefined && this.#engine.length(from) > 0) {
        child.slot = await this.#engine.reserve(undefined, tokens.length + 1, undefined);
        if (child.slot === undefined) child.parked = await this.#engine.read(from);
        else await this.#fill(child.slot, async (slot) => this.#engine.copy(from, slot));
      }
      return this.#sequences.add(child);
    });
  }

  async truncateSequence(sequence: SequenceId, length: number): Promise<void> {
    await this.#exclusive(async () => {
      const held = this.#sequences.get(sequence);
      checkTruncation(held.tokens.length, length);
      held.tokens.length = length;
      if ((held.parked?.length ?? 0) > length) held.parked = undefined;
      await this.#cut(held);
    });
  }

  async releaseSequence(sequence: SequenceId): Promise<void> {
    await this.#exclusive(async () => {
      const { slot } = this.#sequences.release(sequence);
      if (slot !== undefined) await this.#engine.give(slot);
    });
  }

  async evidence(): Promise<readonly string[]> {
    this.#refuseDisposed();
    return this.#parts.evidence;
  }

  /** Counts calls of the library, each with up to 512 tokens. */
  async kernelCounts(): Promise<readonly KernelCount[]> {
    this.#refuseDisposed();
    return this.#tally.counts;
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#mutex.runExclusive(async () => {
      this.#sequences.clear();
      await this.#engine.dispose();
    });
    return this.#disposal;
  }

  async #exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#refuseDisposed();
    return await this.#mutex.runExclusive(work);
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "the model was disposed");
  }

  /** The slot of a sequence, with room for `tokens` tokens. `used`: sequences that keep their slots. */
  async #place(
    held: Sequence<Slot, State>,
    tokens: number,
    used: ReadonlySet<Sequence<Slot, State>>,
    signal: AbortSignal | undefined,
  ): Promise<Slot> {
    const { slot: old, parked } = held;
    const slot = await this.#reserve(old, tokens, used, signal);
    if (slot === old) return slot;
    await this.#fill(slot, async () => {
      if (old !== undefined && this.#engine.length(old) > 0) await this.#engine.copy(old, slot);
      else if (parked !== undefined) await this.#engine.write(slot, parked);
    });
    held.slot = slot;
    held.parked = undefined;
    if (old !== undefined) await this.#engine.give(old);
    return slot;
  }

  /** A slot with room. Where there is no memory for another one, the least recently used sequences give theirs up. */
  async #reserve(
    current: Slot | undefined,
    tokens: number,
    used: ReadonlySet<Sequence<Slot, State>>,
    signal: AbortSignal | undefined,
  ): Promise<Slot> {
    for (;;) {
      const slot = await this.#engine.reserve(current, tokens, signal);
      if (slot !== undefined) return slot;
      const idle = this.#sequences.values().find((each) => each.slot !== undefined && !used.has(each));
      if (idle?.slot === undefined) {
        throw new InferyardError("OUT_OF_MEMORY", `there is no memory for the cache of another sequence of ${tokens} tokens`, {
          remedy: "generate fewer texts at once, or shorter ones",
        });
      }
      if (this.#engine.length(idle.slot) > 0) idle.parked = await this.#engine.read(idle.slot);
      await this.#engine.give(idle.slot);
      idle.slot = undefined;
    }
  }

  /** Fills a slot that was reserved, which is given back if that fails. */
  async #fill(slot: Slot, fill: (slot: Slot) => Promise<void>): Promise<void> {
    try {
      await fill(slot);
    } catch (error) {
      await this.#engine.give(slot);
      throw error;
    }
  }

  /** Removes what a slot holds beyond the tokens of its sequence. */
  async #cut({ slot, tokens }: Sequence<Slot, State>): Promise<void> {
    if (slot !== undefined) await this.#engine.cut(slot, Math.min(this.#engine.length(slot), tokens.length));
  }
}
