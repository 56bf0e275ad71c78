/**
 * GGUF models in the terms of Hugging Face transformers: the class of an architecture of llama.cpp, its config.json, and the names of its tensors in a
 * safetensors file. Sources: `convert_hf_to_gguf.py` and gguf-py/gguf/constants.py of https://github.com/ggml-org/llama.cpp, and src/llama-model.cpp for
 * what the metadata does not state.
 */
import { ggufNumber } from "../gguf-metadata.ts";
import { ropeFactors, ropeScaling } from "./rope-scaling.ts";
import { GgufSettings } from "./settings.ts";
import type { GgufModel } from "./read-model.ts";

/** A configuration in the form of config.json. */
export type HuggingFaceConfig = Readonly<Record<string, unknown>>;

/** How the tensors and the metadata of one architecture are translated. */
export interface GgufArchitecture {
  /** Name of the family, to which the class names add "Model" or `generator`. */
  readonly family: string;
  /** What the class names of language models end in. Undefined: the model does not write text. */
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
  config(settings: GgufSettings, model: GgufModel): HuggingFaceConfig;
}

const llamaTensors = {
  token_embd: "embed_tokens",
  output_norm: "norm",
  output: "lm_head",
  "blk.*.attn_norm": "layers.*.input_layernorm",
  "blk.*.attn_q": "layers.*.self_attn.q_proj",
  "blk.*.attn_k": "layers.*.self_attn.k_proj",
  "blk.*.attn_v": "layers.*.self_attn.v_proj",
  "blk.*.attn_qkv": "layers.*.self_attn.qkv_proj",
  "blk.*.attn_q_norm": "layers.*.self_attn.q_norm",
  "blk.*.attn_k_norm": "layers.*.self_attn.k_norm",
  "blk.*.attn_output": "layers.*.self_attn.o_proj",
  "blk.*.ffn_norm": "layers.*.post_attention_layernorm",
  "blk.*.ffn_gate": "layers.*.mlp.gate_proj",
  "blk.*.ffn_up": "layers.*.mlp.up_proj",
  "blk.*.ffn_down": "layers.*.mlp.down_proj",
} as const;

const gemmaTensors = {
  ...llamaTensors,
  "blk.*.post_attention_norm": "layers.*.post_attention_layernorm",
  "blk.*.ffn_norm": "layers.*.pre_feedforward_layernorm",
  "blk.*.post_ffw_norm": "layers.*.post_feedforward_layernorm",
} as const;

/** Number of rows of a tensor, its outermost dimension. */
function rowsOf(model: GgufModel, name: string): number | undefined {
  return model.tensors.get(name)?.shape[1];
}

function hasTensor(model: GgufModel, name: string): boolean {
  return model.tensors.has(name);
}

/** What all decoders have. */
function decoderConfig(settings: GgufSettings, model: GgufModel): HuggingFaceConfig {
  settings.requireNone("expert_count", "a mixture of experts");
  const heads = settings.number("attention.head_count");
  const headSize = settings.numberIfGiven("attention.key_length") ?? settings.number("embedding_length") / heads;
  return {
    ...sizes(settings, model),
    num_key_value_heads: settings.numberIfGiven("attention.head_count_kv") ?? heads,
    head_dim: headSize,
    rms_norm_eps: settings.number("attention.layer_norm_rms_epsilon"),
    tie_word_embeddings: !hasTensor(model, "output.weight"),
    rope_theta: settings.numberIfGiven("rope.freq_base") ?? 10_000,
    ...ropeScaling(settings, headSize),
  };
}

function sizes(settings: GgufSettings, model: GgufModel): HuggingFaceConfig {
  return {
    hidden_size: settings.number("embedding_length"),
    intermediate_size: settings.number("feed_forward_length"),
    num_hidden_layers: settings.number("block_count"),
    num_attention_heads: settings.number("attention.head_count"),
    max_position_embeddings: settings.number("context_length"),
    vocab_size: rowsOf(model, "token_embd.weight") ?? settings.number("vocab_size"),
  };
}

function gemmaCaps(settings: GgufSettings): HuggingFaceConfig {
  return {
    attn_logit_softcapping: settings.numberIfGiven("attn_logit_softcapping") ?? null,
    final_logit_softcapping: settings.numberIfGiven("final_logit_softcapping") ?? null,
    sliding_window: settings.number("attention.sliding_window"),
  };
}

/** The largest Gemma of a generation, known by its number of layers, scales scores by the hidden size divided by the heads. */
function queryScalar(settings: GgufSettings, layersOfLargest: number): HuggingFaceConfig {
  const [width, heads] = [settings.number("embedding_length"), settings.number("attention.head_count")];
  const isLargest = settings.number("block_count") === layersOfLargest;
  return { query_pre_attn_scalar: isLargest ? width / heads : (settings.numberIfGiven("attention.key_length") ?? width / heads) };
}

const bertTensors = {
  token_embd: "embeddings.word_embeddings",
  position_embd: "embeddings.position_embeddings",
  token_types: "embeddings.token_type_embeddings",
  token_embd_norm: "embeddings.LayerNorm",
  "blk.*.attn_q": "encoder.layer.*.attention.self.query",
  "blk.*.attn_k": "encoder.layer.*.attention.self.key",
  "blk.*.attn_v": "encoder.layer.*.attention.self.value",
  "blk.*.attn_output": "encoder.layer.*.attention.output.dense",
  "blk.*.attn_output_norm": "encoder.layer.*.attention.output.LayerNorm",
  "blk.*.ffn_up": "encoder.layer.*.intermediate.dense",
  "blk.*.ffn_down": "encoder.layer.*.output.dense",
  "blk.*.layer_output_norm": "encoder.layer.*.output.LayerNorm",
  cls: "pooler.dense",
  "cls.output": "classifier",
} as const;

const decoder = { generator: "ForCausalLM", tensors: llamaTensors, config: decoderConfig } as const;

/** The architectures by `general.architecture`. */
const architectures: Readonly<Record<string, GgufArchitecture>> = {
  // Mistral, SmolLM and SmolLM2 too. Rows of queries and keys are permuted by convert_hf_to_gguf.py.
  llama: {
    ...decoder,
    family: "Llama",
    isInterleaved: true,
    config: (settings, model) => ({
      ...decoderConfig(settings, model),
      attention_bias: hasTensor(model, "blk.0.attn_q.bias"),
      mlp_bias: hasTensor(model, "blk.0.ffn_gate.bias"),
    }),
  },
  qwen2: { ...decoder, family: "Qwen2" },
  qwen3: { ...decoder, family: "Qwen3" },
  gemma: { ...decoder, family: "Gemma", addsOneToNorms: true },
  gemma2: {
    ...decoder,
    family: "Gemma2",
    tensors: gemmaTensors,
    addsOneToNorms: true,
    config: (settings, model) => ({
      ...decoderConfig(settings, model),
      ...gemmaCaps(settings),
      ...queryScalar(settings, 46),
    }),
  },
  gemma3: {
    ...decoder,
    family: "Gemma3",
    encoder: "Gemma3TextModel",
    tensors: gemmaTensors,
    addsOneToNorms: true,
    config: gemma3Config,
  },
  phi3: {
    ...decoder,
    family: "Phi3",
    tensors: { ...llamaTensors, "blk.*.ffn_up": "layers.*.mlp.gate_up_proj" },
    config: (settings, model) => ({
      ...decoderConfig(settings, model),
      sliding_window: settings.numberIfGiven("attention.sliding_window") || null,
    }),
  },
  gpt2: {
    family: "GPT2",
    generator: "LMHeadModel",
    tensors: {
      token_embd: "wte",
      position_embd: "wpe",
      output_norm: "ln_f",
      output: "lm_head",
      "blk.*.attn_norm": "h.*.ln_1",
      "blk.*.attn_qkv": "h.*.attn.c_attn",
      "blk.*.attn_output": "h.*.attn.c_proj",
      "blk.*.ffn_norm": "h.*.ln_2",
      "blk.*.ffn_up": "h.*.mlp.c_fc",
      "blk.*.ffn_down": "h.*.mlp.c_proj",
    },
    transposed: ["attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"],
    config: (settings, model) => ({
      n_embd: settings.number("embedding_length"),
      n_head: settings.number("attention.head_count"),
      n_layer: settings.number("block_count"),
      n_inner: settings.number("feed_forward_length"),
      n_positions: settings.number("context_length"),
      vocab_size: rowsOf(model, "token_embd.weight"),
      layer_norm_epsilon: settings.number("attention.layer_norm_epsilon"),
      tie_word_embeddings: !hasTensor(model, "output.weight"),
    }),
  },
  // RoBERTa too: its converter removes the rows of the position table before the first position, which makes it a BERT.
  bert: {
    family: "Bert",
    tensors: bertTensors,
    config: (settings, model) => ({
      ...sizes(settings, model),
      max_position_embeddings: rowsOf(model, "position_embd.weight") ?? settings.number("context_length"),
      type_vocab_size: rowsOf(model, "token_types.weight") ?? 1,
      layer_norm_eps: settings.number("attention.layer_norm_epsilon"),
    }),
  },
};

function gemma3Config(settings: GgufSettings, model: GgufModel): HuggingFaceConfig {
  return {
    ...decoderConfig(settings, model),
    ...gemmaCaps(settings),
    ...queryScalar(settings, 62),
    rope_theta: settings.numberIfGiven("rope.freq_base") ?? 1_000_000,
    rope_local_base_freq: settings.numberIfGiven("rope.freq_base_swa") ?? 10_000,
  };
}

/** The translation of a model, or undefined if its architecture has none here. */
export function ggufArchitecture({ architecture }: Pick<GgufModel, "architecture">): GgufArchitecture | undefined {
  return Object.hasOwn(architectures, architecture) ? architectures[architecture] : undefined;
}

/** How the vectors of tokens become one, as `{architecture}.pooling_type` states it. Undefined: the file states nothing. */
export type GgufPooling = "none" | "mean" | "cls" | "last" | "rank";

const poolings: readonly GgufPooling[] = ["none", "mean", "cls", "last", "rank"];

/** The pooling that the metadata states. */
export function ggufPooling({ architecture, metadata }: Pick<GgufModel, "architecture" | "metadata">): GgufPooling | undefined {
  const number = ggufNumber(metadata, `${architecture}.pooling_type`);
  return number === undefined ? undefined : poolings[number];
}

/**
 * The class and configuration of a model as Hugging Face transformers has them, or undefined for an architecture that is not translated. A model that
 * states a pooling is an encoder. Throws MODEL_INVALID if the metadata lacks a setting, and MODEL_UNSUPPORTED for one that has no counterpart.
 */
export async function huggingFaceModel(
  model: GgufModel,
): Promise<{ readonly className: string; readonly config: HuggingFaceConfig } | undefined> {
  const architecture = ggufArchitecture(model);
  if (architecture === undefined) return undefined;
  const { family, generator, encoder = `${family}Model` } = architecture;
  const pooling = ggufPooling(model);
  const settings = new GgufSettings(model);
  const config = { ...architecture.config(settings, model), ...(await ropeFactors(settings, model)) };
  if (pooling === "rank" && hasTensor(model, "cls.output.weight")) {
    const labels = model.tensors.get("cls.output.weight")?.shape[1] ?? 1;
    return { className: `${family}ForSequenceClassification`, config: { ...config, num_labels: labels } };
  }
  const isEncoder = generator === undefined || (pooling !== undefined && pooling !== "none");
  return { className: isEncoder ? encoder : `${family}${generator}`, config };
}
