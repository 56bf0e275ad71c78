/** Heads of BERT and its kin, as transformers names them. */
import type { Config } from "./config.ts";
import {
  questionAnswering,
  baseModel,
  type Encoder,
  type Head,
  type Heads,
  sequenceClassifier,
  tokenClassifier,
  maskedLanguageModel,
} from "./heads.ts";
import { activation } from "../build/nn/activations.ts";
import { firstToken, layerNorm, linear, sequential } from "../build/nn/layers.ts";
import type { Weights } from "./weights.ts";

const tokenClassification = (_config: Config, weights: Weights, { width }: Encoder): Head =>
  tokenClassifier(weights, "classifier", width);

/** A layer of the encoder's width, an activation and a norm stand before the product with the vocabulary. */
export function bertMaskedLanguageModel(config: Config, weights: Weights, body: Encoder): Head {
  const { width } = body;
  const transform = sequential(
    linear(weights, "cls.predictions.transform.dense", { inFeatures: width, outFeatures: width }),
    config.activation("hidden_act", "gelu"),
    layerNorm(weights, "cls.predictions.transform.LayerNorm", width, config.positiveNumber("layer_norm_eps", 1e-12)),
  );
  const names = { weight: "cls.predictions.decoder.weight", biases: ["cls.predictions.bias", "cls.predictions.decoder.bias"] };
  return maskedLanguageModel(config, weights, body, names, transform);
}

export const bertHeads: Heads = {
  Model: baseModel,
  ForSequenceClassification: (_config, weights, { width }) => {
    const pooler = sequential(linear(weights, "pooler.dense", { inFeatures: width, outFeatures: width }), activation("tanh"));
    return sequenceClassifier(weights, "classifier", width, (ops, hidden) => pooler(ops, firstToken(ops, hidden)));
  },
  ForTokenClassification: tokenClassification,
  ForMaskedLM: bertMaskedLanguageModel,
  ForQuestionAnswering: questionAnswering,
};

export const robertaHeads: Heads = {
  Model: baseModel,
  ForSequenceClassification: (_config, weights, { width }) => {
    const dense = sequential(linear(weights, "classifier.dense", { inFeatures: width, outFeatures: width }), activation("tanh"));
    return sequenceClassifier(weights, "classifier.out_proj", width, (ops, hidden) => dense(ops, firstToken(ops, hidden)));
  },
  ForTokenClassification: tokenClassification,
  ForMaskedLM: (config, weights, body) => {
    const { width } = body;
    const transform = sequential(
      linear(weights, "lm_head.dense", { inFeatures: width, outFeatures: width }),
      activation("gelu"),
      layerNorm(weights, "lm_head.layer_norm", width, config.positiveNumber("layer_norm_eps", 1e-12)),
    );
    const names = { weight: "lm_head.decoder.weight", biases: ["lm_head.bias", "lm_head.decoder.bias"] };
    return maskedLanguageModel(config, weights, body, names, transform);
  },
  ForQuestionAnswering: questionAnswering,
};

export const distilBertHeads: Heads = {
  Model: baseModel,
  ForSequenceClassification: (_config, weights, { width }) => {
    const dense = sequential(linear(weights, "pre_classifier", { inFeatures: width, outFeatures: width }), activation("relu"));
    return sequenceClassifier(weights, "classifier", width, (ops, hidden) => dense(ops, firstToken(ops, hidden)));
  },
  ForTokenClassification: tokenClassification,
  ForMaskedLM: (config, weights, body) => {
    const { width } = body;
    const transform = sequential(
      linear(weights, "vocab_transform", { inFeatures: width, outFeatures: width }),
      config.activation("activation", "gelu"),
      layerNorm(weights, "vocab_layer_norm", width, 1e-12),
    );
    return maskedLanguageModel(
      config,
      weights,
      body,
      { weight: "vocab_projector.weight", biases: ["vocab_projector.bias"] },
      transform,
    );
  },
  ForQuestionAnswering: questionAnswering,
};
