/** Vision transformers (Dosovitskiy et al. 2020, https://arxiv.org/abs/2010.11929): pictures as sequences of patches, and the blocks that read them. */
import type { TensorInfo } from "../../../contract/tensor.ts";
import type { Value } from "../../ir/graph.ts";
import type { ActivationName } from "../../build/nn/activations.ts";
import { type Layer, layerNorm, linear, repeated, sequential } from "../../build/nn/layers.ts";
import { dimensions, type TensorOps } from "../../build/tensor-ops.ts";
import type { Config } from "../config.ts";
import { multiHeadAttention, type ProjectionNames } from "../multi-head-attention.ts";
import { float32Info } from "../transformer.ts";
import type { Weights } from "../weights.ts";

/** Sizes of the blocks of one tower. */
export interface BlockSizes {
  readonly width: number;
  readonly heads: number;
  readonly inner: number;
  readonly layers: number;
  readonly epsilon: number;
  readonly activation: Layer;
}

/** Sizes that a class of transformers assumes where config.json does not state them. */
export interface BlockDefaults {
  readonly width: number;
  readonly heads: number;
  readonly inner: number;
  readonly layers: number;
  readonly epsilon: number;
  readonly activation: ActivationName;
}

/** Reads hidden_size, num_attention_heads, intermediate_size, num_hidden_layers, layer_norm_eps and hidden_act. */
export function getBlockSizes(config: Config, defaults: BlockDefaults): BlockSizes {
  const width = config.positiveInteger("hidden_size", defaults.width);
  return {
    width,
    heads: config.getDivisor("num_attention_heads", width, defaults.heads),
    inner: config.positiveInteger("intermediate_size", defaults.inner),
    layers: config.positiveInteger("num_hidden_layers", defaults.layers),
    epsilon: config.positiveNumber("layer_norm_eps", defaults.epsilon),
    activation: config.activation("hidden_act", defaults.activation),
  };
}

/** Names of the tensors of one block, after its prefix. */
export interface BlockNames {
  readonly attention: ProjectionNames;
  readonly attentionNorm: string;
  readonly up: string;
  readonly down: string;
  readonly feedForwardNorm: string;
}

/** Reads the blocks `${prefix}.0` and so on, with norms before attention and feed-forward network: x `[batch, length, width]` gives the same shape. `bias`: added to the scores. */
export function preNormBlocks(
  weights: Weights,
  prefix: string,
  names: BlockNames,
  { width, heads, inner, layers, epsilon, activation }: BlockSizes,
  hasBias = true,
): (ops: TensorOps, x: Value, bias?: Value) => Value {
  const blocks = repeated(layers, (index) => {
    const block = `${prefix}.${index}`;
    const attentionNorm = layerNorm(weights, `${block}.${names.attentionNorm}`, width, epsilon);
    const self = multiHeadAttention(weights, block, names.attention, { width, heads, bias: hasBias, outputBias: true });
    const feedForward = sequential(
      layerNorm(weights, `${block}.${names.feedForwardNorm}`, width, epsilon),
      linear(weights, `${block}.${names.up}`, { inFeatures: width, outFeatures: inner }),
      activation,
      linear(weights, `${block}.${names.down}`, { inFeatures: inner, outFeatures: width }),
    );
    return (ops: TensorOps, x: Value, bias: Value): Value => {
      const attended = ops.binary("add", self.attendToSelf(ops, attentionNorm(ops, x), bias), x);
      return ops.binary("add", feedForward(ops, attended), attended);
    };
  });
  return (ops, x, bias = ops.scalar(0, "float32")) => blocks.reduce((states, each) => each(ops, states, bias), x);
}

/** The pictures that a tower takes: all of one size. */
export interface PatchGrid {
  readonly channels: number;
  readonly side: number;
  readonly patch: number;
  /** Patches of a picture. */
  readonly patches: number;
}

/** Reads num_channels, image_size and patch_size. Pixels that no whole patch covers at the right and at the bottom are not read, as in PyTorch. */
export function getPatchGrid(config: Config, defaults: { readonly side: number; readonly patch: number }): PatchGrid {
  const [side, patch] = [
    config.positiveInteger("image_size", defaults.side),
    config.positiveInteger("patch_size", defaults.patch),
  ];
  const perSide = Math.floor(side / patch);
  if (perSide === 0) throw config.invalid("patch_size", `at most image_size, ${side}, is required`);
  return { channels: config.positiveInteger("num_channels", 3), side, patch, patches: perSide * perSide };
}

/** The input of a tower: float32 `[batch, channels, side, side]`. */
export function pixelValuesInfo({ channels, side }: PatchGrid): TensorInfo {
  return float32Info("pixel_values", "batch_size", channels, side, side);
}

/** One vector for each patch: a convolution `name` whose stride is its size. Pixel values give `[batch, patches, width]`. */
export function patchEmbedding(
  weights: Weights,
  name: string,
  { channels, patch, patches }: PatchGrid,
  width: number,
  hasBias: boolean,
): Layer {
  const kernel = weights.tensor(`${name}.weight`, width, channels, patch, patch);
  const vector = hasBias ? weights.tensor(`${name}.bias`, width) : undefined;
  const window = { strides: [patch, patch], dilations: [1, 1], pads: [0, 0, 0, 0] };
  return (ops, pixels) => {
    const operands = [kernel, vector].filter((each) => each !== undefined).map((each) => ops.builder.constant(each));
    const columns = ops.add({ kind: "convolution", groups: 1, ...window }, pixels, ...operands);
    const [batch] = dimensions(columns, 4);
    return ops.transpose(ops.reshape(columns, [batch, width, patches]), [0, 2, 1]);
  };
}

/** A learned vector, stored in any shape of `width` elements, before the sequence of each picture: `[batch, length, width]` gives `[batch, length + 1, width]`. */
export function prependToken(weights: Weights, name: string, shape: readonly number[], width: number): Layer {
  const token = weights.tensor(name, ...shape);
  return (ops, x) => {
    const [batch] = dimensions(x, 3);
    const row = ops.reshape(ops.builder.constant(token), [1, 1, width]);
    return ops.add({ kind: "concat", axis: 1 }, ops.add({ kind: "expand", shape: [batch, 1, width] }, row), x);
  };
}
