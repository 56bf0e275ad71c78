/**
 * Inferyard as a provider of Vercel's AI SDK (`ai` 6): language, embedding and reranking models.
 *
 * @module ai-sdk
 */
import { omitUndefined } from "../contract/checked.ts";
import type { Runtime } from "../api/runtime.ts";
import { InferyardError } from "../contract/errors.ts";
import { languageModel } from "./language-model.ts";
import type { EmbeddingModelV3, LanguageModelV3, RerankingModelV3 } from "./model-types.ts";

export type {
  ModelCallOptions,
  Content,
  EmbeddingModelV3,
  FinishReason,
  LanguageModelV3,
  PromptMessage,
  PromptPart,
  RerankingModelV3,
  StreamPart,
  ModelUsage,
} from "./model-types.ts";

/** Makes models of the AI SDK. Calling it gives a language model. A model is loaded at its first call, and stays for the runtime's `keepAlive`. */
export interface InferyardProvider {
  /** A language model, by its reference. It needs a chat template. */
  (modelId: string): LanguageModelV3;
  readonly specificationVersion: "v3";
  /** A language model, by its reference. It needs a chat template. */
  languageModel(modelId: string): LanguageModelV3;
  /** An embedding model, by its reference. Default: "builtin". */
  embeddingModel(modelId?: string): EmbeddingModelV3;
  /** The former name of `embeddingModel`. */
  textEmbeddingModel(modelId?: string): EmbeddingModelV3;
  /** A model that ranks documents, by its reference. Default: "builtin". */
  rerankingModel(modelId?: string): RerankingModelV3;
  /** Throws NOT_BUILT: there are no models here that make images. */
  imageModel(modelId: string): never;
}

/** Makes the provider of a runtime, which the caller disposes of. */
export function createInferyard(runtime: Runtime): InferyardProvider {
  const toLanguageModel = (modelId: string): LanguageModelV3 => languageModel(runtime, modelId);
  const toEmbeddingModel = (modelId = "builtin"): EmbeddingModelV3 => embeddingModel(runtime, modelId);
  return Object.assign(toLanguageModel, {
    specificationVersion: "v3" as const,
    languageModel: toLanguageModel,
    embeddingModel: toEmbeddingModel,
    textEmbeddingModel: toEmbeddingModel,
    rerankingModel: (modelId = "builtin") => rerankingModel(runtime, modelId),
    imageModel: (modelId: string): never => {
      throw new InferyardError("NOT_BUILT", `${modelId} is asked for as a model that makes images`, {
        remedy: "use another provider for it",
      });
    },
  });
}

function embeddingModel(runtime: Runtime, modelId: string): EmbeddingModelV3 {
  return {
    specificationVersion: "v3",
    provider: "inferyard",
    modelId,
    maxEmbeddingsPerCall: undefined,
    supportsParallelCalls: true,
    async doEmbed({ values, abortSignal: signal }) {
      const { embeddings, tokens } = await runtime.embed(values, { model: modelId, ...omitUndefined({ signal }) });
      const count = tokens.reduce((sum, each) => sum + each, 0);
      return { embeddings: embeddings.map((vector) => [...vector]), usage: { tokens: count }, warnings: [] };
    },
  };
}

function rerankingModel(runtime: Runtime, modelId: string): RerankingModelV3 {
  return {
    specificationVersion: "v3",
    provider: "inferyard",
    modelId,
    async doRerank({ documents, query, topN, abortSignal: signal }) {
      const texts = documents.type === "text" ? documents.values : documents.values.map((value) => JSON.stringify(value));
      const options = { ...omitUndefined({ topN, signal }) };
      const { results } = await runtime.rerank(query, texts, { model: modelId, ...options });
      return { ranking: results.map(({ index, score }) => ({ index, relevanceScore: score })), warnings: [] };
    },
  };
}
