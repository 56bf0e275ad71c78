/**
 * `VisionEncoderDecoderModel` with a ViT or DeiT that reads the picture and the decoder of TrOCR (Li et al. 2021, https://arxiv.org/abs/2109.10282), which is the
 * decoder of BART.
 *
 * Reads from config.json: encoder (see `vit.ts`), and of decoder: model_type, d_model, decoder_layers, decoder_attention_heads, decoder_ffn_dim, vocab_size,
 * max_position_embeddings, cross_attention_hidden_size, activation_function, scale_embedding, layernorm_embedding, use_learned_position_embeddings,
 * tie_word_embeddings.
 */
import { causalBias } from "../../build/nn/attention.ts";
import { embedding, layerNorm, repeated, sequential, tokenEmbedding } from "../../build/nn/layers.ts";
import { dimensions } from "../../build/tensor-ops.ts";
import { decoderBlock, getSide, type Side } from "../bart.ts";
import type { Config } from "../config.ts";
import { type EncoderDecoder, type EncoderDecoderGraphs, encoderDecoderGraphs } from "../encoder-decoder.ts";
import type { Architecture } from "../transformer.ts";
import type { Weights } from "../weights.ts";
import { type VitFamily, vitTower } from "./vit.ts";

const epsilon = 1e-5;
/** Unused rows at the start of the table of positions. */
const learnedOffset = 2;
const families: readonly VitFamily[] = ["vit", "deit"];

/** Reads the configuration and the weights. */
function trOcr(config: Config, weights: Weights): EncoderDecoder {
  const [vision, text] = [config.merged("encoder"), config.merged("decoder")];
  const family = families.find((each) => each === vision.string("model_type", "vit"));
  if (family === undefined) throw vision.unsupported("model_type", `the encoders ${families.join(", ")}`);
  text.requireEqual("model_type", "trocr");
  text.requireEqual("use_learned_position_embeddings", true);
  const tower = vitTower(family, vision, weights, "encoder.");
  const { channels, side: height } = tower.picture;
  const sourceWidth = text.positiveInteger("cross_attention_hidden_size", tower.width);
  // Otherwise a linear layer lies between them.
  if (sourceWidth !== tower.width)
    throw text.unsupported("cross_attention_hidden_size", `the width of the encoder, ${tower.width}`);
  const side: Side = { ...getSide(text, "decoder", { isNormedBefore: false }), sourceWidth };
  const { width, heads } = side;
  const vocabulary = text.positiveInteger("vocab_size");
  const table = "decoder.embed_tokens.weight";
  const words = tokenEmbedding(weights, table, vocabulary, width);
  const scale = text.boolean("scale_embedding", false) ? Math.sqrt(width) : 1;
  const rows = text.positiveInteger("max_position_embeddings", 512) + learnedOffset;
  const places = embedding(weights, "decoder.embed_positions.weight", rows, width);
  const norm = text.boolean("layernorm_embedding", true)
    ? layerNorm(weights, "decoder.layernorm_embedding", width, epsilon)
    : sequential();
  const blocks = repeated(text.positiveInteger("decoder_layers"), (index) => decoderBlock(weights, index, side));
  const output = "decoder.output_projection.weight";
  const isTied = text.boolean("tie_word_embeddings", true) || !weights.has(output);
  const outputMatrix = weights.matrix(isTied ? table : output, width, vocabulary);
  return {
    blocks,
    heads,
    headSize: width / heads,
    vocabulary,
    maxSourceTokens: tower.positions,
    features: { bins: channels * height, frames: height, positions: tower.positions },
    encode: (ops, input) => {
      const pixels = input("input_features");
      const [batch] = dimensions(pixels, 3);
      return tower.encode(ops, ops.reshape(pixels, [batch, channels, height, height]));
    },
    selfBias: (ops, { ids, mask }) => causalBias(ops, mask, dimensions(ids, 2)[1]),
    embed: (ops, { ids, positions }) => {
      const embedded = words(ops, ids);
      const scaled = scale === 1 ? embedded : ops.binary("mul", embedded, scale);
      return norm(ops, ops.binary("add", scaled, places(ops, ops.binary("add", positions, learnedOffset))));
    },
    getLogits: (ops, hidden) => ops.add({ kind: "matmul" }, hidden, ops.builder.constant(outputMatrix)),
  };
}

/** TrOCR, by Hugging Face class name. */
export const trOcrModels: Readonly<Record<string, Architecture<EncoderDecoderGraphs>>> = {
  VisionEncoderDecoderModel: {
    prefixes: ["decoder.model."],
    ignoredTensors: /^encoder\.pooler\.|^decoder\.output_projection\.weight$|embed_positions\.weights$|_float_tensor$/,
    make: (config, weights) => encoderDecoderGraphs(trOcr(config, weights)),
  },
};
