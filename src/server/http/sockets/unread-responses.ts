/** Answers that are made and that their readers have not taken yet: how many bytes they may hold in all, and how long a reader may stall. */

/** A connection that answers are written to. */
export interface Reader {
  /** Ends it, with everything that was to be written. */
  destroy(): void;
}

export interface UnreadResponsesOptions {
  /** Bytes of all answers together. */
  readonly maxBytes: number;
  /** Longest time in which a reader takes nothing of its answer, in milliseconds; 0: no limit. */
  readonly stallMs: number;
  /** Milliseconds of a steady clock. Default: `performance.now`. */
  readonly now?: () => number;
}

/** What one reader has not taken, and how fast it takes it. */
interface Backlog {
  bytes: number;
  /** When it last began to hold bytes. */
  readonly since: number;
  /** Bytes taken since then. */
  sent: number;
  /** When it last took some. */
  lastSentAt: number;
}

/** While memory is short, a reader is slow if it takes nothing for this long. */
const maxPauseMs = 5000;
/** A reader is given this long before it can be called slow. */
const graceMs = 1000;
/** An answer of at most so many bytes is always written: errors, health, metrics, small results. A connection has one answer at a time. */
const smallResponseBytes = 65_536;

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

  /** Readers that were ended because they stalled or were slow. */
  get disconnected(): number {
    return this.#disconnected;
  }

  /** Whether no further answer should be computed now: half of the bytes are taken, and no slow reader is left whose end would free them. */
  isFull(): boolean {
    const limit = this.#maxBytes / 2;
    if (this.#bytes >= limit) this.#endSlow(limit);
    return this.#bytes >= limit;
  }

  /**
   * Books bytes that are about to be written. false: there is no room, and nothing is booked. An answer of more than half of the limit needs
   * half of it, since it would never be written else.
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

  /** Bytes that were booked have left for the reader. */
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

  /** The connection is gone, and what it had not taken with it. */
  forget(reader: Reader): void {
    this.#bytes -= this.#backlogs.get(reader)?.bytes ?? 0;
    this.#backlogs.delete(reader);
  }

  /** Ends the readers that have taken nothing for longer than they may. */
  endStalled(): void {
    if (this.#stallMs === 0) return;
    const now = this.#now();
    for (const [reader, { lastSentAt }] of this.#backlogs) {
      if (now - lastSentAt >= this.#stallMs) this.#end(reader);
    }
  }

  /**
   * Ends slow readers until at most `limit` bytes are booked, those first that would take longest for the rest of their answer at their speed
   * so far.
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

/** How long the reader needs for what it has not taken, at its mean speed so far. */
function remainingMs({ bytes, since, sent }: Backlog, now: number): number {
  return sent === 0 ? Number.POSITIVE_INFINITY : (bytes * (now - since)) / sent;
}
