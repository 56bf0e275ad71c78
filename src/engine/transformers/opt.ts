/**
 * OPT (Zhang et al. 2022, https://arxiv.org/abs/2205.01068): a causal decoder with learned position embeddings, biases on all layers, and layer norms before
 * each layer, or after it in the model of 350 million parameters. Hugging Face classes `OPTModel` and `OPTForCausalLM`.
 *
 * Reads from config.json: hidden_size, word_embed_proj_dim, ffn_dim, num_hidden_layers, num_attention_heads, vocab_size, max_position_embeddings,
 * activation_function, do_layer_norm_before, enable_bias, layer_norm_elementwise_affine, _remove_final_layer_norm, tie_word_embeddings.
 */
import type { Value } from "../ir/graph.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { attention, causalBias, splitHeads } from "../build/nn/attention.ts";
import { embedding, type Layer, layerNorm, linear, repeated, sequential, tokenEmbedding } from "../build/nn/layers.ts";
import { type CausalModel, causalTransformer, type KeyValueCache } from "./causal-model.ts";
import type { Config } from "./config.ts";
import type { Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

/** Rows of the position table before the row of the first position. */
const positionOffset = 2;
const epsilon = 1e-5;

type Block = (ops: TensorOps, x: Value, bias: Value, updateCache: (current: KeyValueCache) => KeyValueCache) => Value;

function block(config: Config, weights: Weights, prefix: string): Block {
  const width = config.positiveInteger("hidden_size");
  const heads = config.getDivisor("num_attention_heads", width);
  const inner = config.positiveInteger("ffn_dim");
  const bias = config.boolean("enable_bias", true);
  const isNormedBefore = config.boolean("do_layer_norm_before", true);
  const project = (name: string): Layer =>
    linear(weights, `${prefix}.self_attn.${name}`, { inFeatures: width, outFeatures: width, bias });
  const [query, key, value, output] = [project("q_proj"), project("k_proj"), project("v_proj"), project("out_proj")];
  const feedForward = sequential(
    linear(weights, `${prefix}.fc1`, { inFeatures: width, outFeatures: inner, bias }),
    config.activation("activation_function", "relu"),
    linear(weights, `${prefix}.fc2`, { inFeatures: inner, outFeatures: width, bias }),
  );
  const same: Layer = (_ops, x) => x;
  const norms = ["self_attn_layer_norm", "final_layer_norm"].map((name) =>
    layerNorm(weights, `${prefix}.${name}`, width, epsilon),
  );
  const [beforeAttention = same, beforeFeedForward = same] = isNormedBefore ? norms : [];
  const [afterAttention = same, afterFeedForward = same] = isNormedBefore ? [] : norms;
  return (ops, x, causal, updateCache) => {
    const normalized = beforeAttention(ops, x);
    const split = (layer: Layer): Value => splitHeads(ops, layer(ops, normalized), heads);
    const cache = updateCache({ key: split(key), value: split(value) });
    const context = attention(ops, { query: split(query), ...cache, scale: 1 / Math.sqrt(width / heads), bias: causal });
    const attended = afterAttention(ops, ops.binary("add", output(ops, context), x));
    return afterFeedForward(ops, ops.binary("add", feedForward(ops, beforeFeedForward(ops, attended)), attended));
  };
}

function decoder(config: Config, weights: Weights, output: CausalModel["output"]): CausalModel {
  config.requireEqual("layer_norm_elementwise_affine", true);
  const width = config.positiveInteger("hidden_size");
  const embedded = config.positiveInteger("word_embed_proj_dim", width);
  const keyValueHeads = config.getDivisor("num_attention_heads", width);
  const vocabulary = config.positiveInteger("vocab_size");
  const tokens = tokenEmbedding(weights, "embed_tokens.weight", vocabulary, embedded);
  const positionRows = config.positiveInteger("max_position_embeddings") + positionOffset;
  const positionTable = embedding(weights, "embed_positions.weight", positionRows, width);
  const blocks = repeated(config.positiveInteger("num_hidden_layers"), (index) => block(config, weights, `layers.${index}`));
  const same: Layer = (_ops, x) => x;
  const resized = (name: string, inFeatures: number, outFeatures: number): Layer =>
    embedded === width ? same : linear(weights, name, { inFeatures, outFeatures, bias: false });
  const [project, projectBack] = [resized("project_in", embedded, width), resized("project_out", width, embedded)];
  const hasNorm = config.boolean("do_layer_norm_before", true) && !config.boolean("_remove_final_layer_norm", false);
  const norm = hasNorm ? layerNorm(weights, "final_layer_norm", width, epsilon) : same;
  const isTied = config.boolean("tie_word_embeddings", true);
  const outputMatrix =
    output === "logits" ? weights.matrix(isTied ? "embed_tokens.weight" : "lm_head.weight", embedded, vocabulary) : undefined;
  return {
    layers: blocks.length,
    keyValueHeads,
    headSize: width / keyValueHeads,
    output,
    outputSize: outputMatrix === undefined ? embedded : vocabulary,
    build: (ops, { ids, mask, positions }, updateCache) => {
      const bias = causalBias(ops, mask, dimensions(ids, 2)[1]);
      const places = positionTable(ops, ops.binary("add", positions, positionOffset));
      const start = ops.binary("add", project(ops, tokens(ops, ids)), places);
      const last = blocks.reduce((x, each, index) => each(ops, x, bias, (current) => updateCache(index, current)), start);
      const hidden = projectBack(ops, norm(ops, last));
      return outputMatrix === undefined ? hidden : ops.add({ kind: "matmul" }, hidden, ops.builder.constant(outputMatrix));
    },
  };
}

/** The output layer when it is tied or the model has no head. */
const ignoredTensors = /^lm_head\.weight$/;
const prefixes = ["model.decoder.", "decoder."];

/** The OPT architectures, by Hugging Face class name. */
export const optArchitectures: Architectures = {
  OPTModel: {
    prefixes,
    ignoredTensors,
    make: (config, weights) => causalTransformer(decoder(config, weights, "last_hidden_state")),
  },
  OPTForCausalLM: {
    prefixes,
    ignoredTensors,
    make: (config, weights) => causalTransformer(decoder(config, weights, "logits")),
    makeHeadless: (config, weights) => causalTransformer(decoder(config, weights, "last_hidden_state"), [], true),
  },
};
