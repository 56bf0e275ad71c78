/** The task heads of BERT, RoBERTa and DistilBERT, with the tensor names of Hugging Face transformers. */
import type { Config } from "../config.ts";
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
import { activation } from "../../build/nn/activations.ts";
import { firstToken, layerNorm, linear, sequential } from "../../build/nn/layers.ts";
import type { Weights } from "../weights.ts";

const tokenClassification = (_config: Config, weights: Weights, { width }: Encoder): Head =>
  tokenClassifier(weights, "classifier", width);

/** The head of `BertForMaskedLM`: linear layer, activation (`hidden_act`) and layer norm, then the projection on the vocabulary. DeBERTa has it too. */
export function bertMaskedLanguageModel(config: Config, weights: Weights, encoder: Encoder): Head {
  const { width } = encoder;
  const transform = sequential(
    linear(weights, "cls.predictions.transform.dense", { inFeatures: width, outFeatures: width }),
    config.activation("hidden_act", "gelu"),
    layerNorm(weights, "cls.predictions.transform.LayerNorm", width, config.positiveNumber("layer_norm_eps", 1e-12)),
  );
  const names = { weight: "cls.predictions.decoder.weight", biases: ["cls.predictions.bias", "cls.predictions.decoder.bias"] };
  return maskedLanguageModel(config, weights, encoder, names, transform);
}

/** Heads of the `BertFor...` classes. A sequence is classified from its first token through the tanh pooler. */
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

/** Task heads of the Hugging Face classes `RobertaFor...`, which XLM-RoBERTa and CamemBERT share, by suffix of the class name. */
export const robertaHeads: Heads = {
  Model: baseModel,
  ForSequenceClassification: (_config, weights, { width }) => {
    const dense = sequential(linear(weights, "classifier.dense", { inFeatures: width, outFeatures: width }), activation("tanh"));
    return sequenceClassifier(weights, "classifier.out_proj", width, (ops, hidden) => dense(ops, firstToken(ops, hidden)));
  },
  ForTokenClassification: tokenClassification,
  ForMaskedLM: (config, weights, encoder) => {
    const { width } = encoder;
    const transform = sequential(
      linear(weights, "lm_head.dense", { inFeatures: width, outFeatures: width }),
      activation("gelu"),
      layerNorm(weights, "lm_head.layer_norm", width, config.positiveNumber("layer_norm_eps", 1e-12)),
    );
    const names = { weight: "lm_head.decoder.weight", biases: ["lm_head.bias", "lm_head.decoder.bias"] };
    return maskedLanguageModel(config, weights, encoder, names, transform);
  },
  ForQuestionAnswering: questionAnswering,
};

/** Task heads of the Hugging Face classes `DistilBertFor...`, by suffix of the class name. */
export const distilBertHeads: Heads = {
  Model: baseModel,
  ForSequenceClassification: (_config, weights, { width }) => {
    const dense = sequential(linear(weights, "pre_classifier", { inFeatures: width, outFeatures: width }), activation("relu"));
    return sequenceClassifier(weights, "classifier", width, (ops, hidden) => dense(ops, firstToken(ops, hidden)));
  },
  ForTokenClassification: tokenClassification,
  ForMaskedLM: (config, weights, encoder) => {
    const { width } = encoder;
    const transform = sequential(
      linear(weights, "vocab_transform", { inFeatures: width, outFeatures: width }),
      config.activation("activation", "gelu"),
      layerNorm(weights, "vocab_layer_norm", width, 1e-12),
    );
    return maskedLanguageModel(
      config,
      weights,
      encoder,
      { weight: "vocab_projector.weight", biases: ["vocab_projector.bias"] },
      transform,
    );
  },
  ForQuestionAnswering: questionAnswering,
};
