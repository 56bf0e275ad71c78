/** feature-extraction: texts to vectors, equal to the reference implementation's to the last digits. */
import type { LoadedModel } from "../backend.ts";
import { InferyardError, throwIfAborted } from "../errors.ts";
import type { Manifest } from "../models/manifest.ts";
import type { TensorInfo } from "../tensor.ts";
import type { EncodeOptions, TokenIds } from "../tokenizers/index.ts";
import { type Batch, planBatches } from "./batches.ts";
import { type EmbedOptions, type EmbedSettings, embedSettings } from "./embed-settings.ts";
import { encoderInputs } from "./encoder-inputs.ts";
import { type VectorOutput, asFloat32, vectorOutput } from "./encoder-outputs.ts";
import { allRows, normalize, pools } from "./pooling.ts";
import { createYielder } from "./yielding.ts";

/** What embedding needs of a tokenizer. */
export interface TokenSource {
  readonly padId: number;
  encode(text: string, options?: Pick<EncodeOptions, "maxTokens" | "prompt">): TokenIds;
}

/** A model ready to embed. */
export interface Encoder {
  readonly manifest: Manifest;
  readonly tokenizer: TokenSource;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  run: LoadedModel["run"];
  /** Models for bulk work, used side by side. */
  lanes(): Promise<readonly Pick<LoadedModel, "run">[]>;
}

export interface Embeddings {
  /** One per text, in order. With pooling "none": the vectors of all its tokens, one after the other. */
  readonly embeddings: Float32Array[];
  /** Length of one vector. */
  readonly dimensions: number;
  /** Tokens the model saw for each text, special tokens included. */
  readonly tokens: number[];
  /** Indices of the texts that were cut. */
  readonly truncated: number[];
}

/** Work below this many tokens is not worth loading copies for (measured: loading costs what copies save on about as many). */
const bulkTokens = 8192;

export async function embed(encoder: Encoder, texts: readonly string[], options: EmbedOptions = {}): Promise<Embeddings> {
  const settings = embedSettings(encoder.manifest, options);
  const encodings = await encodeAll(encoder.tokenizer, texts, settings, options.signal);
  return embedEncodings(encoder, encodings, settings, options.signal);
}

/** The part after the tokenizer. */
export async function embedEncodings(
  encoder: Encoder,
  encodings: readonly TokenIds[],
  settings: EmbedSettings,
  signal?: AbortSignal,
): Promise<Embeddings> {
  const output = vectorOutput(encoder.outputs, settings.pooling, encoder.manifest.text?.pooling);
  if (output.level === "token" && settings.pooling === undefined) throw poolingUnknown(encoder.manifest);
  const lengths = encodings.map(({ ids }) => ids.length);
  const batches = planBatches(lengths, settings.batchTokens);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const lanes = batches.length > 1 && total >= bulkTokens ? await encoder.lanes() : [encoder];
  const embeddings: Float32Array[] = Array.from({ length: encodings.length });
  const queue = inTurn(batches);
  await Promise.all(lanes.map((lane) => drain(lane, queue, { encoder, encodings, settings, output, embeddings, signal })));
  const declared = vectorLength(encoder, output);
  return {
    embeddings,
    dimensions: settings.pooling === "none" ? declared : (embeddings[0]?.length ?? declared),
    tokens: lengths,
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

interface Work {
  readonly encoder: Encoder;
  readonly encodings: readonly TokenIds[];
  readonly settings: EmbedSettings;
  readonly output: VectorOutput;
  readonly embeddings: Float32Array[];
  readonly signal: AbortSignal | undefined;
}

/** A queue that ends for all lanes when one of them fails: leaving a loop over a generator closes it, over an array's iterator it does not. */
function* inTurn(batches: readonly Batch[]): Generator<Batch, void> {
  yield* batches;
}

/** One lane takes batches from the common queue until none is left. */
async function drain(lane: Pick<LoadedModel, "run">, queue: Generator<Batch, void>, work: Work): Promise<void> {
  const rest = createYielder();
  for (const batch of queue) {
    throwIfAborted(work.signal);
    await runBatch(lane, batch, work);
    await rest();
  }
}

async function runBatch(lane: Pick<LoadedModel, "run">, batch: Batch, work: Work): Promise<void> {
  const { encoder, encodings, settings, output, embeddings, signal } = work;
  const rows = batch.indices.map((index) => encodings[index]?.ids ?? []);
  const inputs = encoderInputs(encoder.inputs, { rows, length: batch.length, padId: encoder.tokenizer.padId });
  const results = await lane.run(inputs, { outputs: [output.name], ...(signal === undefined ? {} : { signal }) });
  const result = results[output.name];
  if (result === undefined) throw new InferyardError("CONTRACT_VIOLATION", `the backend did not return output "${output.name}"`);
  const data = asFloat32(result);
  const dimensions = result.shape.at(-1) ?? 0;
  for (const [row, index] of batch.indices.entries()) {
    const encoding = encodings[index];
    if (encoding === undefined) continue;
    const vector = output.level === "sentence" ? data.slice(row * dimensions, (row + 1) * dimensions) : pool(encoding, row);
    embeddings[index] = finish(vector, settings, dimensions, index);
  }

  function pool({ ids, promptTokens }: TokenIds, row: number): Float32Array {
    const rows = { data, offset: row * batch.length * dimensions, dimensions, first: 0, end: ids.length };
    if (settings.pooling === undefined || settings.pooling === "none") return allRows(rows);
    return pools[settings.pooling](settings.poolPrompt ? rows : { ...rows, first: promptTokens });
  }
}

function finish(vector: Float32Array, settings: EmbedSettings, available: number, index: number): Float32Array {
  const { dimensions } = settings;
  if (dimensions !== undefined && dimensions > available) {
    throw new InferyardError("INPUT_INVALID", `dimensions is ${dimensions}, and the model's vectors have ${available}`);
  }
  if (dimensions !== undefined && settings.pooling === "none") {
    throw new InferyardError("INPUT_INVALID", 'dimensions cannot be cut with pooling "none"', {
      remedy: "leave one of the two out",
    });
  }
  const broken = vector.findIndex((value) => !Number.isFinite(value));
  if (broken !== -1) {
    throw new InferyardError("RUN_FAILED", `the model gave a value that is not a number for text ${index}`, {
      remedy: "try another variant or target",
      data: { text: index, component: broken },
    });
  }
  const kept = dimensions === undefined ? vector : vector.slice(0, dimensions);
  return settings.normalize ? normalize(kept) : kept;
}

async function encodeAll(
  tokenizer: TokenSource,
  texts: readonly string[],
  settings: EmbedSettings,
  signal: AbortSignal | undefined,
): Promise<TokenIds[]> {
  const rest = createYielder();
  const encodings: TokenIds[] = [];
  for (const [index, text] of texts.entries()) {
    throwIfAborted(signal);
    if (typeof text !== "string")
      throw new InferyardError("INPUT_INVALID", `text ${index} is ${text === null ? "null" : typeof text}, not a string`);
    const encoding = tokenizer.encode(text, {
      maxTokens: settings.maxTokens,
      ...(settings.promptText === "" ? {} : { prompt: settings.promptText }),
    });
    if (encoding.truncated && settings.truncate === "error") {
      throw new InferyardError(
        "INPUT_TOO_LONG",
        `text ${index} has ${encoding.wholeLength} tokens, and the limit is ${settings.maxTokens}`,
        {
          remedy: "shorten it, or let it be cut: --truncate cut",
          data: { text: index, tokens: encoding.wholeLength, limit: settings.maxTokens },
        },
      );
    }
    encodings.push(encoding);
    await rest();
  }
  return encodings;
}

function vectorLength(encoder: Encoder, output: VectorOutput): number {
  const last = encoder.outputs.find(({ name }) => name === output.name)?.shape.at(-1);
  return typeof last === "number" ? last : 0;
}

function poolingUnknown({ name }: Manifest): InferyardError {
  return new InferyardError(
    "POOLING_UNKNOWN",
    `${name} does not say how its token vectors become one, and a guess could be wrong without a word`,
    {
      remedy: "give a pooling (mean, cls, max, last or none): --pooling mean",
    },
  );
}
