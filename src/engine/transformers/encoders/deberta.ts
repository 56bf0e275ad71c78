/**
 * DeBERTa v2 and v3 (He et al. 2020, https://arxiv.org/abs/2006.03654, and 2021, https://arxiv.org/abs/2111.09543): disentangled attention, whose scores
 * are the sum of content-to-content, content-to-position and position-to-content terms over bucketed relative positions. Hugging Face class
 * `DebertaV2Model`, also with its task heads.
 *
 * Reads from config.json: hidden_size, num_attention_heads, num_hidden_layers, intermediate_size, hidden_act, layer_norm_eps, vocab_size,
 * max_position_embeddings, type_vocab_size, relative_attention, max_relative_positions, position_buckets, pos_att_type, share_att_key, norm_rel_ebd,
 * position_biased_input, pooler_hidden_act, tie_word_embeddings.
 */
import type { Value } from "../../ir/graph.ts";
import { int64Literal } from "../../ir/literal.ts";
import { dimensions, type TensorOps } from "../../build/tensor-ops.ts";
import { attention, paddingBias, splitHeads } from "../../build/nn/attention.ts";
import { bertMaskedLanguageModel } from "./bert-heads.ts";
import type { Config } from "../config.ts";
import {
  questionAnswering,
  baseModel,
  type EncoderGraph,
  encoderArchitectures,
  type Heads,
  firstTokenClassifier,
  tokenClassifier,
} from "./heads.ts";
import { embedding, layerNorm, type Layer, linear, repeated, sequential, tokenEmbedding } from "../../build/nn/layers.ts";
import { positionEmbeddings } from "./position-embeddings.ts";
import type { Architectures } from "../transformer.ts";
import type { Weights } from "../weights.ts";

interface Sizes {
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly epsilon: number;
  readonly activation: Layer;
  /** The relative terms of the scores: "c2p" (content to position), "p2c" (position to content). */
  readonly directions: readonly string[];
  /** Whether relative positions are projected by the query and key layers of the content (`share_att_key`). */
  readonly sharesProjections: boolean;
}

/** Embeddings of the 2 L - 1 offsets between L tokens, from -(L - 1) to L - 1, each `[1, 2 L - 1, width]`. */
interface RelativeEmbeddings {
  /** Indexed by key position minus query position, for the content-to-position term. */
  readonly forKeys: Value;
  /** Indexed by query position minus key position, for the position-to-content term. */
  readonly forQueries: Value;
}

function getSizes(config: Config): Sizes {
  const width = config.positiveInteger("hidden_size");
  return {
    width,
    inner: config.positiveInteger("intermediate_size"),
    heads: config.getDivisor("num_attention_heads", width),
    epsilon: config.positiveNumber("layer_norm_eps", 1e-7),
    activation: config.activation("hidden_act", "gelu"),
    directions: config.stringList("pos_att_type"),
    sharesProjections: config.boolean("share_att_key", false),
  };
}

/** Adds the operations of one encoder layer. `relative` is undefined for a model without relative attention. */
type Block = (ops: TensorOps, x: Value, bias: Value, relative: RelativeEmbeddings | undefined) => Value;

function block(weights: Weights, prefix: string, sizes: Sizes, isRelative: boolean): Block {
  const { width, inner, heads, epsilon, activation, directions, sharesProjections } = sizes;
  const square = (name: string): Layer => linear(weights, `${prefix}.${name}`, { inFeatures: width, outFeatures: width });
  const [query, key, value] = [
    square("attention.self.query_proj"),
    square("attention.self.key_proj"),
    square("attention.self.value_proj"),
  ];
  const hasContentToPosition = isRelative && directions.includes("c2p");
  const hasPositionToContent = isRelative && directions.includes("p2c");
  const positionKey = hasContentToPosition ? (sharesProjections ? key : square("attention.self.pos_key_proj")) : undefined;
  const positionQuery = hasPositionToContent ? (sharesProjections ? query : square("attention.self.pos_query_proj")) : undefined;
  const output = square("attention.output.dense");
  const attentionNorm = layerNorm(weights, `${prefix}.attention.output.LayerNorm`, width, epsilon);
  const feedForward = sequential(
    linear(weights, `${prefix}.intermediate.dense`, { inFeatures: width, outFeatures: inner }),
    activation,
    linear(weights, `${prefix}.output.dense`, { inFeatures: inner, outFeatures: width }),
  );
  const outputNorm = layerNorm(weights, `${prefix}.output.LayerNorm`, width, epsilon);
  const scale = 1 / Math.sqrt((width / heads) * (1 + Number(hasContentToPosition) + Number(hasPositionToContent)));
  return (ops, x, mask, relative) => {
    const [queries, keys] = [splitHeads(ops, query(ops, x), heads), splitHeads(ops, key(ops, x), heads)];
    let bias = mask;
    if (positionKey !== undefined && relative !== undefined) {
      const scores = relativePositionScores(ops, queries, splitHeads(ops, positionKey(ops, relative.forKeys), heads), scale);
      bias = ops.binary("add", scores, bias);
    }
    if (positionQuery !== undefined && relative !== undefined) {
      const scores = relativePositionScores(ops, keys, splitHeads(ops, positionQuery(ops, relative.forQueries), heads), scale);
      bias = ops.binary("add", ops.transpose(scores, [0, 1, 3, 2]), bias);
    }
    const context = attention(ops, { query: queries, key: keys, value: splitHeads(ops, value(ops, x), heads), scale, bias });
    const attended = attentionNorm(ops, ops.binary("add", output(ops, context), x));
    return outputNorm(ops, ops.binary("add", feedForward(ops, attended), attended));
  };
}

/**
 * Relative scores `[batch, heads, L, L]` of queries or keys `tokens` `[batch, heads, L, D]` with the embeddings of offsets `[1, heads, 2 L - 1, D]`: entry
 * (i, j) is token i with offset j - i. Row i of the full product needs columns L - 1 - i to 2 L - 2 - i. Skipping L - 1 elements and reading on in rows
 * of 2 L - 2 aligns them (the "skewing" of Music Transformer, Huang et al. 2018, https://arxiv.org/abs/1809.04281).
 */
function relativePositionScores(ops: TensorOps, tokens: Value, offsets: Value, scale: number): Value {
  const [batch, heads, length] = dimensions(tokens, 4);
  const all = ops.binary("mul", ops.add({ kind: "matmul" }, tokens, ops.transpose(offsets, [0, 1, 3, 2])), scale);
  if (length <= 1) return all;
  const flat = ops.reshape(all, [batch, heads, length * (2 * length - 1)]);
  const rows = ops.slice(flat, 2, length - 1, length * (2 * length - 2));
  return ops.slice(ops.reshape(rows, [batch, heads, length, 2 * length - 2]), 3, 0, length);
}

/** `make_log_bucket_position` of transformers: distances up to half of `bucketCount` are exact, longer ones up to `maxDistance` logarithmic. */
function logBucket(distance: number, bucketCount: number, maxDistance: number): number {
  const middle = Math.floor(bucketCount / 2);
  const size = Math.abs(distance);
  if (bucketCount <= 0 || maxDistance <= 0 || size <= middle) return distance;
  const { fround, log } = Math; // rounded to float32 where PyTorch rounds
  const fraction = fround(fround(log(fround(size / middle))) / fround(log(fround((maxDistance - 1) / middle))));
  return Math.sign(distance) * (Math.ceil(fround(fraction * (middle - 1))) + middle);
}

/** Adds the operations that look up the embeddings of all offsets between `length` tokens. */
type MakeRelativeEmbeddings = (ops: TensorOps, length: number) => RelativeEmbeddings;

/** Reads the table of relative embeddings, `[2 * span, width]`, and its layer norm if `norm_rel_ebd` asks for one. */
function relativeEmbeddings(config: Config, weights: Weights, { width, epsilon }: Sizes): MakeRelativeEmbeddings {
  const setting = config.integer("max_relative_positions", -1);
  const maxDistance = setting < 1 ? config.positiveInteger("max_position_embeddings") : setting;
  const bucketCount = config.integer("position_buckets", -1);
  if (Number.isNaN(logBucket(Math.floor(bucketCount / 2) + 1, bucketCount, maxDistance)))
    throw config.invalid("position_buckets", `more buckets are required for distances up to ${maxDistance}`);
  const span = bucketCount > 0 ? bucketCount : maxDistance;
  const table = embedding(weights, "encoder.rel_embeddings.weight", 2 * span, width);
  const isNormalized = config.stringList("norm_rel_ebd").includes("layer_norm");
  const norm = isNormalized ? layerNorm(weights, "encoder.LayerNorm", width, epsilon) : sequential();
  const rows = (ops: TensorOps, distances: readonly number[]): Value => {
    const indices = distances.map((each) =>
      Math.min(2 * span - 1, Math.max(0, logBucket(each, bucketCount, maxDistance) + span)),
    );
    return norm(ops, table(ops, ops.builder.constant(int64Literal(indices, [1, indices.length]))));
  };
  return (ops, length) => {
    const offsets = Array.from({ length: Math.max(0, 2 * length - 1) }, (_, index) => index - (length - 1));
    // The table is indexed by query position minus key position.
    const negated = offsets.map((offset) => -offset);
    return { forKeys: rows(ops, negated), forQueries: rows(ops, offsets) };
  };
}

function debertaEncoder(config: Config, weights: Weights): EncoderGraph {
  const sizes = getSizes(config);
  const { width } = sizes;
  config.requireAbsent("conv_kernel_size");
  config.requireEqual("embedding_size", width);
  const words = tokenEmbedding(weights, "embeddings.word_embeddings.weight", config.positiveInteger("vocab_size"), width);
  const hasPositions = config.boolean("position_biased_input", true);
  const positions = hasPositions
    ? positionEmbeddings(weights, config.positiveInteger("max_position_embeddings"), width)
    : undefined;
  const typeCount = config.integer("type_vocab_size", 0);
  const typeTable = typeCount > 0 ? embedding(weights, "embeddings.token_type_embeddings.weight", typeCount, width) : undefined;
  const norm = layerNorm(weights, "embeddings.LayerNorm", width, sizes.epsilon);
  const isRelative = config.boolean("relative_attention", false);
  const makeRelative = isRelative ? relativeEmbeddings(config, weights, sizes) : undefined;
  const blocks = repeated(config.positiveInteger("num_hidden_layers"), (index) =>
    block(weights, `encoder.layer.${index}`, sizes, isRelative),
  );
  return {
    width,
    takesTokenTypes: typeTable !== undefined,
    wordEmbeddings: "embeddings.word_embeddings.weight",
    encode: (ops, { ids, mask, tokenTypes }) => {
      const [batch, length] = dimensions(ids, 2);
      const embeddedTokens = positions === undefined ? words(ops, ids) : ops.binary("add", words(ops, ids), positions(ops, ids));
      const typed =
        typeTable === undefined || tokenTypes === undefined
          ? embeddedTokens
          : ops.binary("add", embeddedTokens, typeTable(ops, tokenTypes));
      const tokenMask = ops.reshape(ops.cast(mask, "float32"), [batch, length, 1]);
      const embedded = ops.binary("mul", norm(ops, typed), tokenMask);
      const bias = paddingBias(ops, mask);
      const relative = makeRelative?.(ops, length);
      return blocks.reduce((x, each) => each(ops, x, bias, relative), embedded);
    },
  };
}

const heads: Heads = {
  Model: baseModel,
  ForSequenceClassification: (config, weights, { width }) => {
    config.requireEqual("pooler_hidden_size", width);
    return firstTokenClassifier(weights, width, ["pooler.dense", "classifier"], config.activation("pooler_hidden_act", "gelu"));
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

/** The DeBERTa v2 and v3 architectures, by Hugging Face class name. */
export const debertaArchitectures: Architectures = encoderArchitectures({
  name: "DebertaV2",
  prefixes: ["deberta."],
  ignoredTensors,
  encoder: debertaEncoder,
  heads,
});
