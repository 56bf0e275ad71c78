/** Runs the texts that are being generated with one model: their next tokens together, and long prompts in chunks between them. */
import type { LanguageModel, SequenceId } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { abortable } from "../../concurrency/abortable.ts";
import { InferyardError, abortError, throwIfAborted } from "../../contract/errors.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";

/** The part of a language model that the scheduler uses. */
export type DecodingModel = Omit<LanguageModel, "dispose">;

/** Limits of a scheduler. */
export interface DecodeLimits {
  /** Texts that are generated at the same time; others wait, in the order of their arrival. */
  readonly maxSequences: number;
  /** Tokens of prompts in one call of the model. Between two such calls each running text gets its next token. */
  readonly chunkTokens: number;
}

/** Default limits. */
export const defaultDecodeLimits: DecodeLimits = { maxSequences: 16, chunkTokens: 128 };

interface Job {
  readonly sequence: SequenceId;
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

interface Waiting {
  readonly count: number;
  readonly admit: () => void;
}

/** Joins the tokens of many texts into calls of one model. */
export class DecodeScheduler {
  readonly #model: DecodingModel;
  readonly #limits: DecodeLimits;
  readonly #jobs = new Set<Job>();
  /** Tokens of each sequence. */
  readonly #tokens = new Map<SequenceId, number>();
  #waiting: Waiting[] = [];
  #places = 0;
  #isRunning = false;

  constructor(model: DecodingModel, limits: DecodeLimits = defaultDecodeLimits) {
    this.#model = model;
    this.#limits = limits;
  }

  /** Tokens of a piece of a prompt. */
  get chunkTokens(): number {
    return this.#limits.chunkTokens;
  }

  /** Bytes of cache that the tokens of all sequences need, kept prompts included. Forks that share a cache count each. */
  get cacheBytes(): number {
    return [...this.#tokens.values()].reduce((sum, tokens) => sum + tokens, 0) * this.#model.limits.cacheBytesPerToken;
  }

  /** Bytes of cache of as many texts as run at once, each as long as the model's context; undefined if the model states none. */
  get cacheCapacityBytes(): number | undefined {
    const { contextLength, cacheBytesPerToken } = this.#model.limits;
    return contextLength === undefined ? undefined : this.#limits.maxSequences * contextLength * cacheBytesPerToken;
  }

  /** Texts that are being generated. */
  get runningSequences(): number {
    return this.#places;
  }

  /** Texts that wait for their turn. */
  get waitingSequences(): number {
    return this.#waiting.reduce((sum, { count }) => sum + count, 0);
  }

  /**
   * Waits until `count` more texts may be generated, and returns a function that gives their places back. Throws INPUT_INVALID if `count` is above the
   * limit, and ABORTED.
   */
  async enter(count: number, signal: AbortSignal | undefined): Promise<() => void> {
    throwIfAborted(signal);
    const { maxSequences } = this.#limits;
    if (count > maxSequences) {
      throw new InferyardError("INPUT_INVALID", `${count} texts at once were asked for, and ${maxSequences} are possible`, {
        remedy: "lower n or numBeams",
      });
    }
    if (this.#waiting.length > 0 || this.#places + count > maxSequences) await this.#wait(count, signal);
    else this.#places += count;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#places -= count;
      this.#admit();
    };
  }

  /** Creates a sequence; `source` for models with an encoder. */
  async create(source: readonly number[] | undefined, signal: AbortSignal | undefined): Promise<SequenceId> {
    const options = { ...(source === undefined ? {} : { source }), ...(signal === undefined ? {} : { signal }) };
    const sequence = await this.#model.createSequence(options);
    this.#tokens.set(sequence, 0);
    return sequence;
  }

  /** Creates a sequence with the same tokens. */
  async fork(sequence: SequenceId): Promise<SequenceId> {
    const copy = await this.#model.forkSequence(sequence);
    this.#tokens.set(copy, this.#tokens.get(sequence) ?? 0);
    return copy;
  }

  /** Removes all tokens from position `length` on. */
  async truncate(sequence: SequenceId, length: number): Promise<void> {
    await this.#model.truncateSequence(sequence, length);
    this.#tokens.set(sequence, length);
  }

  /** Frees a sequence. One that died with its process is gone already. */
  async release(sequence: SequenceId): Promise<void> {
    this.#tokens.delete(sequence);
    try {
      await this.#model.releaseSequence(sequence);
    } catch (error) {
      if (!(error instanceof InferyardError && (error.code === "DISPOSED" || error.code === "HOST_DIED"))) throw error;
    }
  }

  /**
   * Appends tokens to a sequence, and returns the logits after the last `count` of them, row by row; more than one only of tokens that fit into one call
   * (`chunkTokens`). `candidates`: as in `DecodeStep`. Rejects with ABORTED as soon as the signal is aborted; the sequence must then
   * be released, since some of the tokens may have been appended.
   */
  async append(
    sequence: SequenceId,
    tokens: readonly number[],
    signal: AbortSignal | undefined,
    count: number = 1,
    candidates?: number,
  ): Promise<Float32Array> {
    throwIfAborted(signal);
    const ended = new AbortController();
    const logits = new Promise<Float32Array>((resolve, reject) => {
      const job: Job = { sequence, tokens, logits: count, candidates, done: 0, signal, resolve, reject };
      this.#jobs.add(job);
      ended.signal.addEventListener("abort", () => this.#jobs.delete(job), { once: true });
    });
    if (!this.#isRunning) void this.#run();
    return await abortable(logits, signal, () => ended.abort());
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#jobs.size > 0) {
      // All texts that got a token in the last call are to ask for the next one first.
      await yieldToEventLoop();
      const next = [...this.#jobs].filter(({ tokens, done }) => tokens.length - done === 1);
      if (next.length > 0) await this.#call(next);
      const prompts = this.#nextPrompts();
      if (prompts.length > 0) await this.#call(prompts);
    }
    this.#isRunning = false;
  }

  /** Prompts whose next chunks fit into one call, at least one. A prompt is cut at the same places whatever else runs. They take turns. */
  #nextPrompts(): readonly Job[] {
    const { chunkTokens } = this.#limits;
    let total = 0;
    const taken: Job[] = [];
    for (const job of this.#jobs) {
      if (job.tokens.length - job.done === 1) continue;
      total += this.#chunkOf(job).length;
      if (taken.length > 0 && total > chunkTokens) break;
      taken.push(job);
    }
    for (const job of taken) {
      this.#jobs.delete(job);
      this.#jobs.add(job);
    }
    return taken;
  }

  #chunkOf({ tokens, done }: Job): readonly number[] {
    return tokens.slice(done, done + this.#limits.chunkTokens);
  }

  /** Decodes the next chunk of each job. If that fails, each is tried alone, so that only the cause of the failure fails. */
  async #call(jobs: readonly Job[]): Promise<void> {
    const [first] = jobs;
    const signal = jobs.length === 1 ? first?.signal : undefined;
    const chunks = jobs.map((job) => this.#chunkOf(job));
    try {
      const steps = jobs.map(({ sequence, logits, candidates }, index) => ({
        sequence,
        tokens: chunks[index] ?? [],
        logits,
        ...omitUndefined({ candidates }),
      }));
      const logits = await this.#model.decode(steps, signal === undefined ? {} : { signal });
      for (const [index, job] of jobs.entries()) {
        const count = chunks[index]?.length ?? 0;
        job.done += count;
        const tokens = this.#tokens.get(job.sequence);
        if (tokens !== undefined) this.#tokens.set(job.sequence, tokens + count);
        const row = logits[index];
        if (job.done < job.tokens.length || row === undefined) continue;
        this.#jobs.delete(job);
        job.resolve(row);
      }
    } catch (error) {
      const isLost = error instanceof InferyardError && (error.code === "HOST_DIED" || error.code === "DISPOSED");
      if (jobs.length > 1 && !isLost) {
        for (const job of jobs) if (this.#jobs.has(job)) await this.#call([job]);
        return;
      }
      for (const job of jobs) {
        this.#jobs.delete(job);
        job.reject(error);
      }
    }
  }

  async #wait(count: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        if (signal !== undefined) reject(abortError(signal));
        this.#admit();
      };
      const waiting: Waiting = {
        count,
        admit: () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      this.#waiting.push(waiting);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  #admit(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#places + next.count > this.#limits.maxSequences) return;
      this.#waiting.shift();
      this.#places += next.count;
      next.admit();
    }
  }
}
