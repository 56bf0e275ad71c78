/** Encoders of llama.cpp in the terms of Hugging Face transformers, by `general.architecture`. */
import { type GgufArchitecture, hasTensor, getRows, sizes } from "./architecture.ts";
import { ropeScaling } from "./rope-scaling.ts";

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

export const encoders: Readonly<Record<string, GgufArchitecture>> = {
  // RoBERTa too: its converter removes the rows of the position table before the first position, which makes it a BERT.
  bert: {
    family: "Bert",
    tensors: bertTensors,
    config: (settings, model) => ({
      ...sizes(settings, model),
      max_position_embeddings: getRows(model, "position_embd.weight") ?? settings.number("context_length"),
      type_vocab_size: getRows(model, "token_types.weight") ?? 1,
      layer_norm_eps: settings.number("attention.layer_norm_epsilon"),
      is_decoder: settings.booleanIfGiven("attention.causal") ?? false,
    }),
  },
  "nomic-bert": {
    family: "NomicBert",
    tensors: {
      token_embd: "embeddings.word_embeddings",
      token_types: "embeddings.token_type_embeddings",
      token_embd_norm: "emb_ln",
      "blk.*.attn_qkv": "encoder.layers.*.attn.Wqkv",
      "blk.*.attn_output": "encoder.layers.*.attn.out_proj",
      "blk.*.attn_output_norm": "encoder.layers.*.norm1",
      "blk.*.ffn_up": "encoder.layers.*.mlp.fc11",
      "blk.*.ffn_gate": "encoder.layers.*.mlp.fc12",
      "blk.*.ffn_down": "encoder.layers.*.mlp.fc2",
      "blk.*.layer_output_norm": "encoder.layers.*.norm2",
    },
    config: (settings, model) => {
      settings.requireNone("expert_count", "a mixture of experts");
      const headSize = settings.number("embedding_length") / settings.number("attention.head_count");
      return {
        ...sizes(settings, model),
        type_vocab_size: getRows(model, "token_types.weight") ?? 0,
        layer_norm_eps: settings.number("attention.layer_norm_epsilon"),
        head_dim: settings.numberIfGiven("attention.key_length") ?? headSize,
        rope_theta: settings.numberIfGiven("rope.freq_base") ?? 10_000,
        qkv_proj_bias: hasTensor(model, "blk.0.attn_qkv.bias"),
        mlp_fc1_bias: hasTensor(model, "blk.0.ffn_up.bias"),
        mlp_fc2_bias: hasTensor(model, "blk.0.ffn_down.bias"),
        causal: settings.booleanIfGiven("attention.causal") ?? false,
        ...ropeScaling(settings, headSize),
      };
    },
  },
};
