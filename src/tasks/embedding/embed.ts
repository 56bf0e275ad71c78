/** feature-extraction: texts to vectors, equal to the reference implementation's to the last digits. */
import { refuseUnlisted } from "../../runtime/options/options.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { type EmbedOptions, type EmbedSettings, embedSettings } from "./embed-options.ts";
import type { Embeddings } from "./embeddings.ts";
import { type TaskTokenizer, encodeTexts } from "../shared/encode-texts.ts";
import { isLateInteraction } from "../shared/encoder-outputs.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { truncateAndNormalize, poolEncodings } from "./pool-encodings.ts";

export async function embed(
  encoder: Encoder<TaskTokenizer>,
  texts: readonly string[],
  options: EmbedOptions = {},
): Promise<Embeddings> {
  const asked = withOwnPooling(encoder, options);
  if (asked.pooling === "none" && encoder.manifest.text?.lateInteraction !== undefined) {
    const { embedTokenVectors } = await import("./late-interaction.ts");
    const { prompt: role = "document", ...others } = asked;
    refuseUnlisted("prompt", role, ["query", "document"]);
    return embedTokenVectors(encoder, texts, role === "query" ? "query" : "document", others);
  }
  const settings = embedSettings(encoder.manifest, asked);
  const { promptText: prompt, truncate, maxTokens } = settings;
  if (truncate === "windows") {
    const whole = { maxTokens: Number.POSITIVE_INFINITY, truncate: "cut", prompt } as const;
    const encodings = await encodeTexts(encoder.tokenizer, texts, whole, options.signal);
    const { embedWindows } = await import("./embed-windows.ts"); // most texts fit
    return embedWindows(encoder, encodings, settings, options.signal);
  }
  const encodings = await encodeTexts(encoder.tokenizer, texts, { maxTokens, truncate, prompt }, options.signal);
  return embedEncodings(encoder, encodings, settings, options.signal);
}

/** A late-interaction model's vectors are those of its tokens, and its graph says so. */
function withOwnPooling({ outputs, manifest }: Encoder<TaskTokenizer>, options: EmbedOptions): EmbedOptions {
  const says = options.pooling !== undefined || manifest.text?.pooling !== undefined;
  return says || !isLateInteraction(outputs) ? options : { ...options, pooling: "none" };
}

/** The part after the tokenizer. */
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
    tokens: encodings.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}
