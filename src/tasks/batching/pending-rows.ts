/**
 * Rows of several calls that wait for a batch. Whose turn it is gives the first row of the next batch; rows of like length, of whichever
 * call, fill it. Knows neither models nor promises.
 */
import { FairQueue } from "../../runtime/scheduling/fair-queue.ts";
import type { SchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";

/** Rows of one call. */
export interface CallRows<Row> {
  readonly turn: SchedulingKey;
  /** Rows of calls with the same word may run in one batch. */
  readonly kind: string;
  /** Most padded tokens in one batch. */
  readonly budget: number;
  readonly rows: readonly { readonly row: Row; readonly length: number }[];
}

/** Rows to run together. */
export interface RowBatch<Row> {
  readonly rows: readonly Row[];
  /** Tokens of the longest, at least 1. */
  readonly length: number;
}

interface Waiter<Row> {
  readonly row: Row;
  readonly turn: SchedulingKey;
  readonly length: number;
  waits: boolean;
}

interface WaitingCall<Row> {
  readonly turn: SchedulingKey;
  readonly shelf: LengthBuckets<Row>;
  readonly budget: number;
  /** Longest first. */
  readonly waiters: readonly Waiter<Row>[];
  /** Those before this one wait no more. */
  next: number;
}

/**
 * A batch holds rows that differ by at most this share of the longest, or so many tokens: each run costs about as much as those tokens
 * (measured: docs/decisions/0009), so that shorter rows are better padded than run alone.
 */
const spreadShare = 1 / 8;
const spreadTokens = 8;

export class PendingRows<Row> {
  readonly #shelves = new Map<string, LengthBuckets<Row>>();
  /** Calls by whose turn it is. */
  readonly #turns = new FairQueue<WaitingCall<Row>>();
  #size = 0;

  /** Rows that wait. */
  get size(): number {
    return this.#size;
  }

  /** Gives a function that removes those of the rows that still wait. */
  add({ turn, kind, budget, rows }: CallRows<Row>): () => void {
    const key = `${budget} ${kind}`;
    const shelf = this.#shelves.get(key) ?? new LengthBuckets<Row>();
    this.#shelves.set(key, shelf);
    const waiters = rows.map(({ row, length }) => ({ row, turn, length: Math.max(length, 1), waits: true }));
    for (const waiter of waiters) shelf.add(waiter);
    this.#size += waiters.length;
    const sorted = waiters.toSorted((a, b) => b.length - a.length);
    this.#turns.add(turn, { turn, shelf, budget, waiters: sorted, next: 0 });
    return () => {
      for (const waiter of waiters) if (waiter.waits) this.#remove(waiter, shelf);
    };
  }

  /** The next batch; undefined where nobody waits. */
  take(): RowBatch<Row> | undefined {
    const call = this.#turns.take((waiting) => (nextOf(waiting) === undefined ? "drop" : "take"));
    const first = call === undefined ? undefined : nextOf(call);
    if (call === undefined || first === undefined) return undefined;
    const { shelf, budget } = call;
    const batch = [first];
    this.#remove(first, shelf);
    let [shortest, longest] = [first.length, first.length];
    for (let distance = 0; distance <= maxSpread(longest); distance += 1) {
      for (const length of distance === 0 ? [first.length] : [first.length - distance, first.length + distance]) {
        const [least, most] = [Math.min(shortest, length), Math.max(longest, length)];
        while (most - least <= maxSpread(most) && (batch.length + 1) * most <= budget) {
          const waiter = shelf.oldest(length);
          if (waiter === undefined) break;
          this.#remove(waiter, shelf);
          batch.push(waiter);
          [shortest, longest] = [least, most];
        }
      }
    }
    if (nextOf(call) !== undefined) this.#turns.add(call.turn, call); // behind the others of its client
    // A row counts the same whether it gave the batch its turn or filled it: who sends many rows does not get them for one turn.
    for (const { turn } of batch.slice(1)) this.#turns.charge(turn);
    return { rows: batch.map(({ row }) => row), length: longest };
  }

  #remove(waiter: Waiter<Row>, shelf: LengthBuckets<Row>): void {
    waiter.waits = false;
    this.#size -= 1;
    shelf.left(waiter.length);
    if (this.#size === 0) this.#shelves.clear(); // kinds come and go: none is kept for ever
  }
}

function maxSpread(longest: number): number {
  return Math.max(longest * spreadShare, spreadTokens);
}

/** The longest row of a call that waits. */
function nextOf<Row>(call: WaitingCall<Row>): Waiter<Row> | undefined {
  while (call.waiters[call.next]?.waits === false) call.next += 1;
  return call.waiters[call.next];
}

/** Rows of one kind by length, those of one length in the order they came. Rows that left are passed over when they are met. */
class LengthBuckets<Row> {
  readonly #lengths = new Map<number, { readonly waiters: Waiter<Row>[]; first: number; waiting: number }>();

  add(waiter: Waiter<Row>): void {
    const place = this.#lengths.get(waiter.length) ?? { waiters: [], first: 0, waiting: 0 };
    this.#lengths.set(waiter.length, place);
    place.waiters.push(waiter);
    place.waiting += 1;
  }

  oldest(length: number): Waiter<Row> | undefined {
    const place = this.#lengths.get(length);
    if (place === undefined) return undefined;
    while (place.waiters[place.first]?.waits === false) place.first += 1;
    if (2 * place.first > place.waiters.length) {
      place.waiters.splice(0, place.first); // a length that is never without a row would grow for ever
      place.first = 0;
    }
    return place.waiters[place.first];
  }

  left(length: number): void {
    const place = this.#lengths.get(length);
    if (place === undefined) return;
    place.waiting -= 1;
    if (place.waiting === 0) this.#lengths.delete(length);
  }
}
