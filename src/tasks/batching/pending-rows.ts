/**
 * The queue of a dynamic batcher. Fair queueing between clients selects the first row of a batch; rows of similar length, from any call, fill it.
 * A pure data structure, without models or promises.
 */
import { getOrInsert } from "../../contract/checked.ts";
import { FairQueue } from "../../runtime/scheduling/fair-queue.ts";
import type { SchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";

/** The rows of one call. */
export interface CallRows<Row> {
  readonly schedulingKey: SchedulingKey;
  /** Rows of calls with equal keys may run in one batch. */
  readonly batchKey: string;
  /** Maximum size of one batch in tokens, padding included. */
  readonly budget: number;
  /** `length`: tokens of the row. */
  readonly rows: readonly { readonly row: Row; readonly length: number }[];
}

/** Rows to run in one batch. */
export interface RowBatch<Row> {
  readonly rows: readonly Row[];
  /** Tokens of the longest row, at least 1. */
  readonly length: number;
}

interface PendingRow<Row> {
  readonly row: Row;
  readonly schedulingKey: SchedulingKey;
  readonly length: number;
  pending: boolean;
}

interface PendingCall<Row> {
  readonly schedulingKey: SchedulingKey;
  readonly buckets: LengthBuckets<Row>;
  readonly budget: number;
  /** Longest first. */
  readonly rows: readonly PendingRow<Row>[];
  /** Index of the first row that may still be pending. */
  next: number;
}

/**
 * Rows of one batch differ in length by at most this fraction of the longest, or by this many tokens. A run has a fixed cost of about that many
 * tokens (measured: docs/decisions/0009), so padding a row by less is cheaper than a run of its own.
 */
const maxSpreadFraction = 1 / 8;
const minSpreadTokens = 8;

/** Rows of all calls that wait for a batch. */
export class PendingRows<Row> {
  readonly #buckets = new Map<string, LengthBuckets<Row>>();
  /** Calls in the order in which they give the first row of a batch. */
  readonly #queue = new FairQueue<PendingCall<Row>>();
  #size = 0;

  /** Number of rows that are pending. */
  get size(): number {
    return this.#size;
  }

  /** Adds the rows of a call. Returns a function that removes those still pending. */
  add({ schedulingKey, batchKey, budget, rows }: CallRows<Row>): () => void {
    const key = `${budget} ${batchKey}`;
    const buckets = getOrInsert(this.#buckets, key, () => new LengthBuckets<Row>());
    const added = rows.map(({ row, length }) => ({ row, schedulingKey, length: Math.max(length, 1), pending: true }));
    for (const row of added) buckets.add(row);
    this.#size += added.length;
    const sorted = added.toSorted((a, b) => b.length - a.length);
    this.#queue.add(schedulingKey, { schedulingKey, buckets, budget, rows: sorted, next: 0 });
    return () => {
      for (const row of added) if (row.pending) this.#remove(row, buckets);
    };
  }

  /** Removes and returns the next batch; undefined if no row is pending. */
  take(): RowBatch<Row> | undefined {
    const call = this.#queue.take((candidate) => (firstPending(candidate) === undefined ? "drop" : "take"));
    const first = call === undefined ? undefined : firstPending(call);
    if (call === undefined || first === undefined) return undefined;
    const { buckets, budget } = call;
    const batch = [first];
    this.#remove(first, buckets);
    let [shortest, longest] = [first.length, first.length];
    for (let distance = 0; distance <= maxSpread(longest); distance += 1) {
      for (const length of distance === 0 ? [first.length] : [first.length - distance, first.length + distance]) {
        const [min, max] = [Math.min(shortest, length), Math.max(longest, length)];
        while (max - min <= maxSpread(max) && (batch.length + 1) * max <= budget) {
          const row = buckets.oldest(length);
          if (row === undefined) break;
          this.#remove(row, buckets);
          batch.push(row);
          [shortest, longest] = [min, max];
        }
      }
    }
    if (firstPending(call) !== undefined) this.#queue.add(call.schedulingKey, call); // after the other calls of its client
    // Rows that fill the batch are charged like the first: a client with many rows does not get them for the price of one.
    for (const { schedulingKey } of batch.slice(1)) this.#queue.charge(schedulingKey);
    return { rows: batch.map(({ row }) => row), length: longest };
  }

  #remove(row: PendingRow<Row>, buckets: LengthBuckets<Row>): void {
    row.pending = false;
    this.#size -= 1;
    buckets.remove(row.length);
    if (this.#size === 0) this.#buckets.clear(); // batch keys may be unique to a call: none is kept for ever
  }
}

/** Maximum difference in length, in tokens, between the rows of a batch whose longest row has `longest` tokens. */
function maxSpread(longest: number): number {
  return Math.max(longest * maxSpreadFraction, minSpreadTokens);
}

/** The longest row of a call that is still pending. */
function firstPending<Row>(call: PendingCall<Row>): PendingRow<Row> | undefined {
  while (call.rows[call.next]?.pending === false) call.next += 1;
  return call.rows[call.next];
}

/** Pending rows of one length. */
interface LengthBucket<Row> {
  /** Undefined where a row was skipped. */
  readonly rows: (PendingRow<Row> | undefined)[];
  /** Index of the first row that may still be pending. */
  first: number;
  pending: number;
}

/**
 * Pending rows of one batch key, bucketed by length, first in first out within a length. Removed rows are skipped when they are reached. An empty bucket refers
 * to no row: V8 keeps what was in a map until the next collection of the whole heap.
 */
class LengthBuckets<Row> {
  readonly #lengths = new Map<number, LengthBucket<Row>>();

  add(row: PendingRow<Row>): void {
    const bucket = getOrInsert(this.#lengths, row.length, () => ({ rows: [], first: 0, pending: 0 }));
    bucket.rows.push(row);
    bucket.pending += 1;
  }

  /** The row of a length that was added first and is still pending. */
  oldest(length: number): PendingRow<Row> | undefined {
    const bucket = this.#lengths.get(length);
    if (bucket === undefined) return undefined;
    for (; bucket.rows[bucket.first]?.pending === false; bucket.first += 1) bucket.rows[bucket.first] = undefined;
    if (2 * bucket.first > bucket.rows.length) {
      bucket.rows.splice(0, bucket.first); // a bucket that never becomes empty would grow without bound
      bucket.first = 0;
    }
    return bucket.rows[bucket.first];
  }

  /** Counts a row of a length as removed. */
  remove(length: number): void {
    const bucket = this.#lengths.get(length);
    if (bucket === undefined) return;
    bucket.pending -= 1;
    if (bucket.pending > 0) return;
    bucket.rows.length = 0;
    this.#lengths.delete(length);
  }
}
