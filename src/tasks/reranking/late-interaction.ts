/** Task `text-ranking` with a model that gives a vector for each token: documents by MaxSim (Khattab and Zaharia 2020). */
import { at } from "../../contract/checked.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { hasMultiVectorHead, embedWithHeads } from "../embedding/heads.ts";
import { type LateInteractionRole, embedTokenVectors, isLateInteractionModel } from "../embedding/late-interaction.ts";
import { type TokenVectors, maxSim } from "../embedding/max-sim.ts";
import { type Ranking, rankDocuments, validateRerank } from "./cross-encoder.ts";
import type { RerankOptions } from "./generated-rerank-options.ts";

/** Whether a model gives vectors of tokens that MaxSim compares. */
export function isMultiVectorModel(encoder: Encoder): boolean {
  return isLateInteractionModel(encoder) || hasMultiVectorHead(encoder);
}

interface RoleVectors {
  readonly vectors: readonly TokenVectors[];
  readonly tokens: readonly number[];
  readonly truncated: readonly number[];
}

/**
 * Ranks documents by their MaxSim score with the query, highest first; `topN` limits the number of results. With vectors of length 1 the score is between minus
 * and plus the number of query vectors. For BGE-M3, and models that state "meanmaxsim", it is divided by that number: between -1 and 1. Throws INPUT_INVALID
 * for invalid input or options.
 */
export async function rerankByLateInteraction(
  encoder: Encoder,
  query: string,
  documents: readonly string[],
  options: RerankOptions,
): Promise<Ranking> {
  validateRerank(query, documents, options);
  const { topN, raw, ...limits } = options;
  if (raw === true) {
    throw invalidInput(
      `${encoder.manifest.name} compares token vectors: MaxSim has no raw form`,
      "leave `raw` out, or use a cross-encoder",
    );
  }
  const toVectors = async (texts: readonly string[], role: LateInteractionRole): Promise<RoleVectors> => {
    if (isLateInteractionModel(encoder)) {
      const { embeddings, dimensions, ...read } = await embedTokenVectors(encoder, texts, role, limits);
      return { ...read, vectors: embeddings.map((data) => ({ data, dimensions })) };
    }
    const { multiVector = [], dimensions, ...read } = await embedWithHeads(encoder, texts, ["multi-vector"], limits);
    return { ...read, vectors: multiVector.map((data) => ({ data, dimensions: dimensions.multiVector ?? 0 })) };
  };
  const asked = await toVectors([query], "query");
  const { vectors, tokens, truncated } = await toVectors(documents, "document");
  const queryVectors = at(asked.vectors, 0);
  const isMean = encoder.manifest.text?.lateInteraction?.meanScore ?? !isLateInteractionModel(encoder);
  const divisor = isMean ? queryVectors.data.length / queryVectors.dimensions : 1;
  const scores = vectors.map((one) => (one.data.length === 0 ? Number.NEGATIVE_INFINITY : maxSim(queryVectors, one) / divisor));
  return {
    results: rankDocuments(scores, documents, topN),
    scoring: isMean ? "meanmaxsim" : "maxsim",
    tokens,
    queryTokens: at(asked.tokens, 0),
    truncated,
  };
}
