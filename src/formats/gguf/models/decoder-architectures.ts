/** Decoders of llama.cpp in the terms of Hugging Face transformers, by `general.architecture`. */
import { InferyardError } from "../../../contract/errors.ts";
import { type GgufArchitecture, hasTensor, type HuggingFaceConfig, getRows, sizes } from "./architecture.ts";
import { ropeScaling } from "./rope-scaling.ts";
import type { GgufSettings } from "./settings.ts";
import type { GgufModel } from "./read-model.ts";

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

/**
 * BitNet embedding models: RMSNorm of the input of each linear layer. docs/bitnet-embeddings-gguf-conversion.md of https://github.com/microsoft/BitNet
 * names the tensors. Their weights are multiplied as they are stored, those of Gemma too.
 */
const inputNorms = {
  "blk.*.attn_q_norm_in": "layers.*.self_attn.q_proj.norm",
  "blk.*.attn_k_norm_in": "layers.*.self_attn.k_proj.norm",
  "blk.*.attn_v_norm_in": "layers.*.self_attn.v_proj.norm",
  "blk.*.attn_output_norm_in": "layers.*.self_attn.o_proj.norm",
  "blk.*.ffn_gate_norm_in": "layers.*.mlp.gate_proj.norm",
  "blk.*.ffn_up_norm_in": "layers.*.mlp.up_proj.norm",
  "blk.*.ffn_down_norm_in": "layers.*.mlp.down_proj.norm",
} as const;

const gemmaTensors = {
  ...llamaTensors,
  "blk.*.post_attention_norm": "layers.*.post_attention_layernorm",
  "blk.*.ffn_norm": "layers.*.pre_feedforward_layernorm",
  "blk.*.post_ffw_norm": "layers.*.post_feedforward_layernorm",
} as const;

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
    ...(settings.booleanIfGiven("attention.causal") === false ? { use_bidirectional_attention: true } : {}),
    ...ropeScaling(settings, headSize),
  };
}

function gemmaCaps(settings: GgufSettings): HuggingFaceConfig {
  return {
    attn_logit_softcapping: settings.numberIfGiven("attn_logit_softcapping") ?? null,
    final_logit_softcapping: settings.numberIfGiven("final_logit_softcapping") ?? null,
  };
}

/** The largest Gemma of a generation, known by its number of layers, scales scores by the hidden size divided by the heads. */
function queryScalar(settings: GgufSettings, layersOfLargest: number): HuggingFaceConfig {
  const [width, heads] = [settings.number("embedding_length"), settings.number("attention.head_count")];
  const isLargest = settings.number("block_count") === layersOfLargest;
  return { query_pre_attn_scalar: isLargest ? width / heads : (settings.numberIfGiven("attention.key_length") ?? width / heads) };
}

/** Rotary embeddings and windows of Gemma 3. A file without a window has none on any layer: BitNet's embedding model is such a one. */
function gemma3Config(settings: GgufSettings, model: GgufModel): HuggingFaceConfig {
  const window = settings.numberIfGiven("attention.sliding_window") ?? 0;
  return {
    ...decoderConfig(settings, model),
    ...gemmaCaps(settings),
    ...queryScalar(settings, 62),
    ...(window === 0
      ? { sliding_window_pattern: 1 }
      : {
          sliding_window: window,
          sliding_window_pattern: settings.numberIfGiven("attention.sliding_window_pattern") ?? 6,
        }),
    rope_theta: settings.numberIfGiven("rope.freq_base") ?? 1_000_000,
    rope_local_base_freq: settings.numberIfGiven("rope.freq_base_swa") ?? 10_000,
  };
}

/**
 * Gemma 3 as a decoder. Without causal attention, llama.cpp lets a query of a sliding layer see the whole text after it, which transformers has no class
 * for.
 */
function causalGemma3Config(settings: GgufSettings, model: GgufModel): HuggingFaceConfig {
  if (settings.booleanIfGiven("attention.causal") !== false) return gemma3Config(settings, model);
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    'the model is a gemma3 without causal attention ("gemma3.attention.causal"), which the engine does not compute',
    { remedy: "run the model on llamacpp" },
  );
}

const decoder = { generator: "ForCausalLM", tensors: llamaTensors, config: decoderConfig } as const;

/** BitNet b1.58 (Ma et al. 2024, https://arxiv.org/abs/2402.17764): RMSNorm of the inputs of two linear layers of each block. */
const bitnet = {
  ...decoder,
  family: "BitNet",
  tensors: {
    ...llamaTensors,
    "blk.*.attn_sub_norm": "layers.*.self_attn.attn_sub_norm",
    "blk.*.ffn_sub_norm": "layers.*.mlp.ffn_sub_norm",
  },
} as const;

/** BitNet with this activation of the gate where the file states none. */
const bitnetWith = (activation: string): GgufArchitecture => ({
  ...bitnet,
  config: (settings, model) => ({
    ...decoderConfig(settings, model),
    hidden_act: settings.textIfGiven("hidden_activation") ?? activation,
  }),
});

export const decoders: Readonly<Record<string, GgufArchitecture>> = {
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
  qwen3: { ...decoder, family: "Qwen3", tensors: { ...llamaTensors, ...inputNorms } },
  gemma: { ...decoder, family: "Gemma", addsOneToNorms: true },
  gemma2: {
    ...decoder,
    family: "Gemma2",
    tensors: gemmaTensors,
    addsOneToNorms: true,
    config: (settings, model) => ({
      ...decoderConfig(settings, model),
      ...gemmaCaps(settings),
      sliding_window: settings.number("attention.sliding_window"),
      ...queryScalar(settings, 46),
    }),
  },
  gemma3: {
    ...decoder,
    family: "Gemma3",
    encoder: "Gemma3TextModel",
    tensors: { ...gemmaTensors, ...inputNorms },
    addsOneToNorms: true,
    config: causalGemma3Config,
  },
  // EmbeddingGemma: Gemma 3 whose tokens see the whole text, or the tokens in a window around them. dense_2 and dense_3 are Dense of sentence-transformers.
  "gemma-embedding": {
    family: "Gemma3",
    encoder: "Gemma3TextModel",
    tensors: gemmaTensors,
    addsOneToNorms: true,
    postPooling: ["dense_2", "dense_3"],
    config: (settings, model) => ({ ...gemma3Config(settings, model), use_bidirectional_attention: true }),
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
  // The first models of 1bitLLM have SwiGLU; Microsoft's have the square of ReLU, and names of their own. src/models/bitnet.cpp of llama.cpp, and
  // build_bitnet_158 in the fork of https://github.com/microsoft/BitNet.
  bitnet: bitnetWith("silu"),
  "bitnet-25": bitnetWith("relu2"),
  "bitnet-b1.58": bitnetWith("relu2"),
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
      vocab_size: getRows(model, "token_embd.weight"),
      layer_norm_epsilon: settings.number("attention.layer_norm_epsilon"),
      tie_word_embeddings: !hasTensor(model, "output.weight"),
    }),
  },
};
