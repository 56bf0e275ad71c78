/**
 * ModernBERT (Warner and others, https://arxiv.org/abs/2412.13663): norms before the layers, places turned in, a gate in the layer of two products,
 * and attention that looks at a text's whole length in one layer of several, and nearby in the others.
 */
import type { Value } from "../ir/graph.ts";
import { int64Literal } from "../ir/literal.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import { attention, additiveMask, keyVisibility, splitHeads } from "../build/nn/attention.ts";
import type { Config } from "./config.ts";
import {
  baseModel,
  type Encoder,
  encoderArchitectures,
  type Heads,
  type Pool,
  sequenceClassifier,
  tokenClassifier,
  maskedLanguageModel,
} from "./heads.ts";
import { embedding, firstToken, layerNorm, type Layer, linear, repeated, sequential } from "../build/nn/layers.ts";
import { arange } from "./position-embeddings.ts";
import { type RotaryAngles, rotaryAngles, rotaryPairs, applyRotary } from "../build/nn/rotary-embedding.ts";
import type { Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly attentionBias: boolean;
  readonly feedForwardBias: boolean;
  readonly activation: Layer;
  norm(name: string): Layer;
}

/** What the layers of one kind share: how far they look, and how places turn. */
interface AttentionScope {
  readonly bias: Value;
  readonly angles: RotaryAngles;
}

type Block = (ops: TensorOps, x: Value, sight: AttentionScope) => Value;

function block(weights: Weights, index: number, sizes: Sizes): Block {
  const { width, inner, heads, attentionBias, feedForwardBias, activation, norm } = sizes;
  const at = `layers.${index}`;
  // The embeddings are normalised already.
  const attentionNorm: Layer = index === 0 ? (_net, x) => x : norm(`${at}.attn_norm`);
  const all = linear(weights, `${at}.attn.Wqkv`, { inFeatures: width, outFeatures: 3 * width, bias: attentionBias });
  const output = linear(weights, `${at}.attn.Wo`, { inFeatures: width, outFeatures: width, bias: attentionBias });
  const feedForwardNorm = norm(`${at}.mlp_norm`);
  const both = linear(weights, `${at}.mlp.Wi`, { inFeatures: width, outFeatures: 2 * inner, bias: feedForwardBias });
  const down = linear(weights, `${at}.mlp.Wo`, { inFeatures: inner, outFeatures: width, bias: feedForwardBias });
  const scale = 1 / Math.sqrt(width / heads);
  return (ops, x, { bias, angles }) => {
    const parts = all(ops, attentionNorm(ops, x));
    const part = (place: number): Value => splitHeads(ops, ops.slice(parts, 2, place * width, width), heads);
    const [query, key] = [applyRotary(ops, part(0), angles), applyRotary(ops, part(1), angles)];
    const attended = ops.binary("add", output(ops, attention(ops, { query, key, value: part(2), scale, bias })), x);
    const raised = both(ops, feedForwardNorm(ops, attended));
    const gated = ops.binary("mul", activation(ops, ops.slice(raised, 2, 0, inner)), ops.slice(raised, 2, inner, inner));
    return ops.binary("add", down(ops, gated), attended);
  };
}

function modernBertEncoder(config: Config, weights: Weights): Encoder {
  config.requireEqual("position_embedding_type", "absolute"); // which is not looked at: places are turned in
  const width = config.positiveInteger("hidden_size");
  const heads = config.divisorOf("num_attention_heads", width);
  const norm = normOf(config, weights, width);
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
  const every = config.positiveInteger("global_attn_every_n_layers", 3);
  const reach = Math.floor(config.positiveInteger("local_attention", 128) / 2);
  const globalTheta = config.positiveNumber("global_rope_theta", 160_000);
  const localTheta = config.positiveNumber("local_rope_theta", globalTheta);
  const words = embedding(weights, "embeddings.tok_embeddings.weight", config.positiveInteger("vocab_size"), width);
  const first = norm("embeddings.norm");
  const blocks = repeated(config.positiveInteger("num_hidden_layers"), (index) => block(weights, index, sizes));
  const last = norm("final_norm");
  return {
    width,
    takesTokenTypes: false,
    wordEmbeddings: "embeddings.tok_embeddings.weight",
    encode: (ops, { ids, mask }) => {
      const [, length = 0] = ids.type.shape;
      const places = ops.reshape(arange(ops, 0, length), [1, length]);
      const seen = keyVisibility(ops, mask);
      const whole: AttentionScope = { bias: additiveMask(ops, seen), angles: rotaryAngles(ops, places, pairs, globalTheta) };
      const near: AttentionScope = {
        bias: additiveMask(ops, ops.binary("and", seen, slidingWindow(ops, length, reach))),
        angles: rotaryAngles(ops, places, pairs, localTheta),
      };
      const embedded = first(ops, words(ops, ids));
      return last(
        ops,
        blocks.reduce((x, each, index) => each(ops, x, index % every === 0 ? whole : near), embedded),
      );
    },
  };
}

function normOf(config: Config, weights: Weights, width: number): (name: string) => Layer {
  const epsilon = config.positiveNumber("norm_eps", 1e-5);
  const bias = config.boolean("norm_bias", false);
  return (name) => layerNorm(weights, name, width, epsilon, bias);
}

/** Whether two places are no more than `reach` apart: bool [1, 1, L, L]. */
function slidingWindow(ops: TensorOps, length: number, reach: number): Value {
  const counted = Array.from({ length }, (_, index) => index);
  const [rows, columns] = [
    [length, 1],
    [1, length],
  ].map((shape) => ops.builder.constant(int64Literal(counted, shape)));
  if (rows === undefined || columns === undefined) throw new Error("there are no places");
  const near = ops.binary("less-or-equal", ops.unary("abs", ops.binary("sub", rows, columns)), reach);
  return ops.reshape(near, [1, 1, length, length]);
}

/** Stands before every last layer. */
function predictionHead(config: Config, weights: Weights, width: number): Layer {
  return sequential(
    linear(weights, "head.dense", { inFeatures: width, outFeatures: width, bias: config.boolean("classifier_bias", false) }),
    config.activation("classifier_activation", "gelu"),
    normOf(config, weights, width)("head.norm"),
  );
}

/** The mean of the tokens the mask has a one at. */
const meanPool: Pool = (ops, hidden, mask) => {
  const [batch = 0, length = 0] = mask.type.shape;
  const shares = ops.reshape(ops.cast(mask, "float32"), [batch, length, 1]);
  const sum = ops.reduce("sum", ops.binary("mul", hidden, shares), [1], false);
  return ops.binary("div", sum, ops.reduce("sum", shares, [1], false));
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
  ForMaskedLM: (config, weights, body) => {
    config.requireEqual("decoder_bias", true);
    const names = { weight: "decoder.weight", biases: ["decoder.bias"] };
    return maskedLanguageModel(config, weights, body, names, predictionHead(config, weights, body.width));
  },
};

const ignoredTensors = /^(head|classifier|decoder)\./;

export const modernBertArchitectures: Architectures = encoderArchitectures({
  name: "ModernBert",
  prefixes: ["model."],
  ignoredTensors,
  encoder: modernBertEncoder,
  heads,
});
