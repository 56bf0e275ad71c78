/**
 * Task `feature-extraction` (Hugging Face): texts to dense vectors. Pooling, prompts, truncation and normalization follow
 * sentence-transformers' `SentenceTransformer.encode`.
 */
import { readCounts } from "../encoding/read-counts.ts";
import { refuseUnlisted } from "../../runtime/options/option.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { type EmbedOptions, type EmbedSettings, embedSettings } from "./embed-options.ts";
import type { Embeddings } from "./embeddings.ts";
import { type TaskTokenizer, encodeTexts } from "../encoding/encode-texts.ts";
import { headOutputs, isLateInteraction } from "../encoding/encoder-outputs.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { embeddingOutput, truncateAndNormalize, poolEncodings } from "./pool-encodings.ts";

/**
 * Embeds texts: one float32 vector per text, in order; with pooling "none" one vector per token. A model whose files declare ColBERT
 * settings goes through `embedTokenVectors`. Throws INPUT_INVALID for options that contradict each other, INPUT_TOO_LONG with
 * `truncate: "error"`, POOLING_UNKNOWN if neither the model nor the caller states a pooling.
 */
export async function embed(
  encoder: Encoder<TaskTokenizer>,
  texts: readonly string[],
  options: EmbedOptions = {},
): Promise<Embeddings> {
  const asked = withOwnPooling(encoder, options);
  if (asked.pooling === "none" && encoder.manifest.text?.lateInteraction !== undefined) {
    const { embedTokenVectors } = await import("./late-interaction.ts");
    const { prompt: role = "document", pooling: _pooling, ...others } = asked;
    refuseUnlisted("prompt", role, ["query", "document"]);
    const kept = options.pooling === undefined ? others : { ...others, pooling: options.pooling };
    return embedTokenVectors(encoder, texts, role === "query" ? "query" : "document", kept);
  }
  const stated = embedSettings(encoder.manifest, asked);
  // FlagEmbedding scales the vectors of BGE-M3, and the exports of its heads have no file that says so.
  const settings = headOutputs(encoder.outputs) === undefined ? stated : { ...stated, normalize: options.normalize ?? true };
  const { promptText: prompt, truncate, maxTokens } = settings;
  embeddingOutput(encoder, settings); // before texts are read
  if (truncate === "windows") {
    const whole = { maxTokens: Number.POSITIVE_INFINITY, truncate: "cut", prompt } as const;
    const encodings = await encodeTexts(encoder.tokenizer, texts, whole, options.signal);
    const { embedWindows } = await import("./embed-windows.ts"); // imported on demand: most texts fit
    return embedWindows(encoder, encodings, settings, options.signal);
  }
  const encodings = await encodeTexts(encoder.tokenizer, texts, { maxTokens, truncate, prompt }, options.signal);
  return embedEncodings(encoder, encodings, settings, options.signal);
}

/** Pooling "none" is the default of a late-interaction model, which its files state, or its output "contextual". */
function withOwnPooling({ outputs, manifest }: Encoder<TaskTokenizer>, options: EmbedOptions): EmbedOptions {
  const says = options.pooling !== undefined || manifest.text?.pooling !== undefined;
  const isLate = isLateInteraction(outputs) || manifest.text?.lateInteraction !== undefined;
  return says || !isLate ? options : { ...options, pooling: "none" };
}

/** Embeds texts that are tokenized and truncated already. `settings.truncate` is not read. */
export async function embedEncodings(
  encoder: Encoder<TaskTokenizer>,
  encodings: readonly TokenIds[],
  settings: EmbedSettings,
  signal?: AbortSignal,
): Promise<Embeddings> {
  const embeddings: Float32Array[] = Array.from({ length: encodings.length });
  const { dimensions } = await poolEncodings(encoder, encodings, settings, signal, (vector, index) => {
    embeddings[index] = truncateAndNormalize(vector, settings, index);
  });
  return {
    embeddings,
    ...(settings.pooling === "none" ? { pooling: "none" as const } : {}),
    dimensions: settings.pooling === "none" ? dimensions : (embeddings[0]?.length ?? dimensions),
    ...readCounts(encodings),
  };
}
