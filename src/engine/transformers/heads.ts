/** What is put on top of an encoder, and the models that come of it. */
import type { TensorInfo } from "../../tensor.ts";
import type { Value } from "../ir/graph.ts";
import type { Calculation } from "../build/tensor-ops.ts";
import type { Config } from "./config.ts";
import { type Layer, linear, sequence } from "../build/nn/layers.ts";
import { type Architecture, type Architectures, floats, ids } from "./transformer.ts";
import type { Weights } from "./weights.ts";

export interface EncoderInputs {
  /** int64 [N, L], as the others are. */
  readonly ids: Value;
  readonly mask: Value;
  readonly types: Value | undefined;
}

/** An encoder: ids become [N, L, width]. */
export interface Body {
  readonly width: number;
  /** Whether it takes token_type_ids. */
  readonly types: boolean;
  /** The tensor of its word embeddings, [vocabulary, width], which the last layer of a language model shares. */
  readonly words: string;
  encode(net: Calculation, inputs: EncoderInputs): Value;
}

export interface Head {
  readonly outputs: readonly TensorInfo[];
  /** `hidden` is what the encoder gives; `mask` is [N, L]. */
  build(net: Calculation, hidden: Value, mask: Value): Readonly<Record<string, Value>>;
}

export type MakeHead = (config: Config, weights: Weights, body: Body) => Head;

/** By the end of the class name; "Model" is the encoder alone. */
export type Heads = Readonly<Record<string, MakeHead>>;

interface Family {
  /** What the class names begin with. */
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly spare: RegExp;
  readonly body: (config: Config, weights: Weights) => Body;
  readonly heads: Heads;
}

/** One architecture for each head. */
export function headed({ name, prefixes, spare, body: makeBody, heads }: Family): Architectures {
  const architecture = (makeHead: MakeHead): Architecture => ({
    prefixes,
    spare,
    make: (config, weights) => {
      const body = makeBody(config, weights);
      const head = makeHead(config, weights, body);
      return {
        inputs: [ids("input_ids"), ids("attention_mask"), ...(body.types ? [ids("token_type_ids")] : [])],
        outputs: head.outputs,
        forward: (net, given) => {
          const mask = given("attention_mask");
          const types = body.types ? given("token_type_ids") : undefined;
          return head.build(net, body.encode(net, { ids: given("input_ids"), mask, types }), mask);
        },
      };
    },
  });
  return Object.fromEntries(Object.entries(heads).map(([end, makeHead]) => [`${name}${end}`, architecture(makeHead)]));
}

export const bare: MakeHead = (_config, _weights, { width }) => ({
  outputs: [floats("last_hidden_state", "batch_size", "sequence_length", width)],
  build: (_net, hidden) => ({ last_hidden_state: hidden }),
});

/** What becomes of [N, L, width] and the mask before the classes are told: [N, width]. */
export type Pool = (net: Calculation, hidden: Value, mask: Value) => Value;

/** Logits of each text. `name`: the last layer, whose rows are the classes. */
export function textClasses(weights: Weights, name: string, width: number, pool: Pool): Head {
  const classes = weights.rows(`${name}.weight`);
  const last = linear(weights, name, { from: width, to: classes });
  return {
    outputs: [floats("logits", "batch_size", classes)],
    build: (net, hidden, mask) => ({ logits: last(net, pool(net, hidden, mask)) }),
  };
}

/** Logits of each token, after the layers given, if any. */
export function tokenClasses(weights: Weights, name: string, width: number, ...before: readonly Layer[]): Head {
  const classes = weights.rows(`${name}.weight`);
  const last = sequence(...before, linear(weights, name, { from: width, to: classes }));
  return {
    outputs: [floats("logits", "batch_size", "sequence_length", classes)],
    build: (net, hidden) => ({ logits: last(net, hidden) }),
  };
}

/** Where an answer starts and where it ends: two logits of each token. */
export const answerSpan: MakeHead = (_config, weights, { width }) => {
  const layer = linear(weights, "qa_outputs", { from: width, to: 2 });
  const output = (name: string): TensorInfo => floats(name, "batch_size", "sequence_length");
  return {
    outputs: [output("start_logits"), output("end_logits")],
    build: (net, hidden) => {
      const both = layer(net, hidden);
      const [batch = 0, length = 0] = both.type.shape;
      const part = (index: number): Value => net.reshape(net.slice(both, 2, index, 1), [batch, length]);
      return { start_logits: part(0), end_logits: part(1) };
    },
  };
};

/** Names of the last layer of a masked language model: its matrix, where it has one of its own, and its bias. */
interface Vocabulary {
  readonly matrix: string;
  /** The first of those that the file has. */
  readonly biases: readonly string[];
}

/** A logit for each token of the vocabulary; the product is with the word embeddings unless the file has a matrix of its own. */
export function wordLogits(config: Config, weights: Weights, body: Body, { matrix, biases }: Vocabulary, before: Layer): Head {
  const words = config.count("vocab_size");
  const shared = config.flag("tie_word_embeddings", true) || !weights.has(matrix);
  const table = weights.matrix(shared ? body.words : matrix, body.width, words);
  const [bias = "", ...others] = biases;
  const added = weights.tensor(others.find((name) => !weights.has(bias) && weights.has(name)) ?? bias, words);
  return {
    outputs: [floats("logits", "batch_size", "sequence_length", words)],
    build: (net, hidden) => {
      const product = net.add({ kind: "matmul" }, before(net, hidden), net.build.constant(table));
      return { logits: net.binary("add", product, net.build.constant(added)) };
    },
  };
}
