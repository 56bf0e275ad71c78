/**
 * Encoder-decoder language models as two graphs over the same weights. The encoder reads a source once, and gives the keys and values of the decoder's
 * cross-attention; the decoder takes these with every token, beside the keys and values of its own tokens.
 */
import type { TensorInfo } from "../../contract/tensor.ts";
import type { Value } from "../ir/graph.ts";
import { dimensions, type TensorOps } from "../build/tensor-ops.ts";
import { paddingBias } from "../build/nn/attention.ts";
import { causalTransformer, type CausalInputs, type KeyValueCache } from "./causal-model.ts";
import type { UpdateOwnCache } from "./multi-head-attention.ts";
import { float32Info, int64Info, type Transformer } from "./transformer.ts";

/** What the cross-attention of a decoder block reads: keys and values of the source, and the bias that excludes its padding. */
interface Source {
  readonly cache: KeyValueCache;
  readonly bias: Value;
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
  /** Encodes token ids and mask, both int64 `[batch, L]`, as `[batch, L, width]`. */
  encode(ops: TensorOps, ids: Value, mask: Value): Value;
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
  readonly maxSourceTokens: number | undefined;
}

const parts = ["key", "value"] as const;
/** Input of the decoder: 1 for tokens of the source, 0 for padding. The decoder in `execute/decode` knows these inputs by their names. */
export const sourceMaskInput = "encoder_attention_mask";

/** Makes the encoder, with outputs `encoder.{layer}.{key|value}`, and the decoder, which has inputs of these names. */
export function encoderDecoderGraphs(model: EncoderDecoder): EncoderDecoderGraphs {
  const { blocks, heads, headSize, vocabulary, maxSourceTokens } = model;
  const layers = blocks.length;
  const length = "encoder_sequence_length";
  const states = Array.from({ length: layers }, (_, layer) =>
    parts.map((part): TensorInfo => float32Info(`encoder.${layer}.${part}`, "batch_size", heads, length, headSize)),
  ).flat();
  const encoder: Transformer = {
    inputs: [int64Info("input_ids", length), int64Info("attention_mask", length)],
    outputs: states,
    forward: (ops, input) => {
      const encoded = model.encode(ops, input("input_ids"), input("attention_mask"));
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
  return { encoder, decoder, maxSourceTokens };
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
