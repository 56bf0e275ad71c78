/** Runs tokenized texts through an encoder in length-sorted batches, on several replicas if the work is large. */
import { at } from "../../contract/checked.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import type { Manifest, VectorModule } from "../../models/manifest.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { BatchEvent } from "../../runtime/options/runtime-settings.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import { type BatchOptions, type EncoderValues, runBatch } from "./run-batch.ts";
import { type Batch, planBatches } from "./plan-batches.ts";
import type { EncoderInputRow } from "../encoding/encoder-inputs.ts";
import type { PostPooling } from "../encoding/post-pooling.ts";
import { createYielder } from "../encoding/yielding.ts";

/** A loaded model with its tokenizer, on which text tasks run. */
export interface Encoder<Source extends { readonly padId: number } = Tokenizer> {
  readonly manifest: Manifest;
  readonly tokenizer: Source;
  /** The tensors the model takes and returns. */
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** Runs the model on tensors. */
  run: ModelHandle["run"];
  /** Loads modules of the manifest that transform vectors. Required if it has any. */
  readonly loadModules?: (modules: readonly VectorModule[]) => Promise<PostPooling>;
  /** Instances of the model that can run at the same time, for large work. At least one. */
  replicas(): Promise<readonly Pick<ModelHandle, "run">[]>;
  /** Called after every batch. Default: none. */
  readonly onBatch?: (batch: Pick<BatchEvent, "rows" | "tokens" | "paddedTokens">) => void;
  /** Replaces `runEncodings`, to share batches with other calls (dynamic batching). Default: every call has its own batches. */
  readonly runShared?: RunEncodings;
}

/** Options of `runEncodings`. */
export interface EncoderRunOptions<Item extends EncoderInputRow = EncoderInputRow> extends BatchOptions<Item> {
  /**
   * Identifies the computation of `tensors` and `reduction`: rows of calls with equal keys may run in one batch, with the functions of any of them. Default: a
   * call with one of the two functions shares no batch.
   */
  readonly batchKey?: string;
  /** Maximum size of one batch in tokens, padding included. */
  readonly batchTokens: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal | undefined;
}

/** The output of the model for one input. */
export interface EncoderRow<Item extends EncoderInputRow> extends EncoderValues {
  /** Index of the input in the list that was given. */
  readonly index: number;
  /** The input itself. */
  readonly encoding: Item;
  /** The values of one of the further outputs (`BatchOptions.others`). */
  other(output: string): EncoderValues;
}

/** The signature of `runEncodings`. */
export type RunEncodings = <Item extends EncoderInputRow>(
  encoder: Encoder<{ readonly padId: number }>,
  encodings: readonly Item[],
  options: EncoderRunOptions<Item>,
  take: (row: EncoderRow<Item>) => void,
) => Promise<void>;

/** Tokens of one call from which replicas are loaded. Measured: loading replicas costs about as much time as they save on this many tokens. */
export const minReplicaTokens = 8192;

/**
 * Runs every encoding through the model and calls `take` once for each, in unspecified order. Rejects with the first error, after which no further
 * batch starts.
 */
export async function runEncodings<Item extends EncoderInputRow>(
  encoder: Encoder<{ readonly padId: number }>,
  encodings: readonly Item[],
  options: EncoderRunOptions<Item>,
  take: (row: EncoderRow<Item>) => void,
): Promise<void> {
  if (encoder.runShared !== undefined) return encoder.runShared(encoder, encodings, options, take);
  const { output, batchTokens, signal } = options;
  const lengths = encodings.map(({ ids }) => ids.length);
  const batches = planBatches(lengths, batchTokens);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const replicas = batches.length > 1 && total >= minReplicaTokens ? await encoder.replicas() : [encoder];
  const queue = sharedQueue(batches);
  const model = { inputs: encoder.inputs, padId: encoder.tokenizer.padId };
  await Promise.all(
    replicas.map(async (replica) => {
      const maybeYield = createYielder();
      for (const { indices, length } of queue) {
        throwIfAborted(signal);
        const rows = indices.map((index) => at(encodings, index));
        const values = await runBatch(replica, model, { rows, length }, options, signal);
        reportBatch(encoder, rows, length);
        for (const [row, index] of indices.entries())
          take({ index, encoding: at(rows, row), ...values(output, row), other: (name) => values(name, row) });
        await maybeYield();
      }
    }),
  );
}

/** Reports a batch that has run to `onBatch`. `length`: tokens that its rows were padded to. */
export function reportBatch({ onBatch }: Pick<Encoder, "onBatch">, rows: readonly EncoderInputRow[], length: number): void {
  const tokens = rows.reduce((sum, { ids }) => sum + ids.length, 0);
  onBatch?.({ rows: rows.length, tokens, paddedTokens: rows.length * length });
}

/** A queue that replicas share. When one of them fails the queue ends for all: leaving a loop closes a generator, but not an array iterator. */
function* sharedQueue(batches: readonly Batch[]): Generator<Batch, void> {
  yield* batches;
}
