/** Bounds the bytes of responses that their readers have not taken yet, and the time a reader may stall. */
import { ClientBytes } from "../../serving/client-bytes.ts";

/** A connection that responses are written to. */
export interface Reader {
  /** Key of the client that reads: readers with the same key share its limit of unread bytes. */
  readonly client: string;
  /** Closes the connection; unsent data is dropped. */
  destroy(): void;
}

/** Limits on unread responses. */
export interface UnreadResponsesOptions {
  /** Maximum number of bytes of all responses together. */
  readonly maxBytes: number;
  /** Maximum time in milliseconds in which a reader takes nothing; 0: no limit. */
  readonly stallMs: number;
  /** Milliseconds of a monotonic clock. Default: `performance.now`. */
  readonly now?: () => number;
}

/** What one reader has not taken, and how fast it reads. */
interface Backlog {
  bytes: number;
  /** When it last began to hold bytes, in milliseconds. */
  readonly since: number;
  /** Bytes taken since then. */
  sent: number;
  /** When it last took bytes, in milliseconds. */
  lastSentAt: number;
}

/** While memory is short, a reader that takes nothing for this long is slow. */
const maxPauseMs = 5000;
/** A reader is not called slow before this time has passed. */
const graceMs = 1000;
/** A response of at most this many bytes is always written: errors, health, metrics, small results. A connection has one response at a time. */
const smallResponseBytes = 65_536;

/** The bytes of responses that readers have not taken yet, within their limits: one reader that does not read leaves room for the others. */
export class UnreadResponses {
  readonly #held: ClientBytes;
  readonly #stallMs: number;
  readonly #now: () => number;
  readonly #backlogs = new Map<Reader, Backlog>();
  #disconnected = 0;

  constructor({ maxBytes, stallMs, now = () => performance.now() }: UnreadResponsesOptions) {
    this.#held = new ClientBytes(maxBytes);
    this.#stallMs = stallMs;
    this.#now = now;
  }

  /** Bytes that wait for their readers. */
  get bytes(): number {
    return this.#held.used;
  }

  /** Number of readers disconnected because they stalled or were slow. */
  get disconnected(): number {
    return this.#disconnected;
  }

  /**
   * Whether no further response to this client should be computed now: it holds at least half as many bytes as are free, and disconnecting slow readers
   * did not change that.
   */
  isFull(client: string): boolean {
    return this.#isShort(() => this.#held.heldBy(client) >= (this.#held.limit - this.#held.used) / 2);
  }

  /**
   * Counts bytes that are about to be written. False if there is no memory for them; then nothing is counted. A response larger than half of the
   * limit needs only half, since it could never be written otherwise.
   */
  reserve(reader: Reader, bytes: number): boolean {
    const { client } = reader;
    if (bytes > smallResponseBytes) {
      const needed = Math.min(bytes, this.#held.limit / 2);
      if (this.#isShort(() => !this.#held.fits(client, needed), reader)) return false;
    }
    const now = this.#now();
    const backlog = this.#backlogs.get(reader) ?? { bytes: 0, since: now, sent: 0, lastSentAt: now };
    backlog.bytes += bytes;
    this.#backlogs.set(reader, backlog);
    this.#held.add(client, bytes);
    return true;
  }

  /** Records that reserved bytes have been passed to the operating system. */
  sent(reader: Reader, bytes: number): void {
    const backlog = this.#backlogs.get(reader);
    if (backlog === undefined) return;
    const left = Math.min(bytes, backlog.bytes);
    backlog.bytes -= left;
    backlog.sent += left;
    backlog.lastSentAt = this.#now();
    this.#held.add(reader.client, -left);
    if (backlog.bytes === 0) this.#backlogs.delete(reader);
  }

  /** Records that the connection is closed, and that its unsent data is dropped. */
  forget(reader: Reader): void {
    this.#held.add(reader.client, -(this.#backlogs.get(reader)?.bytes ?? 0));
    this.#backlogs.delete(reader);
  }

  /** Disconnects the readers that have taken nothing for longer than `stallMs`. */
  endStalled(): void {
    if (this.#stallMs === 0) return;
    const now = this.#now();
    for (const [reader, { lastSentAt }] of this.#backlogs) {
      if (now - lastSentAt >= this.#stallMs) this.#end(reader);
    }
  }

  /**
   * Whether memory is short, even after slow readers were disconnected: first those of the clients that hold most, and of these the ones that would take
   * longest for the rest of their response at their mean speed.
   */
  #isShort(isShort: () => boolean, except?: Reader): boolean {
    if (!isShort()) return false;
    const now = this.#now();
    const slow = [...this.#backlogs]
      .filter(([reader, backlog]) => reader !== except && this.#isSlow(backlog, now))
      .map(([reader, backlog]) => ({ reader, held: this.#held.heldBy(reader.client), rest: remainingMs(backlog, now) }))
      .toSorted((one, other) => other.held - one.held || other.rest - one.rest);
    for (const { reader } of slow) {
      this.#end(reader);
      if (!isShort()) return false;
    }
    return true;
  }

  #isSlow(backlog: Backlog, now: number): boolean {
    const { since, lastSentAt } = backlog;
    const stallMs = this.#stallMs === 0 ? Number.POSITIVE_INFINITY : this.#stallMs;
    if (now - since < Math.min(graceMs, stallMs)) return false;
    return now - lastSentAt >= Math.min(maxPauseMs, stallMs) || remainingMs(backlog, now) > stallMs;
  }

  #end(reader: Reader): void {
    this.forget(reader);
    this.#disconnected += 1;
    reader.destroy();
  }
}

/** How long the reader needs for what it has not taken, at its mean speed, in milliseconds. */
function remainingMs({ bytes, since, sent }: Backlog, now: number): number {
  return sent === 0 ? Number.POSITIVE_INFINITY : (bytes * (now - since)) / sent;
}
