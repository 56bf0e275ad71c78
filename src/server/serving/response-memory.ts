/**
 * Memory for the answers that are being made: from the start of the computation until the body is handed to the socket, where
 * `maxUnreadBytes` counts it. Requests wait for their share here, since a short request may have a long answer.
 */
import { InferyardError, abortError, throwIfAborted } from "../../errors.ts";
import type { CallKey } from "./call-key.ts";

/** An answer of at most so many bytes never waits. */
const smallBytes = 65_536;
/** The result, its JSON text and the bytes of the text are in memory together. */
const representationsInMemory = 2;

interface Waiting {
  readonly client: string;
  readonly bytes: number;
  readonly grant: () => void;
}

export class ResponseMemory {
  readonly #limit: number;
  readonly #held = new Map<string, number>();
  /** In the order they came. */
  readonly #waiting = new Set<Waiting>();
  #used = 0;

  /** `limit`: bytes in all. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that are held now. */
  get used(): number {
    return this.#used;
  }

  /** For one answer; holds nothing yet. */
  reservation(client: string): ResponseReservation {
    let own = 0;
    const hold = (bytes: number): void => {
      this.#add(client, bytes - own);
      own = bytes;
    };
    return {
      reserve: async (bytes, signal) => {
        const needed = Math.min(bytes, this.#limit / 2); // a longer answer waits until half is free, and is measured when it is there
        if (needed <= own) return;
        await this.#waitForRoom(client, needed, signal);
        hold(needed);
      },
      settle: (bytes) => {
        if (bytes > this.#limit / 2) throw tooLarge(bytes, this.#limit / 2);
        hold(bytes);
        this.#grantWaiting();
      },
      release: () => {
        hold(0);
        this.#grantWaiting();
      },
    };
  }

  /**
   * A client may hold at most as many bytes as stay free, so that one alone never has more than half (dynamic thresholds, Choudhury and Hahne
   * 1998).
   */
  #fits(client: string, bytes: number): boolean {
    if (bytes <= smallBytes) return true;
    return (this.#held.get(client) ?? 0) + bytes <= this.#limit - this.#used - bytes;
  }

  async #waitForRoom(client: string, bytes: number, signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    if (this.#fits(client, bytes)) return;
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        client,
        bytes,
        grant: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#waiting.delete(waiting);
        reject(abortError(signal));
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.add(waiting);
    });
    this.#add(client, -bytes); // `hold` counts what was set aside for it
  }

  /** Lets those go that fit now. What they need is set aside at once: they take it a little later. */
  #grantWaiting(): void {
    for (const waiting of this.#waiting) {
      const { client, bytes, grant } = waiting;
      if (!this.#fits(client, bytes)) continue;
      this.#waiting.delete(waiting);
      this.#add(client, bytes);
      grant();
    }
  }

  #add(client: string, bytes: number): void {
    const held = (this.#held.get(client) ?? 0) + bytes;
    this.#used += bytes;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}

/** The memory of one answer. */
export interface ResponseReservation {
  /** Waits until so many bytes are free for this client. Throws ABORTED. */
  readonly reserve: (bytes: number, signal: AbortSignal) => Promise<void>;
  /** The size that is now known, in place of the estimate. LIMIT_EXCEEDED where one answer takes more than half of all. */
  readonly settle: (bytes: number) => void;
  /** Returns all bytes. A second call has no effect. */
  readonly release: () => void;
}

function tooLarge(bytes: number, limit: number): InferyardError {
  return new InferyardError(
    "LIMIT_EXCEEDED",
    `the answer would take about ${Math.ceil(bytes)} bytes of memory, and the limit is ${Math.floor(limit)}`,
    {
      remedy: "send less at once (or ask for binary outputs, where the protocol has them), or raise maxResponseBytes",
      data: { limit: Math.floor(limit) },
    },
  );
}

/** What an answer is about, to estimate its size before it is there. */
export interface ResponseKind {
  /** Model and work. */
  readonly name: string;
  readonly texts: number;
}

export function responseKind(
  reference: string,
  { question, texts = 1 }: { readonly question?: CallKey; readonly texts?: number },
): ResponseKind {
  return { name: `${reference} ${question?.[0] ?? ""}`, texts };
}

/** Bytes of an answer for each text, by what earlier answers of that kind had. */
export class ResponseSizeEstimates {
  /** The kind updated longest ago comes first. */
  readonly #perText = new Map<string, number>();

  /** Waits until there is memory for such an answer. Throws ABORTED. */
  async reserve(memory: ResponseReservation | undefined, { name, texts }: ResponseKind, signal: AbortSignal): Promise<void> {
    await memory?.reserve(representationsInMemory * texts * (this.#perText.get(name) ?? unknownBytesPerText), signal);
  }

  /** Books the size that the answer has, in bytes as it is sent. LIMIT_EXCEEDED where that is too much for one answer. */
  settle(memory: ResponseReservation | undefined, { name, texts }: ResponseKind, bytes: number): void {
    const before = this.#perText.get(name) ?? 0;
    this.#perText.delete(name);
    this.#perText.set(name, Math.max(bytes / Math.max(texts, 1), before * decay));
    const [oldest] = this.#perText.keys();
    if (this.#perText.size > maxKinds && oldest !== undefined) this.#perText.delete(oldest);
    memory?.settle(representationsInMemory * bytes);
  }
}

/** Embeddings of some 700 dimensions. */
const unknownBytesPerText = 16_384;
/** A large answer counts less with each later one. */
const decay = 0.9;
const maxKinds = 1000;
