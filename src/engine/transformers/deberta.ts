/**
 * DeBERTa-v2 and v3 (He and others, https://arxiv.org/abs/2006.03654 and https://arxiv.org/abs/2111.09543): scores of what tokens say with what
 * they say, and of what they say with how far they stand apart, in both directions. Far distances share buckets.
 */
import type { Value } from "../ir/graph.ts";
import { int64Literal } from "../ir/literal.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import { attention, paddingBias, splitHeads } from "../build/nn/attention.ts";
import { bertMaskedLanguageModel } from "./bert-heads.ts";
import type { Config } from "./config.ts";
import {
  questionAnswering,
  baseModel,
  type Encoder,
  encoderArchitectures,
  type Heads,
  sequenceClassifier,
  tokenClassifier,
} from "./heads.ts";
import { embedding, firstToken, layerNorm, type Layer, linear, repeated, sequential } from "../build/nn/layers.ts";
import { positionEmbeddings } from "./position-embeddings.ts";
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
  readonly sharesProjections: boolean;
}

/** The learned distances of all 2 L - 1 offsets from one token to another, the most negative first: [1, 2 L - 1, width]. */
interface RelativeEmbeddings {
  /** As a query sees keys... */
  readonly forKeys: Value;
  /** ...and as a key sees queries. */
  readonly forQueries: Value;
}

function sizesOf(config: Config): Sizes {
  const width = config.positiveInteger("hidden_size");
  return {
    width,
    inner: config.positiveInteger("intermediate_size"),
    heads: config.divisorOf("num_attention_heads", width),
    epsilon: config.positiveNumber("layer_norm_eps", 1e-7),
    activation: config.activation("hidden_act", "gelu"),
    directions: config.stringList("pos_att_type"),
    sharesProjections: config.boolean("share_att_key", false),
  };
}

type Block = (ops: TensorOps, x: Value, bias: Value, distances: RelativeEmbeddings | undefined) => Value;

function block(weights: Weights, at: string, sizes: Sizes, relative: boolean): Block {
  const { width, inner, heads, epsilon, activation, directions, sharesProjections } = sizes;
  const square = (name: string): Layer => linear(weights, `${at}.${name}`, { inFeatures: width, outFeatures: width });
  const [query, key, value] = [
    square("attention.self.query_proj"),
    square("attention.self.key_proj"),
    square("attention.self.value_proj"),
  ];
  const [toKeys, toQueries] = [relative && directions.includes("c2p"), relative && directions.includes("p2c")];
  const distanceKey = toKeys ? (sharesProjections ? key : square("attention.self.pos_key_proj")) : undefined;
  const distanceQuery = toQueries ? (sharesProjections ? query : square("attention.self.pos_query_proj")) : undefined;
  const output = square("attention.output.dense");
  const attentionNorm = layerNorm(weights, `${at}.attention.output.LayerNorm`, width, epsilon);
  const feedForward = sequential(
    linear(weights, `${at}.intermediate.dense`, { inFeatures: width, outFeatures: inner }),
    activation,
    linear(weights, `${at}.output.dense`, { inFeatures: inner, outFeatures: width }),
  );
  const outputNorm = layerNorm(weights, `${at}.output.LayerNorm`, width, epsilon);
  const scale = 1 / Math.sqrt((width / heads) * (1 + Number(toKeys) + Number(toQueries)));
  return (ops, x, mask, distances) => {
    const [queries, keys] = [splitHeads(ops, query(ops, x), heads), splitHeads(ops, key(ops, x), heads)];
    let bias = mask;
    if (distanceKey !== undefined && distances !== undefined) {
      const scores = relativePositionScores(ops, queries, splitHeads(ops, distanceKey(ops, distances.forKeys), heads), scale);
      bias = ops.binary("add", scores, bias);
    }
    if (distanceQuery !== undefined && distances !== undefined) {
      const scores = relativePositionScores(ops, keys, splitHeads(ops, distanceQuery(ops, distances.forQueries), heads), scale);
      bias = ops.binary("add", ops.transpose(scores, [0, 1, 3, 2]), bias);
    }
    const mixed = attention(ops, { query: queries, key: keys, value: splitHeads(ops, value(ops, x), heads), scale, bias });
    const attended = attentionNorm(ops, ops.binary("add", output(ops, mixed), x));
    return outputNorm(ops, ops.binary("add", feedForward(ops, attended), attended));
  };
}

/**
 * Scores [N, heads, L, L] of tokens [N, heads, L, D] with distances [1, heads, 2 L - 1, D], where entry (i, j) is that of token i with distance
 * j - i + L - 1. Row i of all products begins L - 1 - i places late: read with rows one place shorter, all begin at the same place.
 */
function relativePositionScores(ops: TensorOps, tokens: Value, distances: Value, scale: number): Value {
  const [batch = 0, heads = 0, length = 0] = tokens.type.shape;
  const all = ops.binary("mul", ops.add({ kind: "matmul" }, tokens, ops.transpose(distances, [0, 1, 3, 2])), scale);
  if (length <= 1) return all;
  const flat = ops.reshape(all, [batch, heads, length * (2 * length - 1)]);
  const rows = ops.slice(flat, 2, length - 1, length * (2 * length - 2));
  return ops.slice(ops.reshape(rows, [batch, heads, length, 2 * length - 2]), 3, 0, length);
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

type MakeRelativeEmbeddings = (ops: TensorOps, length: number) => RelativeEmbeddings;

/** A table of distances, normalised where it is asked for: [2 * span, width]. */
function relativeEmbeddings(config: Config, weights: Weights, { width, epsilon }: Sizes): MakeRelativeEmbeddings {
  const stated = config.integer("max_relative_positions", -1);
  const longest = stated < 1 ? config.positiveInteger("max_position_embeddings") : stated;
  const buckets = config.integer("position_buckets", -1);
  const span = buckets > 0 ? buckets : longest;
  const row = embedding(weights, "encoder.rel_embeddings.weight", 2 * span, width);
  const normed = config.stringList("norm_rel_ebd").includes("layer_norm");
  const norm: Layer = normed ? layerNorm(weights, "encoder.LayerNorm", width, epsilon) : (_net, x) => x;
  const rows = (ops: TensorOps, distances: readonly number[]): Value => {
    const places = distances.map((each) => Math.min(2 * span - 1, Math.max(0, bucketOf(each, buckets, longest) + span)));
    return norm(ops, row(ops, ops.builder.constant(int64Literal(places, [1, places.length]))));
  };
  return (ops, length) => {
    // Entry k belongs to the token at k - (L - 1) places from the one that looks.
    const offsets = Array.from({ length: Math.max(0, 2 * length - 1) }, (_, index) => index - (length - 1));
    // What is learned is how far a query stands behind a key: a query that looks ahead by an offset is behind by its opposite.
    const behind = offsets.map((offset) => -offset);
    return { forKeys: rows(ops, behind), forQueries: rows(ops, offsets) };
  };
}

function debertaEncoder(config: Config, weights: Weights): Encoder {
  const sizes = sizesOf(config);
  const { width } = sizes;
  config.requireAbsent("conv_kernel_size");
  config.requireEqual("embedding_size", width);
  const words = embedding(weights, "embeddings.word_embeddings.weight", config.positiveInteger("vocab_size"), width);
  const biased = config.boolean("position_biased_input", true);
  const places = biased ? positionEmbeddings(weights, config.positiveInteger("max_position_embeddings"), width) : undefined;
  const typeCount = config.integer("type_vocab_size", 0);
  const kinds = typeCount > 0 ? embedding(weights, "embeddings.token_type_embeddings.weight", typeCount, width) : undefined;
  const norm = layerNorm(weights, "embeddings.LayerNorm", width, sizes.epsilon);
  const relative = config.boolean("relative_attention", false);
  const distancesOf = relative ? relativeEmbeddings(config, weights, sizes) : undefined;
  const blocks = repeated(config.positiveInteger("num_hidden_layers"), (index) =>
    block(weights, `encoder.layer.${index}`, sizes, relative),
  );
  return {
    width,
    takesTokenTypes: kinds !== undefined,
    wordEmbeddings: "embeddings.word_embeddings.weight",
    encode: (ops, { ids, mask, tokenTypes }) => {
      const [batch = 0, length = 0] = ids.type.shape;
      const placed = places === undefined ? words(ops, ids) : ops.binary("add", words(ops, ids), places(ops, ids));
      const typed = kinds === undefined || tokenTypes === undefined ? placed : ops.binary("add", placed, kinds(ops, tokenTypes));
      const seen = ops.reshape(ops.cast(mask, "float32"), [batch, length, 1]);
      const embedded = ops.binary("mul", norm(ops, typed), seen);
      const bias = paddingBias(ops, mask);
      const distances = distancesOf?.(ops, length);
      return blocks.reduce((x, each) => each(ops, x, bias, distances), embedded);
    },
  };
}

const heads: Heads = {
  Model: baseModel,
  ForSequenceClassification: (config, weights, { width }) => {
    config.requireEqual("pooler_hidden_size", width);
    const pooler = sequential(
      linear(weights, "pooler.dense", { inFeatures: width, outFeatures: width }),
      config.activation("pooler_hidden_act", "gelu"),
    );
    return sequenceClassifier(weights, "classifier", width, (ops, hidden) => pooler(ops, firstToken(ops, hidden)));
  },
  ForTokenClassification: (_config, weights, { width }) => tokenClassifier(weights, "classifier", width),
  ForMaskedLM: (config, weights, encoder) => {
    config.requireEqual("legacy", true);
    return bertMaskedLanguageModel(config, weights, encoder);
  },
  ForQuestionAnswering: questionAnswering,
};

const ignoredTensors =
  /^(pooler|classifier|qa_outputs|cls|lm_predictions|mask_predictions|deberta\.embeddings\.position_embeddings)\.|position_ids$|^(deberta\.)?embeddings\.position_embeddings\./;

export const debertaArchitectures: Architectures = encoderArchitectures({
  name: "DebertaV2",
  prefixes: ["deberta."],
  ignoredTensors,
  encoder: debertaEncoder,
  heads,
});
