/**
 * ViT (Dosovitskiy et al. 2020, https://arxiv.org/abs/2010.11929) and DeiT (Touvron et al. 2020, https://arxiv.org/abs/2012.12877), which has a second token
 * for distillation. Hugging Face classes `ViTModel`, `ViTForImageClassification`, `DeiTModel`, `DeiTForImageClassification` and
 * `DeiTForImageClassificationWithTeacher`.
 *
 * Reads from config.json: hidden_size, num_attention_heads, num_hidden_layers, intermediate_size, hidden_act, layer_norm_eps, qkv_bias, image_size, patch_size,
 * num_channels, pooler_act.
 */
import type { Value } from "../../ir/graph.ts";
import { firstToken, type Layer, layerNorm, linear, sequential } from "../../build/nn/layers.ts";
import { dimensions, type TensorOps } from "../../build/tensor-ops.ts";
import type { Config } from "../config.ts";
import { type Architecture, type Architectures, float32Info, type Transformer } from "../transformer.ts";
import type { Weights } from "../weights.ts";
import {
  type BlockDefaults,
  type BlockNames,
  getBlockSizes,
  getPatchGrid,
  patchEmbedding,
  type PatchGrid,
  pixelValuesInfo,
  prependToken,
  preNormBlocks,
} from "./patches.ts";

const defaults: BlockDefaults = { width: 768, heads: 12, inner: 3072, layers: 12, epsilon: 1e-12, activation: "gelu" };

const names: BlockNames = {
  attention: ["attention.attention.query", "attention.attention.key", "attention.attention.value", "attention.output.dense"],
  attentionNorm: "layernorm_before",
  up: "intermediate.dense",
  down: "output.dense",
  feedForwardNorm: "layernorm_after",
};

/** A tower that makes one state of each patch, and of the tokens before them. */
export interface VisionTower {
  readonly width: number;
  readonly picture: PatchGrid;
  /** Number of states: patches, and tokens before them. */
  readonly positions: number;
  /** Pixel values `[batch, channels, side, side]` to the last hidden states, `[batch, positions, width]`. */
  readonly encode: Layer;
}

/** The `model_type` of the two families. */
export type VitFamily = "vit" | "deit";

/** Reads a tower. `prefix` stands before its names and ends with a dot, or is empty. */
export function vitTower(family: VitFamily, config: Config, weights: Weights, prefix = ""): VisionTower {
  const sizes = getBlockSizes(config, defaults);
  const { width, epsilon } = sizes;
  const picture = getPatchGrid(config, { side: 224, patch: 16 });
  const embeddings = `${prefix}embeddings`;
  const patches = patchEmbedding(weights, `${embeddings}.patch_embeddings.projection`, picture, width, true);
  const tokens = (family === "deit" ? ["distillation_token", "cls_token"] : ["cls_token"]).map((name) =>
    prependToken(weights, `${embeddings}.${name}`, [1, 1, width], width),
  );
  const positions = picture.patches + tokens.length;
  const places = weights.tensor(`${embeddings}.position_embeddings`, 1, positions, width);
  const blocks = preNormBlocks(weights, `${prefix}encoder.layer`, names, sizes, config.boolean("qkv_bias", true));
  const norm = layerNorm(weights, `${prefix}layernorm`, width, epsilon);
  return {
    width,
    picture,
    positions,
    encode: (ops, pixels) => {
      const embedded = sequential(patches, ...tokens)(ops, pixels);
      return norm(ops, blocks(ops, ops.binary("add", embedded, ops.builder.constant(places))));
    },
  };
}

/** What follows the tower. */
type VitHead = (
  weights: Weights,
  tower: VisionTower,
) => { readonly outputs: Transformer["outputs"]; build(ops: TensorOps, hidden: Value): Readonly<Record<string, Value>> };

/** The hidden states, and with the pooler's weights the first of them through a linear layer and tanh. */
const baseModel: VitHead = (weights, { width, positions }) => {
  const hidden = float32Info("last_hidden_state", "batch_size", positions, width);
  if (!weights.has("pooler.dense.weight")) return { outputs: [hidden], build: (_ops, states) => ({ last_hidden_state: states }) };
  const dense = linear(weights, "pooler.dense", { inFeatures: width, outFeatures: width });
  return {
    outputs: [hidden, float32Info("pooler_output", "batch_size", width)],
    build: (ops, states) => ({
      last_hidden_state: states,
      pooler_output: ops.unary("tanh", dense(ops, firstToken(ops, states))),
    }),
  };
};

/** Logits of the first state. */
const classifier: VitHead = (weights, { width }) => {
  const classes = weights.rows("classifier.weight");
  const layer = linear(weights, "classifier", { inFeatures: width, outFeatures: classes });
  return {
    outputs: [float32Info("logits", "batch_size", classes)],
    build: (ops, states) => ({ logits: layer(ops, firstToken(ops, states)) }),
  };
};

/** The mean of the logits of the first state and of the distillation token's. */
const teacherClassifier: VitHead = (weights, { width }) => {
  const classes = weights.rows("cls_classifier.weight");
  const own = linear(weights, "cls_classifier", { inFeatures: width, outFeatures: classes });
  const distilled = linear(weights, "distillation_classifier", { inFeatures: width, outFeatures: classes });
  return {
    outputs: [float32Info("logits", "batch_size", classes)],
    build: (ops, states) => {
      const [batch] = dimensions(states, 3);
      const second = ops.reshape(ops.slice(states, 1, 1, 1), [batch, width]);
      return { logits: ops.binary("mul", ops.binary("add", own(ops, firstToken(ops, states)), distilled(ops, second)), 0.5) };
    },
  };
};

function architecture(family: VitFamily, createHead: VitHead): Architecture {
  const makeWith =
    (createEach: VitHead): Architecture["make"] =>
    (config, weights) => {
      config.requireEqual("pooler_act", "tanh");
      const tower = vitTower(family, config, weights);
      const head = createEach(weights, tower);
      return {
        inputs: [pixelValuesInfo(tower.picture)],
        outputs: head.outputs,
        forward: (ops, input) => head.build(ops, tower.encode(ops, input("pixel_values"))),
      };
    };
  return {
    prefixes: [`${family}.`],
    ignoredTensors: /(^|\.)(pooler|classifier|cls_classifier|distillation_classifier|decoder)\.|mask_token$/,
    make: makeWith(createHead),
    ...(createHead === baseModel ? {} : { makeHeadless: makeWith(baseModel) }),
  };
}

/** ViT and DeiT, by Hugging Face class name. */
export const vitArchitectures: Architectures = {
  ViTModel: architecture("vit", baseModel),
  ViTForImageClassification: architecture("vit", classifier),
  DeiTModel: architecture("deit", baseModel),
  DeiTForImageClassification: architecture("deit", classifier),
  DeiTForImageClassificationWithTeacher: architecture("deit", teacherClassifier),
};
