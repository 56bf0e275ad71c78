/**
 * `WhisperForConditionalGeneration`: Radford et al. 2022, https://arxiv.org/abs/2212.04356. The encoder reads a log-mel spectrogram of 30 seconds through two
 * convolutions over time, the second with stride 2; norms come before each layer, and the output layer is the decoder's token embedding.
 *
 * Reads from config.json: d_model, encoder_layers, decoder_layers, encoder_attention_heads, decoder_attention_heads, encoder_ffn_dim, decoder_ffn_dim,
 * vocab_size, num_mel_bins, max_source_positions, max_target_positions, activation_function, scale_embedding, tie_word_embeddings.
 */
import type { Literal } from "../ir/literal.ts";
import { dimensions } from "../build/tensor-ops.ts";
import { causalBias } from "../build/nn/attention.ts";
import { embedding, type Layer, layerNorm, repeated, tokenEmbedding } from "../build/nn/layers.ts";
import { decoderBlock, encoderBlock, getSide, type Side } from "./bart.ts";
import type { Config } from "./config.ts";
import { type EncoderDecoder, type EncoderDecoderGraphs, encoderDecoderGraphs } from "./encoder-decoder.ts";
import type { Architecture } from "./transformer.ts";
import type { Weights } from "./weights.ts";

const epsilon = 1e-5;
/** Stride of the second convolution: frames of the spectrogram for each position of the encoder. */
const framesPerPosition = 2;
const kernelSize = 3;

/** A convolution over time with a kernel of 3 frames, padded by one frame on both sides, and GELU: `[batch, inChannels, frames]` to `[batch, width, frames / stride]`. */
function convolution(weights: Weights, name: string, inChannels: number, width: number, stride: number): Layer {
  const kernel = weights.tensor(`${name}.weight`, width, inChannels, kernelSize);
  const bias = weights.tensor(`${name}.bias`, width);
  return (ops, x) => {
    const window = { strides: [stride], dilations: [1], pads: [1, 1] };
    const [kernels, biases] = [ops.builder.constant(kernel), ops.builder.constant(bias)];
    return ops.add(
      { kind: "gelu", approximate: "none" },
      ops.add({ kind: "convolution", groups: 1, ...window }, x, kernels, biases),
    );
  };
}

/** The encoder: `[batch, bins, frames]` to `[batch, positions, width]`. */
function spectrogramEncoder(config: Config, weights: Weights, { bins, positions }: Sizes): Layer {
  const side: Side = { ...getSide(config, "encoder", { isNormedBefore: true }), keyBias: false };
  const { width } = side;
  const first = convolution(weights, "encoder.conv1", bins, width, 1);
  const second = convolution(weights, "encoder.conv2", width, width, framesPerPosition);
  const places: Literal = weights.tensor("encoder.embed_positions.weight", positions, width);
  const blocks = repeated(config.positiveInteger("encoder_layers"), (index) => encoderBlock(weights, index, side));
  const norm = layerNorm(weights, "encoder.layer_norm", width, epsilon);
  return (ops, features) => {
    const frames = ops.transpose(second(ops, first(ops, features)), [0, 2, 1]);
    const embedded = ops.binary("add", frames, ops.builder.constant(places));
    const bias = ops.scalar(0, "float32");
    return norm(
      ops,
      blocks.reduce((x, each) => each(ops, x, bias), embedded),
    );
  };
}

interface Sizes {
  readonly bins: number;
  readonly positions: number;
}

/** Reads the configuration and the weights. */
function whisperModel(config: Config, weights: Weights): EncoderDecoder {
  const sizes = { bins: config.positiveInteger("num_mel_bins"), positions: config.positiveInteger("max_source_positions") };
  const encode = spectrogramEncoder(config, weights, sizes);
  const side: Side = { ...getSide(config, "decoder", { isNormedBefore: true }), keyBias: false };
  const { width, heads } = side;
  const vocabulary = config.positiveInteger("vocab_size");
  const table = "decoder.embed_tokens.weight";
  const words = tokenEmbedding(weights, table, vocabulary, width);
  const scale = config.boolean("scale_embedding", false) ? Math.sqrt(width) : 1;
  const places = embedding(weights, "decoder.embed_positions.weight", config.positiveInteger("max_target_positions"), width);
  const blocks = repeated(config.positiveInteger("decoder_layers"), (index) => decoderBlock(weights, index, side));
  const norm = layerNorm(weights, "decoder.layer_norm", width, epsilon);
  const isTied = config.boolean("tie_word_embeddings", true) || !weights.has("proj_out.weight");
  const outputMatrix = weights.matrix(isTied ? table : "proj_out.weight", width, vocabulary);
  return {
    blocks,
    heads,
    headSize: width / heads,
    vocabulary,
    maxSourceTokens: sizes.positions,
    features: { ...sizes, frames: sizes.positions * framesPerPosition },
    encode: (ops, input) => encode(ops, input("input_features")),
    selfBias: (ops, { ids, mask }) => causalBias(ops, mask, dimensions(ids, 2)[1]),
    embed: (ops, { ids, positions }) => {
      const rows = words(ops, ids);
      return ops.binary("add", scale === 1 ? rows : ops.binary("mul", rows, scale), places(ops, positions));
    },
    getLogits: (ops, hidden) => ops.add({ kind: "matmul" }, norm(ops, hidden), ops.builder.constant(outputMatrix)),
  };
}

/** Whisper, by Hugging Face class name. */
export const whisperModels: Readonly<Record<string, Architecture<EncoderDecoderGraphs>>> = {
  WhisperForConditionalGeneration: {
    prefixes: ["model."],
    ignoredTensors: /^proj_out\.weight$/,
    make: (config, weights) => encoderDecoderGraphs(whisperModel(config, weights)),
  },
};
