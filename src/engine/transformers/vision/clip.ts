/**
 * CLIP (Radford et al. 2021, https://arxiv.org/abs/2103.00020): a tower for pictures and one for texts, projected into one space. Hugging Face classes
 * `CLIPModel`, `CLIPTextModel`, `CLIPTextModelWithProjection`, `CLIPVisionModel` and `CLIPVisionModelWithProjection`.
 *
 * Reads from config.json, of a tower or in text_config and vision_config (of older files also text_config_dict and vision_config_dict): hidden_size,
 * num_attention_heads, num_hidden_layers, intermediate_size, hidden_act, layer_norm_eps; of texts vocab_size, max_position_embeddings, eos_token_id; of pictures
 * image_size, patch_size, num_channels; and projection_dim.
 */
import type { Value } from "../../ir/graph.ts";
import { int64Literal } from "../../ir/literal.ts";
import { causalBias } from "../../build/nn/attention.ts";
import { embedding, firstToken, type Layer, layerNorm, linear, sequential, tokenEmbedding } from "../../build/nn/layers.ts";
import { dimensions, type TensorOps } from "../../build/tensor-ops.ts";
import type { Config } from "../config.ts";
import { type Architecture, type Architectures, float32Info, int64Info, type Transformer } from "../transformer.ts";
import type { Weights } from "../weights.ts";
import { type BlockDefaults, type BlockNames, getBlockSizes, getPatchGrid, patchEmbedding } from "./patches.ts";
import { pixelValuesInfo, prependToken, preNormBlocks } from "./patches.ts";
import { comparison, scaledLogits, type PictureTower, type TextTower } from "./two-towers.ts";

const textDefaults: BlockDefaults = {
  width: 512,
  heads: 8,
  inner: 2048,
  layers: 12,
  epsilon: 1e-5,
  activation: "quick_gelu",
};
const visionDefaults: BlockDefaults = { ...textDefaults, width: 768, heads: 12, inner: 3072 };

const names: BlockNames = {
  attention: ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"],
  attentionNorm: "layer_norm1",
  up: "mlp.fc1",
  down: "mlp.fc2",
  feedForwardNorm: "layer_norm2",
};

/** Ids that state no end of a text, as the first files had them: the end is the token with the highest id. */
const unstatedEnd = 2;
const defaultEnd = 49_407;

/** The state of the first token that ends a text, or of the first token where none does: hidden `[batch, length, width]`, ids `[batch, length]`. */
function stateOfEnd(ops: TensorOps, hidden: Value, ids: Value, end: number): Value {
  const [batch, length, width] = dimensions(hidden, 3);
  const wanted = end === unstatedEnd ? ops.reduce("max", ids, [1], true) : end;
  const isEnd = ops.cast(ops.binary("equal", ids, wanted), "int32");
  const index = ops.add({ kind: "arg", function: "max", axis: 1, last: false }, isEnd);
  const places = ops.builder.constant(
    int64Literal(
      Array.from({ length }, (_, place) => place),
      [1, length],
    ),
  );
  const chosen = ops.cast(ops.binary("equal", places, ops.reshape(index, [batch, 1])), "float32");
  return ops.reshape(ops.add({ kind: "matmul" }, ops.reshape(chosen, [batch, 1, length]), hidden), [batch, width]);
}

/** Reads the tower of texts. */
function textTower(config: Config, weights: Weights): TextTower {
  const sizes = getBlockSizes(config, textDefaults);
  const { width, epsilon } = sizes;
  const prefix = "text_model";
  const words = tokenEmbedding(
    weights,
    `${prefix}.embeddings.token_embedding.weight`,
    config.positiveInteger("vocab_size", 49_408),
    width,
  );
  const limit = config.positiveInteger("max_position_embeddings", 77);
  const places = embedding(weights, `${prefix}.embeddings.position_embedding.weight`, limit, width);
  const blocks = preNormBlocks(weights, `${prefix}.encoder.layers`, names, sizes);
  const norm = layerNorm(weights, `${prefix}.final_layer_norm`, width, epsilon);
  const end = config.integer("eos_token_id", defaultEnd);
  return {
    width,
    inputs: [int64Info("input_ids"), int64Info("attention_mask")],
    encode: (ops, input) => {
      const [ids, mask] = [input("input_ids"), input("attention_mask")];
      const [, length] = dimensions(ids, 2);
      const positions = Array.from({ length }, (_, position) => position);
      const placed = places(ops, ops.builder.constant(int64Literal(positions, [1, length])));
      const hidden = norm(ops, blocks(ops, ops.binary("add", words(ops, ids), placed), causalBias(ops, mask, length)));
      return { hidden, pooled: stateOfEnd(ops, hidden, ids, end) };
    },
  };
}

/** Reads the tower of pictures. */
function visionTower(config: Config, weights: Weights): PictureTower {
  const sizes = getBlockSizes(config, visionDefaults);
  const { width, epsilon } = sizes;
  const picture = getPatchGrid(config, { side: 224, patch: 32 });
  const prefix = "vision_model";
  const embedded: Layer = sequential(
    patchEmbedding(weights, `${prefix}.embeddings.patch_embedding`, picture, width, false),
    prependToken(weights, `${prefix}.embeddings.class_embedding`, [width], width),
  );
  const positions = picture.patches + 1;
  const places = weights.tensor(`${prefix}.embeddings.position_embedding.weight`, positions, width);
  const before = layerNorm(weights, `${prefix}.pre_layrnorm`, width, epsilon); // spelt so in the files
  const blocks = preNormBlocks(weights, `${prefix}.encoder.layers`, names, sizes);
  const after = layerNorm(weights, `${prefix}.post_layernorm`, width, epsilon);
  return {
    width,
    positions,
    input: pixelValuesInfo(picture),
    encode: (ops, pixels) => {
      const placed = ops.binary("add", embedded(ops, pixels), ops.builder.constant(places));
      const hidden = blocks(ops, before(ops, placed));
      return { hidden, pooled: after(ops, firstToken(ops, hidden)) };
    },
  };
}

const projection = (weights: Weights, name: string, inFeatures: number, outFeatures: number): Layer =>
  linear(weights, name, { inFeatures, outFeatures, bias: false });

/** Both towers. */
function joint(config: Config, weights: Weights): Transformer {
  const size = config.positiveInteger("projection_dim", 512);
  const texts = textTower(config.merged("text_config", "text_config_dict"), weights);
  const pictures = visionTower(config.merged("vision_config", "vision_config_dict"), weights);
  const scale = weights.tensor("logit_scale");
  return comparison({
    size,
    texts: { ...texts, project: projection(weights, "text_projection", texts.width, size) },
    pictures: { ...pictures, project: projection(weights, "visual_projection", pictures.width, size) },
    getLogits: (ops, similarities) => scaledLogits(ops, similarities, scale),
  });
}

/** A tower alone. `output`: name of the projected vectors; undefined: the pooled states are returned as they are. */
function textsAlone(output: string | undefined): Architecture["make"] {
  return (config, weights) => {
    const { width, inputs, encode } = textTower(config, weights);
    const size = output === undefined ? width : config.positiveInteger("projection_dim", 512);
    const project = output === undefined ? sequential() : projection(weights, "text_projection", width, size);
    const name = output ?? "pooler_output";
    return {
      inputs,
      outputs: [float32Info(name, "batch_size", size), float32Info("last_hidden_state", "batch_size", "sequence_length", width)],
      forward: (ops, input) => {
        const { hidden, pooled } = encode(ops, input);
        return { [name]: project(ops, pooled), last_hidden_state: hidden };
      },
    };
  };
}

/** As `textsAlone`, of pictures. */
function picturesAlone(output: string | undefined): Architecture["make"] {
  return (config, weights) => {
    const { width, positions, input: info, encode } = visionTower(config, weights);
    const size = output === undefined ? width : config.positiveInteger("projection_dim", 512);
    const project = output === undefined ? sequential() : projection(weights, "visual_projection", width, size);
    const name = output ?? "pooler_output";
    return {
      inputs: [info],
      outputs: [float32Info(name, "batch_size", size), float32Info("last_hidden_state", "batch_size", positions, width)],
      forward: (ops, input) => {
        const { hidden, pooled } = encode(ops, input("pixel_values"));
        return { [name]: project(ops, pooled), last_hidden_state: hidden };
      },
    };
  };
}

/** Computed positions, and in files of one tower what is left of the other. */
const positionIds = /position_ids$/;

const architecture = (ignoredTensors: RegExp, make: Architecture["make"]): Architecture => ({
  prefixes: [],
  ignoredTensors,
  make,
});

/** CLIP, by Hugging Face class name. */
export const clipArchitectures: Architectures = {
  CLIPModel: architecture(positionIds, joint),
  CLIPTextModel: architecture(
    /position_ids$|^(vision_model|visual_projection|text_projection|logit_scale)/,
    textsAlone(undefined),
  ),
  CLIPTextModelWithProjection: architecture(
    /position_ids$|^(vision_model|visual_projection|logit_scale)/,
    textsAlone("text_embeds"),
  ),
  CLIPVisionModel: architecture(
    /position_ids$|^(text_model|visual_projection|text_projection|logit_scale)/,
    picturesAlone(undefined),
  ),
  CLIPVisionModelWithProjection: architecture(
    /position_ids$|^(text_model|text_projection|logit_scale)/,
    picturesAlone("image_embeds"),
  ),
};
