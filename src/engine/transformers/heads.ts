/** What is put on top of an encoder, and the models that come of it. */
import type { TensorInfo } from "../../tensor.ts";
import type { Value } from "../ir/graph.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import type { Config } from "./config.ts";
import { type Layer, linear, sequential } from "../build/nn/layers.ts";
import { type Architecture, type Architectures, float32Info, int64Info } from "./transformer.ts";
import type { Weights } from "./weights.ts";

export interface EncoderInputs {
  /** int64 [N, L], as the others are. */
  readonly ids: Value;
  readonly mask: Value;
  readonly tokenTypes: Value | undefined;
}

/** An encoder: ids become [N, L, width]. */
export interface Encoder {
  readonly width: number;
  /** Whether it takes token_type_ids. */
  readonly takesTokenTypes: boolean;
  /** The tensor of its word embeddings, [vocabulary, width], which the last layer of a language model shares. */
  readonly wordEmbeddings: string;
  encode(ops: TensorOps, inputs: EncoderInputs): Value;
}

export interface Head {
  readonly outputs: readonly TensorInfo[];
  /** `hidden` is what the encoder gives; `mask` is [N, L]. */
  build(ops: TensorOps, hidden: Value, mask: Value): Readonly<Record<string, Value>>;
}

export type HeadFactory = (config: Config, weights: Weights, body: Encoder) => Head;

/** By the end of the class name; "Model" is the encoder alone. */
export type Heads = Readonly<Record<string, HeadFactory>>;

interface EncoderFamily {
  /** What the class names begin with. */
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly ignoredTensors: RegExp;
  readonly encoder: (config: Config, weights: Weights) => Encoder;
  readonly heads: Heads;
}

/** One architecture for each head. */
export function encoderArchitectures({ name, prefixes, ignoredTensors, encoder: makeBody, heads }: EncoderFamily): Architectures {
  const architecture = (makeHead: HeadFactory): Architecture => ({
    prefixes,
    ignoredTensors,
    make: (config, weights) => {
      const body = makeBody(config, weights);
      const head = makeHead(config, weights, body);
      return {
        inputs: [
          int64Info("input_ids"),
          int64Info("attention_mask"),
          ...(body.takesTokenTypes ? [int64Info("token_type_ids")] : []),
        ],
        outputs: head.outputs,
        forward: (ops, given) => {
          const mask = given("attention_mask");
          const tokenTypes = body.takesTokenTypes ? given("token_type_ids") : undefined;
          return head.build(ops, body.encode(ops, { ids: given("input_ids"), mask, tokenTypes }), mask);
        },
      };
    },
  });
  return Object.fromEntries(Object.entries(heads).map(([end, makeHead]) => [`${name}${end}`, architecture(makeHead)]));
}

export const baseModel: HeadFactory = (_config, _weights, { width }) => ({
  outputs: [float32Info("last_hidden_state", "batch_size", "sequence_length", width)],
  build: (_net, hidden) => ({ last_hidden_state: hidden }),
});

/** What becomes of [N, L, width] and the mask before the classes are told: [N, width]. */
export type Pool = (ops: TensorOps, hidden: Value, mask: Value) => Value;

/** Logits of each text. `name`: the last layer, whose rows are the classes. */
export function sequenceClassifier(weights: Weights, name: string, width: number, pool: Pool): Head {
  const classes = weights.rows(`${name}.weight`);
  const last = linear(weights, name, { inFeatures: width, outFeatures: classes });
  return {
    outputs: [float32Info("logits", "batch_size", classes)],
    build: (ops, hidden, mask) => ({ logits: last(ops, pool(ops, hidden, mask)) }),
  };
}

/** Logits of each token, after the layers given, if any. */
export function tokenClassifier(weights: Weights, name: string, width: number, ...before: readonly Layer[]): Head {
  const classes = weights.rows(`${name}.weight`);
  const last = sequential(...before, linear(weights, name, { inFeatures: width, outFeatures: classes }));
  return {
    outputs: [float32Info("logits", "batch_size", "sequence_length", classes)],
    build: (ops, hidden) => ({ logits: last(ops, hidden) }),
  };
}

/** Where an answer starts and where it ends: two logits of each token. */
export const questionAnswering: HeadFactory = (_config, weights, { width }) => {
  const layer = linear(weights, "qa_outputs", { inFeatures: width, outFeatures: 2 });
  const output = (name: string): TensorInfo => float32Info(name, "batch_size", "sequence_length");
  return {
    outputs: [output("start_logits"), output("end_logits")],
    build: (ops, hidden) => {
      const both = layer(ops, hidden);
      const [batch = 0, length = 0] = both.type.shape;
      const part = (index: number): Value => ops.reshape(ops.slice(both, 2, index, 1), [batch, length]);
      return { start_logits: part(0), end_logits: part(1) };
    },
  };
};

/** Names of the last layer of a masked language model: its matrix, where it has one of its own, and its bias. */
interface OutputLayerNames {
  readonly weight: string;
  /** The first of those that the file has. */
  readonly biases: readonly string[];
}

/** A logit for each token of the vocabulary; the product is with the word embeddings unless the file has a matrix of its own. */
export function maskedLanguageModel(
  config: Config,
  weights: Weights,
  body: Encoder,
  { weight, biases }: OutputLayerNames,
  before: Layer,
): Head {
  const words = config.positiveInteger("vocab_size");
  const shared = config.boolean("tie_word_embeddings", true) || !weights.has(weight);
  const table = weights.matrix(shared ? body.wordEmbeddings : weight, body.width, words);
  const [bias = "", ...others] = biases;
  const added = weights.tensor(others.find((name) => !weights.has(bias) && weights.has(name)) ?? bias, words);
  return {
    outputs: [float32Info("logits", "batch_size", "sequence_length", words)],
    build: (ops, hidden) => {
      const product = ops.add({ kind: "matmul" }, before(ops, hidden), ops.builder.constant(table));
      return { logits: ops.binary("add", product, ops.builder.constant(added)) };
    },
  };
}
