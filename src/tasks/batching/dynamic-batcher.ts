/**
 * Dynamic batching, as in Triton Inference Server: concurrent calls share batches. For servers, where many requests bring one text each. See
 * docs/decisions/0009.
 */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { InferyardError, abortError, throwIfAborted } from "../../contract/errors.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { SchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import { type BatchValues, runBatch } from "./run-batch.ts";
import type { EncoderInputRow } from "../encoding/encoder-inputs.ts";
import {
  type Encoder,
  type EncoderRow,
  type EncoderRunOptions,
  type RunEncodings,
  minReplicaTokens,
  reportBatch,
} from "./run-encodings.ts";
import { type RowBatch, PendingRows } from "./pending-rows.ts";
import { createYielder } from "../encoding/yielding.ts";

/** The loaded model that the rows run on. */
type PooledModel = ModelHandle["model"];
/** The model itself or one of its replicas. */
type Instance = Pick<PooledModel, "run">;

/** A call of `runEncodings` in progress. */
interface Call {
  /** Runs a batch of rows with this call's batch key. */
  run(instance: Instance, batch: { readonly rows: readonly EncoderInputRow[]; readonly length: number }): Promise<BatchValues>;
  /** Delivers the result of one of its rows. Never throws. Ends the call with its last row. */
  deliver(index: number, values: BatchValues, row: number): void;
  /** Rejects the call. Has no effect once the call has ended. */
  fail(error: unknown): void;
  readonly ended: boolean;
}

interface PooledRow {
  readonly call: Call;
  readonly index: number;
  readonly item: EncoderInputRow;
}

/** Collects the rows of all calls on one model and runs them in shared batches, fairly between clients. */
export class DynamicBatcher {
  readonly #model: PooledModel;
  readonly #pending = new PendingRows<PooledRow>();
  readonly #maybeYield = createYielder();
  /** Idle replicas; empty while none are loaded. */
  #idle: Instance[] = [];
  /** Maximum number of concurrent batches: 1 without replicas. */
  #maxRunning = 1;
  #running = 0;
  /** Padded tokens of batches that started while rows were pending, since the batcher was last idle. */
  #busyTokens = 0;
  /** Defined once replicas were requested; empty until they are loaded. */
  #replicas: Set<Instance> | undefined;
  /** Whether replicas were requested before: later busy periods request them at once. */
  #usedReplicas = false;
  #scheduled = false;

  constructor(model: PooledModel) {
    this.#model = model;
  }

  /** Returns `runEncodings` for the calls of one client, with batches that are shared between clients. */
  forClient(key: SchedulingKey): RunEncodings {
    return (encoder, encodings, options, take) => this.#submit(key, encoder, encodings, options, take);
  }

  #submit<Item extends EncoderInputRow>(
    key: SchedulingKey,
    encoder: Encoder<{ readonly padId: number }>,
    encodings: readonly Item[],
    options: EncoderRunOptions<Item>,
    take: (row: EncoderRow<Item>) => void,
  ): Promise<void> {
    const { output, batchTokens: budget, signal } = options;
    throwIfAborted(signal);
    if (encodings.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let remaining = encodings.length;
      let ended = false;
      const end = (settle: () => void): void => {
        if (ended) return;
        ended = true;
        removeAbortListener(signal, abort);
        removePending();
        settle();
      };
      const abort = (): void => end(() => reject(signal === undefined ? undefined : abortError(signal)));
      const model = { inputs: encoder.inputs, padId: encoder.tokenizer.padId };
      const call: Call = {
        // Rows with one batch key have one item type, whichever call they belong to.
        run: async (instance, { rows, length }) => {
          const values = await runBatch(instance, model, { rows: rows as readonly Item[], length }, options);
          reportBatch(encoder, rows, length);
          return values;
        },
        deliver: (index, values, row) => {
          const encoding = encodings[index];
          if (ended || encoding === undefined) return;
          try {
            take({ index, encoding, ...values(output, row), other: (name) => values(name, row) });
          } catch (error) {
            call.fail(error);
            return;
          }
          remaining -= 1;
          if (remaining === 0) end(resolve);
        },
        fail: (error) => end(() => reject(error)),
        get ended() {
          return ended;
        },
      };
      const rows = encodings.map((item, index) => ({ row: { call, index, item }, length: item.ids.length }));
      const removePending = this.#pending.add({ schedulingKey: key, batchKey: getBatchKey(options, model.padId), budget, rows });
      addAbortListener(signal, abort);
      void this.#schedule();
    });
  }

  /** Starts batches after one iteration of the event loop, so that calls that arrive together share a batch. */
  async #schedule(): Promise<void> {
    if (this.#scheduled) return;
    this.#scheduled = true;
    await yieldToEventLoop();
    this.#scheduled = false;
    this.#startBatches();
  }

  #startBatches(): void {
    while (this.#running < this.#maxRunning) {
      const batch = this.#pending.take();
      if (batch === undefined) return;
      void this.#runNext(batch);
    }
  }

  async #runNext(batch: RowBatch<PooledRow>): Promise<void> {
    this.#running += 1;
    const pending = this.#pending.size;
    if (pending > 0) this.#requestReplicas(batch);
    // A single batch runs on the model with all its threads. Several run on replicas with one thread each, which have more throughput.
    const replica = this.#running > 1 || pending > 0 ? this.#idle.shift() : undefined;
    const deliver = await this.#run(replica ?? this.#model, batch);
    await this.#maybeYield(); // an inline model runs on this thread: let other work proceed
    if (replica !== undefined && this.#replicas?.has(replica) === true) this.#idle.push(replica);
    this.#running -= 1;
    this.#startBatches(); // before results are delivered, so that no replica is idle meanwhile
    if (this.#running === 0) this.#reset();
    await deliver();
  }

  /** Runs a batch. Never throws: returns a function that delivers the results, or the error, to the callers. */
  async #run(instance: Instance, { rows, length }: RowBatch<PooledRow>): Promise<() => Promise<void>> {
    const active = rows.filter(({ call }) => !call.ended);
    const [first] = active;
    if (first === undefined) return async () => {};
    try {
      const values = await first.call.run(instance, { rows: active.map(({ item }) => item), length });
      return async () => {
        for (const [row, { call, index }] of active.entries()) {
          call.deliver(index, values, row);
          // The caller continues with its result: with many calls in one batch that must not happen in a single event loop iteration.
          if (call.ended) await yieldToEventLoop();
        }
      };
    } catch (error) {
      const last = instance === this.#model && active.length === 1;
      if (last || (error instanceof InferyardError && error.retryable))
        return async () => {
          for (const { call } of active) call.fail(error);
        };
      // One row may be the cause, so each is retried alone, on the model itself, since the replica may be gone.
      if (instance !== this.#model) this.#reset();
      for (const row of active) {
        const deliver = await this.#run(this.#model, { rows: [row], length: Math.max(row.item.ids.length, 1) });
        await deliver();
      }
      return async () => {};
    }
  }

  /** Requests replicas once the busy period is long enough. They are requested anew in each one: a model that was reloaded has others. */
  #requestReplicas({ rows, length }: RowBatch<PooledRow>): void {
    this.#busyTokens += rows.length * length;
    if (this.#replicas !== undefined || (this.#busyTokens < minReplicaTokens && !this.#usedReplicas)) return;
    this.#usedReplicas = true;
    const replicas = new Set<Instance>();
    this.#replicas = replicas;
    this.#model.replicas().then(
      (loaded) => {
        if (loaded.length < 2 || this.#replicas !== replicas) return;
        for (const replica of loaded) replicas.add(replica);
        this.#idle = [...loaded];
        this.#maxRunning = loaded.length;
        void this.#schedule();
      },
      () => {}, // without replicas the model does the work, and reports its own errors
    );
  }

  /** Resets to the initial state, without replicas. */
  #reset(): void {
    this.#busyTokens = 0;
    this.#replicas = undefined;
    this.#idle = [];
    this.#maxRunning = 1;
  }
}

/** Key that rows must share to run in one batch: outputs, padding token and batch key. */
function getBatchKey<Item extends EncoderInputRow>(options: EncoderRunOptions<Item>, padId: number): string {
  const { output, others = [], tensors, reduction, batchKey } = options;
  const own =
    batchKey === undefined && (tensors !== undefined || reduction !== undefined) ? crypto.randomUUID() : (batchKey ?? "");
  return JSON.stringify([output, others, padId, own]);
}
