/** Runs token ids through an encoder in small batches of like length, on as many copies as there are, and hands out the rows. */
import type { LoadedModel } from "../backend.ts";
import { InferyardError, throwIfAborted } from "../errors.ts";
import type { Manifest } from "../models/manifest.ts";
import type { TensorInfo } from "../tensor.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { type Batch, planBatches } from "./batches.ts";
import { type TokenRow, encoderInputs } from "./encoder-inputs.ts";
import { asFloat32 } from "./encoder-outputs.ts";
import type { VectorChain } from "./vector-modules.ts";
import { createYielder } from "./yielding.ts";

/** A model ready for a text task. */
export interface Encoder<Source extends { readonly padId: number } = Tokenizer> {
  readonly manifest: Manifest;
  readonly tokenizer: Source;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  run: LoadedModel["run"];
  /** The modules after pooling. Needed where the manifest has any. */
  readonly chain?: () => Promise<VectorChain>;
  /** Models for bulk work, used side by side. */
  lanes(): Promise<readonly Pick<LoadedModel, "run">[]>;
}

export interface EncoderRunOptions {
  /** Name of the output that is read. */
  readonly output: string;
  /** Padded tokens in one batch. */
  readonly batchTokens: number;
  readonly signal?: AbortSignal;
}

/** What the model said of one text: a part of the output of its batch. */
export interface EncoderRow<Item extends TokenRow> {
  readonly index: number;
  readonly encoding: Item;
  /** The whole batch; this text's values begin at `offset`. */
  readonly data: Float32Array;
  readonly offset: number;
  /** Of this text alone: [tokens of the batch, ...] or [...]. */
  readonly shape: readonly number[];
}

/** Work below this many tokens is not worth loading copies for (measured: loading costs what copies save on about as many). */
const bulkTokens = 8192;

/** Calls `take` once for each encoding, in no order that means anything. */
export async function runEncodings<Item extends TokenRow>(
  encoder: Encoder<{ readonly padId: number }>,
  encodings: readonly Item[],
  options: EncoderRunOptions,
  take: (row: EncoderRow<Item>) => void,
): Promise<void> {
  const lengths = encodings.map(({ ids }) => ids.length);
  const batches = planBatches(lengths, options.batchTokens);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const lanes = batches.length > 1 && total >= bulkTokens ? await encoder.lanes() : [encoder];
  const queue = inTurn(batches);
  await Promise.all(
    lanes.map(async (lane) => {
      const rest = createYielder();
      for (const batch of queue) {
        throwIfAborted(options.signal);
        await runBatch(lane, encoder, encodings, batch, options, take);
        await rest();
      }
    }),
  );
}

/** A queue that ends for all lanes when one of them fails: leaving a loop over a generator closes it, over an array's iterator it does not. */
function* inTurn(batches: readonly Batch[]): Generator<Batch, void> {
  yield* batches;
}

async function runBatch<Item extends TokenRow>(
  lane: Pick<LoadedModel, "run">,
  encoder: Encoder<{ readonly padId: number }>,
  encodings: readonly Item[],
  batch: Batch,
  { output, signal }: EncoderRunOptions,
  take: (row: EncoderRow<Item>) => void,
): Promise<void> {
  const rows = batch.indices.map((index) => encodings[index] ?? { ids: [] });
  const inputs = encoderInputs(encoder.inputs, { rows, length: batch.length, padId: encoder.tokenizer.padId });
  const results = await lane.run(inputs, { outputs: [output], ...(signal === undefined ? {} : { signal }) });
  const result = results[output];
  if (result === undefined) throw new InferyardError("CONTRACT_VIOLATION", `the backend did not return output "${output}"`);
  const data = asFloat32(result);
  const shape = result.shape.slice(1);
  const size = shape.reduce((product, dimension) => product * dimension, 1);
  for (const [row, index] of batch.indices.entries()) {
    const encoding = encodings[index];
    if (encoding !== undefined) take({ index, encoding, data, offset: row * size, shape });
  }
}
