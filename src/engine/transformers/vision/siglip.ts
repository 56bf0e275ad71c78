/**
 * SigLIP (Zhai et al. 2023, https://arxiv.org/abs/2303.15343): towers for pictures and texts as CLIP has them, with another pooling and a bias of the logits,
 * which are judged one by one. Hugging Face class `SiglipModel`.
 *
 * Reads from config.json, in text_config and vision_config: hidden_size, num_attention_heads, num_hidden_layers, intermediate_size, hidden_act, layer_norm_eps; of
 * texts vocab_size, max_position_embeddings, projection_size; of pictures image_size, patch_size, num_channels, vision_use_head.
 */
import type { Value } from "../../ir/graph.ts";
import { attention, splitHeads } from "../../build/nn/attention.ts";
import { int64Literal } from "../../ir/literal.ts";
import { embedding, type Layer, layerNorm, linear, sequential, tokenEmbedding } from "../../build/nn/layers.ts";
import { dimensions } from "../../build/tensor-ops.ts";
import type { Config } from "../config.ts";
import { type Architectures, int64Info } from "../transformer.ts";
import type { Weights } from "../weights.ts";
import { type BlockDefaults, type BlockNames, type BlockSizes, getBlockSizes, getPatchGrid } from "./patches.ts";
import { patchEmbedding, pixelValuesInfo, preNormBlocks } from "./patches.ts";
import { comparison, type PictureTower, scaledLogits, type TextTower } from "./two-towers.ts";

const defaults: BlockDefaults = {
  width: 768,
  heads: 12,
  inner: 3072,
  layers: 12,
  epsilon: 1e-6,
  activation: "gelu_pytorch_tanh",
};

const names: BlockNames = {
  attention: ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"],
  attentionNorm: "layer_norm1",
  up: "mlp.fc1",
  down: "mlp.fc2",
  feedForwardNorm: "layer_norm2",
};

/**
 * The tower of texts: attention to the whole text in both directions, and the state of the last position, whatever its token is. Texts are padded to their limit,
 * and the padding is read, as in training.
 */
function textTower(config: Config, weights: Weights): TextTower & { readonly size: number } {
  const sizes = getBlockSizes(config, defaults);
  const { width, epsilon } = sizes;
  const prefix = "text_model";
  const vocabulary = config.positiveInteger("vocab_size", 32_000);
  const words = tokenEmbedding(weights, `${prefix}.embeddings.token_embedding.weight`, vocabulary, width);
  const limit = config.positiveInteger("max_position_embeddings", 64);
  const places = embedding(weights, `${prefix}.embeddings.position_embedding.weight`, limit, width);
  const blocks = preNormBlocks(weights, `${prefix}.encoder.layers`, names, sizes);
  const norm = layerNorm(weights, `${prefix}.final_layer_norm`, width, epsilon);
  const size = config.positiveInteger("projection_size", width);
  const head = linear(weights, `${prefix}.head`, { inFeatures: width, outFeatures: size });
  return {
    width,
    size,
    inputs: [int64Info("input_ids")],
    encode: (ops, input) => {
      const ids = input("input_ids");
      const [batch, length] = dimensions(ids, 2);
      const positions = Array.from({ length }, (_, position) => position);
      const placed = places(ops, ops.builder.constant(int64Literal(positions, [1, length])));
      const hidden = norm(ops, blocks(ops, ops.binary("add", words(ops, ids), placed)));
      const last = ops.reshape(ops.slice(hidden, 1, length - 1, 1), [batch, width]);
      return { hidden, pooled: head(ops, last) };
    },
  };
}

/** Attention of one learned query to all states, and a feed-forward network: `[batch, length, width]` to `[batch, width]`. */
function attentionPooling(weights: Weights, prefix: string, { width, heads, inner, epsilon, activation }: BlockSizes): Layer {
  const probe = weights.tensor(`${prefix}.probe`, 1, 1, width);
  // torch.nn.MultiheadAttention keeps the layers of queries, keys and values as one matrix, below each other.
  const matrix = weights.matrix(`${prefix}.attention.in_proj_weight`, width, 3 * width);
  const vector = weights.tensor(`${prefix}.attention.in_proj_bias`, 3 * width);
  const output = linear(weights, `${prefix}.attention.out_proj`, { inFeatures: width, outFeatures: width });
  const norm = layerNorm(weights, `${prefix}.layernorm`, width, epsilon);
  const feedForward = sequential(
    linear(weights, `${prefix}.mlp.fc1`, { inFeatures: width, outFeatures: inner }),
    activation,
    linear(weights, `${prefix}.mlp.fc2`, { inFeatures: inner, outFeatures: width }),
  );
  return (ops, x) => {
    const [batch] = dimensions(x, 3);
    const part = (states: Value, index: number): Value => {
      const [columns, biases] = [ops.builder.constant(matrix), ops.builder.constant(vector)];
      const layer = ops.slice(columns, 1, index * width, width);
      const product = ops.add({ kind: "matmul" }, states, layer);
      return splitHeads(ops, ops.binary("add", product, ops.slice(biases, 0, index * width, width)), heads);
    };
    const query = ops.add({ kind: "expand", shape: [batch, 1, width] }, ops.builder.constant(probe));
    const inputs = { query: part(query, 0), key: part(x, 1), value: part(x, 2), scale: 1 / Math.sqrt(width / heads) };
    const attended = output(ops, attention(ops, inputs));
    const pooled = ops.binary("add", attended, feedForward(ops, norm(ops, attended)));
    return ops.reshape(pooled, [batch, width]);
  };
}

/** The tower of pictures, which has no token before the patches. */
function visionTower(config: Config, weights: Weights): PictureTower {
  config.requireEqual("vision_use_head", true);
  const sizes = getBlockSizes(config, defaults);
  const { width, epsilon } = sizes;
  const picture = getPatchGrid(config, { side: 224, patch: 16 });
  const prefix = "vision_model";
  const patches = patchEmbedding(weights, `${prefix}.embeddings.patch_embedding`, picture, width, true);
  const places = weights.tensor(`${prefix}.embeddings.position_embedding.weight`, picture.patches, width);
  const blocks = preNormBlocks(weights, `${prefix}.encoder.layers`, names, sizes);
  const after = layerNorm(weights, `${prefix}.post_layernorm`, width, epsilon);
  const pool = attentionPooling(weights, `${prefix}.head`, sizes);
  return {
    width,
    positions: picture.patches,
    input: pixelValuesInfo(picture),
    encode: (ops, pixels) => {
      const placed = ops.binary("add", patches(ops, pixels), ops.builder.constant(places));
      const hidden = after(ops, blocks(ops, placed));
      return { hidden, pooled: pool(ops, hidden) };
    },
  };
}

/** SigLIP, by Hugging Face class name. */
export const siglipArchitectures: Architectures = {
  SiglipModel: {
    prefixes: [],
    ignoredTensors: /position_ids$/,
    make: (config, weights) => {
      const { size, ...texts } = textTower(config.merged("text_config"), weights);
      const pictures = visionTower(config.merged("vision_config"), weights);
      if (size !== pictures.width) throw config.unsupported("text_config", "vectors of the same size for texts and pictures");
      const [scale, bias] = [weights.tensor("logit_scale", 1), weights.tensor("logit_bias", 1)];
      return comparison({
        size,
        texts: { ...texts, project: sequential() },
        pictures: { ...pictures, project: sequential() },
        getLogits: (ops, similarities) =>
          ops.binary("add", scaledLogits(ops, similarities, scale), ops.reshape(ops.builder.constant(bias), [])),
      });
    },
  },
};
