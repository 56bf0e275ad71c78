/** feature-extraction: texts to vectors, equal to the reference implementation's to the last digits. */
import { InferyardError } from "../errors.ts";
import type { Manifest } from "../models/manifest.ts";
import type { TokenIds } from "../tokenizers/index.ts";
import { type EmbedOptions, type EmbedSettings, embedSettings } from "./embed-settings.ts";
import { type TokenSource, encodeTexts } from "./encode-texts.ts";
import { type VectorOutput, vectorOutput } from "./encoder-outputs.ts";
import { type Encoder, runEncodings } from "./encoder-runs.ts";
import { type TokenRows, allRows, normalize, pools } from "./pooling.ts";

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

export async function embed(
  encoder: Encoder<TokenSource>,
  texts: readonly string[],
  options: EmbedOptions = {},
): Promise<Embeddings> {
  const settings = embedSettings(encoder.manifest, options);
  const { promptText, ...limits } = settings;
  const encodings = await encodeTexts(encoder.tokenizer, texts, { ...limits, prompt: promptText }, options.signal);
  return embedEncodings(encoder, encodings, settings, options.signal);
}

/** The part after the tokenizer. */
export async function embedEncodings(
  encoder: Encoder<TokenSource>,
  encodings: readonly TokenIds[],
  settings: EmbedSettings,
  signal?: AbortSignal,
): Promise<Embeddings> {
  const output = vectorOutput(encoder.outputs, settings.pooling, encoder.manifest.text?.pooling);
  if (output.level === "token" && settings.pooling === undefined) throw poolingUnknown(encoder.manifest);
  const embeddings: Float32Array[] = Array.from({ length: encodings.length });
  const wanted = { output: output.name, batchTokens: settings.batchTokens, ...(signal === undefined ? {} : { signal }) };
  await runEncodings(encoder, encodings, wanted, ({ index, encoding, data, offset, shape }) => {
    const dimensions = shape.at(-1) ?? 0;
    const vector =
      output.level === "sentence"
        ? data.slice(offset, offset + dimensions)
        : pool(encoding, settings, { data, offset, dimensions, first: 0, end: encoding.ids.length });
    embeddings[index] = finish(vector, settings, dimensions, index);
  });
  const declared = vectorLength(encoder, output);
  return {
    embeddings,
    dimensions: settings.pooling === "none" ? declared : (embeddings[0]?.length ?? declared),
    tokens: encodings.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

function pool({ promptTokens }: TokenIds, settings: EmbedSettings, rows: TokenRows): Float32Array {
  if (settings.pooling === undefined || settings.pooling === "none") return allRows(rows);
  return pools[settings.pooling](settings.poolPrompt ? rows : { ...rows, first: promptTokens });
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

function vectorLength(encoder: Encoder<TokenSource>, output: VectorOutput): number {
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
