/**
 * NomicBERT (Nussbaum et al. 2024, https://arxiv.org/abs/2402.01613): a post-norm encoder with rotary position embedding and a gated feed-forward network
 * (SwiGLU, Shazeer 2020, https://arxiv.org/abs/2002.05202). Hugging Face class `NomicBertModel`, with the tensor names of nomic-ai's files.
 *
 * Reads from config.json the settings of transformers, or (in brackets) of nomic-ai's files: hidden_size (n_embd), num_attention_heads (n_head),
 * num_hidden_layers (n_layer), intermediate_size (n_inner), hidden_act (activation_function), layer_norm_eps (layer_norm_epsilon), vocab_size, type_vocab_size,
 * rope_parameters or rope_theta (rotary_emb_base), qkv_proj_bias, mlp_fc1_bias, mlp_fc2_bias.
 */
import type { Value } from "../../ir/graph.ts";
import { dimensions, type TensorOps } from "../../build/tensor-ops.ts";
import { attention, paddingBias, splitHeads } from "../../build/nn/attention.ts";
import { activation, type ActivationName } from "../../build/nn/activations.ts";
import { embedding, tokenEmbedding, layerNorm, type Layer, linear, repeated } from "../../build/nn/layers.ts";
import { applyRotary, type RotaryAngles, rotaryAngles } from "../../build/nn/rotary-embedding.ts";
import type { Config } from "../config.ts";
import { configuredFrequencies } from "../rope-scaling.ts";
import type { Architectures } from "../transformer.ts";
import type { Weights } from "../weights.ts";
import { baseModel, type EncoderGraph, encoderArchitectures } from "./heads.ts";
import { arange } from "./position-embeddings.ts";

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly epsilon: number;
  readonly attentionBias: boolean;
  readonly upBias: boolean;
  readonly downBias: boolean;
  readonly activation: Layer;
}

/** Adds the operations of one layer. */
type Block = (ops: TensorOps, x: Value, angles: RotaryAngles, bias: Value) => Value;

function block(weights: Weights, prefix: string, sizes: Sizes): Block {
  const { width, inner, heads, epsilon, attentionBias, upBias, downBias, activation } = sizes;
  const projection = { inFeatures: width, bias: attentionBias };
  const queriesKeysValues = linear(weights, `${prefix}.attn.Wqkv`, { ...projection, outFeatures: 3 * width });
  const output = linear(weights, `${prefix}.attn.out_proj`, { ...projection, outFeatures: width });
  const attentionNorm = layerNorm(weights, `${prefix}.norm1`, width, epsilon);
  const up = linear(weights, `${prefix}.mlp.fc11`, { inFeatures: width, outFeatures: inner, bias: upBias });
  const gate = linear(weights, `${prefix}.mlp.fc12`, { inFeatures: width, outFeatures: inner, bias: upBias });
  const down = linear(weights, `${prefix}.mlp.fc2`, { inFeatures: inner, outFeatures: width, bias: downBias });
  const outputNorm = layerNorm(weights, `${prefix}.norm2`, width, epsilon);
  const scale = 1 / Math.sqrt(width / heads);
  return (ops, x, angles, bias) => {
    const combined = queriesKeysValues(ops, x);
    const part = (index: number): Value => splitHeads(ops, ops.slice(combined, 2, index * width, width), heads);
    const [query, key] = [applyRotary(ops, part(0), angles), applyRotary(ops, part(1), angles)];
    const context = attention(ops, { query, key, value: part(2), scale, bias });
    const attended = attentionNorm(ops, ops.binary("add", output(ops, context), x));
    const gated = ops.binary("mul", activation(ops, gate(ops, attended)), up(ops, attended));
    return outputNorm(ops, ops.binary("add", down(ops, gated), attended));
  };
}

/** Settings that change what the tensors mean, and the only values that the model class computes here. */
const fixedSettings: Readonly<Record<string, string | number | boolean>> = {
  prenorm: false,
  parallel_block: false,
  parallel_block_tied_norm: false,
  causal: false,
  use_rms_norm: false,
  rotary_emb_fraction: 1,
  rotary_emb_interleaved: false,
  scale_attn_by_inverse_layer_idx: false,
};

function nomicBert(config: Config, weights: Weights): EncoderGraph {
  for (const [key, value] of Object.entries(fixedSettings)) config.requireEqual(key, value);
  // rotary_scaling_factor changes the frequencies with the length of the text, beyond max_trained_positions.
  config.requireAbsent("rotary_emb_scale_base", "rotary_scaling_factor", "num_experts", "moe_every_n_layers");
  const named = (current: string, older: string): string => (config.has(current) ? current : older);
  const width = config.positiveInteger(named("hidden_size", "n_embd"));
  const heads = config.getDivisor(named("num_attention_heads", "n_head"), width);
  config.requireEqual("head_dim", width / heads);
  const epsilon = config.positiveNumber(named("layer_norm_eps", "layer_norm_epsilon"), 1e-12);
  const sizes: Sizes = {
    width,
    inner: config.positiveInteger(named("intermediate_size", "n_inner")),
    heads,
    epsilon,
    attentionBias: config.boolean("qkv_proj_bias", false),
    upBias: config.boolean("mlp_fc1_bias", false),
    downBias: config.boolean("mlp_fc2_bias", false),
    activation: gateActivation(config),
  };
  const words = tokenEmbedding(weights, "embeddings.word_embeddings.weight", config.positiveInteger("vocab_size"), width);
  const types = config.integer("type_vocab_size", 2);
  const tokenTypes = types > 0 ? embedding(weights, "embeddings.token_type_embeddings.weight", types, width) : undefined;
  const norm = layerNorm(weights, "emb_ln", width, epsilon);
  const layers = repeated(config.positiveInteger(named("num_hidden_layers", "n_layer")), (index) =>
    block(weights, `encoder.layers.${index}`, sizes),
  );
  const frequencies = configuredFrequencies(config, {
    headSize: width / heads,
    theta: config.positiveNumber(named("rope_theta", "rotary_emb_base"), 1000),
  });
  return {
    width,
    takesTokenTypes: tokenTypes !== undefined,
    wordEmbeddings: "embeddings.word_embeddings.weight",
    encode: (ops, { ids, mask, tokenTypes: typeIds }) => {
      const [, length] = dimensions(ids, 2);
      const angles = rotaryAngles(ops, ops.reshape(arange(ops, 0, length), [1, length]), frequencies);
      const bias = paddingBias(ops, mask);
      const rows = words(ops, ids);
      const embedded =
        tokenTypes === undefined ? rows : ops.binary("add", rows, tokenTypes(ops, typeIds ?? ops.zeros("int64", ids.type.shape)));
      return layers.reduce((x, each) => each(ops, x, angles, bias), norm(ops, embedded));
    },
  };
}

/** The activation of the gate: `hidden_act`, or the part of `activation_function` that precedes "glu" in nomic-ai's files. */
function gateActivation(config: Config): Layer {
  if (config.has("hidden_act")) return config.activation("hidden_act", "silu");
  const gates: Readonly<Record<"swiglu" | "geglu" | "glu", ActivationName>> = { swiglu: "silu", geglu: "gelu", glu: "sigmoid" };
  return activation(gates[config.oneOf("activation_function", ["swiglu", "geglu", "glu"], "swiglu")]);
}

/** The NomicBERT architectures, by Hugging Face class name. */
export const nomicBertArchitectures: Architectures = encoderArchitectures({
  name: "NomicBert",
  prefixes: ["bert.", "nomic_bert."],
  ignoredTensors: /(^|\.)(pooler|cls|lm_head)\.|rotary_emb\.inv_freq$/,
  takenOverCode: /^nomic-ai\/nomic-bert-2048--modeling_hf_nomic_bert\.NomicBertModel$/,
  encoder: nomicBert,
  heads: { Model: baseModel },
});
