/** Models that compare pictures with texts: a tower for each, and the similarities of their vectors. */
import type { TensorInfo } from "../../../contract/tensor.ts";
import type { Value } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import type { Layer } from "../../build/nn/layers.ts";
import type { TensorOps } from "../../build/tensor-ops.ts";
import { float32Info, type GetInput, type Transformer } from "../transformer.ts";

/** What a tower computes. */
export interface TowerStates {
  /** Last hidden states, `[batch, length, width]`. */
  readonly hidden: Value;
  /** One vector for each input, `[batch, width]`. */
  readonly pooled: Value;
}

/** A tower that reads texts. */
export interface TextTower {
  readonly width: number;
  readonly inputs: readonly TensorInfo[];
  encode(ops: TensorOps, input: GetInput): TowerStates;
}

/** A tower that reads pictures. */
export interface PictureTower {
  readonly width: number;
  /** Number of hidden states of a picture. */
  readonly positions: number;
  readonly input: TensorInfo;
  encode(ops: TensorOps, pixels: Value): TowerStates;
}

/** Two towers whose vectors have `size` elements after `project`. */
export interface TwoTowers {
  readonly size: number;
  readonly texts: TextTower & { readonly project: Layer };
  readonly pictures: PictureTower & { readonly project: Layer };
  /** Logits from the cosine similarities `[pictures, texts]`. */
  getLogits(ops: TensorOps, similarities: Value): Value;
}

/** Output with the hidden states of the pictures, under the name that transformers gives them in the results of a joint model. */
const pictureStates = "vision_model_output.last_hidden_state";

/**
 * The joint model, with the outputs of Optimum's exports: `logits_per_image`, `logits_per_text`, `text_embeds` and `image_embeds`, which have unit length; and
 * `text_features` and `image_features`, the same vectors before they are scaled to it, and the hidden states of the pictures. What no wanted output needs is not
 * computed.
 */
export function comparison({ size, texts, pictures, getLogits }: TwoTowers): Transformer {
  return {
    inputs: [
      ...texts.inputs.map((input) => withBatch(input, "text_batch_size")),
      withBatch(pictures.input, "image_batch_size"),
    ].toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
    outputs: [
      float32Info("logits_per_image", "image_batch_size", "text_batch_size"),
      float32Info("logits_per_text", "text_batch_size", "image_batch_size"),
      float32Info("text_embeds", "text_batch_size", size),
      float32Info("image_embeds", "image_batch_size", size),
      float32Info("text_features", "text_batch_size", size),
      float32Info("image_features", "image_batch_size", size),
      float32Info(pictureStates, "image_batch_size", pictures.positions, pictures.width),
    ],
    forward: (ops, input) => {
      const seen = pictures.encode(ops, input("pixel_values"));
      const textFeatures = texts.project(ops, texts.encode(ops, input).pooled);
      const pictureFeatures = pictures.project(ops, seen.pooled);
      const [textVectors, pictureVectors] = [toUnitLength(ops, textFeatures), toUnitLength(ops, pictureFeatures)];
      const similarities = ops.add({ kind: "matmul" }, pictureVectors, ops.transpose(textVectors, [1, 0]));
      const logits = getLogits(ops, similarities);
      return {
        logits_per_image: logits,
        logits_per_text: ops.transpose(logits, [1, 0]),
        text_embeds: textVectors,
        image_embeds: pictureVectors,
        text_features: textFeatures,
        image_features: pictureFeatures,
        [pictureStates]: seen.hidden,
      };
    },
  };
}

/** The order of the inputs in Optimum's exports. */
const order: readonly string[] = ["input_ids", "pixel_values", "attention_mask"];

/** An input under another name of its first axis: there may be more texts than pictures. */
function withBatch(input: TensorInfo, name: string): TensorInfo {
  return { ...input, shape: [name, ...input.shape.slice(1)] };
}

/** Similarities times e to the power of the trained scale, a tensor of one element. */
export function scaledLogits(ops: TensorOps, similarities: Value, scale: Literal): Value {
  const factor = ops.unary("exp", ops.reshape(ops.builder.constant(scale), []));
  return ops.binary("mul", similarities, factor);
}

function toUnitLength(ops: TensorOps, vectors: Value): Value {
  const norm = ops.unary("sqrt", ops.reduce("sum", ops.binary("mul", vectors, vectors), [1], true));
  return ops.binary("div", vectors, norm);
}
