/** Bounds the bytes of responses that their readers have not taken yet, and the time a reader may stall. */

/** A connection that responses are written to. */
export interface Reader {
  /** Closes the connection; what it has not taken is dropped. */
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

/** The bytes of responses that readers have not taken yet, within their limits. */
export class UnreadResponses {
  readonly #maxBytes: number;
  readonly #stallMs: number;
  readonly #now: () => number;
  readonly #backlogs = new Map<Reader, Backlog>();
  #bytes = 0;
  #disconnected = 0;

  constructor({ maxBytes, stallMs, now = () => performance.now() }: UnreadResponsesOptions) {
    this.#maxBytes = maxBytes;
    this.#stallMs = stallMs;
    this.#now = now;
  }

  /** Bytes that wait for their readers. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of readers disconnected because they stalled or were slow. */
  get disconnected(): number {
    return this.#disconnected;
  }

  /** Whether no further response should be computed now: half of the bytes are held, and disconnecting slow readers did not free enough. */
  isFull(): boolean {
    const limit = this.#maxBytes / 2;
    if (this.#bytes >= limit) this.#endSlow(limit);
    return this.#bytes >= limit;
  }

  /**
   * Counts bytes that are about to be written. False if there is no memory for them; then nothing is counted. A response larger than half of the
   * limit needs only half, since it could never be written otherwise.
   */
  reserve(reader: Reader, bytes: number): boolean {
    const limit = this.#maxBytes - Math.min(bytes, this.#maxBytes / 2);
    if (bytes > smallResponseBytes) {
      if (this.#bytes > limit) this.#endSlow(limit, reader);
      if (this.#bytes > limit) return false;
    }
    const now = this.#now();
    const backlog = this.#backlogs.get(reader) ?? { bytes: 0, since: now, sent: 0, lastSentAt: now };
    backlog.bytes += bytes;
    this.#backlogs.set(reader, backlog);
    this.#bytes += bytes;
    return true;
  }

  /** Bytes that were reserved have been handed to the operating system. */
  sent(reader: Reader, bytes: number): void {
    const backlog = this.#backlogs.get(reader);
    if (backlog === undefined) return;
    const left = Math.min(bytes, backlog.bytes);
    backlog.bytes -= left;
    backlog.sent += left;
    backlog.lastSentAt = this.#now();
    this.#bytes -= left;
    if (backlog.bytes === 0) this.#backlogs.delete(reader);
  }

  /** The connection is closed, and what it had not taken is dropped. */
  forget(reader: Reader): void {
    this.#bytes -= this.#backlogs.get(reader)?.bytes ?? 0;
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
   * Disconnects slow readers until at most `limit` bytes are held, beginning with those that would take longest for the rest of their response at
   * their mean speed.
   */
  #endSlow(limit: number, except?: Reader): void {
    const now = this.#now();
    const slow = [...this.#backlogs]
      .filter(([reader, backlog]) => reader !== except && this.#isSlow(backlog, now))
      .toSorted(([, one], [, other]) => remainingMs(other, now) - remainingMs(one, now));
    for (const [reader] of slow) {
      if (this.#bytes <= limit) return;
      this.#end(reader);
    }
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
