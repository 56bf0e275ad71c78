/** Inputs and outputs of a causal (decoder-only) language model with a key-value cache, named as in Hugging Face Optimum's ONNX exports. */
import { InferyardError } from "../../contract/errors.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import type { Value } from "../ir/graph.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { capped } from "../build/nn/attention.ts";
import type { Config } from "./config.ts";
import { type Architecture, type Architectures, float32Info, type GetInput, int64Info, type Transformer } from "./transformer.ts";
import type { Weights } from "./weights.ts";

/** Keys and values of one layer, each float32 `[batch, keyValueHeads, length, headSize]`. */
export interface KeyValueCache {
  readonly key: Value;
  readonly value: Value;
}

/** Appends the keys and values of the new tokens to those cached for the layer, and returns both together. */
export type UpdateCache = (layer: number, current: KeyValueCache) => KeyValueCache;

/** Inputs of one call of a causal model that processes `length` new tokens after `past` cached ones. */
export interface CausalInputs {
  /** Token ids, int64 `[batch, length]`. */
  readonly ids: Value;
  /** 1 for tokens, 0 for padding, cached tokens included: int64 `[batch, past + length]`. */
  readonly mask: Value;
  /** Positions of the new tokens, int64 `[batch, length]`. */
  readonly positions: Value;
}

/** A causal language model without its inputs and outputs for cached keys and values, which `causalTransformer` adds. */
export interface CausalModel {
  readonly layers: number;
  /** Number of key and value heads of each layer. */
  readonly keyValueHeads: number;
  /** Size of one head. */
  readonly headSize: number;
  /** Name of the output, float32 `[batch, length, outputSize]`. */
  readonly output: "logits" | "last_hidden_state";
  /** Size of the vocabulary for logits, of a hidden state else. */
  readonly outputSize: number;
  /** Adds the model's operations and returns the output. `updateCache` is called once for each layer; `input` returns further inputs by name. */
  build(ops: TensorOps, inputs: CausalInputs, updateCache: UpdateCache, input: GetInput): Value;
}

const cacheParts = ["key", "value"] as const;

/**
 * The model as a `Transformer`. With caches (`isCached`) it takes `past_key_values.{layer}.{key|value}` and returns `present.{layer}.{key|value}`. Default: a
 * model that outputs logits has caches, and one that outputs hidden states has none, since it does not generate. `others`: further inputs of the model.
 */
export function causalTransformer(
  model: CausalModel,
  others: readonly TensorInfo[] = [],
  isCached: boolean = model.output === "logits",
): Transformer {
  const { layers, keyValueHeads, headSize, output, outputSize, build } = model;
  const caches = (name: string, length: string): readonly TensorInfo[] =>
    Array.from({ length: isCached ? layers : 0 }, (_, layer) =>
      cacheParts.map((part) => float32Info(`${name}.${layer}.${part}`, "batch_size", keyValueHeads, length, headSize)),
    ).flat();
  const total = isCached ? "past_sequence_length + sequence_length" : "sequence_length";
  return {
    inputs: [
      int64Info("input_ids"),
      int64Info("attention_mask", total),
      int64Info("position_ids"),
      ...caches("past_key_values", "past_sequence_length"),
      ...others,
    ],
    outputs: [float32Info(output, "batch_size", "sequence_length", outputSize), ...caches("present", total)],
    forward: (ops, input) => {
      const inputs = { ids: input("input_ids"), mask: input("attention_mask"), positions: input("position_ids") };
      checkTotal(inputs, isCached ? pastLength(input) : 0);
      const present: Record<string, Value> = {};
      const updateCache: UpdateCache = (layer, current) => {
        if (!isCached) return current;
        const append = (part: keyof KeyValueCache): Value => {
          const past = input(`past_key_values.${layer}.${part}`);
          return (present[`present.${layer}.${part}`] = ops.add({ kind: "concat", axis: 2 }, past, current[part]));
        };
        return { key: append("key"), value: append("value") };
      };
      const result = build(ops, inputs, updateCache, input);
      return { [output]: result, ...present };
    },
  };
}

/** A causal decoder without an output layer, whose matrix is the last weight that it reads. */
export interface CausalDecoder extends Pick<CausalModel, "layers" | "keyValueHeads" | "headSize"> {
  /** The output layer: a matrix, stored `[vocabulary, width]`, and a bound of the logits (see `capped`). */
  readonly outputLayer: {
    readonly matrix: string;
    readonly width: number;
    readonly vocabulary: number;
    readonly cap?: number | undefined;
  };
  /** Adds the model's operations and returns the hidden states, float32 `[batch, length, width]`. */
  build(ops: TensorOps, inputs: CausalInputs, updateCache: UpdateCache): Value;
}

/** The two architectures of a causal decoder: the base model, and the language model, which has caches with and without its head. */
export function causalArchitectures(
  [base, languageModel]: readonly [base: string, languageModel: string],
  common: Pick<Architecture, "prefixes" | "ignoredTensors">,
  makeDecoder: (config: Config, weights: Weights, output: CausalModel["output"]) => CausalDecoder,
): Architectures {
  const make =
    (output: CausalModel["output"], isCached?: boolean) =>
    (config: Config, weights: Weights): Transformer => {
      const { outputLayer, build, ...sizes } = makeDecoder(config, weights, output);
      const { matrix: name, width, vocabulary, cap } = outputLayer;
      if (output === "last_hidden_state") return causalTransformer({ ...sizes, output, outputSize: width, build }, [], isCached);
      const matrix = weights.matrix(name, width, vocabulary);
      const getLogits: CausalDecoder["build"] = (ops, ...inputs) =>
        capped(ops, ops.add({ kind: "matmul" }, build(ops, ...inputs), ops.builder.constant(matrix)), cap);
      return causalTransformer({ ...sizes, output, outputSize: vocabulary, build: getLogits }, [], isCached);
    };
  return {
    [base]: { ...common, make: make("last_hidden_state") },
    [languageModel]: { ...common, make: make("logits"), makeHeadless: make("last_hidden_state", true) },
  };
}

function pastLength(input: GetInput): number {
  return dimensions(input("past_key_values.0.key"), 4)[2];
}

function checkTotal({ ids: tokens, mask }: CausalInputs, past: number): void {
  const [, length] = dimensions(tokens, 2);
  const [, total] = dimensions(mask, 2);
  if (total === past + length) return;
  throw new InferyardError(
    "INPUT_INVALID",
    `"attention_mask" has ${total} positions, and there are ${past} in the caches and ${length} in "input_ids"`,
  );
}
