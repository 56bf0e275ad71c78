/** Task `sentence-similarity` (Hugging Face): the similarity matrix of two lists of texts, as `SentenceTransformer.similarity` computes it. */
import { type InferyardError, throwIfAborted, quoteOption, invalidInput, unsupportedModel } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { Embeddings } from "../embedding/embeddings.ts";
import { isLateInteractionModel } from "../embedding/late-interaction.ts";
import { embed } from "../embedding/embed.ts";
import type { EmbedOptions } from "../embedding/embed-options.ts";
import type { TaskTokenizer } from "../encoding/encode-texts.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import { similarityOptions } from "./similarity-options.ts";
import type { SimilarityOptions } from "./generated-similarity-options.ts";
import { type SimilarityMetric, similarityMetrics, similarityRow, vectorTable } from "./similarity-matrix.ts";
import { createYielder } from "../encoding/yielding.ts";

/** Similarity matrix of two lists of texts, and the number of tokens read of each text. */
export interface Similarities {
  /** `[texts][others]`: row i holds the similarity of the first list's text i with every text of the second list. */
  readonly scores: readonly Float32Array[];
  /** The similarity measure that was used. */
  readonly metric: SimilarityMetric;
  /** Number of tokens the model read of each text, special tokens included: of the first list, and of the second. */
  readonly tokens: readonly number[];
  readonly otherTokens: readonly number[];
  /** Indices of the texts that were truncated: of the first list, and of the second. */
  readonly truncated: readonly number[];
  readonly otherTruncated: readonly number[];
}

/** Maximum number of scores of one call: 1 GiB of float32. */
const maxScores = 2 ** 28;

/**
 * Compares every text of one list with every text of another. If both arguments are the same array and have the same prompt, it is embedded
 * once. Throws INPUT_INVALID for more than 2^28 pairs and for pooling "none", MODEL_UNSUPPORTED for a late-interaction model.
 */
export async function similarity(
  encoder: Encoder<TaskTokenizer>,
  texts: readonly string[],
  others: readonly string[],
  requested: SimilarityOptions = {},
): Promise<Similarities> {
  checkOptions(similarityOptions, requested);
  refuseTokenVectors(requested);
  if (isLateInteractionModel(encoder)) throw comparesTokens(encoder.manifest);
  const { metric = ownMetric(encoder.manifest), otherPrompt, ...options } = requested;
  if (texts.length * others.length > maxScores) {
    const message = `${texts.length} × ${others.length} texts give more than ${maxScores} scores, the limit of one call`;
    throw invalidInput(message, "compare the texts in several calls");
  }
  const own = await embed(encoder, texts, options);
  const isSame = texts === others && (otherPrompt === undefined || otherPrompt === options.prompt);
  const other = isSame
    ? own
    : await embed(encoder, others, otherPrompt === undefined ? options : { ...options, prompt: otherPrompt });
  return {
    scores: await compare(own, other, metric, options.signal),
    metric,
    tokens: own.tokens,
    otherTokens: other.tokens,
    truncated: own.truncated,
    otherTruncated: other.truncated,
  };
}

async function compare(
  { embeddings }: Embeddings,
  others: Embeddings,
  metric: SimilarityMetric,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const maybeYield = createYielder();
  const isCosine = metric === "cosine";
  const [table, other] = [vectorTable(embeddings, isCosine), vectorTable(others.embeddings, isCosine)];
  const scores: Float32Array[] = [];
  for (let row = 0; row < table.rows; row += 1) {
    throwIfAborted(signal);
    scores.push(similarityRow(table, row, other, metric));
    await maybeYield();
  }
  return scores;
}

/** `similarity_fn_name` of the model's files; "cosine" without one, as in sentence-transformers. */
function ownMetric({ name, text }: Manifest): SimilarityMetric {
  const stated = text?.similarity?.toLowerCase();
  const metric = stated === undefined ? "cosine" : similarityMetrics.find((one) => one === stated);
  if (metric !== undefined) return metric;
  throw unsupportedModel(
    `${name} states an unknown similarity: ${JSON.stringify(text?.similarity)}`,
    `choose one of ${similarityMetrics.join(", ")}: ${quoteOption("metric", "cosine")}`,
  );
}

function comparesTokens({ name }: Manifest): InferyardError {
  return unsupportedModel(
    `${name} gives a vector per token, and similarity compares one per text`,
    "use rerank, or maxSim on its token vectors",
  );
}

function refuseTokenVectors({ pooling }: EmbedOptions): void {
  if (pooling !== "none") return;
  throw invalidInput(
    'similarity needs one vector per text, and pooling "none" gives one per token',
    "choose another pooling, or leave it out; maxSim compares token vectors",
  );
}
