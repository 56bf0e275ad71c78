/**
 * Pool of worker threads that tokenize, decode and chunk long texts off the event loop. Every thread has a heap limit and every call a timeout;
 * a thread that exceeds one is terminated, and the next call starts another. Chat templates are rendered by threads of their own.
 */
import { getOrInsert } from "../../contract/checked.ts";
import { getHeapStatistics } from "node:v8";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { TextSettings } from "../../models/manifest.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { TextThreadSettings } from "../../runtime/options/runtime-settings.ts";
import type { RenderCall } from "../../templates/render-call.ts";
import type { TokenDecodeOptions } from "../../tokenizers/index.ts";
import type { TransferableTokens, TokenizerThreads } from "../../tokenizers/tokenizer-threads.ts";
import type { ChunkSettings } from "./chunked-text.ts";
import type { ChunkedText } from "./chunked-text.ts";
import { CallThread, ThreadFailure } from "../threads/call-thread.ts";
import type { TextWorkers } from "./text-workers.ts";
import type { ResultMessage } from "../threads/thread-program.ts";
import type { TextCallMessage, OperationName, OperationResult, Operations } from "./protocol.ts";
import { TemplateThreads } from "./template-threads.ts";

/** Maximum number of threads. */
const threadCount = 2;
/** Maximum heap of one thread in MiB. A vocabulary of 250,000 tokens takes about 150. */
const maxHeapMebibytes = 1024;
/** Fraction of the process's heap limit that one thread may use. Node.js derives that limit from the memory of the machine or container. */
const heapShare = 1 / 4;
const minHeapMebibytes = 256;
/**
 * Idle time in milliseconds after which a thread ends and frees its tokenizers, and the garbage of long texts, which an idle thread does not collect. The next call
 * loads its tokenizer again, in less time than it takes to read a long text.
 */
const idleMs = 3000;
/** Time that a chat template may take where the settings name none. */
const defaultTemplateTimeout = "10s";
/** Maximum number of queued calls. */
const maxQueued = 1024;
/** Maximum number of tokenizers of one thread. A thread that would need one more is replaced. */
const maxTokenizers = 8;

interface Call {
  readonly message: Omit<TextCallMessage, "settings">;
  readonly settings: TextSettings;
  /** The input, for error messages: "a text of 9000 characters". */
  readonly description: string;
  readonly resolve: (result: never) => void;
  readonly reject: (error: InferyardError) => void;
}

type Thread = CallThread<TextCallMessage, ResultMessage<OperationResult>>;

interface ThreadUse {
  readonly tokenizers: Set<number>;
  call: Call | undefined;
}

function threadHeapMebibytes(): number {
  const share = (getHeapStatistics().heap_size_limit * heapShare) / 2 ** 20;
  return Math.round(Math.min(Math.max(share, minHeapMebibytes), maxHeapMebibytes));
}

/** The worker threads of one runtime. `dispose` terminates them and rejects their calls with DISPOSED. */
export class TextThreadPool implements TokenizerThreads, TextWorkers {
  readonly maxCharacters: number;
  readonly #timeoutMs: number;
  readonly #program: URL;
  readonly #heap: number;
  readonly #threads = new Map<Thread, ThreadUse>();
  readonly #queue: Call[] = [];
  readonly #templates: TemplateThreads;
  readonly #tokenizerNumbers = new WeakMap<TextSettings, number>();
  #lastNumber = 0;
  #disposed = false;

  /** `program` and `templateProgram` (scripts of the threads) and `heap` (in MiB) are set only by tests. */
  constructor(
    { maxCharacters, timeout, templateTimeout = defaultTemplateTimeout }: TextThreadSettings,
    program: URL = new URL("./thread.ts", import.meta.url),
    heap: number = threadHeapMebibytes(),
    templateProgram: URL = new URL("./template-thread.ts", import.meta.url),
  ) {
    this.#heap = heap;
    this.maxCharacters = maxCharacters;
    this.#timeoutMs = parseDuration(timeout);
    this.#program = program;
    this.#templates = new TemplateThreads({
      timeoutMs: parseDuration(templateTimeout),
      heapMebibytes: heap,
      program: templateProgram,
    });
  }

  tokenize(settings: TextSettings, text: string): Promise<TransferableTokens> {
    return this.#run("tokenize", settings, { text }, `a text of ${text.length} characters`);
  }

  decode(settings: TextSettings, ids: readonly number[], options: TokenDecodeOptions): Promise<string> {
    return this.#run("decode", settings, { ids: Int32Array.from(ids), options }, `${ids.length} tokens`);
  }

  chunk(settings: TextSettings, text: string, { signal: _signal, ...args }: ChunkSettings): Promise<ChunkedText> {
    return this.#run("chunk", settings, { text, settings: args }, `a text of ${text.length} characters`);
  }

  render(owner: object, call: RenderCall): Promise<string> {
    return this.#templates.render(owner, call);
  }

  prepareRender(): void {
    this.#templates.prepare();
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    const ending = this.#templates.dispose();
    for (const call of this.#queue.splice(0)) call.reject(disposedError());
    await Promise.all([...this.#threads.keys()].map((thread) => thread.end()));
    await ending;
  }

  #run<Name extends OperationName>(
    operation: Name,
    settings: TextSettings,
    args: Operations[Name]["args"],
    description: string,
  ): Promise<Operations[Name]["result"]> {
    const tokenizer = getOrInsert(this.#tokenizerNumbers, settings, () => ++this.#lastNumber);
    return new Promise((resolve, reject) => {
      if (this.#disposed) {
        reject(disposedError());
        return;
      }
      if (this.#queue.length >= maxQueued) {
        const message = `${maxQueued} long texts are queued for tokenization, the maximum`;
        reject(new InferyardError("QUEUE_FULL", message, { remedy: "retry later", retryAfterMs: 1000 }));
        return;
      }
      this.#queue.push({ message: { operation, args, tokenizer }, settings, description, resolve, reject });
      this.#startQueued();
    });
  }

  #startQueued(): void {
    for (;;) {
      const [idle] = [...this.#threads].find(([, { call }]) => call === undefined) ?? [];
      if (this.#disposed || this.#queue.length === 0 || (idle === undefined && this.#threads.size >= threadCount)) return;
      const call = this.#queue.shift();
      if (call !== undefined) void this.#perform(this.#withRoom(idle, call), call);
    }
  }

  /** The thread, or a new one in its stead where it has too many tokenizers to load another. */
  #withRoom(thread: Thread | undefined, { message }: Call): Thread {
    const { tokenizers } = (thread && this.#threads.get(thread)) ?? {};
    if (thread !== undefined && (tokenizers?.has(message.tokenizer) === true || (tokenizers?.size ?? 0) < maxTokenizers))
      return thread;
    void thread?.end();
    return this.#start();
  }

  async #perform(thread: Thread, call: Call): Promise<void> {
    const { message, settings } = call;
    const use = this.#threads.get(thread) ?? { tokenizers: new Set(), call };
    use.call = call;
    const isKnown = use.tokenizers.has(message.tokenizer);
    use.tokenizers.add(message.tokenizer);
    try {
      const reading = thread.perform(isKnown ? message : { ...message, settings });
      thread.endAfter(this.#timeoutMs);
      const result = await reading;
      if (result.ok) call.resolve(result.result as never);
      else call.reject(InferyardError.fromJSON(result.error));
    } catch (failure) {
      call.reject(this.#getError(failure, call));
    } finally {
      use.call = undefined;
      thread.rest(idleMs);
      this.#startQueued();
    }
  }

  #start(): Thread {
    const thread: Thread = new CallThread({
      program: this.#program,
      heapMebibytes: this.#heap,
      onEnd: () => this.#threads.delete(thread),
    });
    this.#threads.set(thread, { tokenizers: new Set(), call: undefined });
    return thread;
  }

  #getError(failure: unknown, { description }: Call): InferyardError {
    const kind = failure instanceof ThreadFailure ? failure.kind : "ended";
    if (this.#disposed) return disposedError();
    if (kind === "time") {
      const took = `reading ${description} took longer than ${this.#timeoutMs} ms`;
      return limitExceeded(took, "send a shorter text, or raise `textTimeout`");
    }
    if (kind === "memory")
      return limitExceeded(`reading ${description} took more than ${this.#heap} MiB of memory`, "send a shorter text");
    return new InferyardError("HOST_DIED", `reading ${description}: ${getMessage(failure)}`, { cause: failure });
  }
}

function limitExceeded(message: string, remedy: string): InferyardError {
  return new InferyardError("LIMIT_EXCEEDED", message, { remedy });
}

function disposedError(): InferyardError {
  return new InferyardError("DISPOSED", "the runtime was disposed of while a text was read");
}
