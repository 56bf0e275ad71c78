/** Runs token ids through an encoder in small batches of like length, on as many copies as there are, and hands out the rows. */
import { throwIfAborted } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { BatchEvent } from "../../runtime/options/runtime-settings.ts";
import type { TensorInfo } from "../../tensor.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import { type BatchOptions, type EncoderValues, runBatch } from "./run-batch.ts";
import { type Batch, planBatches } from "./plan-batches.ts";
import type { EncoderInputRow } from "../shared/encoder-inputs.ts";
import type { PostPooling } from "../embedding/post-pooling.ts";
import { createYielder } from "../shared/yielding.ts";

/** A model ready for a text task. */
export interface Encoder<Source extends { readonly padId: number } = Tokenizer> {
  readonly manifest: Manifest;
  readonly tokenizer: Source;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  run: ModelHandle["run"];
  /** The modules after pooling. Needed where the manifest has any. */
  readonly chain?: () => Promise<PostPooling>;
  /** Models for bulk work, used side by side. */
  replicas(): Promise<readonly Pick<ModelHandle, "run">[]>;
  /** Told of every batch that has run. Default: nobody is. */
  readonly onBatch?: (batch: Pick<BatchEvent, "rows" | "tokens" | "paddedTokens">) => void;
  /** Runs the rows together with those of other calls. Default: every call has batches of its own. */
  readonly shared?: RunEncodings;
}

export interface EncoderRunOptions<Item extends EncoderInputRow = EncoderInputRow> extends BatchOptions<Item> {
  /**
   * Names what `tensors` and `reduction` do: rows of calls that say the same may run in one batch, with the functions of either. Left out, a
   * call that has one of the two shares no batch.
   */
  readonly kind?: string;
  /** Padded tokens in one batch. */
  readonly batchTokens: number;
  readonly signal?: AbortSignal;
}

/** What the model said of one text. */
export interface EncoderRow<Item extends EncoderInputRow> extends EncoderValues {
  readonly index: number;
  readonly encoding: Item;
  /** The same of one of the further outputs. */
  other(output: string): EncoderValues;
}

/** Does what `runEncodings` does. */
export type RunEncodings = <Item extends EncoderInputRow>(
  encoder: Encoder<{ readonly padId: number }>,
  encodings: readonly Item[],
  options: EncoderRunOptions<Item>,
  take: (row: EncoderRow<Item>) => void,
) => Promise<void>;

/** Work below this many tokens is not worth loading copies for (measured: loading costs what copies save on about as many). */
export const minReplicaTokens = 8192;

/** Calls `take` once for each encoding, in no order that means anything. */
export async function runEncodings<Item extends EncoderInputRow>(
  encoder: Encoder<{ readonly padId: number }>,
  encodings: readonly Item[],
  options: EncoderRunOptions<Item>,
  take: (row: EncoderRow<Item>) => void,
): Promise<void> {
  if (encoder.shared !== undefined) return encoder.shared(encoder, encodings, options, take);
  const { output, batchTokens, signal } = options;
  const lengths = encodings.map(({ ids }) => ids.length);
  const batches = planBatches(lengths, batchTokens);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const lanes = batches.length > 1 && total >= minReplicaTokens ? await encoder.replicas() : [encoder];
  const queue = inTurn(batches);
  const model = { inputs: encoder.inputs, padId: encoder.tokenizer.padId };
  await Promise.all(
    lanes.map(async (lane) => {
      const rest = createYielder();
      for (const { indices, length } of queue) {
        throwIfAborted(signal);
        const rows = indices.flatMap((index) => encodings[index] ?? []);
        const values = await runBatch(lane, model, { rows, length }, options, signal);
        reportBatch(encoder, rows, length);
        for (const [row, index] of indices.entries()) {
          const encoding = encodings[index];
          if (encoding !== undefined) take({ index, encoding, ...values(output, row), other: (name) => values(name, row) });
        }
        await rest();
      }
    }),
  );
}

/** To be called when rows that were padded to `length` have run. */
export function reportBatch({ onBatch }: Pick<Encoder, "onBatch">, rows: readonly EncoderInputRow[], length: number): void {
  const tokens = rows.reduce((sum, { ids }) => sum + ids.length, 0);
  onBatch?.({ rows: rows.length, tokens, paddedTokens: rows.length * length });
}

/** A queue that ends for all lanes when one of them fails: leaving a loop over a generator closes it, over an array's iterator it does not. */
function* inTurn(batches: readonly Batch[]): Generator<Batch, void> {
  yield* batches;
}
