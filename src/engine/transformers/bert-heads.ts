/** Heads of BERT and its kin, as transformers names them. */
import type { Config } from "./config.ts";
import { answerSpan, bare, type Body, type Head, type Heads, textClasses, tokenClasses, wordLogits } from "./heads.ts";
import { activation, activationOf, firstToken, layerNorm, linear, sequence } from "../build/nn/layers.ts";
import type { Weights } from "./weights.ts";

const tokens = (_config: Config, weights: Weights, { width }: Body): Head => tokenClasses(weights, "classifier", width);

/** A layer of the encoder's width, an activation and a norm stand before the product with the vocabulary. */
export function bertWords(config: Config, weights: Weights, body: Body): Head {
  const { width } = body;
  const transform = sequence(
    linear(weights, "cls.predictions.transform.dense", { from: width, to: width }),
    activationOf(config, "hidden_act", "gelu"),
    layerNorm(weights, "cls.predictions.transform.LayerNorm", width, config.positive("layer_norm_eps", 1e-12)),
  );
  const names = { matrix: "cls.predictions.decoder.weight", biases: ["cls.predictions.bias", "cls.predictions.decoder.bias"] };
  return wordLogits(config, weights, body, names, transform);
}

export const bertHeads: Heads = {
  Model: bare,
  ForSequenceClassification: (_config, weights, { width }) => {
    const pooler = sequence(linear(weights, "pooler.dense", { from: width, to: width }), activation("tanh"));
    return textClasses(weights, "classifier", width, (net, hidden) => pooler(net, firstToken(net, hidden)));
  },
  ForTokenClassification: tokens,
  ForMaskedLM: bertWords,
  ForQuestionAnswering: answerSpan,
};

export const robertaHeads: Heads = {
  Model: bare,
  ForSequenceClassification: (_config, weights, { width }) => {
    const dense = sequence(linear(weights, "classifier.dense", { from: width, to: width }), activation("tanh"));
    return textClasses(weights, "classifier.out_proj", width, (net, hidden) => dense(net, firstToken(net, hidden)));
  },
  ForTokenClassification: tokens,
  ForMaskedLM: (config, weights, body) => {
    const { width } = body;
    const transform = sequence(
      linear(weights, "lm_head.dense", { from: width, to: width }),
      activation("gelu"),
      layerNorm(weights, "lm_head.layer_norm", width, config.positive("layer_norm_eps", 1e-12)),
    );
    const names = { matrix: "lm_head.decoder.weight", biases: ["lm_head.bias", "lm_head.decoder.bias"] };
    return wordLogits(config, weights, body, names, transform);
  },
  ForQuestionAnswering: answerSpan,
};

export const distilBertHeads: Heads = {
  Model: bare,
  ForSequenceClassification: (_config, weights, { width }) => {
    const dense = sequence(linear(weights, "pre_classifier", { from: width, to: width }), activation("relu"));
    return textClasses(weights, "classifier", width, (net, hidden) => dense(net, firstToken(net, hidden)));
  },
  ForTokenClassification: tokens,
  ForMaskedLM: (config, weights, body) => {
    const { width } = body;
    const transform = sequence(
      linear(weights, "vocab_transform", { from: width, to: width }),
      activationOf(config, "activation", "gelu"),
      layerNorm(weights, "vocab_layer_norm", width, 1e-12),
    );
    return wordLogits(config, weights, body, { matrix: "vocab_projector.weight", biases: ["vocab_projector.bias"] }, transform);
  },
  ForQuestionAnswering: answerSpan,
};
