/**
 * Bounds the memory of responses that are being computed, from admission until the body is handed to the socket, where `maxUnreadBytes` bounds
 * it. A short request may have a long response, so a request reserves the estimated size of its response before it runs, and waits until that
 * much is free.
 */
import { waitForTurn } from "../../concurrency/abortable.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { CallKey } from "./call-cache.ts";
import { ClientBytes } from "./client-bytes.ts";

/** A response of at most this many bytes never waits. */
const smallBytes = 65_536;
/** A response is in memory about this many times while it is sent: as the result, and as its serialized bytes. */
const representationsInMemory = 2;

/** A response that waits for memory. */
interface Waiting {
  readonly client: string;
  readonly bytes: number;
  readonly grant: () => void;
}

/** A budget of bytes for all responses that are being computed. A client may hold half of it at most. */
export class ResponseMemory extends ClientBytes {
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>();

  /** A reservation for one response of the client; it holds no memory yet. */
  reservation(client: string): ResponseReservation {
    let own = 0;
    const hold = (bytes: number): void => {
      this.add(client, bytes - own);
      own = bytes;
    };
    return {
      reserve: async (bytes, signal) => {
        const needed = Math.min(bytes, this.limit / 2); // a longer response waits until half is free, and is measured when it is computed
        if (needed <= own) return;
        await this.#waitForRoom(client, needed, signal);
        hold(needed);
      },
      settle: (bytes) => {
        if (bytes > this.limit / 2) throw tooLarge(bytes, this.limit / 2);
        hold(bytes);
        this.#grantWaiting();
      },
      release: () => {
        hold(0);
        this.#grantWaiting();
      },
    };
  }

  async #waitForRoom(client: string, bytes: number, signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    if (this.#mayHold(client, bytes)) return;
    await waitForTurn(signal, (grant) => {
      const waiting: Waiting = { client, bytes, grant };
      this.#waiting.add(waiting);
      return () => this.#waiting.delete(waiting);
    });
    this.add(client, -bytes); // `hold` counts these bytes instead
  }

  #mayHold(client: string, bytes: number): boolean {
    return bytes <= smallBytes || this.fits(client, bytes);
  }

  /**
   * Grants every waiting reservation that fits now, in order of arrival. Its bytes are counted at once, since the waiting code resumes only
   * later.
   */
  #grantWaiting(): void {
    for (const waiting of this.#waiting) {
      const { client, bytes, grant } = waiting;
      if (!this.#mayHold(client, bytes)) continue;
      this.#waiting.delete(waiting);
      this.add(client, bytes);
      grant();
    }
  }
}

/** The memory of one response. */
export interface ResponseReservation {
  /** Waits until this many bytes are available to the client, and holds them. Throws ABORTED if the signal is aborted first. */
  readonly reserve: (bytes: number, signal: AbortSignal) => Promise<void>;
  /** Replaces the estimate by the actual size in bytes. Throws LIMIT_EXCEEDED if one response takes more than half of the budget. */
  readonly settle: (bytes: number) => void;
  /** Returns all bytes. A second call has no effect. */
  readonly release: () => void;
}

function tooLarge(bytes: number, limit: number): InferyardError {
  return new InferyardError(
    "LIMIT_EXCEEDED",
    `the response would take about ${Math.ceil(bytes)} bytes of memory, and the limit is ${Math.floor(limit)}`,
    {
      remedy: "send less at once (or ask for binary outputs, where the protocol has them), or raise maxResponseBytes",
      data: { limit: Math.floor(limit) },
    },
  );
}

/** Data from which the size of a response is estimated. */
export interface ResponseKind {
  /** Model and operation: responses with the same name have similar sizes per text. */
  readonly name: string;
  /** Number of texts of the request. */
  readonly texts: number;
}

/** The kind of the response to a call: `reference` names the model, `key` begins with the name of the operation. */
export function responseKind(
  reference: string,
  { key, texts = 1 }: { readonly key?: CallKey; readonly texts?: number },
): ResponseKind {
  return { name: `${reference} ${key?.[0] ?? ""}`, texts };
}

/** Estimates the size of a response before it is computed, from earlier responses of the same kind: bytes per text. */
export class ResponseSizeEstimates {
  /** Bytes per text by kind; the kind updated longest ago comes first. */
  readonly #perText = new Map<string, number>();

  /** Waits until memory for the estimated size of the response is available. Throws ABORTED. */
  async reserve(memory: ResponseReservation | undefined, { name, texts }: ResponseKind, signal: AbortSignal): Promise<void> {
    await memory?.reserve(representationsInMemory * texts * (this.#perText.get(name) ?? unknownBytesPerText), signal);
  }

  /**
   * Replaces the estimate by the actual size, in bytes as sent, and updates the estimate of this kind. Throws LIMIT_EXCEEDED if the response is
   * too large.
   */
  settle(memory: ResponseReservation | undefined, { name, texts }: ResponseKind, bytes: number): void {
    const before = this.#perText.get(name) ?? 0;
    this.#perText.delete(name);
    this.#perText.set(name, Math.max(bytes / Math.max(texts, 1), before * decay));
    const [oldest] = this.#perText.keys();
    if (this.#perText.size > maxKinds && oldest !== undefined) this.#perText.delete(oldest);
    memory?.settle(representationsInMemory * bytes);
  }
}

/** Estimate for a kind that was never seen: an embedding of some 700 dimensions as JSON. */
const unknownBytesPerText = 16_384;
/** Each later response reduces the weight of the largest one seen by this factor. */
const decay = 0.9;
/** Kinds whose estimates are kept; beyond it the one updated longest ago is dropped. */
const maxKinds = 1000;
