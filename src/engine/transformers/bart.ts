/**
 * BART and encoder-decoder models with its architecture: Hugging Face classes
 *
 * - `BartForConditionalGeneration`: Lewis et al. 2019, https://arxiv.org/abs/1910.13461. Norms after each layer, learned positions.
 * - `MBartForConditionalGeneration`: Liu et al. 2020, https://arxiv.org/abs/2001.08210. Norms before each layer and at the end.
 * - `MarianMTModel`: Junczys-Dowmunt et al. 2018, https://arxiv.org/abs/1804.00344. Sinusoidal positions; source and target may have embeddings of their own.
 * - `PegasusForConditionalGeneration`: Zhang et al. 2019, https://arxiv.org/abs/1912.08777. Norms before each layer, sinusoidal positions.
 * - `M2M100ForConditionalGeneration` (also NLLB): Fan et al. 2020, https://arxiv.org/abs/2010.11125. The same; positions count from behind the padding token's id.
 *
 * Reads from config.json: d_model, encoder_layers, decoder_layers, encoder_attention_heads, decoder_attention_heads, encoder_ffn_dim, decoder_ffn_dim,
 * vocab_size, decoder_vocab_size, max_position_embeddings, activation_function, scale_embedding, tie_word_embeddings, pad_token_id.
 */
import type { Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { causalBias, paddingBias } from "../build/nn/attention.ts";
import { embedding, type Layer, layerNorm, linear, repeated, sequential, tokenEmbedding } from "../build/nn/layers.ts";
import type { Config } from "./config.ts";
import {
  type DecoderBlock,
  type EncoderDecoder,
  type EncoderDecoderGraphs,
  encoderDecoderGraphs,
  keyPositions,
} from "./encoder-decoder.ts";
import { multiHeadAttention } from "./multi-head-attention.ts";
import type { Architecture } from "./transformer.ts";
import type { Weights } from "./weights.ts";

/** What differs between the families. */
interface Family {
  /** Whether norms come before each layer, with one more after the last, or after each layer. */
  readonly isNormedBefore: boolean;
  /** Whether the embeddings pass a norm. */
  readonly normalizesEmbeddings: boolean;
  /** Position embeddings: learned with two unused rows at the start, sines and cosines, or the same from after the padding token's id. */
  readonly positions: "learned" | "sinusoidal" | "sinusoidal after padding";
  /** Whether the file has a bias of the logits. */
  readonly hasLogitsBias: boolean;
}

const families = {
  Bart: { isNormedBefore: false, normalizesEmbeddings: true, positions: "learned", hasLogitsBias: true },
  MBart: { isNormedBefore: true, normalizesEmbeddings: true, positions: "learned", hasLogitsBias: true },
  Marian: { isNormedBefore: false, normalizesEmbeddings: false, positions: "sinusoidal", hasLogitsBias: true },
  Pegasus: { isNormedBefore: true, normalizesEmbeddings: false, positions: "sinusoidal", hasLogitsBias: true },
  M2M100: { isNormedBefore: true, normalizesEmbeddings: false, positions: "sinusoidal after padding", hasLogitsBias: false },
} as const satisfies Readonly<Record<string, Family>>;

type BartFamily = keyof typeof families;

const epsilon = 1e-5;
/** Unused rows at the start of a table of learned positions. */
const learnedOffset = 2;
/** Elements of the largest table of sines and cosines that is computed: 65,536 positions of width 1024. */
const maxTableElements = 2 ** 26;

/** Sizes of the encoder or the decoder. */
export interface Side {
  readonly name: "encoder" | "decoder";
  readonly width: number;
  readonly heads: number;
  readonly inner: number;
  readonly activation: Layer;
  readonly isNormedBefore: boolean;
  /** Whether the linear layers of keys have a bias. Default: true. */
  readonly keyBias?: boolean;
  /** Size of the states that the cross-attention reads. Default: `width`. */
  readonly sourceWidth?: number;
}

/** Reads the sizes of one side. */
export function getSide(config: Config, name: Side["name"], { isNormedBefore }: Pick<Family, "isNormedBefore">): Side {
  const width = config.positiveInteger("d_model");
  return {
    name,
    width,
    heads: config.getDivisor(`${name}_attention_heads`, width),
    inner: config.positiveInteger(`${name}_ffn_dim`),
    activation: config.activation("activation_function", "gelu"),
    isNormedBefore,
  };
}

const projections = ["q_proj", "k_proj", "v_proj", "out_proj"] as const;

/** Wraps a part of a layer in its residual connection and its norm `name`. */
function residual(
  weights: Weights,
  name: string,
  { width, isNormedBefore }: Side,
): (ops: TensorOps, x: Value, part: (x: Value) => Value) => Value {
  const norm = layerNorm(weights, name, width, epsilon);
  if (isNormedBefore) return (ops, x, part) => ops.binary("add", part(norm(ops, x)), x);
  return (ops, x, part) => norm(ops, ops.binary("add", part(x), x));
}

function feedForward(weights: Weights, prefix: string, { width, inner, activation }: Side): Layer {
  return sequential(
    linear(weights, `${prefix}.fc1`, { inFeatures: width, outFeatures: inner }),
    activation,
    linear(weights, `${prefix}.fc2`, { inFeatures: inner, outFeatures: width }),
  );
}

/** Reads block `index` of the encoder. */
export function encoderBlock(weights: Weights, index: number, side: Side): (ops: TensorOps, x: Value, bias: Value) => Value {
  const prefix = `encoder.layers.${index}`;
  const self = multiHeadAttention(weights, `${prefix}.self_attn`, projections, side);
  const feed = feedForward(weights, prefix, side);
  const aroundSelf = residual(weights, `${prefix}.self_attn_layer_norm`, side);
  const aroundFeed = residual(weights, `${prefix}.final_layer_norm`, side);
  return (ops, x, bias) => {
    const attended = aroundSelf(ops, x, (states) => self.attendToSelf(ops, states, bias));
    return aroundFeed(ops, attended, (states) => feed(ops, states));
  };
}

/** Reads block `index` of the decoder. */
export function decoderBlock(weights: Weights, index: number, side: Side): DecoderBlock {
  const prefix = `decoder.layers.${index}`;
  const self = multiHeadAttention(weights, `${prefix}.self_attn`, projections, { ...side, sourceWidth: side.width });
  const cross = multiHeadAttention(weights, `${prefix}.encoder_attn`, projections, side);
  const feed = feedForward(weights, prefix, side);
  const aroundSelf = residual(weights, `${prefix}.self_attn_layer_norm`, side);
  const aroundCross = residual(weights, `${prefix}.encoder_attn_layer_norm`, side);
  const aroundFeed = residual(weights, `${prefix}.final_layer_norm`, side);
  return {
    crossKeyValues: cross.keyValues,
    build: (ops, x, bias, source, updateCache) => {
      const own = aroundSelf(ops, x, (states) => self.attendToSelf(ops, states, bias, updateCache));
      const attended = aroundCross(ops, own, (states) => {
        source.observe?.(() => cross.getWeights(ops, states, source.cache, source.bias));
        return cross.attend(ops, states, source.cache, source.bias);
      });
      return aroundFeed(ops, attended, (states) => feed(ops, states));
    },
  };
}

/** The position embeddings of one side: int64 positions of any shape give `[..., width]`. */
function getPositions(config: Config, weights: Weights, { name, width }: Side, { positions }: Family): Layer {
  const rows = config.positiveInteger("max_position_embeddings");
  if (positions === "learned") {
    const table = embedding(weights, `${name}.embed_positions.weight`, rows + learnedOffset, width);
    return (ops, x) => table(ops, ops.binary("add", x, learnedOffset));
  }
  const isAfterPadding = positions === "sinusoidal after padding";
  const offset = isAfterPadding ? config.integer("pad_token_id", 1) + 1 : 0;
  const half = Math.floor(width / 2);
  if (half * 2 !== width || half < 2) throw config.unsupported("d_model", "even numbers above 2");
  if (rows * width > maxTableElements) throw config.unsupported("max_position_embeddings", `at most ${maxTableElements / width}`);
  const elements = Float32Array.from({ length: rows * width }, (_, index) => {
    const position = Math.floor(index / width) + offset;
    const column = index % width;
    const pair = column % half;
    const rate = isAfterPadding ? Math.exp(pair * -(Math.log(10_000) / (half - 1))) : 10_000 ** (-(2 * pair) / width);
    return column < half ? Math.sin(position * rate) : Math.cos(position * rate);
  });
  const table: Literal = { dataType: "float32", shape: [rows, width], data: elements };
  return (ops, x) => ops.add({ kind: "gather", axis: 0 }, ops.builder.constant(table), x);
}

/** The embeddings of a side with their positions. */
function getEmbeddings(
  config: Config,
  weights: Weights,
  side: Side,
  { family, words }: { readonly family: Family; readonly words: Layer },
): (ops: TensorOps, ids: Value, positions: Value) => Value {
  const { name, width } = side;
  const scale = config.boolean("scale_embedding", false) ? Math.sqrt(width) : 1;
  const places = getPositions(config, weights, side, family);
  const norm = family.normalizesEmbeddings ? layerNorm(weights, `${name}.layernorm_embedding`, width, epsilon) : sequential();
  return (ops, ids, positions) => {
    const rows = words(ops, ids);
    return norm(ops, ops.binary("add", scale === 1 ? rows : ops.binary("mul", rows, scale), places(ops, positions)));
  };
}

/** Reads the configuration and the weights of a model of this family. */
function bartModel(name: BartFamily, config: Config, weights: Weights): EncoderDecoder {
  const family: Family = families[name];
  const [encoder, decoder] = [getSide(config, "encoder", family), getSide(config, "decoder", family)];
  const { width } = decoder;
  const sourceVocabulary = config.positiveInteger("vocab_size");
  const vocabulary = config.positiveInteger("decoder_vocab_size", sourceVocabulary);
  // Files keep a shared table under its own name, or under that of one side.
  const getTable = (side: Side["name"]): string =>
    [`${side}.embed_tokens.weight`, "shared.weight", "encoder.embed_tokens.weight"].find((each) => weights.has(each)) ??
    "shared.weight";
  const embedSource = getEmbeddings(config, weights, encoder, {
    family,
    words: tokenEmbedding(weights, getTable("encoder"), sourceVocabulary, width),
  });
  const embedTarget = getEmbeddings(config, weights, decoder, {
    family,
    words: tokenEmbedding(weights, getTable("decoder"), vocabulary, width),
  });
  const encoderBlocks = repeated(config.positiveInteger("encoder_layers"), (index) => encoderBlock(weights, index, encoder));
  const decoderBlocks = repeated(config.positiveInteger("decoder_layers"), (index) => decoderBlock(weights, index, decoder));
  const lastNorm = (side: Side["name"]): Layer =>
    family.isNormedBefore ? layerNorm(weights, `${side}.layer_norm`, width, epsilon) : sequential();
  const [encoderNorm, decoderNorm] = [lastNorm("encoder"), lastNorm("decoder")];
  const isTied = config.boolean("tie_word_embeddings", true) || !weights.has("lm_head.weight");
  const outputMatrix = weights.matrix(isTied ? getTable("decoder") : "lm_head.weight", width, vocabulary);
  const logitsBias =
    family.hasLogitsBias && weights.has("final_logits_bias") ? weights.tensor("final_logits_bias", 1, vocabulary) : undefined;
  return {
    blocks: decoderBlocks,
    heads: decoder.heads,
    headSize: width / decoder.heads,
    vocabulary,
    maxSourceTokens: config.positiveInteger("max_position_embeddings"),
    encode: (ops, input) => {
      const [ids, mask] = [input("input_ids"), input("attention_mask")];
      const bias = paddingBias(ops, mask);
      const embedded = embedSource(ops, ids, keyPositions(ops, mask));
      return encoderNorm(
        ops,
        encoderBlocks.reduce((x, each) => each(ops, x, bias), embedded),
      );
    },
    selfBias: (ops, { ids, mask }) => causalBias(ops, mask, dimensions(ids, 2)[1]),
    embed: (ops, { ids, positions }) => embedTarget(ops, ids, positions),
    getLogits: (ops, hidden) => {
      const logits = ops.add({ kind: "matmul" }, decoderNorm(ops, hidden), ops.builder.constant(outputMatrix));
      return logitsBias === undefined ? logits : ops.binary("add", logits, ops.builder.constant(logitsBias));
    },
  };
}

/** Copies of the token embedding under other names, computed positions, and the output layer when it is tied. */
const ignoredTensors = /(^|\.)(embed_tokens|lm_head|shared)\.weight$|embed_positions\.weights?$/;

/** Models with the architecture of BART, by Hugging Face class name. */
export const bartModels: Readonly<Record<string, Architecture<EncoderDecoderGraphs>>> = Object.fromEntries(
  (Object.keys(families) as BartFamily[]).map((name) => [
    name === "Marian" ? "MarianMTModel" : `${name}ForConditionalGeneration`,
    {
      prefixes: ["model."],
      ignoredTensors,
      make: (config: Config, weights: Weights) => encoderDecoderGraphs(bartModel(name, config, weights)),
    },
  ]),
);
