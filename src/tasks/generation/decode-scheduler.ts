/** Runs the texts that are being generated with one model: their next tokens together, and long prompts in chunks between them. */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import type { DecodeStep, LanguageModel, SequenceId } from "../../contract/backend.ts";
import { at, omitUndefined } from "../../contract/checked.ts";
import { abortable } from "../../concurrency/abortable.ts";
import { InferyardError, abortError, throwIfAborted, invalidInput } from "../../contract/errors.ts";
import { SequenceTable } from "../../contract/sequence-table.ts";
import { unrefTimeout, yieldToEventLoop } from "../../platform/event-loop.ts";
import { type SequenceLimits, parseSequenceSettings } from "../../runtime/options/sequence-settings.ts";
import { defaultSchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import { CachedSequence } from "./scheduling/cached-sequence.ts";
import type { SchedulerClient, GroupSize, SequenceGroup } from "./scheduling/sequence-group.ts";
import { SlotAllocator, type SlotAllocatorLimits, unreadGraceMs } from "./scheduling/slot-allocator.ts";

/** The part of a language model that the scheduler uses. */
export type DecodingModel = Omit<LanguageModel, "dispose">;

/** Limits of a scheduler. */
export interface DecodeLimits extends SlotAllocatorLimits, SequenceLimits {
  /** Tokens of prompts in one call of the model. Between two such calls each running text gets its next token. */
  readonly chunkTokens: number;
}

/** Default limits of a model's texts. */
export const defaultDecodeLimits: DecodeLimits = {
  maxSequences: 16,
  chunkTokens: 128,
  ...parseSequenceSettings({}),
};

/** The texts of one prompt that have entered a scheduler. */
export interface EnteredTexts {
  /** Adds a sequence to these texts: its calls wait while they are parked. So do the calls of its forks. */
  own(sequence: SequenceId): void;
  /** Ends that. Returns whether the model has the cache of the sequence. */
  disown(sequence: SequenceId): boolean;
  /** Waits until an event was read. Texts that wait for their reader are parked first. */
  read(taken: Promise<void>): Promise<void>;
  /** Makes room for other texts. */
  leave(): void;
}

interface Held {
  readonly sequence: CachedSequence;
  /** The group that it belongs to. Undefined: none, as with a kept prompt or a draft; its calls never wait. */
  group: SequenceGroup | undefined;
}

interface Job {
  readonly held: Held;
  readonly tokens: readonly number[];
  /** Number of last tokens whose logits are wanted. */
  readonly logits: number;
  /** Number of highest logits that are needed; undefined: all. */
  readonly candidates: number | undefined;
  /** Number of tokens that were decoded. */
  done: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (logits: Float32Array) => void;
  readonly reject: (error: unknown) => void;
}

/** The next call of the model for a job. */
interface Chunk {
  readonly step: Omit<DecodeStep, "sequence">;
  /** Whether it computes a dropped cache again. */
  readonly isAgain: boolean;
}

/** Joins the tokens of many texts into calls of one model. */
export class DecodeScheduler {
  readonly #model: DecodingModel;
  readonly #limits: DecodeLimits;
  readonly #slots: SlotAllocator;
  readonly #sequences = new SequenceTable<Held>();
  readonly #jobs = new Set<Job>();
  /** Forks and truncations in progress. The model does them before its next call, and the tokens that follow are to be part of that. */
  readonly #changes = new Set<Promise<unknown>>();
  #isRunning = false;
  #unreadTimer: ReturnType<typeof setTimeout> | undefined;

  /** `limits`: those that are left out are the default ones. */
  constructor(model: DecodingModel, limits: Partial<DecodeLimits> = {}) {
    this.#model = model;
    this.#limits = { ...defaultDecodeLimits, ...limits };
    this.#slots = new SlotAllocator(this.#limits);
  }

  /** Tokens of a piece of a prompt. */
  get chunkTokens(): number {
    return this.#limits.chunkTokens;
  }

  /** Bytes of cache that the tokens of all sequences need, kept prompts included. Forks that share a cache count each. */
  get cacheBytes(): number {
    return this.#getBytes(this.#sequences.values().map(({ sequence }) => sequence));
  }

  /** Bytes of cache of as many texts as run at once, each as long as the model's context; undefined if the model states none. */
  get cacheCapacityBytes(): number | undefined {
    const { contextLength, cacheBytesPerToken } = this.#model.limits;
    return contextLength === undefined ? undefined : this.#limits.maxSequences * contextLength * cacheBytesPerToken;
  }

  /** Texts that are being generated. */
  get runningSequences(): number {
    return this.#slots.running;
  }

  /** Texts that wait for their turn and have not begun. */
  get waitingSequences(): number {
    return this.#slots.waiting;
  }

  /** Texts that have begun and wait for their next turn. */
  get parkedSequences(): number {
    return this.#slots.parked;
  }

  /** How often texts were parked. */
  get preemptions(): number {
    return this.#slots.preemptions;
  }

  /**
   * Waits until the texts of one prompt may be generated: fairly between clients, for one client in the order of its calls. Throws INPUT_INVALID if there are
   * more of them than run at once, and ABORTED.
   */
  async enter(
    size: GroupSize,
    signal: AbortSignal | undefined,
    client: SchedulerClient = defaultSchedulingKey,
  ): Promise<EnteredTexts> {
    throwIfAborted(signal);
    const { count } = size;
    const { maxSequences } = this.#limits;
    if (count > maxSequences) {
      throw invalidInput(`${count} texts at once were asked for, and ${maxSequences} are possible`, "lower n or numBeams");
    }
    const group = await this.#begin(size, signal, client);
    return {
      own: (id) => {
        const held = this.#sequences.get(id);
        held.group = group;
        group.sequences.add(held.sequence);
      },
      disown: (id) => {
        const held = this.#sequences.get(id);
        this.#separate(held);
        return held.sequence.missingTokens === 0;
      },
      read: (taken) => group.read(taken),
      leave: () => {
        this.#slots.remove(group);
        this.#schedule();
      },
    };
  }

  /** Creates a sequence; `source` for models with an encoder. The model creates it with its first tokens. */
  async create(source: readonly number[] | undefined): Promise<SequenceId> {
    return this.#sequences.add({ sequence: new CachedSequence(this.#model, source), group: undefined });
  }

  /** Creates a sequence with the same tokens, for the same texts. */
  async fork(id: SequenceId): Promise<SequenceId> {
    const { sequence, group } = this.#sequences.get(id);
    const copy = await this.#changed(sequence.fork());
    group?.sequences.add(copy);
    return this.#sequences.add({ sequence: copy, group });
  }

  /** Removes all tokens from position `length` on. */
  async truncate(id: SequenceId, length: number): Promise<void> {
    await this.#changed(this.#sequences.get(id).sequence.truncate(length));
  }

  /** Frees a sequence. One that died with its process is gone already. */
  async release(id: SequenceId): Promise<void> {
    const held = this.#sequences.release(id);
    this.#separate(held);
    await ignoringLost(held.sequence.release());
  }

  /**
   * Appends tokens to a sequence, and returns the logits after the last `count` of them, row by row; more than one only of tokens that fit into one call
   * (`chunkTokens`). `candidates`: as in `DecodeStep`. Rejects with ABORTED as soon as the signal is aborted; the sequence must then
   * be released, since some of the tokens may have been appended.
   */
  async append(
    id: SequenceId,
    tokens: readonly number[],
    signal: AbortSignal | undefined,
    count: number = 1,
    candidates?: number,
  ): Promise<Float32Array> {
    throwIfAborted(signal);
    const held = this.#sequences.get(id);
    const ended = new AbortController();
    const logits = new Promise<Float32Array>((resolve, reject) => {
      const job: Job = { held, tokens, logits: count, candidates, done: 0, signal, resolve, reject };
      if (held.group !== undefined) this.#slots.want(held.group);
      this.#jobs.add(job);
      addAbortListener(ended.signal, () => this.#end(job));
    });
    if (held.group?.state !== "running" || !this.#isRunning) this.#schedule();
    return await abortable(logits, signal, () => ended.abort());
  }

  /** Gives slots to the texts that are to have them, and runs what may run. */
  #schedule(): void {
    this.#slots.allocate();
    if (this.#isRunning) return; // it goes on with what may run
    if (this.#runnable.length > 0) return void this.#run();
    if (this.#unreadTimer !== undefined || !this.#slots.waitsForReaders) return;
    this.#unreadTimer = unrefTimeout(() => {
      this.#unreadTimer = undefined;
      this.#schedule();
    }, unreadGraceMs);
  }

  /** Jobs of texts that run, and of sequences that are no texts. */
  get #runnable(): readonly Job[] {
    return [...this.#jobs].filter(({ held: { group } }) => group === undefined || group.state === "running");
  }

  /** Single tokens and chunks of prompts take turns. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let wasPrompts = false; ;) {
      // All texts that got a token in the last call are to ask for the next one first.
      do {
        await Promise.allSettled(this.#changes);
        await yieldToEventLoop();
      } while (this.#changes.size > 0);
      this.#slots.allocate();
      await this.#dropParked();
      const next: Job[] = [];
      const prompts: Job[] = [];
      for (const job of this.#runnable) (this.#nextChunk(job).step.tokens.length === 1 ? next : prompts).push(job);
      if (next.length + prompts.length === 0) break;
      wasPrompts = next.length === 0 || (prompts.length > 0 && !wasPrompts);
      await this.#call(wasPrompts ? this.#nextPrompts(prompts) : next);
    }
    this.#isRunning = false;
    this.#schedule();
  }

  /**
   * Prompts whose next chunks fit into one call, at least one: first those of the client that was served least. A prompt is cut at the same places whatever else
   * runs. Prompts of a client take turns.
   */
  #nextPrompts(jobs: readonly Job[]): readonly Job[] {
    const counter = ({ held: { group } }: Job): number => (group === undefined ? 0 : this.#slots.getCounter(group));
    let total = 0;
    const taken: Job[] = [];
    for (const job of jobs.toSorted((a, b) => counter(a) - counter(b))) {
      total += this.#nextChunk(job).step.tokens.length;
      if (taken.length > 0 && total > this.#limits.chunkTokens) break;
      taken.push(job);
    }
    for (const job of taken) {
      this.#jobs.delete(job);
      this.#jobs.add(job);
    }
    return taken;
  }

  #nextChunk({ held: { sequence }, tokens, done, logits, candidates }: Job): Chunk {
    const missing = sequence.nextMissing;
    if (missing !== undefined) return { step: { ...missing, candidates: 1 }, isAgain: true };
    const chunk = tokens.slice(done, done + this.#limits.chunkTokens);
    return { step: omitUndefined({ tokens: chunk, logits, candidates }), isAgain: false };
  }

  /** Decodes the next chunk of each job. If that fails, each is tried alone, so that only the cause of the failure fails. */
  async #call(jobs: readonly Job[]): Promise<void> {
    const [first] = jobs;
    const signal = jobs.length === 1 ? first?.signal : undefined;
    const chunks = jobs.map((job) => this.#nextChunk(job));
    try {
      const ids: SequenceId[] = [];
      for (const { held } of jobs) ids.push(await held.sequence.open(signal));
      const steps = chunks.map(({ step }, index) => ({ ...step, sequence: at(ids, index) }));
      const logits = await this.#model.decode(steps, signal === undefined ? {} : { signal });
      for (const [index, job] of jobs.entries()) this.#decoded(job, at(chunks, index), at(logits, index));
    } catch (error) {
      const isLost = error instanceof InferyardError && (error.code === "HOST_DIED" || error.code === "DISPOSED");
      if (jobs.length > 1 && !isLost) {
        for (const job of jobs) if (this.#jobs.has(job)) await this.#call([job]);
        return;
      }
      for (const job of jobs) {
        this.#end(job);
        job.reject(error);
      }
    }
  }

  #decoded(job: Job, { step: { tokens, logits = 1 }, isAgain }: Chunk, rows: Float32Array): void {
    const { sequence, group } = job.held;
    if (group !== undefined) this.#slots.charge(group, tokens.length, isAgain);
    if (isAgain) return sequence.computedMissing();
    sequence.appended(tokens, logits);
    job.done += tokens.length;
    if (job.done < job.tokens.length) return;
    this.#end(job);
    job.resolve(rows);
  }

  #end(job: Job): void {
    if (!this.#jobs.delete(job)) return;
    const { group } = job.held;
    if (group !== undefined) group.jobs -= 1;
  }

  /** Drops caches of parked texts until the others are within the limit: those of texts that nobody reads, and then those parked last. */
  async #dropParked(): Promise<void> {
    const parked = this.#slots.parkedGroups.filter(({ sequences }) => sequences.size > 0);
    let bytes = parked.reduce((sum, { sequences }) => sum + this.#getBytes(sequences), 0);
    const order = [...parked.filter(({ jobs }) => jobs === 0), ...parked.filter(({ jobs }) => jobs > 0)];
    for (const { sequences } of order) {
      if (bytes <= this.#limits.maxParkedBytes) return;
      bytes -= this.#getBytes(sequences);
      // A model that cannot free them says why in the next call.
      for (const sequence of sequences) await sequence.drop().catch(() => {});
    }
  }

  #getBytes(sequences: Iterable<CachedSequence>): number {
    let tokens = 0;
    for (const { cachedTokens } of sequences) tokens += cachedTokens;
    return tokens * this.#model.limits.cacheBytesPerToken;
  }

  async #changed<Result>(change: Promise<Result>): Promise<Result> {
    this.#changes.add(change);
    return await change.finally(() => this.#changes.delete(change));
  }

  #separate(held: Held): void {
    held.group?.sequences.delete(held.sequence);
    held.group = undefined;
  }

  async #begin(size: GroupSize, signal: AbortSignal | undefined, client: SchedulerClient): Promise<SequenceGroup> {
    return await new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#slots.remove(group);
        if (signal !== undefined) reject(abortError(signal));
        this.#schedule();
      };
      const group = this.#slots.add(client, size, () => {
        removeAbortListener(signal, abort);
        resolve(group);
      });
      addAbortListener(signal, abort);
      this.#schedule();
    });
  }
}

/** Waits for a release. What died with its process is gone already. */
async function ignoringLost(released: Promise<void>): Promise<void> {
  try {
    await released;
  } catch (error) {
    if (!(error instanceof InferyardError && (error.code === "DISPOSED" || error.code === "HOST_DIED"))) throw error;
  }
}
