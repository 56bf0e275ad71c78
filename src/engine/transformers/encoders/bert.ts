/**
 * BERT and encoders with its architecture. Hugging Face classes `BertModel`, `RobertaModel`, `XLMRobertaModel`, `CamembertModel` and `DistilBertModel`,
 * each also with its task heads; MiniLM models are `BertModel`.
 *
 * - BERT: Devlin et al. 2018, https://arxiv.org/abs/1810.04805
 * - RoBERTa: Liu et al. 2019, https://arxiv.org/abs/1907.11692. Position ids start after the padding id, and there is a single token type.
 * - DistilBERT: Sanh et al. 2019, https://arxiv.org/abs/1910.01108. No token types, and other tensor and setting names.
 *
 * Reads from config.json: hidden_size (DistilBERT: dim), num_attention_heads (n_heads), num_hidden_layers (n_layers), intermediate_size (hidden_dim),
 * hidden_act (activation), layer_norm_eps, vocab_size, max_position_embeddings, type_vocab_size, pad_token_id, tie_word_embeddings.
 */
import type { Value } from "../../ir/graph.ts";
import type { TensorOps } from "../../build/tensor-ops.ts";
import { paddingBias } from "../../build/nn/attention.ts";
import { bertHeads, distilBertHeads, robertaHeads } from "./bert-heads.ts";
import type { Config } from "../config.ts";
import { type EncoderGraph, encoderArchitectures } from "./heads.ts";
import { embedding, layerNorm, type Layer, linear, repeated, sequential, tokenEmbedding } from "../../build/nn/layers.ts";
import { multiHeadAttention, type ProjectionNames } from "../multi-head-attention.ts";
import { positionEmbeddings, positionEmbeddingsAfterPadding } from "./position-embeddings.ts";
import type { Architectures } from "../transformer.ts";
import type { Weights } from "../weights.ts";

/** The tensor names of one layer, which differ between BERT and DistilBERT. */
interface TensorNames {
  readonly layer: string;
  readonly attention: ProjectionNames;
  readonly attentionNorm: string;
  readonly up: string;
  readonly down: string;
  readonly outputNorm: string;
}

const bertNames: TensorNames = {
  layer: "encoder.layer",
  attention: ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"],
  attentionNorm: "attention.output.LayerNorm",
  up: "intermediate.dense",
  down: "output.dense",
  outputNorm: "output.LayerNorm",
};

const distilBertNames: TensorNames = {
  layer: "transformer.layer",
  attention: ["attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"],
  attentionNorm: "sa_layer_norm",
  up: "ffn.lin1",
  down: "ffn.lin2",
  outputNorm: "output_layer_norm",
};

interface EncoderSizes {
  readonly width: number;
  readonly heads: number;
  readonly layers: number;
  readonly inner: number;
  readonly epsilon: number;
  readonly activation: Layer;
}

function bertSizes(config: Config): EncoderSizes {
  config.requireEqual("position_embedding_type", "absolute");
  config.requireEqual("is_decoder", false);
  const width = config.positiveInteger("hidden_size");
  return {
    width,
    heads: config.getDivisor("num_attention_heads", width),
    layers: config.positiveInteger("num_hidden_layers"),
    inner: config.positiveInteger("intermediate_size"),
    epsilon: config.positiveNumber("layer_norm_eps", 1e-12),
    activation: config.activation("hidden_act", "gelu"),
  };
}

function distilBertSizes(config: Config): EncoderSizes {
  const width = config.positiveInteger("dim");
  return {
    width,
    heads: config.getDivisor("n_heads", width),
    layers: config.positiveInteger("n_layers"),
    inner: config.positiveInteger("hidden_dim"),
    epsilon: 1e-12, // DistilBERT has no setting for it
    activation: config.activation("activation", "gelu"),
  };
}

/** A post-norm encoder layer: self-attention and a feed-forward network, each followed by a residual connection and a layer norm. */
function encoderLayer(
  weights: Weights,
  prefix: string,
  names: TensorNames,
  { width, heads, inner, epsilon, activation }: EncoderSizes,
) {
  const self = multiHeadAttention(weights, prefix, names.attention, { width, heads });
  const attentionNorm = layerNorm(weights, `${prefix}.${names.attentionNorm}`, width, epsilon);
  const up = linear(weights, `${prefix}.${names.up}`, { inFeatures: width, outFeatures: inner });
  const down = linear(weights, `${prefix}.${names.down}`, { inFeatures: inner, outFeatures: width });
  const outputNorm = layerNorm(weights, `${prefix}.${names.outputNorm}`, width, epsilon);
  const feedForward = sequential(up, activation, down);
  return (ops: TensorOps, x: Value, bias: Value): Value => {
    const attended = attentionNorm(ops, ops.binary("add", self.attendToSelf(ops, x, bias), x));
    return outputNorm(ops, ops.binary("add", feedForward(ops, attended), attended));
  };
}

/** Embeds token ids and token types, both int64 `[batch, length]`, as `[batch, length, width]`. */
type Embed = (ops: TensorOps, ids: Value, types: Value | undefined) => Value;

function bertLikeEncoder(
  weights: Weights,
  sizes: EncoderSizes,
  names: TensorNames,
  embed: Embed,
  takesTokenTypes: boolean,
): EncoderGraph {
  const norm = layerNorm(weights, "embeddings.LayerNorm", sizes.width, sizes.epsilon);
  const layers = repeated(sizes.layers, (index) => encoderLayer(weights, `${names.layer}.${index}`, names, sizes));
  return {
    width: sizes.width,
    takesTokenTypes,
    wordEmbeddings: "embeddings.word_embeddings.weight",
    encode: (ops, { ids, mask, tokenTypes: typeIds }) => {
      const bias = paddingBias(ops, mask);
      return layers.reduce((x, each) => each(ops, x, bias), norm(ops, embed(ops, ids, typeIds)));
    },
  };
}

function bert(config: Config, weights: Weights): EncoderGraph {
  const sizes = bertSizes(config);
  const words = tokenEmbedding(weights, "embeddings.word_embeddings.weight", config.positiveInteger("vocab_size"), sizes.width);
  const tokenTypes = embedding(
    weights,
    "embeddings.token_type_embeddings.weight",
    config.positiveInteger("type_vocab_size", 2),
    sizes.width,
  );
  const positions = positionEmbeddings(weights, config.positiveInteger("max_position_embeddings"), sizes.width);
  const embed: Embed = (ops, ids, types) => {
    const sum = ops.binary("add", words(ops, ids), tokenTypes(ops, types ?? ops.zeros("int64", ids.type.shape)));
    return ops.binary("add", sum, positions(ops, ids));
  };
  return bertLikeEncoder(weights, sizes, bertNames, embed, true);
}

/** The embedding of the single token type is added to every token. */
function roberta(config: Config, weights: Weights): EncoderGraph {
  const sizes = bertSizes(config);
  config.requireEqual("type_vocab_size", 1);
  const words = tokenEmbedding(weights, "embeddings.word_embeddings.weight", config.positiveInteger("vocab_size"), sizes.width);
  const tokenType = weights.tensor("embeddings.token_type_embeddings.weight", 1, sizes.width);
  const rows = config.positiveInteger("max_position_embeddings");
  const positions = positionEmbeddingsAfterPadding(
    weights,
    rows,
    sizes.width,
    config.integerBetween("pad_token_id", 0, rows - 2, 1),
  );
  const embed: Embed = (ops, ids) => {
    const sum = ops.binary("add", words(ops, ids), ops.reshape(ops.builder.constant(tokenType), [sizes.width]));
    return ops.binary("add", sum, positions(ops, ids));
  };
  return bertLikeEncoder(weights, sizes, bertNames, embed, false);
}

/** Position embeddings are read from the file, whether they were learned or computed from sines (`sinusoidal_pos_embds`). */
function distilBert(config: Config, weights: Weights): EncoderGraph {
  const sizes = distilBertSizes(config);
  const words = tokenEmbedding(weights, "embeddings.word_embeddings.weight", config.positiveInteger("vocab_size"), sizes.width);
  const positions = positionEmbeddings(weights, config.positiveInteger("max_position_embeddings"), sizes.width);
  const embed: Embed = (ops, ids) => ops.binary("add", words(ops, ids), positions(ops, ids));
  return bertLikeEncoder(weights, sizes, distilBertNames, embed, false);
}

const ignoredTensors =
  /(^|\.)(pooler|cls|classifier|lm_head|qa_outputs|pre_classifier|vocab_[a-z_]+)\.|position_ids$|^linear\.weight$/;

/** The BERT-like architectures (BERT, RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT), by Hugging Face class name. */
export const bertArchitectures: Architectures = {
  ...encoderArchitectures({ name: "Bert", prefixes: ["bert."], ignoredTensors, encoder: bert, heads: bertHeads }),
  ...encoderArchitectures({ name: "Roberta", prefixes: ["roberta."], ignoredTensors, encoder: roberta, heads: robertaHeads }),
  ...encoderArchitectures({ name: "XLMRoberta", prefixes: ["roberta."], ignoredTensors, encoder: roberta, heads: robertaHeads }),
  ...encoderArchitectures({ name: "Camembert", prefixes: ["roberta."], ignoredTensors, encoder: roberta, heads: robertaHeads }),
  ...encoderArchitectures({
    name: "DistilBert",
    prefixes: ["distilbert."],
    ignoredTensors,
    encoder: distilBert,
    heads: distilBertHeads,
  }),
};
