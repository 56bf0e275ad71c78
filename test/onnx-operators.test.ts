/** Operators that ONNX's own cases leave out, in part or whole, on our engine's interpreter and on onnxruntime-node: the same outputs. */
import { describe, expect, it } from "vitest";
import { byOnnxruntime, byOurEngine, made, madeWhole, type MadeInput, type OneOperator } from "./fixtures/one-operator.ts";

const microsoft = "com.microsoft";
const version = 17;

function of(type: MadeInput["type"], shape: readonly number[], values: readonly number[]): MadeInput {
  return { type, shape, values };
}

function float(value: number): { readonly float: number } {
  return { float: value };
}

type Attributes = NonNullable<OneOperator["attributes"]>;
type Inputs = OneOperator["inputs"];

/** The operator of com.microsoft with these attributes. */
function microsoftOne(operator: string) {
  return (attributes: Attributes, inputs: Inputs, outputs: readonly boolean[] = [true]): OneOperator => ({
    operator,
    domain: microsoft,
    version,
    attributes,
    inputs,
    outputs,
  });
}

const projected = [made([2, 4, 6], -1, 1, 2), made([6, 24], -1, 1, 3), made([24], -1, 1, 4)];
const attention = microsoftOne("Attention");

const attentions: Readonly<Record<string, OneOperator>> = {
  plain: attention({ num_heads: 2 }, projected),
  "mask of keys": attention({ num_heads: 2 }, [...projected, of("int32", [2, 4], [1, 1, 1, 0, 1, 1, 0, 0])]),
  "where keys end": attention({ num_heads: 2 }, [...projected, of("int32", [2], [3, 2])]),
  "where keys begin and end": attention({ num_heads: 2 }, [...projected, of("int32", [4], [3, 4, 1, 0])]),
  "mask of pairs": attention({ num_heads: 2 }, [...projected, madeWhole("int32", [2, 4, 4], 0, 1, 9)]),
  unidirectional: attention({ num_heads: 2, unidirectional: 1 }, [...projected, of("int32", [2, 4], [1, 1, 1, 0, 0, 1, 1, 1])]),
  "with a past": attention(
    { num_heads: 2, unidirectional: 1 },
    [...projected, of("int32", [2, 7], [1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1]), made([2, 2, 2, 3, 4], -1, 1, 7)],
    [true, true],
  ),
  "with a bias of scores": attention({ num_heads: 2, scale: float(0.3) }, [
    ...projected,
    null,
    null,
    made([2, 2, 4, 4], -1, 1, 8),
  ]),
  "values of another size": attention({ num_heads: 2, qkv_hidden_sizes: [8, 8, 4] }, [
    made([2, 4, 6], -1, 1, 2),
    made([6, 20], -1, 1, 3),
    made([20], -1, 1, 4),
  ]),
};

const queries = made([2, 4, 8], -1, 1, 1);
const keys = made([2, 5, 8], -1, 1, 2);
const values = made([2, 5, 8], -1, 1, 3);
const inHeads = [made([2, 2, 5, 4], -1, 1, 2), made([2, 2, 5, 4], -1, 1, 3)];
const multiHead = microsoftOne("MultiHeadAttention");

const multiHeads: Readonly<Record<string, OneOperator>> = {
  plain: multiHead({ num_heads: 2 }, [queries, keys, made([2, 5, 12], -1, 1, 3)]),
  "with biases": multiHead({ num_heads: 2 }, [queries, keys, values, made([24], -1, 1, 5)]),
  "mask of keys": multiHead({ num_heads: 2 }, [queries, keys, values, null, of("int32", [2, 5], [1, 1, 1, 0, 0, 1, 1, 1, 1, 0])]),
  "where keys end": multiHead({ num_heads: 2 }, [queries, keys, values, null, of("int32", [2], [3, 4])]),
  "with a bias of scores": multiHead({ num_heads: 2 }, [queries, keys, values, null, null, made([1, 2, 4, 5], -1, 1, 8)]),
  "keys in heads": multiHead({ num_heads: 2 }, [queries, ...inHeads]),
  "keys in heads, with biases": multiHead({ num_heads: 2 }, [queries, ...inHeads, made([24], -1, 1, 5)]),
  "with a past": multiHead(
    { num_heads: 2, unidirectional: 1 },
    [
      queries,
      made([2, 4, 8], -1, 1, 2),
      made([2, 4, 8], -1, 1, 3),
      null,
      null,
      null,
      made([2, 2, 3, 4], -1, 1, 8),
      made([2, 2, 3, 4], -1, 1, 9),
    ],
    [true, true, true],
  ),
};

const whole = [made([2, 3, 64], -1, 1, 1), made([2, 3, 32], -1, 1, 2), made([2, 3, 32], -1, 1, 3)];
const single = [made([2, 1, 64], -1, 1, 1), made([2, 1, 32], -1, 1, 2), made([2, 1, 32], -1, 1, 3)];
const cache = [made([2, 2, 6, 16], -1, 1, 4), made([2, 2, 6, 16], -1, 1, 5)];
const angles = [made([16, 8], -1, 1, 6), made([16, 8], -1, 1, 7)];
const longest = (length: number): MadeInput => of("int32", [], [length]);

function grouped(inputs: Inputs, attributes: Attributes = {}): OneOperator {
  return microsoftOne("GroupQueryAttention")({ num_heads: 4, kv_num_heads: 2, ...attributes }, inputs, [true, true, true]);
}

const later = [...single, ...cache, of("int32", [2], [6, 4]), longest(7)];

const groupedQueries: Readonly<Record<string, OneOperator>> = {
  "whole sequences": grouped([...whole, null, null, of("int32", [2], [2, 2]), longest(3)]),
  "sequences of different lengths": grouped([...whole, null, null, of("int32", [2], [2, 1]), longest(3)]),
  "whole sequences into a cache": grouped([...whole, ...cache, of("int32", [2], [2, 1]), longest(3)]),
  "one more": grouped(later),
  "one more into a cache with room": grouped([...single, ...cache, of("int32", [2], [3, 4]), longest(5)]),
  rotary: grouped([...later, ...angles], { do_rotary: 1 }),
  "rotary, interleaved": grouped([...whole, null, null, of("int32", [2], [2, 1]), longest(3), ...angles], {
    do_rotary: 1,
    rotary_interleaved: 1,
  }),
  "rotary at stated places": grouped([...later, ...angles, of("int64", [2, 1], [9, 3])], { do_rotary: 1 }),
  "several more": grouped(
    [
      made([1, 3, 64], -1, 1, 1),
      made([1, 3, 32], -1, 1, 2),
      made([1, 3, 32], -1, 1, 3),
      made([1, 2, 6, 16], -1, 1, 4),
      made([1, 2, 6, 16], -1, 1, 5),
      of("int32", [1], [8]),
      longest(9),
      ...angles,
    ],
    { do_rotary: 1 },
  ),
  packed: grouped([made([2, 3, 128], -1, 1, 1), null, null, null, null, of("int32", [2], [2, 2]), longest(3), ...angles], {
    do_rotary: 1,
  }),
  "a window": grouped(later, { local_window_size: 2 }),
  "a window over whole sequences": grouped([...whole, null, null, of("int32", [2], [2, 2]), longest(3)], {
    local_window_size: 2,
  }),
  "a cap": grouped(later, { softcap: float(0.5) }),
  "a smooth softmax": grouped(later, { smooth_softmax: 1 }),
  sinks: grouped([...later, null, null, null, null, made([4], -1, 1, 9)]),
  "a bias of scores": grouped([...later, null, null, null, made([2, 1, 1, 7], -1, 1, 9)]),
};

const rotary = microsoftOne("RotaryEmbedding");
const turns = [made([10, 4], -1, 1, 3), made([10, 4], -1, 1, 4)];
const skip = microsoftOne("SkipLayerNormalization");
const embed = microsoftOne("EmbedLayerNormalization");
const tables = [made([10, 8]), made([5, 8], -1, 1, 2)];
const vectors = [made([8], -1, 1, 4), made([8], -1, 1, 5)];

const parts: Readonly<Record<string, OneOperator>> = {
  "RotaryEmbedding of listed places": rotary({}, [made([2, 3, 16]), madeWhole("int64", [2, 3], 0, 9), ...turns]),
  "RotaryEmbedding from a place on": rotary({ interleaved: 1 }, [made([2, 3, 16]), of("int64", [1], [2]), ...turns]),
  "RotaryEmbedding in heads": rotary({}, [made([2, 2, 3, 8]), madeWhole("int64", [2, 3], 0, 9), ...turns]),
  "RotaryEmbedding of a part": rotary({ num_heads: 2, rotary_embedding_dim: 4 }, [
    made([2, 3, 16]),
    madeWhole("int64", [2, 3], 0, 9),
    made([10, 2], -1, 1, 3),
    made([10, 2], -1, 1, 4),
  ]),
  SkipLayerNormalization: skip(
    {},
    [made([2, 3, 8]), made([2, 3, 8], -1, 1, 2), made([8], -1, 1, 3), ...vectors],
    [true, false, false, true],
  ),
  "SkipLayerNormalization, a skip for all": skip({ epsilon: float(0.1) }, [
    made([2, 3, 8]),
    made([3, 8], -1, 1, 2),
    made([8], -1, 1, 3),
  ]),
  SkipSimplifiedLayerNormalization: microsoftOne("SkipSimplifiedLayerNormalization")(
    {},
    [made([2, 3, 8]), made([2, 3, 8], -1, 1, 2), ...vectors],
    [true, false, false, true],
  ),
  SimplifiedLayerNormalization: {
    operator: "SimplifiedLayerNormalization",
    version,
    inputs: [made([2, 3, 8]), made([8], -1, 1, 3)],
    outputs: [true, true],
  },
  EmbedLayerNormalization: embed(
    {},
    [
      madeWhole("int32", [2, 3], 0, 9),
      madeWhole("int32", [2, 3], 0, 1, 4),
      ...tables,
      made([2, 8], -1, 1, 3),
      ...vectors,
      of("int32", [2, 3], [1, 1, 0, 1, 1, 1]),
    ],
    [true, true, true],
  ),
  "EmbedLayerNormalization at stated places": embed(
    {},
    [madeWhole("int32", [2, 3], 0, 9), null, ...tables, null, ...vectors, null, madeWhole("int32", [2, 3], 0, 4, 8)],
    [true, true],
  ),
  Gelu: microsoftOne("Gelu")({}, [made([2, 8], -4, 4)]),
  BiasGelu: microsoftOne("BiasGelu")({}, [made([2, 8], -4, 4), made([8])]),
  FastGelu: microsoftOne("FastGelu")({}, [made([2, 8], -4, 4), made([8])]),
  QuickGelu: microsoftOne("QuickGelu")({ alpha: float(1.3) }, [made([2, 8], -4, 4)]),
  "FusedMatMul, turned": microsoftOne("FusedMatMul")({ transA: 1, transB: 1, alpha: float(0.5) }, [
    made([2, 4, 3]),
    made([2, 5, 4], -1, 1, 2),
  ]),
  "FusedMatMul, batches turned": microsoftOne("FusedMatMul")({ transBatchA: 1, transBatchB: 1, transA: 1, transB: 1 }, [
    made([4, 2, 3]),
    made([5, 2, 4], -1, 1, 2),
  ]),
  "FusedMatMul, more batches": microsoftOne("FusedMatMul")({ transBatchA: 1, transBatchB: 1 }, [
    made([3, 2, 2, 4]),
    made([4, 2, 2, 5], -1, 1, 2),
  ]),
  FusedConv: microsoftOne("FusedConv")({ activation: "LeakyRelu", activation_params: { floats: [0.2] }, pads: [1, 1, 1, 1] }, [
    made([1, 2, 5, 5]),
    made([3, 2, 3, 3], -1, 1, 2),
    made([3], -1, 1, 3),
    made([1, 3, 5, 5], -1, 1, 4),
  ]),
};

const bits = microsoftOne("MatMulNBits");
const bytes = madeWhole("uint8", [5, 3, 8], 0, 255);
const scales = made([15], 0, 1, 3);

const quantized: Readonly<Record<string, OneOperator>> = {
  "MatMulNBits of 4": bits({ K: 40, N: 5, bits: 4, block_size: 16 }, [made([2, 3, 40]), bytes, scales]),
  "MatMulNBits of 4 with zero points": bits({ K: 40, N: 5, bits: 4, block_size: 16 }, [
    made([2, 3, 40]),
    bytes,
    scales,
    madeWhole("uint8", [10], 0, 255, 5),
  ]),
  "MatMulNBits of 4 with zero points between": bits({ K: 40, N: 5, bits: 4, block_size: 16 }, [
    made([2, 3, 40]),
    bytes,
    scales,
    made([15], 0, 9, 4),
    null,
    made([5]),
  ]),
  "MatMulNBits of 8": bits({ K: 40, N: 5, bits: 8, block_size: 16 }, [
    made([3, 40]),
    madeWhole("uint8", [5, 3, 16], 0, 255),
    scales,
    madeWhole("uint8", [15], 0, 255, 5),
  ]),
  "MatMulNBits of 2": bits({ K: 32, N: 5, bits: 2, block_size: 16 }, [
    made([2, 32]),
    madeWhole("uint8", [5, 2, 4], 0, 255),
    made([10], 0, 1, 3),
  ]),
  DynamicQuantizeMatMul: microsoftOne("DynamicQuantizeMatMul")({}, [
    made([3, 8], -3, 2),
    madeWhole("uint8", [8, 5], 0, 255),
    made([5], 0, 1, 3),
    madeWhole("uint8", [5], 0, 255, 4),
    made([5]),
  ]),
  "DynamicQuantizeMatMul, one scale": microsoftOne("DynamicQuantizeMatMul")({}, [
    made([2, 3, 8], 1, 2),
    madeWhole("int8", [8, 5], -128, 127),
    made([1], 0, 1, 3),
  ]),
  MatMulIntegerToFloat: microsoftOne("MatMulIntegerToFloat")({}, [
    madeWhole("uint8", [3, 8], 0, 255),
    madeWhole("int8", [8, 5], -128, 127, 2),
    made([1], 0, 1, 3),
    made([5], 0, 1, 4),
    madeWhole("uint8", [1], 0, 255, 7),
    madeWhole("int8", [5], -9, 9, 8),
    made([5]),
  ]),
};

/** Weights of a network with so many gates and directions, 6 hidden units, and 4 inputs. */
function weights(gates: number, directions: number): readonly MadeInput[] {
  return [
    made([directions, gates * 6, 4], -1, 1, 2),
    made([directions, gates * 6, 6], -1, 1, 3),
    made([directions, gates * 12], -1, 1, 4),
  ];
}

function network(operator: string, attributes: Attributes, inputs: Inputs): OneOperator {
  const outputs = operator === "LSTM" ? [true, true, true] : [true, true];
  return { operator, version: 14, inputs: [made([5, 3, 4]), ...inputs], attributes: { hidden_size: 6, ...attributes }, outputs };
}

const lengths = of("int32", [3], [5, 2, 3]);
const state = made([2, 3, 6], -1, 1, 5);

const networks: Readonly<Record<string, OneOperator>> = {
  RNN: network("RNN", {}, weights(1, 1)),
  "RNN both ways": network("RNN", { direction: "bidirectional", activations: ["Relu", "Tanh"] }, [
    ...weights(1, 2),
    lengths,
    state,
  ]),
  "RNN backwards": network("RNN", { direction: "reverse" }, [...weights(1, 1), lengths]),
  GRU: network("GRU", {}, weights(3, 1)),
  "GRU both ways, reset last": network("GRU", { linear_before_reset: 1, direction: "bidirectional" }, [
    ...weights(3, 2),
    lengths,
    state,
  ]),
  "GRU clipped": network("GRU", { clip: float(0.3) }, weights(3, 1)),
  LSTM: network("LSTM", {}, weights(4, 1)),
  "LSTM both ways, with peepholes": network("LSTM", { direction: "bidirectional" }, [
    ...weights(4, 2),
    lengths,
    state,
    made([2, 3, 6], -1, 1, 6),
    made([2, 18], -1, 1, 7),
  ]),
  "LSTM clipped": network("LSTM", { clip: float(0.3) }, weights(4, 1)),
  "LSTM with coupled gates, backwards": network("LSTM", { input_forget: 1, direction: "reverse" }, [...weights(4, 1), lengths]),
  "LSTM with other activations": network("LSTM", { activations: ["HardSigmoid", "Softsign", "Elu"] }, weights(4, 1)),
};

const groups = {
  "com.microsoft Attention": attentions,
  MultiHeadAttention: multiHeads,
  GroupQueryAttention: groupedQueries,
  "parts of transformers": parts,
  "quantised products": quantized,
  "recurrent networks": networks,
};

describe.each(Object.entries(groups))("%s as onnxruntime-node has it", (_, cases) => {
  it.each(Object.entries(cases))("%s", async (_, one) => {
    const ours = byOurEngine(one);
    const theirs = await byOnnxruntime(one);
    expect(ours.map(({ type, shape }) => `${type}[${shape.join()}]`)).toEqual(
      theirs.map(({ type, shape }) => `${type}[${shape.join()}]`),
    );
    const apart = theirs.flatMap(({ values: right }, output) =>
      right.flatMap((wanted, at) => {
        const given = ours[output]?.values[at] ?? Number.NaN;
        return Math.abs(given - wanted) <= 1e-5 + 1e-4 * Math.abs(wanted)
          ? []
          : [`output ${output} at ${at}: ${given}, not ${wanted}`];
      }),
    );
    expect(apart).toEqual([]);
  });
});
