/** How the tensors and the metadata of one architecture of llama.cpp are translated to the terms of Hugging Face transformers. */
import type { GgufModel } from "./read-model.ts";
import type { GgufSettings } from "./settings.ts";

/** A configuration in the form of config.json. */
export type HuggingFaceConfig = Readonly<Record<string, unknown>>;

/** Translation of the tensors and the metadata of one architecture. */
export interface GgufArchitecture {
  /** Name of the family, to which the class names add "Model" or `generator`. */
  readonly family: string;
  /** Suffix of the class names of its language models. Undefined: the model does not write text. */
  readonly generator?: string;
  /** Class without an output layer. Default: `family` and "Model". */
  readonly encoder?: string;
  /** Names without ".weight" and ".bias", with * for the number of the layer. */
  readonly tensors: Readonly<Record<string, string>>;
  /** Tensors of PyTorch's Conv1D, `[in, out]`, which GGUF has as `[out, in]`. */
  readonly transposed?: readonly string[];
  /** Whether rows of the query and key projections are ordered for rotary embeddings that pair neighbouring elements. */
  readonly isInterleaved?: boolean;
  /** Whether the weights of RMSNorm have 1 added. */
  readonly addsOneToNorms?: boolean;
  /** Tensors of linear layers that follow the pooling, in order, without ".weight" and ".bias". The model class does not have them. */
  readonly postPooling?: readonly string[];
  config(settings: GgufSettings, model: GgufModel): HuggingFaceConfig;
}

/** Number of rows of a tensor, its outermost dimension. */
export function getRows(model: GgufModel, name: string): number | undefined {
  return model.tensors.get(name)?.shape[1];
}

export function hasTensor(model: GgufModel, name: string): boolean {
  return model.tensors.has(name);
}

/** The sizes that models of every architecture have. */
export function sizes(settings: GgufSettings, model: GgufModel): HuggingFaceConfig {
  return {
    hidden_size: settings.number("embedding_length"),
    intermediate_size: settings.number("feed_forward_length"),
    num_hidden_layers: settings.number("block_count"),
    num_attention_heads: settings.number("attention.head_count"),
    max_position_embeddings: settings.number("context_length"),
    vocab_size: getRows(model, "token_embd.weight") ?? settings.number("vocab_size"),
  };
}
