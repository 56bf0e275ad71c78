/**
 * BERT (Devlin and others, https://arxiv.org/abs/1810.04805) and those that are built like it: RoBERTa (https://arxiv.org/abs/1907.11692), whose
 * places count from the padding's id on, and DistilBERT (https://arxiv.org/abs/1910.01108), which has no types and other names. MiniLM is a BERT.
 */
import type { Value } from "../ir/graph.ts";
import type { Calculation } from "../build/tensor-ops.ts";
import { attention, maskBias, splitHeads } from "../build/nn/attention.ts";
import { bertHeads, distilBertHeads, robertaHeads } from "./bert-heads.ts";
import type { Config } from "./config.ts";
import { type Body, headed } from "./heads.ts";
import { activationOf, embedding, layerNorm, type Layer, linear, repeated, sequence } from "../build/nn/layers.ts";
import { learnedPlaces, placesAfterPadding } from "./position-embeddings.ts";
import type { Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

/** What the members of the family call the same things. */
interface Names {
  readonly layer: string;
  readonly query: string;
  readonly key: string;
  readonly value: string;
  readonly output: string;
  readonly attentionNorm: string;
  readonly up: string;
  readonly down: string;
  readonly outputNorm: string;
}

const bertNames: Names = {
  layer: "encoder.layer",
  query: "attention.self.query",
  key: "attention.self.key",
  value: "attention.self.value",
  output: "attention.output.dense",
  attentionNorm: "attention.output.LayerNorm",
  up: "intermediate.dense",
  down: "output.dense",
  outputNorm: "output.LayerNorm",
};

const distilBertNames: Names = {
  layer: "transformer.layer",
  query: "attention.q_lin",
  key: "attention.k_lin",
  value: "attention.v_lin",
  output: "attention.out_lin",
  attentionNorm: "sa_layer_norm",
  up: "ffn.lin1",
  down: "ffn.lin2",
  outputNorm: "output_layer_norm",
};

interface Sizes {
  readonly width: number;
  readonly heads: number;
  readonly layers: number;
  readonly inner: number;
  readonly epsilon: number;
  readonly activation: Layer;
}

function bertSizes(config: Config): Sizes {
  config.only("position_embedding_type", "absolute");
  config.only("is_decoder", false);
  const width = config.count("hidden_size");
  return {
    width,
    heads: config.divisor("num_attention_heads", width),
    layers: config.count("num_hidden_layers"),
    inner: config.count("intermediate_size"),
    epsilon: config.positive("layer_norm_eps", 1e-12),
    activation: activationOf(config, "hidden_act", "gelu"),
  };
}

function distilBertSizes(config: Config): Sizes {
  const width = config.count("dim");
  return {
    width,
    heads: config.divisor("n_heads", width),
    layers: config.count("n_layers"),
    inner: config.count("hidden_dim"),
    epsilon: 1e-12, // the class has no setting for it
    activation: activationOf(config, "activation", "gelu"),
  };
}

/** Attention, then a layer of two products, each added to what it was given and normalised after. */
function layer(weights: Weights, at: string, names: Names, { width, heads, inner, epsilon, activation }: Sizes) {
  const [query, key, value, output] = [names.query, names.key, names.value, names.output].map((name) =>
    linear(weights, `${at}.${name}`, { from: width, to: width }),
  ) as [Layer, Layer, Layer, Layer];
  const attentionNorm = layerNorm(weights, `${at}.${names.attentionNorm}`, width, epsilon);
  const up = linear(weights, `${at}.${names.up}`, { from: width, to: inner });
  const down = linear(weights, `${at}.${names.down}`, { from: inner, to: width });
  const outputNorm = layerNorm(weights, `${at}.${names.outputNorm}`, width, epsilon);
  const feedForward = sequence(up, activation, down);
  const scale = 1 / Math.sqrt(width / heads);
  return (net: Calculation, x: Value, bias: Value): Value => {
    const mixed = attention(net, {
      query: splitHeads(net, query(net, x), heads),
      key: splitHeads(net, key(net, x), heads),
      value: splitHeads(net, value(net, x), heads),
      scale,
      bias,
    });
    const attended = attentionNorm(net, net.binary("add", output(net, mixed), x));
    return outputNorm(net, net.binary("add", feedForward(net, attended), attended));
  };
}

type Embed = (net: Calculation, ids: Value, types: Value | undefined) => Value;

function body(weights: Weights, sizes: Sizes, names: Names, embed: Embed, types: boolean): Body {
  const norm = layerNorm(weights, "embeddings.LayerNorm", sizes.width, sizes.epsilon);
  const layers = repeated(sizes.layers, (index) => layer(weights, `${names.layer}.${index}`, names, sizes));
  return {
    width: sizes.width,
    types,
    words: "embeddings.word_embeddings.weight",
    encode: (net, { ids, mask, types: typeIds }) => {
      const bias = maskBias(net, mask);
      return layers.reduce((x, each) => each(net, x, bias), norm(net, embed(net, ids, typeIds)));
    },
  };
}

function bert(config: Config, weights: Weights): Body {
  const sizes = bertSizes(config);
  const words = embedding(weights, "embeddings.word_embeddings.weight", config.count("vocab_size"), sizes.width);
  const kinds = embedding(weights, "embeddings.token_type_embeddings.weight", config.count("type_vocab_size", 2), sizes.width);
  const places = learnedPlaces(weights, config.count("max_position_embeddings"), sizes.width);
  const embed: Embed = (net, ids, types) => {
    const sum = net.binary("add", words(net, ids), kinds(net, types ?? net.zeros("int64", ids.type.shape)));
    return net.binary("add", sum, places(net, ids));
  };
  return body(weights, sizes, bertNames, embed, true);
}

/** Its one type is added to every token. */
function roberta(config: Config, weights: Weights): Body {
  const sizes = bertSizes(config);
  config.only("type_vocab_size", 1);
  const words = embedding(weights, "embeddings.word_embeddings.weight", config.count("vocab_size"), sizes.width);
  const kind = weights.tensor("embeddings.token_type_embeddings.weight", 1, sizes.width);
  const rows = config.count("max_position_embeddings");
  const places = placesAfterPadding(weights, rows, sizes.width, config.integer("pad_token_id", 1));
  const embed: Embed = (net, ids) => {
    const sum = net.binary("add", words(net, ids), net.reshape(net.build.constant(kind), [sizes.width]));
    return net.binary("add", sum, places(net, ids));
  };
  return body(weights, sizes, bertNames, embed, false);
}

/** Whether its places were made from sines does not matter: they are stored. */
function distilBert(config: Config, weights: Weights): Body {
  const sizes = distilBertSizes(config);
  const words = embedding(weights, "embeddings.word_embeddings.weight", config.count("vocab_size"), sizes.width);
  const places = learnedPlaces(weights, config.count("max_position_embeddings"), sizes.width);
  const embed: Embed = (net, ids) => net.binary("add", words(net, ids), places(net, ids));
  return body(weights, sizes, distilBertNames, embed, false);
}

const spare = /(^|\.)(pooler|cls|classifier|lm_head|qa_outputs|pre_classifier|vocab_[a-z_]+)\.|position_ids$/;

export const bertArchitectures: Architectures = {
  ...headed({ name: "Bert", prefixes: ["bert."], spare, body: bert, heads: bertHeads }),
  ...headed({ name: "Roberta", prefixes: ["roberta."], spare, body: roberta, heads: robertaHeads }),
  ...headed({ name: "XLMRoberta", prefixes: ["roberta."], spare, body: roberta, heads: robertaHeads }),
  ...headed({ name: "Camembert", prefixes: ["roberta."], spare, body: roberta, heads: robertaHeads }),
  ...headed({ name: "DistilBert", prefixes: ["distilbert."], spare, body: distilBert, heads: distilBertHeads }),
};
