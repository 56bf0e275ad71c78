/**
 * T5 (Raffel et al. 2019, https://arxiv.org/abs/1910.10683) and mT5 (Xue et al. 2020, https://arxiv.org/abs/2010.11934): an encoder and a decoder with
 * cross-attention, RMSNorm before each layer, and relative position biases. Hugging Face classes `T5ForConditionalGeneration`, `T5EncoderModel`,
 * `MT5ForConditionalGeneration` and `MT5EncoderModel`.
 *
 * Reads from config.json: d_model, d_ff, d_kv, num_heads, num_layers, num_decoder_layers, vocab_size, layer_norm_epsilon, feed_forward_proj,
 * relative_attention_num_buckets, relative_attention_max_distance, tie_word_embeddings, scale_decoder_outputs.
 */
import type { Value } from "../ir/graph.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { causalBias, paddingBias } from "../build/nn/attention.ts";
import type { Config } from "./config.ts";
import {
  type DecoderBlock,
  distances,
  type EncoderDecoder,
  type EncoderDecoderGraphs,
  encoderDecoderGraphs,
  keyPositions,
} from "./encoder-decoder.ts";
import { type ActivationName, activation, activationNames } from "../build/nn/activations.ts";
import { embedding, type Layer, linear, repeated, rmsNorm, sequential, tokenEmbedding } from "../build/nn/layers.ts";
import { distanceBias, relativePositionBias } from "../build/nn/relative-position-bias.ts";
import { type MultiHeadAttention, multiHeadAttention } from "./multi-head-attention.ts";
import { type Architecture, type Architectures, float32Info, int64Info, type Transformer } from "./transformer.ts";
import type { Weights } from "./weights.ts";

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly headSize: number;
  readonly epsilon: number;
  readonly activation: Layer;
  readonly gated: boolean;
}

function getSizes(config: Config): Sizes {
  return {
    width: config.positiveInteger("d_model"),
    inner: config.positiveInteger("d_ff"),
    heads: config.positiveInteger("num_heads"),
    headSize: config.positiveInteger("d_kv"),
    epsilon: config.positiveNumber("layer_norm_epsilon", 1e-6),
    ...getFeedForward(config),
  };
}

/** The activation, and whether the feed-forward network is gated. As in transformers, "gated-gelu" means the tanh approximation of GELU. */
function getFeedForward(config: Config): Pick<Sizes, "activation" | "gated"> {
  const setting = config.oneOf(
    "feed_forward_proj",
    [...activationNames, ...activationNames.map((name) => `gated-${name}` as const)],
    "relu",
  );
  const gated = setting.startsWith("gated-");
  const name = setting.replace(/^gated-/, "") as ActivationName;
  return { gated, activation: activation(setting === "gated-gelu" ? "gelu_new" : name) };
}

/**
 * Self-attention or cross-attention, without biases. Scores are not divided by sqrt(headSize): T5 accounts for this factor in the initial values of the
 * query weights.
 */
function getAttention(weights: Weights, prefix: string, { width, heads, headSize }: Sizes): MultiHeadAttention {
  return multiHeadAttention(weights, prefix, ["q", "k", "v", "o"], { width, heads, headSize, scale: 1, bias: false });
}

/** The feed-forward network with its norm and residual connection; gated (GLU, Shazeer 2020, https://arxiv.org/abs/2002.05202) in T5 1.1. */
function feedForward(weights: Weights, prefix: string, { width, inner, epsilon, activation: activate, gated }: Sizes): Layer {
  const norm = rmsNorm(weights, `${prefix}.layer_norm`, width, epsilon);
  const layer = (name: string, inFeatures: number, outFeatures: number): Layer =>
    linear(weights, `${prefix}.DenseReluDense.${name}`, { inFeatures, outFeatures, bias: false });
  const down = layer("wo", inner, width);
  if (!gated) {
    const all = sequential(norm, layer("wi", width, inner), activate, down);
    return (ops, x) => ops.binary("add", all(ops, x), x);
  }
  const [gate, up] = [layer("wi_0", width, inner), layer("wi_1", width, inner)];
  return (ops, x) => {
    const normalized = norm(ops, x);
    return ops.binary("add", down(ops, ops.binary("mul", activate(ops, gate(ops, normalized)), up(ops, normalized))), x);
  };
}

/** The relative position bias of one side: see `RelativePositionOptions`. */
interface RelativePositions {
  readonly table: Layer;
  readonly bucketCount: number;
  readonly maxDistance: number;
}

/** Reads the bias table of the encoder or decoder. The first block holds it, and all blocks use it. */
function getRelativePositions(config: Config, weights: Weights, side: "encoder" | "decoder", heads: number): RelativePositions {
  const bucketCount = config.positiveInteger("relative_attention_num_buckets", 32);
  const maxDistance = config.positiveInteger("relative_attention_max_distance", 128);
  const exactBuckets = Math.floor(bucketCount / (side === "encoder" ? 4 : 2)); // an encoder has as many again for each direction
  if (exactBuckets < 1) throw config.invalid("relative_attention_num_buckets", "at least 4 are required");
  if (maxDistance <= exactBuckets)
    throw config.invalid("relative_attention_max_distance", `an integer above ${exactBuckets} is required`);
  const name = `${side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`;
  return {
    table: embedding(weights, name, bucketCount, heads),
    bucketCount,
    maxDistance,
  };
}

/** Encodes token ids and mask, both int64 `[batch, length]`, as `[batch, length, width]`. */
type Encode = (ops: TensorOps, tokens: Value, mask: Value) => Value;

/** The encoder. `words` is the token embedding, which it shares with the decoder. */
function encoder(config: Config, weights: Weights, sizes: Sizes, words: Layer): Encode {
  const { width, epsilon, heads } = sizes;
  const positions = getRelativePositions(config, weights, "encoder", heads);
  const blocks = repeated(config.positiveInteger("num_layers"), (index): ((ops: TensorOps, x: Value, bias: Value) => Value) => {
    const prefix = `encoder.block.${index}`;
    const norm = rmsNorm(weights, `${prefix}.layer.0.layer_norm`, width, epsilon);
    const self = getAttention(weights, `${prefix}.layer.0.SelfAttention`, sizes);
    const feed = feedForward(weights, `${prefix}.layer.1`, sizes);
    return (ops, x, bias) => feed(ops, ops.binary("add", self.attendToSelf(ops, norm(ops, x), bias), x));
  });
  const norm = rmsNorm(weights, "encoder.final_layer_norm", width, epsilon);
  return (ops, tokens, mask) => {
    const [, length] = dimensions(tokens, 2);
    const positionBias = relativePositionBias(ops, { ...positions, queries: length, keys: length, bidirectional: true });
    const bias = ops.binary("add", positionBias, paddingBias(ops, mask));
    return norm(
      ops,
      blocks.reduce((x, each) => each(ops, x, bias), words(ops, tokens)),
    );
  };
}

function decoderBlock(weights: Weights, prefix: string, sizes: Sizes): DecoderBlock {
  const { width, epsilon } = sizes;
  const selfNorm = rmsNorm(weights, `${prefix}.layer.0.layer_norm`, width, epsilon);
  const crossNorm = rmsNorm(weights, `${prefix}.layer.1.layer_norm`, width, epsilon);
  const self = getAttention(weights, `${prefix}.layer.0.SelfAttention`, sizes);
  const cross = getAttention(weights, `${prefix}.layer.1.EncDecAttention`, sizes);
  const feed = feedForward(weights, `${prefix}.layer.2`, sizes);
  const build: DecoderBlock["build"] = (ops, x, bias, source, updateCache) => {
    const attended = ops.binary("add", self.attendToSelf(ops, selfNorm(ops, x), bias, updateCache), x);
    return feed(ops, ops.binary("add", cross.attend(ops, crossNorm(ops, attended), source.cache, source.bias), attended));
  };
  return { crossKeyValues: cross.keyValues, build };
}

/** The token embedding of both sides, and the name of its tensor. Files of an encoder alone may have it under the encoder's name only. */
function sharedEmbedding(config: Config, weights: Weights, width: number): { readonly name: string; readonly layer: Layer } {
  const name = weights.has("shared.weight") ? "shared.weight" : "encoder.embed_tokens.weight";
  return { name, layer: tokenEmbedding(weights, name, config.positiveInteger("vocab_size"), width) };
}

/** `T5EncoderModel`: input_ids and attention_mask give last_hidden_state. */
function encoderModel(config: Config, weights: Weights): Transformer {
  const sizes = getSizes(config);
  const encode = encoder(config, weights, sizes, sharedEmbedding(config, weights, sizes.width).layer);
  return {
    inputs: [int64Info("input_ids"), int64Info("attention_mask")],
    outputs: [float32Info("last_hidden_state", "batch_size", "sequence_length", sizes.width)],
    forward: (ops, input) => ({ last_hidden_state: encode(ops, input("input_ids"), input("attention_mask")) }),
  };
}

/** `T5ForConditionalGeneration` as a language model. */
function t5Model(config: Config, weights: Weights): EncoderDecoder {
  const sizes = getSizes(config);
  const { width, heads, headSize, epsilon } = sizes;
  const words = sharedEmbedding(config, weights, width);
  const vocabulary = config.positiveInteger("vocab_size");
  const encode = encoder(config, weights, sizes, words.layer);
  const layers = config.positiveInteger("num_decoder_layers", config.positiveInteger("num_layers"));
  const blocks = repeated(layers, (index) => decoderBlock(weights, `decoder.block.${index}`, sizes));
  const relative = getRelativePositions(config, weights, "decoder", heads);
  const norm = rmsNorm(weights, "decoder.final_layer_norm", width, epsilon);
  const isTied = config.boolean("tie_word_embeddings", true);
  const isScaled = config.boolean("scale_decoder_outputs", isTied); // transformers 5 keeps the two apart
  const hasOutput = !isTied && weights.has("lm_head.weight");
  const outputMatrix = weights.matrix(hasOutput ? "lm_head.weight" : words.name, width, vocabulary);
  return {
    blocks,
    heads,
    headSize,
    vocabulary,
    maxSourceTokens: undefined,
    encode: (ops, input) => encode(ops, input("input_ids"), input("attention_mask")),
    selfBias: (ops, { ids, mask, positions }) => {
      const behind = distances(ops, positions, keyPositions(ops, mask));
      return ops.binary("add", distanceBias(ops, relative, behind), causalBias(ops, mask, dimensions(ids, 2)[1]));
    },
    embed: (ops, { ids }) => words.layer(ops, ids),
    getLogits: (ops, hidden) => {
      // The tied embeddings are larger than an output matrix would be; T5 rescales the hidden states for them.
      const scaled = isScaled ? ops.binary("mul", norm(ops, hidden), width ** -0.5) : norm(ops, hidden);
      return ops.add({ kind: "matmul" }, scaled, ops.builder.constant(outputMatrix));
    },
  };
}

const prefixes: readonly string[] = [];
/** Copies of the token embedding under other names, and a cross-attention bias of old checkpoints that no version of the model reads. */
const ignoredTensors = /embed_tokens\.weight$|EncDecAttention\.relative_attention_bias\.weight$|^lm_head\.weight$/;

const conditionalGeneration: Architecture<EncoderDecoderGraphs> = {
  prefixes,
  ignoredTensors,
  make: (config, weights) => encoderDecoderGraphs(t5Model(config, weights)),
};
const encoderOnly: Architecture = {
  prefixes,
  ignoredTensors: new RegExp(`${ignoredTensors.source}|^decoder\\.`),
  make: encoderModel,
};

/** The encoders of T5 and mT5, by Hugging Face class name. */
export const t5Encoders: Architectures = { T5EncoderModel: encoderOnly, MT5EncoderModel: encoderOnly };

/** The whole models, by Hugging Face class name. */
export const t5Models: Readonly<Record<string, Architecture<EncoderDecoderGraphs>>> = {
  T5ForConditionalGeneration: conditionalGeneration,
  MT5ForConditionalGeneration: conditionalGeneration,
};
