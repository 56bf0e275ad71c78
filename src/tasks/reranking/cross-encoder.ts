/** Task `text-ranking` (Hugging Face) with a cross-encoder, which reads query and document together; equal to `CrossEncoder.rank` of sentence-transformers. */
import { at } from "../../contract/checked.ts";
import { readCounts } from "../encoding/read-counts.ts";
import { InferyardError, quoteOption, invalidInput, unsupportedModel } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { encodePairs } from "../encoding/encode-pairs.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { type HeadActivation, applyActivation, getLabelHead, logitsOutput } from "../encoding/label-head.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import { textTaskSettings } from "../definition/task-options.ts";
import { rerankOptions } from "./rerank-options.ts";
import type { RerankOptions } from "./generated-rerank-options.ts";

/** A document with its score. */
export interface RankedDocument {
  /** Index of the document in the list that was given. */
  readonly index: number;
  /** Relevance, higher is better; its range depends on `Ranking.scoring`. */
  readonly score: number;
  readonly text: string;
}

/** Documents ordered by their relevance to a query. */
export interface Ranking {
  /** By descending score; equal scores in the order of the input. */
  readonly results: readonly RankedDocument[];
  /**
   * Kind of a score: the "sigmoid" or "softmax" of a cross-encoder's logits, the logit itself ("none"), the "cosine" of two embeddings, "maxsim" of token
   * vectors, or "meanmaxsim", which is divided by the number of query vectors.
   */
  readonly scoring: HeadActivation | "cosine" | "maxsim" | "meanmaxsim";
  /** Number of tokens the model read for each document, in the order of the input; with a cross-encoder including the query's tokens. */
  readonly tokens: readonly number[];
  /** Number of tokens of the query; absent with a cross-encoder, which reads it with every document. */
  readonly queryTokens?: number;
  /** Indices of the documents that were truncated. */
  readonly truncated: readonly number[];
}

/**
 * Scores every document with a cross-encoder and sorts them. Of a pair that is too long only the document is truncated. Throws
 * MODEL_UNSUPPORTED for a model that does not have one or two labels.
 */
export async function rerankByCrossEncoder(
  encoder: Encoder,
  query: string,
  documents: readonly string[],
  options: RerankOptions = {},
): Promise<Ranking> {
  const { signal, raw = false, topN } = options;
  validateRerank(query, documents, options);
  const settings = textTaskSettings(encoder.manifest, options);
  const head = getScoreHead(encoder.manifest);
  const output = logitsOutput(encoder.outputs, 2);
  const pairs = documents.map((document) => ({ text: query, pair: document }));
  const name = (index: number): string => `the query and document ${index}`;
  const limits = { ...settings, strategy: "only_second", name } as const;
  const encodings = await encodePairs(encoder.tokenizer, pairs, limits, signal);
  const scores = new Float32Array(documents.length);
  const run = { output, batchTokens: settings.batchTokens, signal };
  const activation = raw ? "none" : head.activation;
  await runEncodings(encoder, encodings, run, ({ index, data, offset, shape }) => {
    const logits = data.slice(offset, offset + at(shape, 0));
    requireFinite(logits, index);
    scores[index] = applyActivation(logits, activation)[head.label] ?? Number.NaN;
  });
  return {
    results: rankDocuments(scores, documents, topN),
    scoring: activation,
    ...readCounts(encodings),
  };
}

/** Sorts documents by descending score; equal scores keep the order of the input. `scores[i]` belongs to `documents[i]`. */
export function rankDocuments(
  scores: ArrayLike<number>,
  documents: readonly string[],
  topN: number = documents.length,
): RankedDocument[] {
  const ranked = documents.map((text, index) => ({ index, score: at(scores, index), text }));
  return ranked.sort((a, b) => b.score - a.score).slice(0, topN);
}

/** Validates the arguments of all rerank variants. Throws INPUT_INVALID. */
export function validateRerank(query: unknown, documents: readonly unknown[], options: RerankOptions): void {
  if (typeof query !== "string") throw invalidInput("the query must be a string");
  if (!Array.isArray(documents)) throw invalidInput("documents must be an array of strings");
  const wrong = documents.findIndex((document) => typeof document !== "string");
  if (wrong !== -1) throw new InferyardError("INPUT_INVALID", `document ${wrong} is not a string`, { data: { document: wrong } });
  checkOptions(rerankOptions, options);
}

interface ScoreHead {
  readonly activation: HeadActivation;
  /** Index of the logit that is the score. */
  readonly label: number;
}

/**
 * How a cross-encoder's logits become a score. One label: the activation that `sentence_transformers.activation_fn` of config.json names,
 * otherwise a sigmoid, as in CrossEncoder. Two labels: the probability of the second, "relevant". Throws MODEL_UNSUPPORTED for any other number
 * of labels or an unknown activation.
 */
export function getScoreHead(manifest: Manifest): ScoreHead {
  const { labels } = getLabelHead(manifest);
  if (labels.length === 2) return { activation: statedActivation(manifest) ?? "softmax", label: 1 };
  if (labels.length === 1) return { activation: statedActivation(manifest) ?? "sigmoid", label: 0 };
  throw unsupportedModel(
    `${manifest.name} has ${labels.length} labels (${labels.slice(0, 4).join(", ")}), and a reranker has one or two`,
    "use a cross-encoder, or an embedding model",
  );
}

function statedActivation({ name, variants }: Manifest): HeadActivation | undefined {
  const config = variants[0]?.config ?? {};
  const section = config["sentence_transformers"];
  const inSection =
    typeof section === "object" && section !== null ? (section as Record<string, unknown>)["activation_fn"] : undefined;
  const stated = inSection ?? config["sbert_ce_default_activation_function"];
  if (stated === undefined || stated === null) return undefined;
  const short = typeof stated === "string" ? stated.split(".").at(-1) : undefined;
  if (short === "Identity") return "none";
  if (short === "Sigmoid") return "sigmoid";
  throw unsupportedModel(
    `${name} needs the activation ${JSON.stringify(stated)}, which is not supported`,
    `ask for the logits: ${quoteOption("raw", true)}`,
  );
}
