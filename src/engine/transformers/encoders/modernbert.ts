/**
 * ModernBERT (Warner et al. 2024, https://arxiv.org/abs/2412.13663): a pre-norm encoder with rotary position embedding, a gated feed-forward network
 * (GeGLU, Shazeer 2020, https://arxiv.org/abs/2002.05202), and global attention in every n-th layer, sliding-window attention in the others. Hugging
 * Face class `ModernBertModel`, also with its task heads.
 *
 * Reads from config.json: hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, vocab_size, norm_eps, norm_bias, attention_bias,
 * mlp_bias, hidden_activation, global_attn_every_n_layers, local_attention, global_rope_theta, local_rope_theta, classifier_pooling, classifier_bias,
 * classifier_activation, tie_word_embeddings.
 */
import type { Value } from "../../ir/graph.ts";
import { dimensions, type TensorOps } from "../../build/tensor-ops.ts";
import { attention, additiveMask, keyVisibility, splitHeads, symmetricWindow } from "../../build/nn/attention.ts";
import type { Config } from "../config.ts";
import {
  baseModel,
  type EncoderGraph,
  encoderArchitectures,
  type Heads,
  type Pool,
  sequenceClassifier,
  tokenClassifier,
  maskedLanguageModel,
} from "./heads.ts";
import { firstToken, layerNorm, type Layer, linear, repeated, sequential, tokenEmbedding } from "../../build/nn/layers.ts";
import { arange } from "./position-embeddings.ts";
import { type RotaryAngles, rotaryAngles, rotaryFrequencies, rotaryPairs, applyRotary } from "../../build/nn/rotary-embedding.ts";
import type { Architectures } from "../transformer.ts";
import type { Weights } from "../weights.ts";

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly attentionBias: boolean;
  readonly feedForwardBias: boolean;
  readonly activation: Layer;
  norm(name: string): Layer;
}

/** What global layers have in common, and likewise local layers: the attention bias and the rotary angles. */
interface AttentionScope {
  readonly bias: Value;
  readonly angles: RotaryAngles;
}

/** Adds the operations of one layer. */
type Block = (ops: TensorOps, x: Value, scope: AttentionScope) => Value;

function block(weights: Weights, index: number, sizes: Sizes): Block {
  const { width, inner, heads, attentionBias, feedForwardBias, activation, norm } = sizes;
  const prefix = `layers.${index}`;
  // The first layer has no norm, since the embeddings are normalized.
  const attentionNorm = index === 0 ? sequential() : norm(`${prefix}.attn_norm`);
  const queriesKeysValues = linear(weights, `${prefix}.attn.Wqkv`, {
    inFeatures: width,
    outFeatures: 3 * width,
    bias: attentionBias,
  });
  const output = linear(weights, `${prefix}.attn.Wo`, { inFeatures: width, outFeatures: width, bias: attentionBias });
  const feedForwardNorm = norm(`${prefix}.mlp_norm`);
  const gateAndUp = linear(weights, `${prefix}.mlp.Wi`, { inFeatures: width, outFeatures: 2 * inner, bias: feedForwardBias });
  const down = linear(weights, `${prefix}.mlp.Wo`, { inFeatures: inner, outFeatures: width, bias: feedForwardBias });
  const scale = 1 / Math.sqrt(width / heads);
  return (ops, x, { bias, angles }) => {
    const combined = queriesKeysValues(ops, attentionNorm(ops, x));
    const part = (index: number): Value => splitHeads(ops, ops.slice(combined, 2, index * width, width), heads);
    const [query, key] = [applyRotary(ops, part(0), angles), applyRotary(ops, part(1), angles)];
    const attended = ops.binary("add", output(ops, attention(ops, { query, key, value: part(2), scale, bias })), x);
    const hidden = gateAndUp(ops, feedForwardNorm(ops, attended));
    const gated = ops.binary("mul", activation(ops, ops.slice(hidden, 2, 0, inner)), ops.slice(hidden, 2, inner, inner));
    return ops.binary("add", down(ops, gated), attended);
  };
}

function modernBertEncoder(config: Config, weights: Weights): EncoderGraph {
  config.requireEqual("position_embedding_type", "absolute"); // ignored by the model, which has rotary embeddings
  const width = config.positiveInteger("hidden_size");
  const heads = config.getDivisor("num_attention_heads", width);
  const norm = computeNorm(config, weights, width);
  const sizes: Sizes = {
    width,
    inner: config.positiveInteger("intermediate_size"),
    heads,
    attentionBias: config.boolean("attention_bias", false),
    feedForwardBias: config.boolean("mlp_bias", false),
    activation: config.activation("hidden_activation", "gelu"),
    norm,
  };
  const pairs = rotaryPairs(width / heads);
  config.requireAbsent("rope_scaling", "rope_parameters", "layer_types");
  const globalInterval = config.positiveInteger("global_attn_every_n_layers", 3);
  const radius = Math.floor(config.positiveInteger("local_attention", 128) / 2);
  const globalTheta = config.positiveNumber("global_rope_theta", 160_000);
  const localTheta = config.positiveNumber("local_rope_theta", globalTheta);
  const words = tokenEmbedding(weights, "embeddings.tok_embeddings.weight", config.positiveInteger("vocab_size"), width);
  const embeddingNorm = norm("embeddings.norm");
  const blocks = repeated(config.positiveInteger("num_hidden_layers"), (index) => block(weights, index, sizes));
  const finalNorm = norm("final_norm");
  return {
    width,
    takesTokenTypes: false,
    wordEmbeddings: "embeddings.tok_embeddings.weight",
    encode: (ops, { ids, mask }) => {
      const [, length] = dimensions(ids, 2);
      const positions = ops.reshape(arange(ops, 0, length), [1, length]);
      const visible = keyVisibility(ops, mask);
      const global: AttentionScope = {
        bias: additiveMask(ops, visible),
        angles: rotaryAngles(ops, positions, rotaryFrequencies(pairs, globalTheta)),
      };
      const local: AttentionScope = {
        bias: additiveMask(ops, ops.binary("and", visible, symmetricWindow(ops, length, radius))),
        angles: rotaryAngles(ops, positions, rotaryFrequencies(pairs, localTheta)),
      };
      const embedded = embeddingNorm(ops, words(ops, ids));
      return finalNorm(
        ops,
        blocks.reduce((x, each, index) => each(ops, x, index % globalInterval === 0 ? global : local), embedded),
      );
    },
  };
}

/** Makes the layer norms of the model: `norm_eps` and `norm_bias` hold for all of them. */
function computeNorm(config: Config, weights: Weights, width: number): (name: string) => Layer {
  const epsilon = config.positiveNumber("norm_eps", 1e-5);
  const bias = config.boolean("norm_bias", false);
  return (name) => layerNorm(weights, name, width, epsilon, bias);
}

/** `ModernBertPredictionHead`: the layers before the output layer of every task. */
function predictionHead(config: Config, weights: Weights, width: number): Layer {
  return sequential(
    linear(weights, "head.dense", { inFeatures: width, outFeatures: width, bias: config.boolean("classifier_bias", false) }),
    config.activation("classifier_activation", "gelu"),
    computeNorm(config, weights, width)("head.norm"),
  );
}

/** Mean pooling over the tokens that the mask does not exclude. */
const meanPool: Pool = (ops, hidden, mask) => {
  const [batch, length] = dimensions(mask, 2);
  const tokenMask = ops.reshape(ops.cast(mask, "float32"), [batch, length, 1]);
  const sum = ops.reduce("sum", ops.binary("mul", hidden, tokenMask), [1], false);
  return ops.binary("div", sum, ops.reduce("sum", tokenMask, [1], false));
};

const heads: Heads = {
  Model: baseModel,
  ForSequenceClassification: (config, weights, { width }) => {
    const pool = config.oneOf("classifier_pooling", ["cls", "mean"], "cls") === "mean" ? meanPool : firstToken;
    const dense = predictionHead(config, weights, width);
    return sequenceClassifier(weights, "classifier", width, (ops, hidden, mask) => dense(ops, pool(ops, hidden, mask)));
  },
  ForTokenClassification: (config, weights, { width }) =>
    tokenClassifier(weights, "classifier", width, predictionHead(config, weights, width)),
  ForMaskedLM: (config, weights, encoder) => {
    config.requireEqual("decoder_bias", true);
    const names = { weight: "decoder.weight", biases: ["decoder.bias"] };
    return maskedLanguageModel(config, weights, encoder, names, predictionHead(config, weights, encoder.width));
  },
};

const ignoredTensors = /^(head|classifier|decoder)\./;

/** The ModernBERT architectures, by Hugging Face class name. */
export const modernBertArchitectures: Architectures = encoderArchitectures({
  name: "ModernBert",
  prefixes: ["model."],
  ignoredTensors,
  encoder: modernBertEncoder,
  heads,
});
