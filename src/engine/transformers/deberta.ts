/**
 * DeBERTa-v2 and v3 (He and others, https://arxiv.org/abs/2006.03654 and https://arxiv.org/abs/2111.09543): scores of what tokens say with what
 * they say, and of what they say with how far they stand apart, in both directions. Far distances share buckets.
 */
import type { Value } from "../ir/graph.ts";
import { int64Literal } from "../ir/literal.ts";
import type { Calculation } from "../build/tensor-ops.ts";
import { attention, maskBias, splitHeads } from "../build/nn/attention.ts";
import { bertWords } from "./bert-heads.ts";
import type { Config } from "./config.ts";
import { answerSpan, bare, type Body, headed, type Heads, textClasses, tokenClasses } from "./heads.ts";
import { activationOf, embedding, firstToken, layerNorm, type Layer, linear, repeated, sequence } from "../build/nn/layers.ts";
import { learnedPlaces } from "./position-embeddings.ts";
import type { Architectures } from "./transformer.ts";
import type { Weights } from "./weights.ts";

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly epsilon: number;
  readonly activation: Layer;
  /** "c2p": what a query says with the distance of a key; "p2c": what a key says with that of a query. */
  readonly directions: readonly string[];
  /** Distances are told by the layers of queries and keys themselves. */
  readonly shared: boolean;
}

/** The learned distances of all 2 L - 1 offsets from one token to another, the most negative first: [1, 2 L - 1, width]. */
interface Distances {
  /** As a query sees keys... */
  readonly ofKeys: Value;
  /** ...and as a key sees queries. */
  readonly ofQueries: Value;
}

function sizesOf(config: Config): Sizes {
  const width = config.count("hidden_size");
  return {
    width,
    inner: config.count("intermediate_size"),
    heads: config.divisor("num_attention_heads", width),
    epsilon: config.positive("layer_norm_eps", 1e-7),
    activation: activationOf(config, "hidden_act", "gelu"),
    directions: config.words("pos_att_type"),
    shared: config.flag("share_att_key", false),
  };
}

type Block = (net: Calculation, x: Value, bias: Value, distances: Distances | undefined) => Value;

function block(weights: Weights, at: string, sizes: Sizes, relative: boolean): Block {
  const { width, inner, heads, epsilon, activation, directions, shared } = sizes;
  const square = (name: string): Layer => linear(weights, `${at}.${name}`, { from: width, to: width });
  const [query, key, value] = [
    square("attention.self.query_proj"),
    square("attention.self.key_proj"),
    square("attention.self.value_proj"),
  ];
  const [toKeys, toQueries] = [relative && directions.includes("c2p"), relative && directions.includes("p2c")];
  const distanceKey = toKeys ? (shared ? key : square("attention.self.pos_key_proj")) : undefined;
  const distanceQuery = toQueries ? (shared ? query : square("attention.self.pos_query_proj")) : undefined;
  const output = square("attention.output.dense");
  const attentionNorm = layerNorm(weights, `${at}.attention.output.LayerNorm`, width, epsilon);
  const feedForward = sequence(
    linear(weights, `${at}.intermediate.dense`, { from: width, to: inner }),
    activation,
    linear(weights, `${at}.output.dense`, { from: inner, to: width }),
  );
  const outputNorm = layerNorm(weights, `${at}.output.LayerNorm`, width, epsilon);
  const scale = 1 / Math.sqrt((width / heads) * (1 + Number(toKeys) + Number(toQueries)));
  return (net, x, mask, distances) => {
    const [queries, keys] = [splitHeads(net, query(net, x), heads), splitHeads(net, key(net, x), heads)];
    let bias = mask;
    if (distanceKey !== undefined && distances !== undefined) {
      const scores = distanceScores(net, queries, splitHeads(net, distanceKey(net, distances.ofKeys), heads), scale);
      bias = net.binary("add", scores, bias);
    }
    if (distanceQuery !== undefined && distances !== undefined) {
      const scores = distanceScores(net, keys, splitHeads(net, distanceQuery(net, distances.ofQueries), heads), scale);
      bias = net.binary("add", net.transpose(scores, [0, 1, 3, 2]), bias);
    }
    const mixed = attention(net, { query: queries, key: keys, value: splitHeads(net, value(net, x), heads), scale, bias });
    const attended = attentionNorm(net, net.binary("add", output(net, mixed), x));
    return outputNorm(net, net.binary("add", feedForward(net, attended), attended));
  };
}

/**
 * Scores [N, heads, L, L] of tokens [N, heads, L, D] with distances [1, heads, 2 L - 1, D], where entry (i, j) is that of token i with distance
 * j - i + L - 1. Row i of all products begins L - 1 - i places late: read with rows one place shorter, all begin at the same place.
 */
function distanceScores(net: Calculation, tokens: Value, distances: Value, scale: number): Value {
  const [batch = 0, heads = 0, length = 0] = tokens.type.shape;
  const all = net.binary("mul", net.add({ kind: "matmul" }, tokens, net.transpose(distances, [0, 1, 3, 2])), scale);
  if (length <= 1) return all;
  const flat = net.reshape(all, [batch, heads, length * (2 * length - 1)]);
  const rows = net.slice(flat, 2, length - 1, length * (2 * length - 2));
  return net.slice(net.reshape(rows, [batch, heads, length, 2 * length - 2]), 3, 0, length);
}

/** Near distances as they are; beyond half of the buckets their logarithm, so that the last bucket is the longest distance. */
function bucketOf(distance: number, buckets: number, longest: number): number {
  const middle = Math.floor(buckets / 2);
  const size = Math.abs(distance);
  if (buckets <= 0 || longest <= 0 || size <= middle) return distance;
  const { fround, log } = Math; // rounded where PyTorch rounds
  const share = fround(fround(log(fround(size / middle))) / fround(log(fround((longest - 1) / middle))));
  return Math.sign(distance) * (Math.ceil(fround(share * (middle - 1))) + middle);
}

type MakeDistances = (net: Calculation, length: number) => Distances;

/** A table of distances, normalised where it is asked for: [2 * span, width]. */
function relativeDistances(config: Config, weights: Weights, { width, epsilon }: Sizes): MakeDistances {
  const stated = config.integer("max_relative_positions", -1);
  const longest = stated < 1 ? config.count("max_position_embeddings") : stated;
  const buckets = config.integer("position_buckets", -1);
  const span = buckets > 0 ? buckets : longest;
  const row = embedding(weights, "encoder.rel_embeddings.weight", 2 * span, width);
  const normed = config.words("norm_rel_ebd").includes("layer_norm");
  const norm: Layer = normed ? layerNorm(weights, "encoder.LayerNorm", width, epsilon) : (_net, x) => x;
  const rows = (net: Calculation, distances: readonly number[]): Value => {
    const places = distances.map((each) => Math.min(2 * span - 1, Math.max(0, bucketOf(each, buckets, longest) + span)));
    return norm(net, row(net, net.build.constant(int64Literal(places, [1, places.length]))));
  };
  return (net, length) => {
    // Entry k belongs to the token at k - (L - 1) places from the one that looks.
    const offsets = Array.from({ length: Math.max(0, 2 * length - 1) }, (_, index) => index - (length - 1));
    // What is learned is how far a query stands behind a key: a query that looks ahead by an offset is behind by its opposite.
    const behind = offsets.map((offset) => -offset);
    return { ofKeys: rows(net, behind), ofQueries: rows(net, offsets) };
  };
}

function body(config: Config, weights: Weights): Body {
  const sizes = sizesOf(config);
  const { width } = sizes;
  config.never("conv_kernel_size");
  config.only("embedding_size", width);
  const words = embedding(weights, "embeddings.word_embeddings.weight", config.count("vocab_size"), width);
  const biased = config.flag("position_biased_input", true);
  const places = biased ? learnedPlaces(weights, config.count("max_position_embeddings"), width) : undefined;
  const typeCount = config.integer("type_vocab_size", 0);
  const kinds = typeCount > 0 ? embedding(weights, "embeddings.token_type_embeddings.weight", typeCount, width) : undefined;
  const norm = layerNorm(weights, "embeddings.LayerNorm", width, sizes.epsilon);
  const relative = config.flag("relative_attention", false);
  const distancesOf = relative ? relativeDistances(config, weights, sizes) : undefined;
  const blocks = repeated(config.count("num_hidden_layers"), (index) =>
    block(weights, `encoder.layer.${index}`, sizes, relative),
  );
  return {
    width,
    types: kinds !== undefined,
    words: "embeddings.word_embeddings.weight",
    encode: (net, { ids, mask, types }) => {
      const [batch = 0, length = 0] = ids.type.shape;
      const placed = places === undefined ? words(net, ids) : net.binary("add", words(net, ids), places(net, ids));
      const typed = kinds === undefined || types === undefined ? placed : net.binary("add", placed, kinds(net, types));
      const seen = net.reshape(net.cast(mask, "float32"), [batch, length, 1]);
      const embedded = net.binary("mul", norm(net, typed), seen);
      const bias = maskBias(net, mask);
      const distances = distancesOf?.(net, length);
      return blocks.reduce((x, each) => each(net, x, bias, distances), embedded);
    },
  };
}

const heads: Heads = {
  Model: bare,
  ForSequenceClassification: (config, weights, { width }) => {
    config.only("pooler_hidden_size", width);
    const pooler = sequence(
      linear(weights, "pooler.dense", { from: width, to: width }),
      activationOf(config, "pooler_hidden_act", "gelu"),
    );
    return textClasses(weights, "classifier", width, (net, hidden) => pooler(net, firstToken(net, hidden)));
  },
  ForTokenClassification: (_config, weights, { width }) => tokenClasses(weights, "classifier", width),
  ForMaskedLM: (config, weights, encoder) => {
    config.only("legacy", true);
    return bertWords(config, weights, encoder);
  },
  ForQuestionAnswering: answerSpan,
};

const spare =
  /^(pooler|classifier|qa_outputs|cls|lm_predictions|mask_predictions|deberta\.embeddings\.position_embeddings)\.|position_ids$|^(deberta\.)?embeddings\.position_embeddings\./;

export const debertaArchitectures: Architectures = headed({ name: "DebertaV2", prefixes: ["deberta."], spare, body, heads });
