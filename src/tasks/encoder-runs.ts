/** Runs token ids through an encoder in small batches of like length, on as many copies as there are, and hands out the rows. */
import { InferyardError, throwIfAborted } from "../errors.ts";
import type { Manifest } from "../models/manifest.ts";
import type { Reduction } from "../reduction.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import { type TensorInfo, type TensorMap, asFloat32 } from "../tensor.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { type Batch, planBatches } from "./batches.ts";
import { type TokenRow, encoderInputs } from "./encoder-inputs.ts";
import type { VectorChain } from "./vector-modules.ts";
import { createYielder } from "./yielding.ts";

/** A model ready for a text task. */
export interface Encoder<Source extends { readonly padId: number } = Tokenizer> {
  readonly manifest: Manifest;
  readonly tokenizer: Source;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  run: ModelHandle["run"];
  /** The modules after pooling. Needed where the manifest has any. */
  readonly chain?: () => Promise<VectorChain>;
  /** Models for bulk work, used side by side. */
  lanes(): Promise<readonly Pick<ModelHandle, "run">[]>;
}

export interface EncoderRunOptions<Item extends TokenRow = TokenRow> {
  /** Name of the output that is read. */
  readonly output: string;
  /** Names of further outputs, for `other` of a row. Default: none. */
  readonly others?: readonly string[];
  /** The inputs of a batch whose longest row has `length` tokens. Default: those of a text encoder. */
  readonly tensors?: (rows: readonly Item[], length: number) => TensorMap;
  /** What is made of the output of a batch where the model lives; places of tokens in the order of their rows. Default: it comes as it is. */
  readonly reduction?: (rows: readonly Item[]) => Reduction;
  /** Padded tokens in one batch. */
  readonly batchTokens: number;
  readonly signal?: AbortSignal;
}

/** A part of the output of a batch: what is said of one text. */
export interface EncoderValues {
  /** The whole batch; this text's values begin at `offset`. */
  readonly data: Float32Array;
  readonly offset: number;
  /** Of this text alone: [tokens of the batch, ...] or [...]; of a reduction with a row for each text, that row's; of one to tokens [its tokens, ...]. */
  readonly shape: readonly number[];
}

/** What the model said of one text. */
export interface EncoderRow<Item extends TokenRow> extends EncoderValues {
  readonly index: number;
  readonly encoding: Item;
  /** The same of one of the further outputs. */
  other(output: string): EncoderValues;
}

/** Work below this many tokens is not worth loading copies for (measured: loading costs what copies save on about as many). */
const bulkTokens = 8192;

/** Calls `take` once for each encoding, in no order that means anything. */
export async function runEncodings<Item extends TokenRow>(
  encoder: Encoder<{ readonly padId: number }>,
  encodings: readonly Item[],
  options: EncoderRunOptions<Item>,
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
  lane: Pick<ModelHandle, "run">,
  encoder: Encoder<{ readonly padId: number }>,
  encodings: readonly Item[],
  batch: Batch,
  { output, others = [], tensors, reduction, signal }: EncoderRunOptions<Item>,
  take: (row: EncoderRow<Item>) => void,
): Promise<void> {
  const rows = batch.indices.flatMap((index) => encodings[index] ?? []);
  const inputs =
    tensors?.(rows, batch.length) ??
    encoderInputs(encoder.inputs, { rows, length: batch.length, padId: encoder.tokenizer.padId });
  const reduced = reduction?.(rows);
  const results = await lane.run(inputs, {
    outputs: [output, ...others],
    ...(reduced === undefined ? {} : { reductions: { [output]: reduced } }),
    ...(signal === undefined ? {} : { signal }),
  });
  const values = valuesOf(results, { [output]: reduced });
  for (const [row, index] of batch.indices.entries()) {
    const encoding = encodings[index];
    if (encoding !== undefined) take({ index, encoding, ...values(output, row), other: (name) => values(name, row) });
  }
}

/** Single rows of the outputs of a batch; each output is converted once. */
function valuesOf(
  results: TensorMap,
  reductions: Readonly<Record<string, Reduction | undefined>>,
): (output: string, row: number) => EncoderValues {
  const converted = new Map<string, Float32Array>();
  return (output, row) => {
    const result = results[output];
    if (result === undefined) throw new InferyardError("CONTRACT_VIOLATION", `the backend did not return output "${output}"`);
    const data = converted.get(output) ?? asFloat32(result);
    converted.set(output, data);
    const shape = result.shape.slice(1);
    const size = shape.reduce((product, dimension) => product * dimension, 1);
    const reduction = reductions[output];
    if (reduction?.kind !== "tokens") return { data, offset: row * size, shape };
    const before = reduction.places.filter((place) => place.row < row).length;
    const own = reduction.places.filter((place) => place.row === row).length;
    return { data, offset: before * size, shape: [own, ...shape] };
  };
}
