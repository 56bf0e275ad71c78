/** Rows of calls that overlap, in batches they share: for a server, where many bring one text each. See docs/decisions/0009. */
import { InferyardError, abortError, throwIfAborted } from "../../errors.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { SchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import { type BatchValues, runBatch } from "./run-batch.ts";
import type { EncoderInputRow } from "../shared/encoder-inputs.ts";
import {
  type Encoder,
  type EncoderRow,
  type EncoderRunOptions,
  type RunEncodings,
  minReplicaTokens,
  reportBatch,
} from "./run-encodings.ts";
import { type RowBatch, PendingRows } from "./pending-rows.ts";
import { createYielder } from "../shared/yielding.ts";

/** The model that rows run on, for as long as it is in memory. */
type PooledModel = ModelHandle["model"];
type Lane = Pick<PooledModel, "run">;

/** A call under way. */
interface Call {
  /** Runs rows of calls of its kind. */
  run(lane: Lane, batch: { readonly rows: readonly EncoderInputRow[]; readonly length: number }): Promise<BatchValues>;
  /** Hands out what was said of one of its rows. Never throws. It ends the call when this was its last. */
  give(index: number, values: BatchValues, row: number): void;
  /** Ends it; a second time does nothing. */
  fail(error: unknown): void;
  readonly ended: boolean;
}

interface PooledRow {
  readonly call: Call;
  readonly index: number;
  readonly item: EncoderInputRow;
}

export class DynamicBatcher {
  readonly #model: PooledModel;
  readonly #waiting = new PendingRows<PooledRow>();
  readonly #rest = createYielder();
  /** Copies that are free, where copies are loaded. */
  #free: Lane[] = [];
  /** Batches that may run at once. */
  #width = 1;
  #running = 0;
  /** Tokens of batches that left others waiting, since the pool was last at rest. */
  #busyTokens = 0;
  /** Set once they were asked for; empty until they are loaded. */
  #copies: Set<Lane> | undefined;
  /** Set once copies were worth their loading: later stretches of work have them from the start. */
  #hasCopies = false;
  #looking = false;

  constructor(model: PooledModel) {
    this.#model = model;
  }

  /** `runEncodings` for the calls of one client: batches are shared with whoever else has rows waiting. */
  forClient(turn: SchedulingKey): RunEncodings {
    return (encoder, encodings, options, take) => this.#submit(turn, encoder, encodings, options, take);
  }

  #submit<Item extends EncoderInputRow>(
    turn: SchedulingKey,
    encoder: Encoder<{ readonly padId: number }>,
    encodings: readonly Item[],
    options: EncoderRunOptions<Item>,
    take: (row: EncoderRow<Item>) => void,
  ): Promise<void> {
    const { output, batchTokens: budget, signal } = options;
    throwIfAborted(signal);
    if (encodings.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let left = encodings.length;
      let ended = false;
      const end = (settle: () => void): void => {
        if (ended) return;
        ended = true;
        signal?.removeEventListener("abort", leave);
        removeWaiting();
        settle();
      };
      const leave = (): void => end(() => reject(signal === undefined ? undefined : abortError(signal)));
      const model = { inputs: encoder.inputs, padId: encoder.tokenizer.padId };
      const call: Call = {
        // Rows of one kind are made by one function: they are this call's kind of item, whichever call they are of.
        run: async (lane, { rows, length }) => {
          const values = await runBatch(lane, model, { rows: rows as readonly Item[], length }, options);
          reportBatch(encoder, rows, length);
          return values;
        },
        give: (index, values, row) => {
          const encoding = encodings[index];
          if (ended || encoding === undefined) return;
          try {
            take({ index, encoding, ...values(output, row), other: (name) => values(name, row) });
          } catch (error) {
            call.fail(error);
            return;
          }
          left -= 1;
          if (left === 0) end(resolve);
        },
        fail: (error) => end(() => reject(error)),
        get ended() {
          return ended;
        },
      };
      const rows = encodings.map((item, index) => ({ row: { call, index, item }, length: item.ids.length }));
      const removeWaiting = this.#waiting.add({ turn, kind: kindOf(options, model.padId), budget, rows });
      signal?.addEventListener("abort", leave, { once: true });
      void this.#look();
    });
  }

  /** After one turn of the event loop, so that calls that arrive together run together. */
  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    await yieldToEventLoop();
    this.#looking = false;
    this.#fillLanes();
  }

  #fillLanes(): void {
    while (this.#running < this.#width) {
      const batch = this.#waiting.take();
      if (batch === undefined) return;
      void this.#runNext(batch);
    }
  }

  async #runNext(batch: RowBatch<PooledRow>): Promise<void> {
    this.#running += 1;
    const waiting = this.#waiting.size;
    if (waiting > 0) this.#countBusy(batch);
    // Alone, the model itself with all its threads; else copies with one thread each, which together do more.
    const copy = this.#running > 1 || waiting > 0 ? this.#free.shift() : undefined;
    const handOut = await this.#run(copy ?? this.#model, batch);
    await this.#rest(); // a model on the calling thread would keep it to itself
    if (copy !== undefined && this.#copies?.has(copy) === true) this.#free.push(copy);
    this.#running -= 1;
    this.#fillLanes(); // no lane waits while results are handed out
    if (this.#running === 0) this.#settle();
    await handOut();
  }

  /** Never throws: gives what hands out the results, or the failure. */
  async #run(lane: Lane, { rows, length }: RowBatch<PooledRow>): Promise<() => Promise<void>> {
    const present = rows.filter(({ call }) => !call.ended);
    const [first] = present;
    if (first === undefined) return async () => {};
    try {
      const values = await first.call.run(lane, { rows: present.map(({ item }) => item), length });
      return async () => {
        for (const [row, { call, index }] of present.entries()) {
          call.give(index, values, row);
          // Its caller makes an answer of it, and asks for more: a batch of many calls must not do all that in one turn.
          if (call.ended) await yieldToEventLoop();
        }
      };
    } catch (error) {
      const last = lane === this.#model && present.length === 1;
      if (last || (error instanceof InferyardError && error.retryable))
        return async () => {
          for (const { call } of present) call.fail(error);
        };
      // One of them may be what the model cannot bear: each alone, so that the others do not suffer for it. Or the copy is gone.
      if (lane !== this.#model) this.#settle();
      for (const row of present) {
        const handOut = await this.#run(this.#model, { rows: [row], length: Math.max(row.item.ids.length, 1) });
        await handOut();
      }
      return async () => {};
    }
  }

  /** Work that lasts is worth copies. They are asked for anew in each stretch of work: a model that moved has others. */
  #countBusy({ rows, length }: RowBatch<PooledRow>): void {
    this.#busyTokens += rows.length * length;
    if (this.#copies !== undefined || (this.#busyTokens < minReplicaTokens && !this.#hasCopies)) return;
    this.#hasCopies = true;
    const copies = new Set<Lane>();
    this.#copies = copies;
    this.#model.replicas().then(
      (lanes) => {
        if (lanes.length < 2 || this.#copies !== copies) return;
        for (const lane of lanes) copies.add(lane);
        this.#free = [...lanes];
        this.#width = lanes.length;
        void this.#look();
      },
      () => {}, // without copies the model does the work, and says itself what is wrong with it
    );
  }

  /** As at the start. */
  #settle(): void {
    this.#busyTokens = 0;
    this.#copies = undefined;
    this.#free = [];
    this.#width = 1;
  }
}

/** What rows must have in common to run together. */
function kindOf<Item extends EncoderInputRow>(options: EncoderRunOptions<Item>, padId: number): string {
  const { output, others = [], tensors, reduction, kind } = options;
  const own = kind === undefined && (tensors !== undefined || reduction !== undefined) ? crypto.randomUUID() : (kind ?? "");
  return JSON.stringify([output, others, padId, own]);
}
