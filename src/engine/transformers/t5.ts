/**
 * T5 (Raffel and others, https://arxiv.org/abs/1910.10683): an encoder, a decoder that looks at what it gave, and biases by how far apart two
 * tokens stand.
 *
 * Both halves are one model here. Where the caches of the encoder are empty, the encoder runs over `input_ids`, and what the decoder needs of it
 * comes out as `present.N.encoder.key` and `.value`. Given back as `past_key_values.N.encoder...` these stand for the encoder, which does not run again.
 */
import type { TensorInfo } from "../../tensor.ts";
import type { Value } from "../ir/graph.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import { attention, additiveMask, causalMask, paddingBias, splitHeads } from "../build/nn/attention.ts";
import type { KeyValueCache } from "./causal-model.ts";
import type { Config } from "./config.ts";
import { type ActivationName, activation, activationNames } from "../build/nn/activations.ts";
import { embedding, type Layer, linear, repeated, rmsNorm, sequential } from "../build/nn/layers.ts";
import { relativePositionBias } from "../build/nn/relative-position-bias.ts";
import { type Architecture, type Architectures, float32Info, type GetInput, int64Info, type Transformer } from "./transformer.ts";
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

function sizesOf(config: Config): Sizes {
  return {
    width: config.positiveInteger("d_model"),
    inner: config.positiveInteger("d_ff"),
    heads: config.positiveInteger("num_heads"),
    headSize: config.positiveInteger("d_kv"),
    epsilon: config.positiveNumber("layer_norm_epsilon", 1e-6),
    ...feedForwardOf(config),
  };
}

/** "gated-gelu" is gated, and means gelu by tanh. */
function feedForwardOf(config: Config): Pick<Sizes, "activation" | "gated"> {
  const stated = config.oneOf(
    "feed_forward_proj",
    [...activationNames, ...activationNames.map((name) => `gated-${name}` as const)],
    "relu",
  );
  const gated = stated.startsWith("gated-");
  const name = stated.replace(/^gated-/, "") as ActivationName;
  return { gated, activation: activation(stated === "gated-gelu" ? "gelu_new" : name) };
}

/** Queries of one side, keys and values of the same or the other. Without biases, and scores are not scaled: what they start from is. */
interface Attention {
  keyValues(ops: TensorOps, states: Value): KeyValueCache;
  attend(ops: TensorOps, x: Value, cache: KeyValueCache, bias: Value): Value;
}

function attentionOf(weights: Weights, at: string, { width, heads, headSize }: Sizes): Attention {
  const project = (name: string): Layer =>
    linear(weights, `${at}.${name}`, { inFeatures: width, outFeatures: heads * headSize, bias: false });
  const [query, key, value] = [project("q"), project("k"), project("v")];
  const output = linear(weights, `${at}.o`, { inFeatures: heads * headSize, outFeatures: width, bias: false });
  return {
    keyValues: (ops, states) => ({
      key: splitHeads(ops, key(ops, states), heads),
      value: splitHeads(ops, value(ops, states), heads),
    }),
    attend: (ops, x, cache, bias) =>
      output(ops, attention(ops, { query: splitHeads(ops, query(ops, x), heads), ...cache, scale: 1, bias })),
  };
}

function feedForward(weights: Weights, at: string, { width, inner, epsilon, activation: bend, gated }: Sizes): Layer {
  const norm = rmsNorm(weights, `${at}.layer_norm`, width, epsilon);
  const layer = (name: string, inFeatures: number, outFeatures: number): Layer =>
    linear(weights, `${at}.DenseReluDense.${name}`, { inFeatures, outFeatures, bias: false });
  const down = layer("wo", inner, width);
  if (!gated) {
    const all = sequential(norm, layer("wi", width, inner), bend, down);
    return (ops, x) => ops.binary("add", all(ops, x), x);
  }
  const [gate, up] = [layer("wi_0", width, inner), layer("wi_1", width, inner)];
  return (ops, x) => {
    const normed = norm(ops, x);
    return ops.binary("add", down(ops, ops.binary("mul", bend(ops, gate(ops, normed)), up(ops, normed))), x);
  };
}

interface RelativePositions {
  readonly table: Layer;
  readonly bucketCount: number;
  readonly maxDistance: number;
}

function relativePositionsOf(config: Config, weights: Weights, side: string, heads: number): RelativePositions {
  const bucketCount = config.positiveInteger("relative_attention_num_buckets", 32);
  const name = `${side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`;
  return {
    table: embedding(weights, name, bucketCount, heads),
    bucketCount,
    maxDistance: config.positiveInteger("relative_attention_max_distance", 128),
  };
}

/** `words`: ids become rows of the table both sides share. Gives [N, L, width]. */
type Encode = (ops: TensorOps, tokens: Value, mask: Value) => Value;

function encoder(config: Config, weights: Weights, sizes: Sizes, words: Layer): Encode {
  const { width, epsilon, heads } = sizes;
  const blocks = repeated(config.positiveInteger("num_layers"), (index): ((ops: TensorOps, x: Value, bias: Value) => Value) => {
    const at = `encoder.block.${index}`;
    const norm = rmsNorm(weights, `${at}.layer.0.layer_norm`, width, epsilon);
    const self = attentionOf(weights, `${at}.layer.0.SelfAttention`, sizes);
    const feed = feedForward(weights, `${at}.layer.1`, sizes);
    return (ops, x, bias) => {
      const normed = norm(ops, x);
      return feed(ops, ops.binary("add", self.attend(ops, normed, self.keyValues(ops, normed), bias), x));
    };
  });
  const distances = relativePositionsOf(config, weights, "encoder", heads);
  const norm = rmsNorm(weights, "encoder.final_layer_norm", width, epsilon);
  return (ops, tokens, mask) => {
    const [, length = 0] = tokens.type.shape;
    const apart = relativePositionBias(ops, { ...distances, queries: length, keys: length, bidirectional: true });
    const bias = ops.binary("add", apart, paddingBias(ops, mask));
    return norm(
      ops,
      blocks.reduce((x, each) => each(ops, x, bias), words(ops, tokens)),
    );
  };
}

/** What a decoder's block remembers: of the tokens before, and of the encoder. */
interface BlockCaches {
  selfAttention(now: KeyValueCache): KeyValueCache;
  /** `compute` gives keys and values of the encoder's states; it is asked where they are not remembered. */
  crossAttention(compute: (states: Value) => KeyValueCache): KeyValueCache;
}

type DecoderBlock = (ops: TensorOps, x: Value, bias: Value, otherBias: Value, memory: BlockCaches) => Value;

function decoderBlock(weights: Weights, at: string, sizes: Sizes): DecoderBlock {
  const { width, epsilon } = sizes;
  const norms = repeated(2, (index) => rmsNorm(weights, `${at}.layer.${index}.layer_norm`, width, epsilon));
  const self = attentionOf(weights, `${at}.layer.0.SelfAttention`, sizes);
  const cross = attentionOf(weights, `${at}.layer.1.EncDecAttention`, sizes);
  const feed = feedForward(weights, `${at}.layer.2`, sizes);
  const [selfNorm, crossNorm] = norms as readonly [Layer, Layer];
  return (ops, x, bias, otherBias, memory) => {
    const normed = selfNorm(ops, x);
    const attended = ops.binary("add", self.attend(ops, normed, memory.selfAttention(self.keyValues(ops, normed)), bias), x);
    const cache = memory.crossAttention((states) => cross.keyValues(ops, states));
    return feed(ops, ops.binary("add", cross.attend(ops, crossNorm(ops, attended), cache, otherBias), attended));
  };
}

function sharedEmbedding(config: Config, weights: Weights, width: number): { readonly name: string; readonly layer: Layer } {
  const name = weights.has("shared.weight") ? "shared.weight" : "encoder.embed_tokens.weight";
  return { name, layer: embedding(weights, name, config.positiveInteger("vocab_size"), width) };
}

function encoderModel(config: Config, weights: Weights): Transformer {
  const sizes = sizesOf(config);
  const encode = encoder(config, weights, sizes, sharedEmbedding(config, weights, sizes.width).layer);
  return {
    inputs: [int64Info("input_ids"), int64Info("attention_mask")],
    outputs: [float32Info("last_hidden_state", "batch_size", "sequence_length", sizes.width)],
    forward: (ops, given) => ({ last_hidden_state: encode(ops, given("input_ids"), given("attention_mask")) }),
  };
}

const sides = ["decoder", "encoder"] as const;
const parts = ["key", "value"] as const;

function encoderDecoderModel(config: Config, weights: Weights): Transformer {
  const sizes = sizesOf(config);
  const { width, heads, headSize, epsilon } = sizes;
  const words = sharedEmbedding(config, weights, width);
  const vocabulary = config.positiveInteger("vocab_size");
  const encode = encoder(config, weights, sizes, words.layer);
  const layers = config.positiveInteger("num_decoder_layers", config.positiveInteger("num_layers"));
  const blocks = repeated(layers, (index) => decoderBlock(weights, `decoder.block.${index}`, sizes));
  const distances = relativePositionsOf(config, weights, "decoder", heads);
  const norm = rmsNorm(weights, "decoder.final_layer_norm", width, epsilon);
  const shared = config.boolean("tie_word_embeddings", true);
  const table = weights.matrix(shared ? words.name : "lm_head.weight", width, vocabulary);
  const caches = (name: string, ofDecoder: string, ofEncoder: string): readonly TensorInfo[] =>
    repeated(layers, (layer) =>
      sides.flatMap((side) =>
        parts.map((part) =>
          float32Info(
            `${name}.${layer}.${side}.${part}`,
            "batch_size",
            heads,
            side === "decoder" ? ofDecoder : ofEncoder,
            headSize,
          ),
        ),
      ),
    ).flat();
  return {
    inputs: [
      int64Info("input_ids", "encoder_sequence_length"),
      int64Info("attention_mask", "encoder_sequence_length"),
      int64Info("decoder_input_ids", "decoder_sequence_length"),
      ...caches("past_key_values", "past_decoder_sequence_length", "past_encoder_sequence_length"),
    ],
    outputs: [
      float32Info("logits", "batch_size", "decoder_sequence_length", vocabulary),
      ...caches("present", "past_decoder_sequence_length + decoder_sequence_length", "encoder_sequence_length"),
    ],
    forward: (ops, given) => {
      const tokens = given("decoder_input_ids");
      const mask = given("attention_mask");
      const [, queries = 0] = tokens.type.shape;
      const [past, known] = sides.map((side) => given(`past_key_values.0.${side}.key`).type.shape[2] ?? 0) as [number, number];
      const states = known === 0 ? encode(ops, given("input_ids"), mask) : undefined;
      const total = past + queries;
      const apart = relativePositionBias(ops, { ...distances, queries, keys: total, bidirectional: false });
      const before = ops.reshape(causalMask(ops, queries, total, past), [1, 1, queries, total]);
      const bias = ops.binary("add", apart, additiveMask(ops, before));
      const otherBias = paddingBias(ops, mask);
      const present: Record<string, Value> = {};
      const hidden = blocks.reduce(
        (x, each, layer) => each(ops, x, bias, otherBias, blockCaches(ops, given, layer, states, present)),
        words.layer(ops, tokens),
      );
      // Where the table is shared, what it is multiplied by is scaled to fit.
      const scaled = shared ? ops.binary("mul", norm(ops, hidden), width ** -0.5) : norm(ops, hidden);
      return { logits: ops.add({ kind: "matmul" }, scaled, ops.builder.constant(table)), ...present };
    },
  };
}

/** Notes in `present` what a layer is to remember from now on. `states`: the encoder's, where it ran. */
function blockCaches(
  ops: TensorOps,
  given: GetInput,
  layer: number,
  states: Value | undefined,
  present: Record<string, Value>,
): BlockCaches {
  const past = (side: string): KeyValueCache => {
    const [key, value] = parts.map((part) => given(`past_key_values.${layer}.${side}.${part}`)) as [Value, Value];
    return { key, value };
  };
  const noted = (side: string, cache: KeyValueCache): KeyValueCache => {
    for (const part of parts) present[`present.${layer}.${side}.${part}`] = cache[part];
    return cache;
  };
  return {
    selfAttention: (now) => {
      const { key, value } = past("decoder");
      const behind = (before: Value, after: Value): Value => ops.add({ kind: "concat", axis: 2 }, before, after);
      return noted("decoder", { key: behind(key, now.key), value: behind(value, now.value) });
    },
    crossAttention: (compute) => noted("encoder", states === undefined ? past("encoder") : compute(states)),
  };
}

const prefixes: readonly string[] = [];
/** The table once more under the names of those that use it, and a bias that old files have and nothing uses. */
const ignoredTensors = /embed_tokens\.weight$|EncDecAttention\.relative_attention_bias\.weight$|^lm_head\.weight$/;

const conditionalGeneration: Architecture = { prefixes, ignoredTensors, make: encoderDecoderModel };
const encoderOnly: Architecture = {
  prefixes,
  ignoredTensors: new RegExp(`${ignoredTensors.source}|^decoder\\.`),
  make: encoderModel,
};

export const t5Architectures: Architectures = {
  T5ForConditionalGeneration: conditionalGeneration,
  T5EncoderModel: encoderOnly,
  MT5ForConditionalGeneration: conditionalGeneration,
  MT5EncoderModel: encoderOnly,
};
