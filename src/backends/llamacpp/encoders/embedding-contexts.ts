/**
 * Computes the pooled vector or the logits of a text. node-llama-cpp's own embedding context adds tokens to the text, and its ranking context
 * puts query and document together by itself and applies a sigmoid; neither passes the type of attention or of the caches on. Both are a
 * `LlamaContext` with the flags `_embeddings` and `_ranking`, whose result is read with `getEmbedding`. This file uses the same members, which
 * are not part of the published types, and states so if a version does not have them. llama.cpp itself does not normalize.
 */
import { singlePrecision } from "../sequence-slots.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { LlamaContext, LlamaModel } from "../library.ts";

/** How contexts are created. */
export interface EmbeddingSettings {
  /** Maximum number of tokens of a text. */
  readonly maxTokens: number;
  readonly threads: number;
  /** Whether the classification head is computed. */
  readonly isRanking: boolean;
  /** Whether attention is in single precision instead of half precision. */
  readonly isSinglePrecision: boolean;
}

/** Tokens of the smallest context, to which llama.cpp pads. */
const minContext = 256;

/** The context of one model. A text must fit into one batch, so a longer text than before gets a larger context. */
export class EmbeddingContexts {
  readonly #model: LlamaModel;
  readonly #settings: EmbeddingSettings;
  #current: OpenContext | undefined;

  constructor(model: LlamaModel, settings: EmbeddingSettings) {
    this.#model = model;
    this.#settings = settings;
  }

  /** Bytes of the context. */
  get bytes(): number {
    const { ram, vram } = this.#current?.context.memoryUsage ?? { ram: 0, vram: 0 };
    return ram + vram;
  }

  /** The result for a text of at least one and at most `maxTokens` tokens, special tokens included. Calls must not overlap. */
  async compute(tokens: readonly number[]): Promise<Float32Array> {
    const { context, sequence } = await this.#contextFor(tokens.length);
    await sequence.clearHistory();
    await sequence.evaluateWithoutGeneratingNewTokens(tokens);
    const { _ctx: bindings } = context;
    if (bindings?.getEmbedding === undefined) {
      throw new InferyardError("BACKEND_UNAVAILABLE", "this version of node-llama-cpp does not give the vectors of a text", {
        remedy: "npm install node-llama-cpp@3.22.1 --ignore-scripts",
      });
    }
    return Float32Array.from(bindings.getEmbedding(tokens.length));
  }

  async dispose(): Promise<void> {
    const { context } = this.#current ?? {};
    this.#current = undefined;
    await context?.dispose();
  }

  async #contextFor(tokens: number): Promise<OpenContext> {
    // node-llama-cpp needs room for a token more than a text has.
    if (this.#current !== undefined && tokens < this.#current.context.contextSize) return this.#current;
    await this.dispose();
    const { maxTokens, threads, isRanking, isSinglePrecision } = this.#settings;
    const size = Math.max(minContext, Math.min(maxTokens + 1, 2 ** Math.ceil(Math.log2(tokens + 1))));
    try {
      const context = await this.#model.createContext({
        contextSize: size,
        sequences: 1,
        batchSize: size,
        threads,
        swaFullCache: true,
        failedCreationRemedy: false,
        _embeddings: true,
        ...(isRanking ? { _ranking: true } : {}),
        ...(isSinglePrecision ? singlePrecision : {}),
      });
      this.#current = { context, sequence: context.getSequence() };
      return this.#current;
    } catch (cause) {
      throw new InferyardError("OUT_OF_MEMORY", `llama.cpp could not allocate the buffers of a text of ${tokens} tokens`, {
        cause,
        remedy: "give shorter texts",
      });
    }
  }
}

interface OpenContext {
  readonly context: LlamaContext;
  readonly sequence: ReturnType<LlamaContext["getSequence"]>;
}
