/**
 * Encoder-decoder language models as two graphs over the same weights. The encoder reads a source once, and gives the keys and values of the decoder's
 * cross-attention; the decoder takes these with every token, beside the keys and values of its own tokens.
 */
import type { TensorInfo } from "../../contract/tensor.ts";
import type { Value } from "../ir/graph.ts";
import { int64Literal } from "../ir/literal.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { paddingBias } from "../build/nn/attention.ts";
import { causalTransformer, type CausalInputs, type KeyValueCache } from "./causal-model.ts";
import type { UpdateOwnCache } from "./multi-head-attention.ts";
import { float32Info, type GetInput, int64Info, type Transformer } from "./transformer.ts";

/** What the cross-attention of a decoder block reads: keys and values of the source, and the bias that excludes its padding. */
interface Source {
  readonly cache: KeyValueCache;
  readonly bias: Value;
  /** Receives a function that adds the weights of the cross-attention, `[batch, heads, length, L]`, to the graph. Default: nobody needs them. */
  readonly observe?: (addWeights: () => Value) => void;
}

/** Features that an encoder reads in place of tokens, such as a log-mel spectrogram. Their number of frames is fixed. */
export interface EncoderFeatures {
  /** Number of features of each frame. */
  readonly bins: number;
  readonly frames: number;
  /** Number of states that the encoder makes of them, which the decoder reads as tokens of a source. */
  readonly positions: number;
}

/** One decoder block. */
export interface DecoderBlock {
  /** Keys and values for the cross-attention, from the encoder's output. */
  crossKeyValues(ops: TensorOps, states: Value): KeyValueCache;
  /** Adds the operations of the block. `bias`: the position bias of the self-attention. */
  build(ops: TensorOps, x: Value, bias: Value, source: Source, updateCache: UpdateOwnCache): Value;
}

/** The parts in which architectures with encoder and decoder differ. L is the number of tokens of the source. */
export interface EncoderDecoder {
  /** The decoder's blocks. */
  readonly blocks: readonly DecoderBlock[];
  readonly heads: number;
  /** Size of one head. */
  readonly headSize: number;
  readonly vocabulary: number;
  /** Maximum number of tokens of a source; undefined: no limit. */
  readonly maxSourceTokens: number | undefined;
  /** Features that the encoder reads. Default: it reads tokens. */
  readonly features?: EncoderFeatures;
  /**
   * Encodes the inputs `input_ids` and `attention_mask`, both int64 `[batch, L]`, or `input_features`, float32 `[batch, bins, frames]`, as
   * `[batch, L, width]`.
   */
  encode(ops: TensorOps, input: GetInput): Value;
  /** The bias of the decoder's self-attention. */
  selfBias(ops: TensorOps, inputs: CausalInputs): Value;
  /** What the first decoder block reads. */
  embed(ops: TensorOps, inputs: CausalInputs): Value;
  /** The logits, float32 `[batch, length, vocabulary]`, from the output of the last decoder block. */
  getLogits(ops: TensorOps, hidden: Value): Value;
}

/** The two graphs of an encoder-decoder model. */
export interface EncoderDecoderGraphs {
  readonly encoder: Transformer;
  readonly decoder: Transformer;
  /** The decoder without caches, which returns the weights of its cross-attention as `cross_attentions.{layer}`. */
  readonly aligner: Transformer;
  readonly maxSourceTokens: number | undefined;
  readonly features: EncoderFeatures | undefined;
}

const parts = ["key", "value"] as const;
/** Input of the decoder: 1 for tokens of the source, 0 for padding. The decoder in `execute/decode` knows these inputs by their names. */
export const sourceMaskInput = "encoder_attention_mask";
/** Input of the aligner: the ids of all tokens, int64 `[batch, length]`. */
export const alignedIdsInput = "aligned_ids";

/** Makes the encoder, with outputs `encoder.{layer}.{key|value}`, and the decoder, which has inputs of these names. */
export function encoderDecoderGraphs(model: EncoderDecoder): EncoderDecoderGraphs {
  const { blocks, heads, headSize, vocabulary, maxSourceTokens, features } = model;
  const layers = blocks.length;
  const length = "encoder_sequence_length";
  const states = Array.from({ length: layers }, (_, layer) =>
    parts.map((part): TensorInfo => float32Info(`encoder.${layer}.${part}`, "batch_size", heads, length, headSize)),
  ).flat();
  const encoder: Transformer = {
    inputs:
      features === undefined
        ? [int64Info("input_ids", length), int64Info("attention_mask", length)]
        : [float32Info("input_features", "batch_size", features.bins, features.frames)],
    outputs: states,
    forward: (ops, input) => {
      const encoded = model.encode(ops, input);
      return Object.fromEntries(
        blocks.flatMap(({ crossKeyValues }, layer) => {
          const cache = crossKeyValues(ops, encoded);
          return parts.map((part): [string, Value] => [`encoder.${layer}.${part}`, cache[part]]);
        }),
      );
    },
  };
  const decoder = causalTransformer(
    {
      layers,
      keyValueHeads: heads,
      headSize,
      output: "logits",
      outputSize: vocabulary,
      build: (ops, inputs, updateCache, input) => {
        const selfBias = model.selfBias(ops, inputs);
        const bias = paddingBias(ops, input(sourceMaskInput));
        const hidden = blocks.reduce(
          (x, each, layer) => {
            const cache = { key: input(`encoder.${layer}.key`), value: input(`encoder.${layer}.value`) };
            return each.build(ops, x, selfBias, { cache, bias }, (current) => updateCache(layer, current));
          },
          model.embed(ops, inputs),
        );
        return model.getLogits(ops, hidden);
      },
    },
    [int64Info(sourceMaskInput, length), ...states],
  );
  return { encoder, decoder, aligner: getAligner(model, states), maxSourceTokens, features };
}

/** The decoder over all tokens at once, without padding: `aligned_ids` and the states of the source give `cross_attentions.{layer}`. */
function getAligner({ blocks, heads, embed, selfBias }: EncoderDecoder, states: readonly TensorInfo[]): Transformer {
  const getName = (layer: number): string => `cross_attentions.${layer}`;
  const length = "sequence_length";
  return {
    inputs: [int64Info(alignedIdsInput, length), ...states],
    outputs: blocks.map((_, layer) => float32Info(getName(layer), "batch_size", heads, length, "encoder_sequence_length")),
    forward: (ops, input) => {
      const ids = input(alignedIdsInput);
      const [batch, count] = dimensions(ids, 2);
      const integers = (valueAt: (position: number) => number): Value => {
        const row = Array.from({ length: batch * count }, (_, index) => valueAt(index % count));
        return ops.builder.constant(int64Literal(row, [batch, count]));
      };
      const inputs: CausalInputs = { ids, mask: integers(() => 1), positions: integers((position) => position) };
      const bias = selfBias(ops, inputs);
      const weights: Record<string, Value> = {};
      blocks.reduce(
        (x, each, layer) => {
          const cache = { key: input(`encoder.${layer}.key`), value: input(`encoder.${layer}.value`) };
          const observe = (addWeights: () => Value): void => void (weights[getName(layer)] = addWeights());
          return each.build(ops, x, bias, { cache, bias: ops.scalar(0, "float32"), observe }, (current) => current);
        },
        embed(ops, inputs),
      );
      return weights;
    },
  };
}

/** Positions of all keys, including cached ones: int64 `[batch, S]` from a mask `[batch, S]`; masked positions are not counted. */
export function keyPositions(ops: TensorOps, mask: Value): Value {
  const counted = ops.add({ kind: "cumulative", function: "sum", axis: 1, exclusive: false, reverse: false }, mask);
  return ops.binary("max", ops.binary("sub", counted, 1), 0);
}

/** `queries - keys` of positions `[batch, L]` and `[batch, S]`, as int64 `[batch, L, S]`. */
export function distances(ops: TensorOps, queries: Value, keys: Value): Value {
  const [batch, length] = dimensions(queries, 2);
  const [, total] = dimensions(keys, 2);
  return ops.binary("sub", ops.reshape(queries, [batch, length, 1]), ops.reshape(keys, [batch, 1, total]));
}
