/** Similarity of texts with texts, as sentence-transformers' `model.similarity` gives it: a matrix. */
import { InferyardError, throwIfAborted } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { refuseUnlisted } from "../../runtime/options/options.ts";
import type { Embeddings } from "../embedding/embeddings.ts";
import { embed } from "../embedding/embed.ts";
import { type EmbedOptions, embedOptionNames } from "../embedding/embed-options.ts";
import type { TaskTokenizer } from "../shared/encode-texts.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { type SimilarityMetric, similarityMetrics, similarityRow, vectorTable } from "./similarity-matrix.ts";
import { createYielder } from "../shared/yielding.ts";

export interface SimilarityOptions extends Omit<EmbedOptions, "precision"> {
  /** How vectors are compared; distances are given as negative numbers. Default: what the model's files say, else "cosine". */
  readonly metric?: SimilarityMetric;
  /** The prompt of the second texts. Default: that of the first ones. */
  readonly otherPrompt?: string;
}

/** Vectors in fewer bits are not compared. */
const packing: ReadonlySet<string> = new Set(["precision", "ranges"]);

export const similarityOptionNames: readonly string[] = [
  ...embedOptionNames.filter((name) => !packing.has(name)),
  "metric",
  "otherPrompt",
];

export interface Similarities {
  /** Row i has the similarity of the first texts' i-th with each of the second. */
  readonly scores: readonly Float32Array[];
  /** How the vectors were compared. */
  readonly metric: SimilarityMetric;
  /** Tokens the model saw of each of the first texts, and of the second. */
  readonly tokens: readonly number[];
  readonly otherTokens: readonly number[];
  /** Indices of those of the first texts that were cut, and of the second. */
  readonly truncated: readonly number[];
  readonly otherTruncated: readonly number[];
}

/** Scores of one result, 1 GiB of them: more is given in parts. */
const maxScores = 2 ** 28;

/** The same list twice is embedded once. */
export async function similarity(
  encoder: Encoder<TaskTokenizer>,
  texts: readonly string[],
  others: readonly string[],
  { metric: asked, otherPrompt, ...options }: SimilarityOptions = {},
): Promise<Similarities> {
  const metric = asked ?? ownMetric(encoder.manifest);
  refuseUnlisted("metric", metric, similarityMetrics);
  refuseTokenVectors(options);
  if (texts.length * others.length > maxScores) {
    const message = `${texts.length} times ${others.length} texts are more than ${maxScores} scores`;
    throw new InferyardError("INPUT_INVALID", message, { remedy: "compare them in parts" });
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
  const rest = createYielder();
  const isCosine = metric === "cosine";
  const [table, other] = [vectorTable(embeddings, isCosine), vectorTable(others.embeddings, isCosine)];
  const scores: Float32Array[] = [];
  for (let row = 0; row < table.rows; row += 1) {
    throwIfAborted(signal);
    scores.push(similarityRow(table, row, other, metric));
    await rest();
  }
  return scores;
}

/** sentence-transformers takes the cosine where the model's files say nothing. */
function ownMetric({ name, text }: Manifest): SimilarityMetric {
  const stated = text?.similarity?.toLowerCase();
  const metric = stated === undefined ? "cosine" : similarityMetrics.find((one) => one === stated);
  if (metric !== undefined) return metric;
  throw new InferyardError("MODEL_UNSUPPORTED", `${name} compares its vectors by ${JSON.stringify(text?.similarity)}`, {
    remedy: `choose one of ${similarityMetrics.join(", ")}: --metric cosine`,
  });
}

function refuseTokenVectors({ pooling }: EmbedOptions): void {
  if (pooling !== "none") return;
  throw new InferyardError("INPUT_INVALID", 'the vectors of single tokens (pooling "none") make no matrix of texts', {
    remedy: "choose another pooling, or leave it out; maxSim compares token vectors",
  });
}
