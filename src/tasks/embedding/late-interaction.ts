/** Late interaction (ColBERT, Khattab and Zaharia 2020): a text is a list of token vectors, and query and document are compared token by token. */
import { at } from "../../checked.ts";
import { InferyardError } from "../../errors.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { type EmbedOptions, embedSettings } from "./embed-options.ts";
import type { Embeddings } from "./embeddings.ts";
import { type TaskTokenizer, encodeTexts } from "../shared/encode-texts.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { maxSim } from "./max-sim.ts";
import { poolEncodings } from "./pool-encodings.ts";
import { type Ranking, validateRerank, rankDocuments } from "../reranking/cross-encoder.ts";
import type { RerankOptions } from "../reranking/rerank-options.ts";

/** Whether a late-interaction model reads a text as query or as document; the two have different markers and lengths. */
export type LateInteractionRole = "query" | "document";

/**
 * The token vectors that take part in MaxSim, prepared as PyLate and ColBERT do: a marker token after the prefix, query expansion with mask
 * tokens up to the query length, punctuation removed from documents. A model whose files declare none of these returns all token vectors.
 */
export async function embedTokenVectors(
  encoder: Encoder<TaskTokenizer>,
  texts: readonly string[],
  role: LateInteractionRole,
  options: EmbedOptions,
): Promise<Embeddings> {
  const settings = embedSettings(encoder.manifest, { ...options, pooling: "none" });
  const late = encoder.manifest.text?.lateInteraction;
  const { marker, maxTokens: roleLimit = Number.POSITIVE_INFINITY } = late?.[role] ?? {};
  const markerId = marker === undefined ? undefined : idOf(encoder, marker.trim());
  const limit = Math.min(settings.maxTokens, roleLimit);
  const { promptText: prompt, truncate } = settings;
  const maxTokens = limit - (markerId === undefined ? 0 : 1);
  const encodings = await encodeTexts(
    encoder.tokenizer,
    texts,
    { maxTokens, truncate: truncate === "error" ? "error" : "cut", prompt },
    options.signal,
  );
  const head = encoder.tokenizer.frame.prefix.length;
  const rows = encodings.map((encoding) => {
    const ids = markerId === undefined ? encoding.ids : encoding.ids.toSpliced(head, 0, markerId);
    if (role === "document" || late?.expandQueries !== true || !Number.isFinite(roleLimit))
      return { ...withoutIds(encoding), ids };
    const expanded = [...ids, ...Array.from({ length: Math.max(0, limit - ids.length) }, () => maskOf(encoder))];
    return { ...withoutIds(encoding), ids: expanded, ...(late.attendExpansion ? {} : { attended: ids.length }) };
  });
  const skipped = new Set(role === "query" ? [] : (late?.skippedWords ?? []).map((word) => encoder.tokenizer.idOf(word)));
  const embeddings: Float32Array[] = Array.from({ length: rows.length });
  const { dimensions } = await poolEncodings(encoder, rows, settings, options.signal, (vectors, index) => {
    embeddings[index] = withoutTokens(vectors, at(rows, index).ids, skipped);
  });
  return {
    embeddings,
    pooling: "none",
    dimensions,
    tokens: rows.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

function withoutIds({ truncated, wholeLength, promptTokens }: TokenIds): Omit<TokenIds, "ids"> {
  return { truncated, wholeLength, promptTokens };
}

function withoutTokens(vectors: Float32Array, ids: readonly number[], skipped: ReadonlySet<number | undefined>): Float32Array {
  const kept = ids.flatMap((id, token) => (skipped.has(id) ? [] : [token]));
  if (kept.length === ids.length) return vectors;
  const size = vectors.length / ids.length;
  const result = new Float32Array(kept.length * size);
  for (const [index, token] of kept.entries()) result.set(vectors.subarray(token * size, (token + 1) * size), index * size);
  return result;
}

function idOf({ manifest, tokenizer }: Encoder<TaskTokenizer>, marker: string): number {
  const id = tokenizer.idOf(marker) ?? tokenizer.idOf(`${marker} `);
  if (id !== undefined) return id;
  throw new InferyardError(
    "MODEL_INVALID",
    `${manifest.name} marks texts with ${JSON.stringify(marker)}, and its tokenizer has no such token`,
  );
}

function maskOf({ manifest, tokenizer }: Encoder<TaskTokenizer>): number {
  if (tokenizer.maskId !== undefined) return tokenizer.maskId;
  throw new InferyardError("MODEL_INVALID", `${manifest.name} fills queries with mask tokens, and its tokenizer has none`);
}

/**
 * Ranks documents by their MaxSim score with the query, highest first; `topN` limits the number of results. Throws INPUT_INVALID for invalid
 * input or options.
 */
export async function rerankByLateInteraction(
  encoder: Encoder<TaskTokenizer>,
  query: string,
  documents: readonly string[],
  { topN, raw: _raw, ...limits }: RerankOptions,
): Promise<Ranking> {
  validateRerank(query, documents, topN === undefined ? {} : { topN });
  const queryResult = await embedTokenVectors(encoder, [query], "query", limits);
  const documentResult = await embedTokenVectors(encoder, documents, "document", limits);
  const { dimensions } = queryResult;
  const queryVectors = { data: at(queryResult.embeddings, 0), dimensions };
  const scores = documentResult.embeddings.map((data) => maxSim(queryVectors, { data, dimensions }));
  const { tokens, truncated } = documentResult;
  return {
    results: rankDocuments(scores, documents, topN),
    scoring: "maxsim",
    tokens,
    queryTokens: at(queryResult.tokens, 0),
    truncated,
  };
}
