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
  TransposeMatMul: microsoftOne("TransposeMatMul")({ transA: 1 }, [made([2, 4, 3]), made([2, 4, 5], -1, 1, 2)]),
  FusedGemm: microsoftOne("FusedGemm")(
    { transB: 1, alpha: float(0.5), beta: float(2), activation: "LeakyRelu", activation_alpha: float(0.2) },
    [made([3, 4]), made([5, 4], -1, 1, 2), made([5], -1, 1, 3)],
  ),
  "LinearAttention without gates": microsoftOne("LinearAttention")(
    { q_num_heads: 4, kv_num_heads: 2, update_rule: "delta" },
    [
      made([2, 3, 16]),
      made([2, 3, 8], -1, 1, 2),
      made([2, 3, 12], -1, 1, 3),
      made([2, 2, 4, 6], -1, 1, 4),
      null,
      made([2, 3, 2], 0, 1, 6),
    ],
    [true, true],
  ),
  "LinearAttention with gates": microsoftOne("LinearAttention")(
    { q_num_heads: 4, kv_num_heads: 2, update_rule: "gated_delta" },
    [
      made([2, 3, 16]),
      made([2, 3, 8], -1, 1, 2),
      made([2, 3, 12], -1, 1, 3),
      made([2, 2, 4, 6], -1, 1, 4),
      made([2, 3, 8], -1, 0, 5),
      made([2, 3, 2], 0, 1, 6),
    ],
    [true, true],
  ),
  CausalConvWithState: microsoftOne("CausalConvWithState")(
    { activation: "silu" },
    [made([2, 4, 6]), made([4, 1, 3], -1, 1, 2), made([4], -1, 1, 3), made([2, 4, 2], -1, 1, 4)],
    [true, true],
  ),
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

/**
 * Weights of 8-bit products have 7 significant bits: on x86 processors without VNNI, onnxruntime adds pairs of products of uint8 and int8 in 16 bits with
 * saturation (vpmaddubsw), so that larger weights give it wrong sums there.
 */
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
    madeWhole("int8", [8, 5], -64, 63),
    made([1], 0, 1, 3),
  ]),
  "GatherBlockQuantized of 4": microsoftOne("GatherBlockQuantized")(
    { bits: 4, block_size: 16, gather_axis: 0, quantize_axis: 1 },
    [
      madeWhole("uint8", [10, 32], 0, 255),
      madeWhole("int64", [2, 3], 0, 9),
      made([10, 4], 0, 1, 3),
      madeWhole("uint8", [10, 2], 0, 255, 4),
    ],
  ),
  "GatherBlockQuantized of 8": microsoftOne("GatherBlockQuantized")(
    { bits: 8, block_size: 16, gather_axis: 0, quantize_axis: 1 },
    [madeWhole("uint8", [10, 64], 0, 255), madeWhole("int64", [2, 3], 0, 9), made([10, 4], 0, 1, 3)],
  ),
  MatMulIntegerToFloat: microsoftOne("MatMulIntegerToFloat")({}, [
    madeWhole("uint8", [3, 8], 0, 255),
    madeWhole("int8", [8, 5], -64, 63, 2),
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
  "DynamicQuantizeLSTM both ways": microsoftOne("DynamicQuantizeLSTM")(
    { hidden_size: 6, direction: "bidirectional" },
    [
      made([5, 3, 4]),
      madeWhole("uint8", [2, 4, 24], 0, 127, 2),
      madeWhole("uint8", [2, 6, 24], 0, 127, 3),
      made([2, 48], -1, 1, 4),
      null,
      null,
      null,
      null,
      made([2, 24], 0.005, 0.01),
      madeWhole("uint8", [2, 24], 64, 64),
      made([2, 24], 0.005, 0.01),
      madeWhole("uint8", [2, 24], 64, 64),
    ],
    [true, true, true],
  ),
  "LSTM with other activations": network("LSTM", { activations: ["HardSigmoid", "Softsign", "Elu"] }, weights(4, 1)),
};

const one = (value: number): MadeInput => of("float32", [], [value]);
const zero = (value: number): MadeInput => of("uint8", [], [value]);
const byte = (shape: readonly number[], seed = 1): MadeInput => madeWhole("uint8", shape, 0, 255, seed);

/** The operator of com.microsoft on quantised tensors. */
function onQuantized(operator: string, inputs: Inputs, attributes: Attributes = {}): OneOperator {
  return microsoftOne(operator)(attributes, inputs);
}

const quantizedTensors: Readonly<Record<string, OneOperator>> = {
  QLinearAdd: onQuantized("QLinearAdd", [
    byte([2, 3, 4]),
    one(0.05),
    zero(3),
    byte([3, 4], 2),
    one(0.03),
    zero(9),
    one(0.07),
    zero(5),
  ]),
  QLinearMul: onQuantized("QLinearMul", [
    byte([2, 3, 4]),
    one(0.05),
    zero(3),
    byte([3, 4], 2),
    one(0.03),
    zero(9),
    one(0.2),
    zero(5),
  ]),
  QLinearSigmoid: onQuantized("QLinearSigmoid", [byte([2, 3]), one(0.05), zero(3), one(0.004), zero(0)]),
  QLinearLeakyRelu: onQuantized("QLinearLeakyRelu", [byte([2, 3]), one(0.05), zero(99), one(0.05), zero(9)], {
    alpha: float(0.2),
  }),
  QLinearSoftmax: onQuantized("QLinearSoftmax", [byte([2, 3, 4]), one(0.05), zero(3), one(1 / 256), zero(0)], {
    axis: 1,
    opset: 13,
  }),
  "QLinearSoftmax of a matrix": onQuantized("QLinearSoftmax", [byte([2, 3, 4]), one(0.05), zero(3), one(1 / 256), zero(0)], {
    axis: 1,
    opset: 12,
  }),
  QLinearAveragePool: onQuantized("QLinearAveragePool", [byte([1, 2, 6, 6]), one(0.05), zero(3), one(0.04), zero(9)], {
    kernel_shape: [3, 3],
    pads: [1, 1, 1, 1],
  }),
  QLinearGlobalAveragePool: onQuantized("QLinearGlobalAveragePool", [byte([2, 3, 4, 5]), one(0.05), zero(3), one(0.01), zero(9)]),
  QLinearConcat: onQuantized(
    "QLinearConcat",
    [one(0.05), zero(3), byte([2, 3]), one(0.04), zero(9), byte([2, 2], 2), one(0.06), zero(1)],
    { axis: 1 },
  ),
  QLinearWhere: onQuantized("QLinearWhere", [
    madeWhole("bool", [2, 3], 0, 1),
    byte([2, 3]),
    one(0.04),
    zero(9),
    byte([2, 3], 2),
    one(0.06),
    zero(1),
    one(0.05),
    zero(3),
  ]),
  QGemm: onQuantized(
    "QGemm",
    [
      byte([5, 3]),
      one(0.05),
      zero(3),
      byte([4, 5], 2),
      made([4], 0.01, 0.05),
      madeWhole("uint8", [4], 0, 9),
      madeWhole("int32", [4], -900, 900),
    ],
    { transA: 1, transB: 1, alpha: float(0.7) },
  ),
  QAttention: onQuantized(
    "QAttention",
    [
      byte([2, 4, 6]),
      byte([6, 24], 3),
      made([24], -1, 1, 4),
      one(0.02),
      one(0.01),
      of("int32", [2, 4], [1, 1, 1, 0, 1, 1, 0, 0]),
      zero(128),
      zero(120),
    ],
    { num_heads: 2 },
  ),
};

/** Every choice of one value for each name. */
function choices(ways: Readonly<Record<string, readonly Attributes[string][]>>): readonly Attributes[] {
  return Object.entries(ways).reduce<Attributes[]>(
    (all, [name, each]) => all.flatMap((before) => each.map((value) => ({ ...before, [name]: value }))),
    [{}],
  );
}

function named(
  operator: string,
  version: number,
  inputs: Inputs,
  ways: readonly Attributes[],
): Readonly<Record<string, OneOperator>> {
  return Object.fromEntries(
    ways.map((attributes) => [`${operator} ${JSON.stringify(attributes)}`, { operator, version, inputs, attributes }]),
  );
}

const windows = choices({
  ceil_mode: [0, 1],
  pads: [
    [0, 0, 0, 0],
    [1, 0, 0, 1],
  ],
  strides: [
    [1, 1],
    [3, 2],
  ],
  dilations: [[2, 1]],
  kernel_shape: [[2, 2]],
});
const image = made([1, 2, 5, 7]);
const sizes = of("int64", [4], [1, 2, 9, 4]);

const images: Readonly<Record<string, OneOperator>> = {
  ...named("MaxPool", 22, [made([2, 3, 7, 8])], windows),
  ...named("AveragePool", 22, [made([2, 3, 7, 8])], windows),
  ...named(
    "AveragePool",
    22,
    [made([2, 3, 7, 8])],
    choices({ count_include_pad: [1], ceil_mode: [0, 1], kernel_shape: [[3, 2]], strides: [[2, 3]], pads: [[1, 1, 1, 1]] }),
  ),
  ...named(
    "LpPool",
    22,
    [made([2, 3, 7, 8])],
    choices({ p: [1, 3], ceil_mode: [0, 1], kernel_shape: [[3, 2]], strides: [[2, 3]] }),
  ),
  ...named(
    "MaxRoiPool",
    13,
    [made([2, 3, 9, 9]), of("float32", [2, 5], [0, 0, 0, 14, 14, 1, 5, 1, 17, 16])],
    [{ pooled_shape: [3, 4], spatial_scale: float(0.5) }],
  ),
  ...named(
    "ConvTranspose",
    22,
    [made([1, 4, 5, 4]), made([4, 3, 3, 2], -1, 1, 2)],
    choices({
      auto_pad: ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"],
      group: [1, 2],
      strides: [[2, 2]],
    }),
  ),
  ...named(
    "Resize",
    19,
    [image, null, null, sizes],
    choices({
      mode: ["linear", "cubic"],
      coordinate_transformation_mode: ["half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric"],
      antialias: [0, 1],
    }),
  ),
  ...named(
    "Resize",
    19,
    [image, null, null, sizes],
    choices({
      mode: ["nearest"],
      coordinate_transformation_mode: ["half_pixel", "asymmetric"],
      nearest_mode: ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
    }),
  ),
  ...named("Resize", 13, [image, null, of("float32", [4], [1, 1, 2, 0.7])], choices({ mode: ["nearest", "linear", "cubic"] })),
  ...named("Resize", 13, [madeWhole("uint8", [1, 2, 5, 7], 0, 100), null, null, sizes], [{ mode: "linear" }]),
  ...named("Resize", 10, [image, of("float32", [4], [1, 1, 0.6, 3])], choices({ mode: ["nearest", "linear"] })),
  ...named(
    "GridSample",
    20,
    [made([2, 3, 5, 4]), made([2, 6, 7, 2], -1.8, 1.8, 3)],
    choices({
      mode: ["linear", "nearest", "cubic"],
      padding_mode: ["zeros", "border", "reflection"],
      align_corners: [0, 1],
    }),
  ),
  ...named(
    "RoiAlign",
    16,
    [made([2, 3, 9, 9]), of("float32", [3, 4], [0, 0, 4, 4, 2.3, 1.2, 16, 14.5, -3, -4, 5, 6]), of("int64", [3], [0, 1, 1])],
    choices({
      mode: ["avg", "max"],
      coordinate_transformation_mode: ["half_pixel", "output_half_pixel"],
      sampling_ratio: [0, 2],
      output_height: [3],
      output_width: [4],
    }),
  ),
  ...named(
    "DeformConv",
    19,
    [made([2, 4, 7, 6]), made([6, 2, 3, 2], -1, 1, 2), made([2, 24, 3, 6], -2, 2, 3)],
    [{ group: 2, offset_group: 2, pads: [1, 1, 1, 1], strides: [2, 1], dilations: [2, 2] }],
  ),
  ...named(
    "Col2Im",
    18,
    [made([2, 12, 9]), of("int64", [2], [5, 6]), of("int64", [2], [2, 3])],
    [{ strides: [1, 2], pads: [0, 1, 0, 1], dilations: [2, 1] }],
  ),
};

function einsum(equation: string, ...shapes: readonly (readonly number[])[]): readonly [string, OneOperator] {
  const inputs = shapes.map((shape, index) => made(shape, -1, 1, index + 1));
  return [equation, { operator: "Einsum", version: 12, inputs, attributes: { equation } }];
}

const sums = Object.fromEntries([
  einsum("ij,jk", [2, 3], [3, 4]),
  einsum("ii->i", [3, 3]),
  einsum("ii", [3, 3]),
  einsum("iji->j", [3, 2, 3]),
  einsum("ij->", [3, 4]),
  einsum("i,j->ji", [3], [4]),
  einsum("...i,...i", [2, 3], [2, 3]),
  einsum("i...->...", [3, 4, 2]),
  einsum("bhqd,bhkd->bhqk", [2, 3, 4, 5], [2, 3, 6, 5]),
  einsum("bn,anm,bm->ba", [2, 3], [4, 3, 5], [2, 5]),
  einsum("ijk,kl,lm->ijm", [2, 3, 4], [4, 5], [5, 2]),
]);

const groups = {
  "com.microsoft Attention": attentions,
  MultiHeadAttention: multiHeads,
  GroupQueryAttention: groupedQueries,
  "parts of transformers": parts,
  "quantised products": quantized,
  "recurrent networks": networks,
  "quantised tensors": quantizedTensors,
  images,
  Einsum: sums,
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
