/** The task heads of BERT, RoBERTa and DistilBERT, with the tensor names of Hugging Face transformers. */
import type { Config } from "../config.ts";
import {
  questionAnswering,
  baseModel,
  firstTokenClassifier,
  type HeadFactory,
  type Heads,
  tokenClassifier,
  maskedLanguageModel,
  type OutputLayerNames,
} from "./heads.ts";
import { activation } from "../../build/nn/activations.ts";
import { type Layer, layerNorm, linear, sequential } from "../../build/nn/layers.ts";

/** The layers before the output layer of `ForMaskedLM`: linear layer, activation and layer norm. */
interface MaskedHead extends OutputLayerNames {
  readonly dense: string;
  readonly norm: string;
  readonly activation: (config: Config) => Layer;
  readonly epsilon: (config: Config) => number;
}

const getEpsilon = (config: Config): number => config.positiveNumber("layer_norm_eps", 1e-12);

function maskedHead({ dense, norm, activation: getActivation, epsilon, ...names }: MaskedHead): HeadFactory {
  return (config, weights, encoder) => {
    const { width } = encoder;
    const transform = sequential(
      linear(weights, dense, { inFeatures: width, outFeatures: width }),
      getActivation(config),
      layerNorm(weights, norm, width, epsilon(config)),
    );
    return maskedLanguageModel(config, weights, encoder, names, transform);
  };
}

/** The heads of a family by suffix of the class name. A sequence is classified from its first token, by the linear layers `classifiers`. */
function getHeads(
  classifiers: readonly [dense: string, classifier: string],
  pooling: "tanh" | "relu",
  masked: HeadFactory,
): Heads {
  return {
    Model: baseModel,
    ForSequenceClassification: (_config, weights, { width }) =>
      firstTokenClassifier(weights, width, classifiers, activation(pooling)),
    ForTokenClassification: (_config, weights, { width }) => tokenClassifier(weights, "classifier", width),
    ForMaskedLM: masked,
    ForQuestionAnswering: questionAnswering,
  };
}

/** The head of `BertForMaskedLM`. DeBERTa has it too. */
export const bertMaskedLanguageModel: HeadFactory = maskedHead({
  dense: "cls.predictions.transform.dense",
  activation: (config) => config.activation("hidden_act", "gelu"),
  norm: "cls.predictions.transform.LayerNorm",
  epsilon: getEpsilon,
  weight: "cls.predictions.decoder.weight",
  biases: ["cls.predictions.bias", "cls.predictions.decoder.bias"],
});

/** Heads of the `BertFor...` classes. */
export const bertHeads: Heads = getHeads(["pooler.dense", "classifier"], "tanh", bertMaskedLanguageModel);

/** Task heads of the Hugging Face classes `RobertaFor...`, which XLM-RoBERTa and CamemBERT share. */
export const robertaHeads: Heads = getHeads(
  ["classifier.dense", "classifier.out_proj"],
  "tanh",
  maskedHead({
    dense: "lm_head.dense",
    activation: () => activation("gelu"),
    norm: "lm_head.layer_norm",
    epsilon: getEpsilon,
    weight: "lm_head.decoder.weight",
    biases: ["lm_head.bias", "lm_head.decoder.bias"],
  }),
);

/** Task heads of the Hugging Face classes `DistilBertFor...`. */
export const distilBertHeads: Heads = getHeads(
  ["pre_classifier", "classifier"],
  "relu",
  maskedHead({
    dense: "vocab_transform",
    activation: (config) => config.activation("activation", "gelu"),
    norm: "vocab_layer_norm",
    epsilon: () => 1e-12, // DistilBERT has no setting for it
    weight: "vocab_projector.weight",
    biases: ["vocab_projector.bias"],
  }),
);
