/**
 * OPT (Zhang et al. 2022, https://arxiv.org/abs/2205.01068): a causal decoder with learned position embeddings, biases on all layers, and layer norms before
 * each layer, or after it in the model of 350 million parameters. Hugging Face classes `OPTModel` and `OPTForCausalLM`.
 *
 * Reads from config.json: hidden_size, word_embed_proj_dim, ffn_dim, num_hidden_layers, num_attention_heads, vocab_size, max_position_embeddings,
 * activation_function, do_layer_norm_before, enable_bias, layer_norm_elementwise_affine, _remove_final_layer_norm, tie_word_embeddings.
 */
import type { Value } from "../ir/graph.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { causalBias } from "../build/nn/attention.ts";
import { embedding, type Layer, layerNorm, linear, repeated, sequential, tokenEmbedding } from "../build/nn/layers.ts";
import { causalArchitectures, type CausalDecoder } from "./causal-model.ts";
import type { Config } from "./config.ts";
import { multiHeadAttention, type UpdateOwnCache } from "./multi-head-attention.ts";
import type { Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

/** Rows of the position table before the row of the first position. */
const positionOffset = 2;
const epsilon = 1e-5;

type Block = (ops: TensorOps, x: Value, bias: Value, updateCache: UpdateOwnCache) => Value;

function block(config: Config, weights: Weights, prefix: string): Block {
  const width = config.positiveInteger("hidden_size");
  const heads = config.getDivisor("num_attention_heads", width);
  const inner = config.positiveInteger("ffn_dim");
  const bias = config.boolean("enable_bias", true);
  const isNormedBefore = config.boolean("do_layer_norm_before", true);
  const names = ["q_proj", "k_proj", "v_proj", "out_proj"] as const;
  const self = multiHeadAttention(weights, `${prefix}.self_attn`, names, { width, heads, bias });
  const feedForward = sequential(
    linear(weights, `${prefix}.fc1`, { inFeatures: width, outFeatures: inner, bias }),
    config.activation("activation_function", "relu"),
    linear(weights, `${prefix}.fc2`, { inFeatures: inner, outFeatures: width, bias }),
  );
  const norms = ["self_attn_layer_norm", "final_layer_norm"].map((name) =>
    layerNorm(weights, `${prefix}.${name}`, width, epsilon),
  );
  const none = sequential();
  const [beforeAttention = none, beforeFeedForward = none] = isNormedBefore ? norms : [];
  const [afterAttention = none, afterFeedForward = none] = isNormedBefore ? [] : norms;
  return (ops, x, causal, updateCache) => {
    const context = self.attendToSelf(ops, beforeAttention(ops, x), causal, updateCache);
    const attended = afterAttention(ops, ops.binary("add", context, x));
    return afterFeedForward(ops, ops.binary("add", feedForward(ops, beforeFeedForward(ops, attended)), attended));
  };
}

function decoder(config: Config, weights: Weights): CausalDecoder {
  config.requireEqual("layer_norm_elementwise_affine", true);
  const width = config.positiveInteger("hidden_size");
  const embedded = config.positiveInteger("word_embed_proj_dim", width);
  const keyValueHeads = config.getDivisor("num_attention_heads", width);
  const vocabulary = config.positiveInteger("vocab_size");
  const tokens = tokenEmbedding(weights, "embed_tokens.weight", vocabulary, embedded);
  const positionRows = config.positiveInteger("max_position_embeddings") + positionOffset;
  const positionTable = embedding(weights, "embed_positions.weight", positionRows, width);
  const blocks = repeated(config.positiveInteger("num_hidden_layers"), (index) => block(config, weights, `layers.${index}`));
  const resized = (name: string, inFeatures: number, outFeatures: number): Layer =>
    embedded === width ? sequential() : linear(weights, name, { inFeatures, outFeatures, bias: false });
  const [project, projectBack] = [resized("project_in", embedded, width), resized("project_out", width, embedded)];
  const hasNorm = config.boolean("do_layer_norm_before", true) && !config.boolean("_remove_final_layer_norm", false);
  const norm = hasNorm ? layerNorm(weights, "final_layer_norm", width, epsilon) : sequential();
  const isTied = config.boolean("tie_word_embeddings", true);
  return {
    layers: blocks.length,
    keyValueHeads,
    headSize: width / keyValueHeads,
    outputLayer: { matrix: isTied ? "embed_tokens.weight" : "lm_head.weight", width: embedded, vocabulary },
    build: (ops, { ids, mask, positions }, updateCache) => {
      const bias = causalBias(ops, mask, dimensions(ids, 2)[1]);
      const places = positionTable(ops, ops.binary("add", positions, positionOffset));
      const start = ops.binary("add", project(ops, tokens(ops, ids)), places);
      const last = blocks.reduce((x, each, index) => each(ops, x, bias, (current) => updateCache(index, current)), start);
      return projectBack(ops, norm(ops, last));
    },
  };
}

/** The output layer when it is tied or the model has no head. */
const ignoredTensors = /^lm_head\.weight$/;

/** The OPT architectures, by Hugging Face class name. */
export const optArchitectures: Architectures = causalArchitectures(
  ["OPTModel", "OPTForCausalLM"],
  { prefixes: ["model.decoder.", "decoder."], ignoredTensors },
  decoder,
);
