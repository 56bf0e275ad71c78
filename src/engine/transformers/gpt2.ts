/**
 * GPT-2 (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"): a pre-norm causal decoder with learned position embeddings. Hugging
 * Face classes `GPT2Model` and `GPT2LMHeadModel`.
 *
 * Reads from config.json: n_embd, n_head, n_layer, n_inner, n_positions, vocab_size, layer_norm_epsilon, activation_function, scale_attn_weights,
 * scale_attn_by_inverse_layer_idx, tie_word_embeddings.
 */
import type { Value } from "../ir/graph.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { attention, causalBias, splitHeads } from "../build/nn/attention.ts";
import { causalArchitectures, type CausalDecoder } from "./causal-model.ts";
import type { Config } from "./config.ts";
import { embedding, layerNorm, linearTransposed, repeated, sequential, tokenEmbedding } from "../build/nn/layers.ts";
import type { UpdateOwnCache } from "./multi-head-attention.ts";
import type { Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

type Block = (ops: TensorOps, x: Value, bias: Value, updateCache: UpdateOwnCache) => Value;

function block(config: Config, weights: Weights, index: number): Block {
  const width = config.positiveInteger("n_embd");
  const heads = config.getDivisor("n_head", width);
  const inner = config.positiveInteger("n_inner", 4 * width);
  const epsilon = config.positiveNumber("layer_norm_epsilon", 1e-5);
  const prefix = `h.${index}`;
  const attentionNorm = layerNorm(weights, `${prefix}.ln_1`, width, epsilon);
  const queriesKeysValues = linearTransposed(weights, `${prefix}.attn.c_attn`, { inFeatures: width, outFeatures: 3 * width });
  const output = linearTransposed(weights, `${prefix}.attn.c_proj`, { inFeatures: width, outFeatures: width });
  const feedForward = sequential(
    layerNorm(weights, `${prefix}.ln_2`, width, epsilon),
    linearTransposed(weights, `${prefix}.mlp.c_fc`, { inFeatures: width, outFeatures: inner }),
    config.activation("activation_function", "gelu_new"),
    linearTransposed(weights, `${prefix}.mlp.c_proj`, { inFeatures: inner, outFeatures: width }),
  );
  const scale = config.boolean("scale_attn_weights", true) ? 1 / Math.sqrt(width / heads) : 1;
  const layerScale = config.boolean("scale_attn_by_inverse_layer_idx", false) ? 1 / (index + 1) : 1;
  return (ops, x, bias, updateCache) => {
    const combined = queriesKeysValues(ops, attentionNorm(ops, x));
    const part = (index: number): Value => splitHeads(ops, ops.slice(combined, 2, index * width, width), heads);
    const context = attention(ops, {
      query: part(0),
      ...updateCache({ key: part(1), value: part(2) }),
      scale: scale * layerScale,
      bias,
    });
    const attended = ops.binary("add", output(ops, context), x);
    return ops.binary("add", feedForward(ops, attended), attended);
  };
}

function gpt2(config: Config, weights: Weights): CausalDecoder {
  const width = config.positiveInteger("n_embd");
  const keyValueHeads = config.getDivisor("n_head", width);
  const vocabulary = config.positiveInteger("vocab_size");
  const tokens = tokenEmbedding(weights, "wte.weight", vocabulary, width);
  const positionTable = embedding(weights, "wpe.weight", config.positiveInteger("n_positions"), width);
  const blocks = repeated(config.positiveInteger("n_layer"), (index) => block(config, weights, index));
  const norm = layerNorm(weights, "ln_f", width, config.positiveNumber("layer_norm_epsilon", 1e-5));
  const isTied = config.boolean("tie_word_embeddings", true) || !weights.has("lm_head.weight");
  return {
    layers: blocks.length,
    keyValueHeads,
    headSize: width / keyValueHeads,
    outputLayer: { matrix: isTied ? "wte.weight" : "lm_head.weight", width, vocabulary },
    build: (ops, { ids, mask, positions }, updateCache) => {
      const bias = causalBias(ops, mask, dimensions(ids, 2)[1]);
      const embedded = ops.binary("add", tokens(ops, ids), positionTable(ops, positions));
      return norm(
        ops,
        blocks.reduce((x, each, index) => each(ops, x, bias, (current) => updateCache(index, current)), embedded),
      );
    },
  };
}

/** Mask buffers of the PyTorch implementation, and the output layer when it is tied or the model has no head. */
const ignoredTensors = /\.attn\.(bias|masked_bias)$|^lm_head\.weight$/;

/** The GPT-2 architectures, by Hugging Face class name. */
export const gpt2Architectures: Architectures = causalArchitectures(
  ["GPT2Model", "GPT2LMHeadModel"],
  { prefixes: ["transformer."], ignoredTensors },
  gpt2,
);
