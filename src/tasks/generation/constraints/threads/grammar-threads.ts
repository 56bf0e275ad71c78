/**
 * Pool of worker threads that compile grammars and compute masks off the event loop. A grammar lives in the thread that compiled it, its home. A thread that
 * exceeds a limit is ended, and what else lived there is compiled again in another when it is needed; so is what waits behind a long call.
 */
import { getOrInsert } from "../../../../contract/checked.ts";
import { addAbortListener, removeAbortListener } from "../../../../concurrency/abort-listeners.ts";
import { InferyardError, abortError, getMessage, throwIfAborted } from "../../../../contract/errors.ts";
import { parseDuration } from "../../../../runtime/options/duration.ts";
import type { ConstraintThreadSettings } from "../../../../runtime/options/runtime-settings.ts";
import { type ConstraintLimits, defaultConstraintLimits } from "../constraint-budget.ts";
import type { CompiledFacts, GrammarHost, GrammarCall, HostTokenizer, HostedGrammar, Housed } from "../grammar-host.ts";
import type { GrammarOperations } from "../loaded-grammar.ts";
import { type VocabularyOptions, type VocabularyTables, readTokenVocabulary } from "../token-vocabulary.ts";
import { ClientTime } from "./client-time.ts";
import { ThreadFailure } from "../../../threads/call-thread.ts";
import { GrammarThread } from "./grammar-thread.ts";
import type { ConstraintCallMessage } from "./protocol.ts";
import { threadError, unfinishedError } from "./thread-errors.ts";

/** Maximum number of threads. One client uses all but one of them at a time. */
const maxThreads = 3;
/** Heap of a thread in MiB. */
const defaultHeapMebibytes = 256;
/** Heap of the thread that reads a vocabulary. One of 250,000 tokens takes about 400. */
const vocabularyHeapMebibytes = 1024;
const vocabularyTimeoutMs = 120_000;
/** Time in milliseconds after which a call is long: what waits behind it moves to another thread. */
const longCallMs = 250;
/** Time in milliseconds in which a thread must see that the callers of its call have left. Ending the thread costs others more. */
const abortedCallMs = 250;
/** Time in milliseconds that a thread has for the budget's own refusal, which says more, before it is ended. */
const graceMs = 500;
/** Heap of a thread in bytes above which it is ended after a short rest, so that the memory is given back. */
const largeHeapBytes = 2 ** 25;
/** How long a thread rests in milliseconds before it is ended: one with a large heap, one beside another that rests, and the last one. */
const [shortRestMs, restMs, lastRestMs] = [1000, 5000, 60_000];
const maxQueued = 4096;
/** How often a call is moved before it is given up. */
const maxMoves = 8;

interface Home {
  /** Differs between homes. The grammar's number in the thread. */
  readonly number: number;
  readonly thread: GrammarThread;
  readonly client: string;
  readonly facts: CompiledFacts;
}

interface Call {
  readonly client: string;
  readonly grammar: HostedGrammar;
  /** The home of the grammar; undefined: it is compiled, and any thread may do that. */
  readonly home: Home | undefined;
  /** Whether nothing else may live in the thread. */
  readonly isAlone: boolean;
  readonly messageFor: (thread: GrammarThread) => ConstraintCallMessage;
  /** Set to 1 when its callers have left; see `protocol.ts`. */
  readonly cancelled?: Int32Array<SharedArrayBuffer>;
  readonly resolve: (outcome: { readonly thread: GrammarThread; readonly result: unknown }) => void;
  readonly reject: (error: Error) => void;
}

/** Settings of the pool that only tests change. */
export interface GrammarThreadInternals {
  /** Script of the threads. */
  readonly program?: URL;
  /** Heap of a thread in MiB. */
  readonly heap?: number;
}

/** A call that has to find another thread; `isAlone`: one where nothing else lives. */
class Moved extends Error {
  readonly isAlone: boolean;

  constructor(isAlone: boolean) {
    super("the call moves to another thread");
    this.isAlone = isAlone;
  }
}

/** The worker threads of one runtime. `dispose` ends them and rejects their calls with DISPOSED. */
export class GrammarThreads implements GrammarHost {
  readonly #limits: ConstraintLimits;
  readonly #time: ClientTime;
  readonly #program: URL;
  readonly #heap: number;
  /** What each thread does; undefined: nothing. */
  readonly #threads = new Map<GrammarThread, Call | undefined>();
  /** Threads that read a vocabulary. */
  readonly #readers = new Set<GrammarThread>();
  /** Threads whose call is long. */
  readonly #slow = new WeakSet<GrammarThread>();
  /** Threads that ended while grammars lived in them that their call did not use. */
  readonly #hadGuests = new WeakSet<GrammarThread>();
  /** Vocabularies that each thread has. */
  readonly #known = new WeakMap<GrammarThread, Set<number>>();
  readonly #queue = new Set<Call>();
  readonly #homes = new Map<HostedGrammar, Home>();
  readonly #placing = new Map<HostedGrammar, Promise<Home>>();
  readonly #vocabularyNumbers = new WeakMap<VocabularyTables, number>();
  #lastNumber = 0;
  #isDisposed = false;

  constructor({ timeout, timePerMinute, limits }: ConstraintThreadSettings, internals: GrammarThreadInternals = {}) {
    this.#limits = { ...defaultConstraintLimits, ...limits, milliseconds: parseDuration(timeout) };
    this.#time = new ClientTime(parseDuration(timePerMinute));
    this.#program = internals.program ?? new URL("./thread.ts", import.meta.url);
    this.#heap = internals.heap ?? defaultHeapMebibytes;
  }

  async readVocabulary({ tokenizer, settings }: HostTokenizer, options: VocabularyOptions): Promise<VocabularyTables> {
    if (settings === undefined) return readTokenVocabulary(tokenizer, { ...options, isShared: true });
    if (this.#isDisposed) throw disposedError();
    const { size, kept = new Set() } = options;
    const thread = new GrammarThread(this.#program, vocabularyHeapMebibytes, () => this.#readers.delete(thread));
    this.#readers.add(thread);
    try {
      const reading = thread.perform({ operation: "vocabulary", args: { settings, size, kept } });
      thread.endAfter(vocabularyTimeoutMs);
      const reply = await reading;
      if (!reply.ok) throw InferyardError.fromJSON(reply.error);
      return reply.result as VocabularyTables;
    } catch (error) {
      if (!(error instanceof ThreadFailure)) throw error;
      if (this.#isDisposed) throw disposedError();
      if (error.kind === "ended") throw threadError(error);
      throw new InferyardError("LIMIT_EXCEEDED", `reading the model's vocabulary for constraints: ${getMessage(error)}`, {
        remedy: "leave the constraint out",
      });
    } finally {
      void thread.end();
    }
  }

  async compile(grammar: HostedGrammar, { client, signal }: GrammarCall): Promise<CompiledFacts> {
    this.#time.require(client);
    const { facts } = await this.#place(grammar, { client, signal }, false);
    return facts;
  }

  async perform<Name extends keyof GrammarOperations>(
    grammar: HostedGrammar,
    operation: Name,
    args: GrammarOperations[Name]["args"],
    { client, home: expected }: GrammarCall & { readonly home?: number | undefined },
  ): Promise<Housed<GrammarOperations[Name]["result"] | undefined>> {
    let isAlone = false;
    for (let moves = 0; moves < maxMoves; moves += 1) {
      try {
        const home = this.#homes.get(grammar) ?? (await this.#place(grammar, { client }, isAlone));
        if (expected !== undefined && expected !== home.number) return { home: home.number, result: undefined };
        const message = { operation, args: { grammar: home.number, step: args } } as ConstraintCallMessage;
        const { result } = await this.#enqueue({ client, grammar, home, isAlone, messageFor: () => message });
        return { home: home.number, result: result as GrammarOperations[Name]["result"] };
      } catch (error) {
        if (!(error instanceof Moved)) throw error;
        isAlone ||= error.isAlone;
      }
    }
    throw threadError(new ThreadFailure("ended"));
  }

  drop(grammar: HostedGrammar): void {
    const home = this.#homes.get(grammar);
    this.#homes.delete(grammar);
    home?.thread.drop(home.number);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const call of this.#queue) call.reject(disposedError());
    this.#queue.clear();
    await Promise.all([...this.#threads.keys(), ...this.#readers].map((thread) => thread.end()));
  }

  /** Compiles a grammar in a thread, which becomes its home. Calls for the same grammar share that. */
  #place(grammar: HostedGrammar, call: GrammarCall, isAlone: boolean): Promise<Home> {
    return getOrInsert(this.#placing, grammar, () =>
      this.#compile(grammar, call, isAlone).finally(() => this.#placing.delete(grammar)),
    );
  }

  async #compile(grammar: HostedGrammar, { client, signal }: GrammarCall, isAlone: boolean): Promise<Home> {
    throwIfAborted(signal);
    const number = ++this.#lastNumber;
    const cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const messageFor = (thread: GrammarThread): ConstraintCallMessage =>
      this.#compileMessage(grammar, { number, cancelled }, thread);
    try {
      const call = { client, grammar, home: undefined, isAlone, messageFor, cancelled };
      const { thread, result } = await this.#enqueue(call, signal);
      const home: Home = { number, thread, client, facts: result as CompiledFacts };
      if (this.#threads.has(thread)) this.#homes.set(grammar, home);
      return home;
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      return this.#compile(grammar, { client, signal }, isAlone || error.isAlone);
    }
  }

  #compileMessage(
    grammar: HostedGrammar,
    { number, cancelled }: { readonly number: number; readonly cancelled: Int32Array<SharedArrayBuffer> },
    thread: GrammarThread,
  ): ConstraintCallMessage {
    const { text, vocabulary: tables } = grammar;
    const vocabulary = getOrInsert(this.#vocabularyNumbers, tables, () => ++this.#lastNumber);
    const known = this.#known.get(thread) ?? new Set();
    const isKnown = known.has(vocabulary);
    this.#known.set(thread, known.add(vocabulary));
    const args = { grammar: number, text, vocabulary, limits: this.#limits, cancelled, ...(isKnown ? {} : { tables }) };
    return { operation: "compile", args };
  }

  #enqueue(
    given: Omit<Call, "resolve" | "reject">,
    signal?: AbortSignal,
  ): Promise<{ readonly thread: GrammarThread; readonly result: unknown }> {
    return new Promise((resolve, reject) => {
      if (this.#isDisposed) throw disposedError();
      if (this.#queue.size >= maxQueued) {
        throw new InferyardError("QUEUE_FULL", `${maxQueued} steps of constraints are waiting, the maximum`, {
          remedy: "retry later",
          retryAfterMs: 1000,
        });
      }
      const leave = (): void => {
        if (signal !== undefined) call.reject(abortError(signal));
        if (!this.#queue.delete(call)) this.#endAborted(call);
      };
      const settle = (): void => removeAbortListener(signal, leave);
      const call: Call = {
        ...given,
        resolve: (outcome) => {
          settle();
          resolve(outcome);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      addAbortListener(signal, leave);
      const thread = given.home?.thread;
      if (thread !== undefined && (!this.#threads.has(thread) || this.#isBlocked(thread, given.grammar))) this.#move(call);
      else this.#queue.add(call);
      this.#dispatch();
    });
  }

  /** Cancels a call whose callers have left, and ends its thread where that has no effect. */
  #endAborted(call: Call): void {
    const [thread] = [...this.#threads].find(([, running]) => running === call) ?? [];
    if (thread === undefined) return;
    if (call.cancelled !== undefined) Atomics.store(call.cancelled, 0, 1);
    const timer = setTimeout(() => {
      if (this.#threads.get(thread) === call) void thread.end();
    }, abortedCallMs);
    timer.unref();
  }

  /**
   * Starts what can run: steps of texts first, then what is compiled, in the order of arrival. Clients that have used up their time come last: their texts go on when
   * no thread is needed for others.
   */
  #dispatch(): void {
    const rank = ({ client, home }: Call): number => (this.#time.isUsedUp(client) ? 2 : 0) + (home === undefined ? 1 : 0);
    const ranked = [...this.#queue].map((call) => ({ call, rank: rank(call) }));
    for (const { call } of ranked.toSorted((left, right) => left.rank - right.rank)) {
      if (!this.#mayRun(call)) continue;
      const thread = call.home?.thread ?? this.#threadFor(call);
      if (thread === undefined || this.#threads.get(thread) !== undefined) continue;
      this.#queue.delete(call);
      void this.#run(thread, call);
    }
  }

  /** A client compiles one grammar at a time, and leaves a thread to others; one that has used up its time runs in one thread. */
  #mayRun({ client, home }: Call): boolean {
    const running = [...this.#threads.values()].filter((call) => call?.client === client);
    const most = this.#time.isUsedUp(client) ? 1 : maxThreads - 1;
    return running.length < most && (home !== undefined || running.every((call) => call?.home !== undefined));
  }

  /** The thread to compile a grammar in: an idle one with the fewest grammars of other clients; a new one before any is shared. */
  #threadFor({ client, isAlone }: Call): GrammarThread | undefined {
    const guests = (thread: GrammarThread): number =>
      [...this.#homes.values()].filter((home) => home.thread === thread && (isAlone || home.client !== client)).length;
    const idle = [...this.#threads].flatMap(([thread, call]) => (call === undefined ? [{ thread, guests: guests(thread) }] : []));
    const [best] = idle.toSorted((left, right) => left.guests - right.guests);
    if (best !== undefined && best.guests === 0) return best.thread;
    if (isAlone && best !== undefined && this.#threads.size >= maxThreads) void best.thread.end();
    else if (this.#threads.size >= maxThreads) return best?.thread;
    return this.#start();
  }

  #start(): GrammarThread {
    const thread = new GrammarThread(this.#program, this.#heap, () => this.#forget(thread));
    this.#threads.set(thread, undefined);
    return thread;
  }

  async #run(thread: GrammarThread, call: Call): Promise<void> {
    this.#threads.set(thread, call);
    let longTimer: NodeJS.Timeout | undefined;
    let started = performance.now();
    try {
      const replying = thread.perform(call.messageFor(thread));
      void thread.ready.then(() => {
        if (this.#threads.get(thread) !== call) return;
        started = performance.now();
        thread.endAfter(this.#limits.milliseconds + graceMs);
        longTimer = setTimeout(() => this.#clear(thread), longCallMs);
      });
      const reply = await replying;
      this.#time.add(call.client, reply.tookMs);
      if (reply.ok) call.resolve({ thread, result: reply.result });
      else call.reject(InferyardError.fromJSON(reply.error));
    } catch (error) {
      const tookMs = performance.now() - started;
      this.#time.add(call.client, tookMs);
      call.reject(this.#getFailure(call, { error, tookMs, hasGuests: this.#hadGuests.has(thread) }));
    } finally {
      clearTimeout(longTimer);
      this.#slow.delete(thread);
      if (this.#threads.has(thread)) this.#rest(thread);
      this.#dispatch();
    }
  }

  #getFailure(
    { home, isAlone }: Call,
    { error, tookMs, hasGuests }: { readonly error: unknown; readonly tookMs: number; readonly hasGuests: boolean },
  ): Error {
    if (this.#isDisposed) return disposedError();
    if (!(error instanceof ThreadFailure)) return new InferyardError("CONTRACT_VIOLATION", getMessage(error), { cause: error });
    // What others hold in the thread may be what fills it.
    if (error.kind === "memory" && !isAlone && hasGuests) return new Moved(true);
    const isCompiled = home !== undefined;
    return unfinishedError(error, { isCompiled, tookMs, timeoutMs: this.#limits.milliseconds, heapMebibytes: this.#heap });
  }

  /** Lets a thread rest: it is ended when it is not used for some time, sooner where that gives much memory back. */
  #rest(thread: GrammarThread): void {
    this.#threads.set(thread, undefined);
    if (thread.heapBytes > (this.#heap * 2 ** 20) / 2) {
      void thread.end();
      return;
    }
    const isLast = [...this.#threads].every(([other, call]) => other === thread || call !== undefined);
    const restsMs = thread.heapBytes > largeHeapBytes ? shortRestMs : isLast ? lastRestMs : restMs;
    thread.rest(restsMs);
  }

  /** Moves what waits behind a long call. */
  #clear(thread: GrammarThread): void {
    this.#slow.add(thread);
    for (const call of this.#queue)
      if (call.home?.thread === thread && this.#isBlocked(thread, call.grammar)) {
        this.#queue.delete(call);
        this.#move(call);
      }
  }

  /** Whether a thread is in a long call of another grammar. */
  #isBlocked(thread: GrammarThread, grammar: HostedGrammar): boolean {
    return this.#slow.has(thread) && this.#threads.get(thread)?.grammar !== grammar;
  }

  /** Lets a call find another thread. */
  #move(call: Call): void {
    if (this.#homes.get(call.grammar) === call.home) this.drop(call.grammar);
    call.reject(new Moved(false));
  }

  /** Forgets a thread that has ended, and moves what waits for it. */
  #forget(thread: GrammarThread): void {
    const running = this.#threads.get(thread);
    this.#threads.delete(thread);
    for (const [grammar, home] of this.#homes) {
      if (home.thread !== thread) continue;
      this.#homes.delete(grammar);
      if (grammar !== running?.grammar) this.#hadGuests.add(thread);
    }
    for (const call of this.#queue)
      if (call.home?.thread === thread) {
        this.#queue.delete(call);
        call.reject(new Moved(false));
      }
  }
}

function disposedError(): InferyardError {
  return new InferyardError("DISPOSED", "the runtime was disposed of while a constraint was compiled");
}
