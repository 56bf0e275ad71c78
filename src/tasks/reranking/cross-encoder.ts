/** Reranking: how well documents answer a query, by a cross-encoder, as sentence-transformers' CrossEncoder scores and orders them. */
import { InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { refuseNonPositive, refuseUnlisted } from "../../runtime/options/options.ts";
import { encodePairs } from "../shared/encode-pairs.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { type Activation, applyActivation, labelHeadOf, logitsOutput, requireFinite } from "../shared/label-head.ts";
import { type TextTaskOptions, textTaskOptionNames, textTaskSettings } from "../shared/task-options.ts";

export interface RerankOptions extends TextTaskOptions {
  /** How many documents are given, best first. Default: all. */
  readonly topN?: number;
  /** The model's own numbers, with no activation. Default: false. */
  readonly raw?: boolean;
}

export const rerankOptionNames: readonly (keyof RerankOptions)[] = [...textTaskOptionNames, "topN", "raw"];

export interface RankedDocument {
  /** Place of the document in the list that was given. */
  readonly index: number;
  readonly score: number;
  readonly text: string;
}

export interface Ranking {
  /** Best first; equal scores in the order that was given. */
  readonly results: readonly RankedDocument[];
  /** How the scores came about: "sigmoid", "softmax" or "none" of the model's logits, "cosine" of embeddings, "maxsim" of token vectors. */
  readonly scoring: Activation | "cosine" | "maxsim";
  /** Tokens the model saw for each document, in the order that was given; query included where the two are read together. */
  readonly tokens: readonly number[];
  /** Tokens of the query, where it is read once and by itself ("cosine" and "maxsim"); else left out. */
  readonly queryTokens?: number;
  /** Indices of the documents that were cut. */
  readonly truncated: readonly number[];
}

/** Only the document is cut where the pair is too long: a query without its end asks something else. */
export async function rerank(
  encoder: Encoder,
  query: string,
  documents: readonly string[],
  options: RerankOptions = {},
): Promise<Ranking> {
  const { signal, raw = false, topN } = options;
  validateRerank(query, documents, options);
  const settings = textTaskSettings(encoder.manifest, options);
  const head = scoreHeadOf(encoder.manifest);
  const output = logitsOutput(encoder.outputs, 2);
  const pairs = documents.map((document) => ({ text: query, pair: document }));
  const name = (index: number): string => `the query and document ${index}`;
  const limits = { ...settings, strategy: "only_second", name } as const;
  const encodings = await encodePairs(encoder.tokenizer, pairs, limits, signal);
  const scores = new Float32Array(documents.length);
  const wanted = { output, batchTokens: settings.batchTokens, ...(signal === undefined ? {} : { signal }) };
  const activation = raw ? "none" : head.activation;
  await runEncodings(encoder, encodings, wanted, ({ index, data, offset, shape }) => {
    const logits = data.slice(offset, offset + (shape[0] ?? 0));
    requireFinite(logits, index);
    scores[index] = applyActivation(logits, activation)[head.label] ?? Number.NaN;
  });
  return {
    results: rankDocuments(scores, documents, topN),
    scoring: activation,
    tokens: encodings.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

/** Best first, ties in the given order; the scores are of the documents in their own order. */
export function rankDocuments(
  scores: ArrayLike<number>,
  documents: readonly string[],
  topN: number = documents.length,
): RankedDocument[] {
  const ranked = documents.map((text, index) => ({ index, score: scores[index] ?? Number.NaN, text }));
  return ranked.sort((a, b) => b.score - a.score).slice(0, topN);
}

export function validateRerank(query: unknown, documents: readonly unknown[], { topN, raw }: RerankOptions): void {
  if (typeof query !== "string") throw new InferyardError("INPUT_INVALID", "the query must be a string");
  if (!Array.isArray(documents)) throw new InferyardError("INPUT_INVALID", "documents must be an array of strings");
  const wrong = documents.findIndex((document) => typeof document !== "string");
  if (wrong !== -1) throw new InferyardError("INPUT_INVALID", `document ${wrong} is not a string`, { data: { document: wrong } });
  refuseNonPositive("topN", topN);
  refuseUnlisted("raw", raw, [true, false]);
}

interface ScoreHead {
  readonly activation: Activation;
  /** Which of the model's outputs is the score. */
  readonly label: number;
}

/**
 * One output: what `sentence_transformers.activation_fn` of config.json says, else a sigmoid, as CrossEncoder has it. Two: the share of
 * the second, which says that the document answers the query.
 */
export function scoreHeadOf(manifest: Manifest): ScoreHead {
  const { labels } = labelHeadOf(manifest);
  if (labels.length === 2) return { activation: statedActivation(manifest) ?? "softmax", label: 1 };
  if (labels.length === 1) return { activation: statedActivation(manifest) ?? "sigmoid", label: 0 };
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `${manifest.name} has ${labels.length} labels (${labels.slice(0, 4).join(", ")}), and a reranker has one or two`,
    { remedy: "use a cross-encoder, or an embedding model" },
  );
}

function statedActivation({ name, variants }: Manifest): Activation | undefined {
  const config = variants[0]?.config ?? {};
  const section = config["sentence_transformers"];
  const inSection =
    typeof section === "object" && section !== null ? (section as Record<string, unknown>)["activation_fn"] : undefined;
  const stated = inSection ?? config["sbert_ce_default_activation_function"];
  if (stated === undefined || stated === null) return undefined;
  const short = typeof stated === "string" ? stated.split(".").at(-1) : undefined;
  if (short === "Identity") return "none";
  if (short === "Sigmoid") return "sigmoid";
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `${name} wants the activation ${JSON.stringify(stated)}, which this version does not compute`,
    {
      remedy: "ask for the model's own numbers: --raw",
    },
  );
}
