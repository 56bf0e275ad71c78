/** Late interaction (ColBERT): texts keep a vector for every token, and a query meets a document token by token. */
import { InferyardError } from "../errors.ts";
import { embed } from "./embed.ts";
import type { TokenSource } from "./encode-texts.ts";
import type { Encoder } from "./encoder-runs.ts";
import { type Ranking, type RerankOptions, checkRerank, order } from "./rerank.ts";

/** Vectors of tokens, one after the other. */
export interface TokenVectors {
  readonly data: Float32Array;
  readonly dimensions: number;
}

/** MaxSim: for each token of the query the highest dot product with a token of the document, summed (Khattab & Zaharia 2020). */
export function maxSim(query: TokenVectors, document: TokenVectors): number {
  const { dimensions } = query;
  if (dimensions !== document.dimensions || dimensions <= 0) {
    throw new InferyardError(
      "INPUT_INVALID",
      `token vectors of ${dimensions} and of ${document.dimensions} dimensions do not meet`,
    );
  }
  let sum = 0;
  for (let asked = 0; asked < query.data.length; asked += dimensions) {
    let best = Number.NEGATIVE_INFINITY;
    for (let given = 0; given < document.data.length; given += dimensions) {
      let product = 0;
      for (let axis = 0; axis < dimensions; axis += 1)
        product += (query.data[asked + axis] ?? 0) * (document.data[given + axis] ?? 0);
      if (product > best) best = product;
    }
    sum += best;
  }
  return sum;
}

export async function rerankByLateInteraction(
  encoder: Encoder<TokenSource>,
  query: string,
  documents: readonly string[],
  { topN, raw: _raw, ...limits }: RerankOptions,
): Promise<Ranking> {
  checkRerank(query, documents, topN === undefined ? {} : { topN });
  const asked = await embed(encoder, [query], { ...limits, pooling: "none" });
  const given = await embed(encoder, documents, { ...limits, pooling: "none" });
  const { dimensions } = asked;
  const words = { data: asked.embeddings[0] ?? new Float32Array(), dimensions };
  const scores = given.embeddings.map((data) => maxSim(words, { data, dimensions }));
  const { tokens, truncated } = given;
  return { results: order(scores, documents, topN), scoring: "maxsim", tokens, queryTokens: asked.tokens[0] ?? 0, truncated };
}
