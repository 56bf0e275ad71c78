/** Task heads on top of an encoder, as the `...ForSequenceClassification` and similar classes of Hugging Face transformers have them. */
import { at, omitUndefined } from "../../../contract/checked.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import type { Value } from "../../ir/graph.ts";
import { dimensions, type TensorOps } from "../../build/tensor-ops.ts";
import type { Config } from "../config.ts";
import { firstToken, type Layer, linear, sequential } from "../../build/nn/layers.ts";
import { type Architecture, type Architectures, float32Info, int64Info, type Transformer } from "../transformer.ts";
import type { Weights } from "../weights.ts";

/** Inputs of an encoder, each int64 `[batch, length]`. */
export interface EncoderInputs {
  /** Token ids. */
  readonly ids: Value;
  /** 1 for tokens, 0 for padding. */
  readonly mask: Value;
  /** Segment ids of a sentence pair (token_type_ids). Undefined for an encoder without them. */
  readonly tokenTypes: Value | undefined;
}

/** The base model of an encoder family, without a head. */
export interface EncoderGraph {
  /** Size of a hidden state. */
  readonly width: number;
  /** Whether the model has the input token_type_ids. */
  readonly takesTokenTypes: boolean;
  /** Name of the word embedding tensor, `[vocabulary, width]`; the output layer of a language model may be tied to it. */
  readonly wordEmbeddings: string;
  /** Adds the encoder's operations and returns the last hidden states, `[batch, length, width]`. */
  encode(ops: TensorOps, inputs: EncoderInputs): Value;
}

/** The layers that turn hidden states into the outputs of a task. */
export interface Head {
  /** Names, types and shapes of the model's outputs. */
  readonly outputs: readonly TensorInfo[];
  /** Adds the head's operations and returns the outputs by name. `hidden` is `[batch, length, width]`, `mask` `[batch, length]`. */
  build(ops: TensorOps, hidden: Value, mask: Value): Readonly<Record<string, Value>>;
}

/** Reads the weights of a task head and returns it. `encoder` is the base model whose hidden states the head takes. */
export type HeadFactory = (config: Config, weights: Weights, encoder: EncoderGraph) => Head;

/** The heads of a family by the suffix of the class name: "ForMaskedLM", ...; "Model" is the encoder without a head. */
export type Heads = Readonly<Record<string, HeadFactory>>;

/** Encoders that share an implementation and differ in their heads. */
interface EncoderFamily {
  /** Prefix of the class names: "Bert" of "BertForMaskedLM". */
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly ignoredTensors: RegExp;
  readonly takenOverCode?: RegExp;
  readonly encoder: (config: Config, weights: Weights) => EncoderGraph;
  readonly heads: Heads;
}

/** Combines a family's encoder with each of its heads and returns the architectures by class name. */
export function encoderArchitectures({
  name,
  prefixes,
  ignoredTensors,
  takenOverCode,
  encoder: createEncoder,
  heads,
}: EncoderFamily): Architectures {
  const makeWith =
    (createHead: HeadFactory) =>
    (config: Config, weights: Weights): Transformer => {
      const encoder = createEncoder(config, weights);
      const head = createHead(config, weights, encoder);
      return {
        inputs: [
          int64Info("input_ids"),
          int64Info("attention_mask"),
          ...(encoder.takesTokenTypes ? [int64Info("token_type_ids")] : []),
        ],
        outputs: head.outputs,
        forward: (ops, input) => {
          const mask = input("attention_mask");
          const tokenTypes = encoder.takesTokenTypes ? input("token_type_ids") : undefined;
          return head.build(ops, encoder.encode(ops, { ids: input("input_ids"), mask, tokenTypes }), mask);
        },
      };
    };
  const architecture = (suffix: string, createHead: HeadFactory): Architecture => ({
    prefixes,
    ignoredTensors,
    ...omitUndefined({ takenOverCode }),
    make: makeWith(createHead),
    ...(suffix === "ForMaskedLM" ? { makeHeadless: makeWith(baseModel) } : {}),
  });
  return Object.fromEntries(
    Object.entries(heads).map(([suffix, createHead]) => [`${name}${suffix}`, architecture(suffix, createHead)]),
  );
}

/** The head of a base model: returns the last hidden states unchanged, as the output `last_hidden_state`, float32 `[batch, length, width]`. */
export const baseModel: HeadFactory = (_config, _weights, { width }) => ({
  outputs: [float32Info("last_hidden_state", "batch_size", "sequence_length", width)],
  build: (_ops, hidden) => ({ last_hidden_state: hidden }),
});

/** Pools hidden states `[batch, length, width]` to one vector per sequence, `[batch, width]`. `mask` is `[batch, length]`. */
export type Pool = (ops: TensorOps, hidden: Value, mask: Value) => Value;

/** Classifies whole sequences: pools, then applies the linear layer `name`. Output `logits`, float32 `[batch, classes]`; its weight has a row per class. */
export function sequenceClassifier(weights: Weights, name: string, width: number, pool: Pool): Head {
  const classes = weights.rows(`${name}.weight`);
  const classifier = linear(weights, name, { inFeatures: width, outFeatures: classes });
  return {
    outputs: [float32Info("logits", "batch_size", classes)],
    build: (ops, hidden, mask) => ({ logits: classifier(ops, pool(ops, hidden, mask)) }),
  };
}

/** As `sequenceClassifier`, from the first token through the linear layer `dense` and its activation. */
export function firstTokenClassifier(
  weights: Weights,
  width: number,
  [dense, classifier]: readonly [dense: string, classifier: string],
  activation: Layer,
): Head {
  const pooler = sequential(linear(weights, dense, { inFeatures: width, outFeatures: width }), activation);
  return sequenceClassifier(weights, classifier, width, (ops, hidden) => pooler(ops, firstToken(ops, hidden)));
}

/** Classifies each token: applies the layers `before`, then the linear layer `name`. Output `logits`, float32 `[batch, length, classes]`. */
export function tokenClassifier(weights: Weights, name: string, width: number, ...before: readonly Layer[]): Head {
  const classes = weights.rows(`${name}.weight`);
  const classifier = sequential(...before, linear(weights, name, { inFeatures: width, outFeatures: classes }));
  return {
    outputs: [float32Info("logits", "batch_size", "sequence_length", classes)],
    build: (ops, hidden) => ({ logits: classifier(ops, hidden) }),
  };
}

/** Extractive question answering: outputs `start_logits` and `end_logits`, float32 `[batch, length]`, from the linear layer `qa_outputs`. */
export const questionAnswering: HeadFactory = (_config, weights, { width }) => {
  const layer = linear(weights, "qa_outputs", { inFeatures: width, outFeatures: 2 });
  const output = (name: string): TensorInfo => float32Info(name, "batch_size", "sequence_length");
  return {
    outputs: [output("start_logits"), output("end_logits")],
    build: (ops, hidden) => {
      const both = layer(ops, hidden);
      const [batch, length] = dimensions(both, 3);
      const part = (index: number): Value => ops.reshape(ops.slice(both, 2, index, 1), [batch, length]);
      return { start_logits: part(0), end_logits: part(1) };
    },
  };
};

/** Names of the tensors of a language model's output layer. */
export interface OutputLayerNames {
  /** `[vocabulary, width]`; absent from files whose output layer is tied to the word embeddings. */
  readonly weight: string;
  /** Possible names of the bias; the first one that the file has counts. */
  readonly biases: readonly string[];
}

/**
 * Masked language modelling: applies the layer `transform`, then projects on the vocabulary. The projection is the transposed word embeddings if
 * `tie_word_embeddings` is set (default) or the file has no matrix of its own. Output `logits`, float32 `[batch, length, vocabulary]`.
 */
export function maskedLanguageModel(
  config: Config,
  weights: Weights,
  encoder: EncoderGraph,
  { weight, biases }: OutputLayerNames,
  transform: Layer,
): Head {
  const vocabulary = config.positiveInteger("vocab_size");
  const isTied = config.boolean("tie_word_embeddings", true) || !weights.has(weight);
  const matrix = weights.matrix(isTied ? encoder.wordEmbeddings : weight, encoder.width, vocabulary);
  const bias = weights.tensor(biases.find((name) => weights.has(name)) ?? at(biases, 0), vocabulary);
  return {
    outputs: [float32Info("logits", "batch_size", "sequence_length", vocabulary)],
    build: (ops, hidden) => {
      const product = ops.add({ kind: "matmul" }, transform(ops, hidden), ops.builder.constant(matrix));
      return { logits: ops.binary("add", product, ops.builder.constant(bias)) };
    },
  };
}
