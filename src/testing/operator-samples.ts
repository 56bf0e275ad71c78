/** Programs of one operator each, of random shapes, for the conformance suite of backends of programs. */
import { toLiteral } from "../engine/ir/literal.ts";
import type { DataType, Tensor } from "../contract/tensor.ts";
import type { ProgramBuilder, ProgramValue } from "../programs/index.ts";

/** Random choices of one sample, the same for the same seed. */
export interface SampleChoices {
  /** A size of an axis: 0 in samples of empty tensors where `mayBeEmpty` says that the operator takes them, else one of few sizes around the widths of vectors. */
  size(mayBeEmpty?: boolean): number;
  /** A shape of a random number of axes, from 1 to 4. */
  shape(): readonly number[];
  /** One of the choices. */
  pick<Choice>(choices: readonly Choice[]): Choice;
  /** A type of floats that the backend has. */
  readonly floats: DataType;
}

type Sample = (build: ProgramBuilder, choices: SampleChoices) => ProgramValue | readonly ProgramValue[];

const sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33] as const;

/** The choices of a seed. `isEmpty`: the first size that may be 0 is 0. */
export function sampleChoices(seed: number, floats: DataType, isEmpty: boolean): SampleChoices {
  let state = seed * 2_654_435_761 + 12_345;
  let emptyLeft = isEmpty;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
  const pick = <Choice>(list: readonly Choice[]): Choice => list[Math.floor(random() * list.length)] as Choice;
  const size = (mayBeEmpty = false): number => {
    const chosen = pick(sizes);
    if (!mayBeEmpty || !emptyLeft) return chosen;
    emptyLeft = false;
    return 0;
  };
  return {
    size,
    pick,
    floats,
    shape: () =>
      Array.from({ length: pick([1, 2, 3, 4]) }, () => size(true)).map((each, axis) => (axis < 2 ? each : Math.min(each, 5))),
  };
}

const ints = (values: readonly number[], type: DataType = "int64", shape: readonly number[] = [values.length]): Tensor =>
  toLiteral(type, shape, values) as Tensor;

const unary =
  (name: "abs", shift = 0): Sample =>
  (build, { shape, floats }) => {
    const x = build.input("x", shape(), floats);
    return build[name](shift === 0 ? x : build.add(build.abs(x), shift));
  };
const each = (names: readonly string[], shift = 0): Readonly<Record<string, Sample>> =>
  Object.fromEntries(names.map((name) => [name, unary(name as "abs", shift)]));

const binary =
  (name: "add", isPositive = false): Sample =>
  (build, { shape, pick, floats }) => {
    const dims = shape();
    const other = pick([dims, dims.map((size, axis) => (axis === 0 && size > 0 ? 1 : size)), dims.slice(-1)]);
    const y = build.input("y", other, floats);
    return build[name](build.input("x", dims, floats), isPositive ? build.add(build.abs(y), 0.5) : y);
  };
const pairs = (names: readonly string[], isPositive = false): Readonly<Record<string, Sample>> =>
  Object.fromEntries(names.map((name) => [name, binary(name as "add", isPositive)]));

const logical =
  (name: "and"): Sample =>
  (build, { shape }) => {
    const dims = shape();
    return build[name](build.input("x", dims, "bool"), build.input("y", dims, "bool"));
  };
const bitwise =
  (name: "and"): Sample =>
  (build, { shape }) => {
    const dims = shape();
    return build[name](build.input("x", dims, "int32"), build.input("y", dims, "int32"));
  };

const reduction =
  (name: "reduceSum"): Sample =>
  (build, { size, pick, floats }) => {
    const dims = [size(true), size(), size()];
    return build[name](build.input("x", dims, floats), pick([[2], [1], [1, 2], [-1]]), { keepdims: pick([0, 1]) });
  };
const reductions = (names: readonly string[]): Readonly<Record<string, Sample>> =>
  Object.fromEntries(names.map((name) => [name, reduction(name as "reduceSum")]));

const alongAxis =
  (name: "softmax"): Sample =>
  (build, { size, pick, floats }) =>
    build[name](build.input("x", [size(true), size(), size()], floats), { axis: pick([1, 2, -1]) });

const product =
  (name: "matMul"): Sample =>
  (build, { size, pick, floats }) => {
    const [rows, inner, columns] = [size(true), size(), size()];
    const x = build.input(
      "x",
      pick([
        [rows, inner],
        [3, rows, inner],
      ]),
      floats,
    );
    const w = pick([true, false]) ? build.weight("w", [inner, columns], floats) : build.input("w", [inner, columns], floats);
    return build[name](x, w);
  };

const image = (build: ProgramBuilder, { size, floats }: SampleChoices, channels: number): ProgramValue =>
  build.input("x", [2, channels, 4 + (size() % 9), 4 + (size() % 9)], floats);

/** By the name of an operator in the builder: a program of it. */
export const operatorSamples: Readonly<Record<string, Sample>> = {
  ...each(["abs", "neg", "sign", "floor", "ceil", "round", "exp", "sin", "cos", "tan", "atan", "sinh", "cosh", "asinh", "erf"]),
  ...each(["isNaN", "isInf", "relu", "leakyRelu", "elu", "celu", "selu", "gelu", "sigmoid", "hardSigmoid", "hardSwish", "swish"]),
  ...each(["mish", "tanh", "softplus", "softsign", "thresholdedRelu", "shrink", "identity"]),
  ...each(["sqrt", "reciprocal", "log"], 0.5),
  ...each(["acosh"], 1),
  asin: (build, { shape, floats }) => build.asin(build.mul(build.input("x", shape(), floats), 0.9)),
  acos: (build, { shape, floats }) => build.acos(build.mul(build.input("x", shape(), floats), 0.9)),
  atanh: (build, { shape, floats }) => build.atanh(build.mul(build.input("x", shape(), floats), 0.9)),
  ...pairs(["add", "sub", "mul", "max", "min", "sum", "mean", "equal", "less", "lessOrEqual", "greater", "greaterOrEqual"]),
  ...pairs(["div"], true),
  pow: (build, { shape, floats, pick }) =>
    build.pow(build.add(build.abs(build.input("x", shape(), floats)), 0.5), pick([2, 3, 0.5, -1])),
  mod: (build, { shape }) => build.mod(build.input("x", shape(), "int32"), build.constant(ints([3], "int32", []))),
  and: logical("and"),
  or: logical("or" as "and"),
  xor: logical("xor" as "and"),
  not: (build, { shape }) => build.not(build.input("x", shape(), "bool")),
  bitwiseAnd: bitwise("bitwiseAnd" as "and"),
  bitwiseOr: bitwise("bitwiseOr" as "and"),
  bitwiseXor: bitwise("bitwiseXor" as "and"),
  bitwiseNot: (build, { shape }) => build.bitwiseNot(build.input("x", shape(), "int32")),
  bitShift: (build, { shape }) =>
    build.bitShift(build.input("x", shape(), "uint32"), build.constant(ints([3], "uint32", [])), { direction: "LEFT" }),
  where: (build, { shape, floats }) => {
    const dims = shape();
    return build.where(build.input("c", dims, "bool"), build.input("x", dims, floats), build.input("y", dims.slice(-1), floats));
  },
  clip: (build, { shape, floats }) => build.clip(build.input("x", shape(), floats), -0.5, 0.25),
  pRelu: (build, { size, floats }) => {
    const columns = size();
    return build.pRelu(build.input("x", [size(true), columns], floats), build.weight("slope", [columns], floats));
  },
  swiGLU: (build, { size, floats }) => {
    const dims = [size(true), size()];
    return build.swiGLU(build.input("x", dims, floats), build.input("y", dims, floats));
  },
  shape: (build, { shape, floats }) => build.shape(build.input("x", shape(), floats)),
  size: (build, { shape, floats }) => build.size(build.input("x", shape(), floats)),
  reshape: (build, { size, floats }) => {
    const columns = size();
    return build.reshape(build.input("x", [2, 3, columns], floats), [3, -1]);
  },
  flatten: (build, { size, floats }) => build.flatten(build.input("x", [size(true), 2, size()], floats), { axis: 1 }),
  squeeze: (build, { size, floats }) => build.squeeze(build.input("x", [size(true), 1, size()], floats), [1]),
  unsqueeze: (build, { size, floats }) => build.unsqueeze(build.input("x", [size(true), size()], floats), [0, 2]),
  transpose: (build, { size, floats, pick }) =>
    build.transpose(build.input("x", [size(true), size(), size()], floats), {
      perm: pick([
        [1, 0, 2],
        [2, 1, 0],
        [0, 2, 1],
        [2, 0, 1],
      ]),
    }),
  concat: (build, { size, floats }) => {
    const rows = size();
    return build.concat(build.input("x", [rows, size(true)], floats), build.input("y", [rows, size()], floats), { axis: 1 });
  },
  split: (build, { size, floats }) => build.split(build.input("x", [size(true), 9], floats), [2, 3, 4], { axis: 1 }),
  slice: (build, { size, floats }) => build.slice(build.input("x", [size(true), 9 + size()], floats), [1], [-1], [1], [2]),
  expand: (build, { size, floats }) => build.expand(build.input("x", [size(true), 1], floats), [2, 1, size()]),
  tile: (build, { size, floats }) => build.tile(build.input("x", [size(true), size()], floats), [2, 3]),
  pad: (build, { size, floats, pick }) =>
    build.pad(build.input("x", [size(), 2 + size()], floats), [0, 1, 2, 1], { mode: pick(["constant", "edge"]) }),
  gather: (build, { size, floats }) =>
    build.gather(build.input("x", [7, size()], floats), build.constant(ints([3, 0, -1, 6])), { axis: 0 }),
  gatherElements: (build, { size, floats }) => {
    const columns = size();
    const indices = ints(
      Array.from({ length: 2 * columns }, (_, index) => index % 3),
      "int64",
      [2, columns],
    );
    return build.gatherElements(build.input("x", [3, columns], floats), build.constant(indices), { axis: 0 });
  },
  gatherND: (build, { size, floats }) =>
    build.gatherND(build.input("x", [3, 4, size()], floats), build.constant(ints([0, 1, 2, 3], "int64", [2, 2]))),
  scatterElements: (build, { size, floats, pick }) => {
    const columns = size();
    const indices = ints(
      Array.from({ length: columns }, (_, index) => index % 3),
      "int64",
      [1, columns],
    );
    const [x, updates] = [build.input("x", [3, columns], floats), build.input("u", [1, columns], floats)];
    return build.scatterElements(x, build.constant(indices), updates, { axis: 0, reduction: pick(["none", "add", "max"]) });
  },
  scatterND: (build, { size, floats }) => {
    const columns = size();
    const indices = build.constant(ints([2, 0], "int64", [2, 1]));
    return build.scatterND(build.input("x", [3, columns], floats), indices, build.input("u", [2, columns], floats));
  },
  reverseSequence: (build, { size, floats }) =>
    build.reverseSequence(build.input("x", [4, 3, size()], floats), build.constant(ints([1, 4, 2])), {
      time_axis: 0,
      batch_axis: 1,
    }),
  cast: (build, { shape, floats, pick }) =>
    build.cast(build.mul(build.input("x", shape(), floats), 9), { to: pick(["int32", "float32", "int64"]) }),
  eyeLike: (build, { size, floats }) => build.eyeLike(build.input("x", [size(), size()], floats)),
  oneHot: (build, { size }) =>
    build.oneHot(
      build.input("x", [size(true)], "int64"),
      build.constant(ints([5], "int64", [])),
      build.constant(ints([0, 1], "float32")),
    ),
  trilu: (build, { size, floats, pick }) => build.trilu(build.input("x", [size(), size()], floats), { upper: pick([0, 1]) }),
  ...reductions(["reduceSum", "reduceMean", "reduceProd", "reduceMax", "reduceMin", "reduceL1", "reduceL2", "reduceSumSquare"]),
  reduceLogSumExp: reduction("reduceLogSumExp" as "reduceSum"),
  reduceLogSum: (build, { size, floats }) =>
    build.reduceLogSum(build.add(build.abs(build.input("x", [size(true), size()], floats)), 0.5), [1]),
  argMax: alongAxis("argMax" as "softmax"),
  argMin: alongAxis("argMin" as "softmax"),
  cumSum: (build, { size, floats, pick }) =>
    build.cumSum(build.input("x", [size(true), size()], floats), build.constant(ints([1], "int64", [])), {
      exclusive: pick([0, 1]),
      reverse: pick([0, 1]),
    }),
  topK: (build, { size, floats, pick }) =>
    build.topK(build.input("x", [size(true), 5 + size()], floats), [3], { largest: pick([0, 1]) }),
  softmax: alongAxis("softmax"),
  logSoftmax: alongAxis("logSoftmax" as "softmax"),
  hardmax: alongAxis("hardmax" as "softmax"),
  matMul: product("matMul"),
  gemm: (build, { size, floats, pick }) => {
    const [rows, inner, columns] = [size(true), size(), size()];
    const transB = pick([0, 1]);
    const w = build.weight("w", transB === 1 ? [columns, inner] : [inner, columns], floats);
    return build.gemm(build.input("x", [rows, inner], floats), w, build.weight("b", [columns], floats), { transB, alpha: 0.5 });
  },
  einsum: (build, { size, floats }) => {
    const inner = size();
    const [x, y] = [build.input("x", [2, size(true), inner], floats), build.input("y", [2, size(), inner], floats)];
    return build.einsum(x, y, { equation: "bij,bkj->bik" });
  },
  conv: (build, choices) => {
    const groups = choices.pick([1, 2]);
    const [w, b] = [build.weight("w", [6, 4 / groups, 3, 3], choices.floats), build.weight("b", [6], choices.floats)];
    return build.conv(image(build, choices, 4), w, b, { pads: [1, 1, 1, 1], group: groups });
  },
  convTranspose: (build, choices) =>
    build.convTranspose(image(build, choices, 4), build.weight("w", [4, 3, 3, 3], choices.floats), { strides: [2, 2] }),
  maxPool: (build, choices) => build.maxPool(image(build, choices, 3), { kernel_shape: [3, 3], strides: [2, 2] })[0],
  averagePool: (build, choices) => build.averagePool(image(build, choices, 3), { kernel_shape: [2, 2], strides: [2, 2] }),
  lpPool: (build, choices) => build.lpPool(image(build, choices, 3), { kernel_shape: [2, 2] }),
  globalMaxPool: (build, choices) => build.globalMaxPool(image(build, choices, 3)),
  globalAveragePool: (build, choices) => build.globalAveragePool(image(build, choices, 3)),
  batchNormalization: (build, choices) => {
    const parts = ["scale", "bias", "mean"].map((name) => build.weight(name, [3], choices.floats));
    const variance = build.constant(ints([0.5, 1, 1.5], choices.floats));
    return build.batchNormalization(image(build, choices, 3), ...parts, variance);
  },
  instanceNormalization: (build, choices) =>
    build.instanceNormalization(
      image(build, choices, 3),
      build.weight("scale", [3], choices.floats),
      build.weight("bias", [3], choices.floats),
    ),
  groupNormalization: (build, choices) =>
    build.groupNormalization(
      image(build, choices, 4),
      build.weight("scale", [4], choices.floats),
      build.weight("bias", [4], choices.floats),
      { num_groups: 2 },
    ),
  layerNormalization: (build, { size, floats }) => {
    const columns = 1 + size();
    return build.layerNormalization(
      build.input("x", [size(true), columns], floats),
      build.weight("s", [columns], floats),
      build.weight("b", [columns], floats),
    )[0];
  },
  rmsNormalization: (build, { size, floats }) => {
    const columns = size();
    return build.rmsNormalization(build.input("x", [size(true), columns], floats), build.weight("s", [columns], floats));
  },
  lpNormalization: (build, { size, floats }) => build.lpNormalization(build.input("x", [size(), 1 + size()], floats)),
  lrn: (build, choices) => build.lrn(image(build, choices, 5), { size: 3 }),
  meanVarianceNormalization: (build, choices) => build.meanVarianceNormalization(image(build, choices, 3)),
  attention: (build, { size, floats }) => {
    const [width, past] = [8, size()];
    const [q, k, v] = [
      build.input("q", [1, 2, size(), width], floats),
      build.input("k", [1, 2, past, width], floats),
      build.input("v", [1, 2, past, width], floats),
    ];
    return build.attention(q, k, v)[0];
  },
  resize: (build, choices) =>
    build.resize(image(build, choices, 2), undefined, undefined, [2, 2, 7, 9], { mode: choices.pick(["nearest", "linear"]) }),
  spaceToDepth: (build, { floats }) => build.spaceToDepth(build.input("x", [1, 3, 4, 6], floats), { blocksize: 2 }),
  depthToSpace: (build, { floats }) => build.depthToSpace(build.input("x", [1, 8, 3, 5], floats), { blocksize: 2 }),
  quantizeLinear: (build, { shape }) =>
    build.quantizeLinear(
      build.input("x", shape()),
      build.constant(ints([0.02], "float32", [])),
      build.constant(ints([128], "uint8", [])),
    ),
  dequantizeLinear: (build, { shape }) =>
    build.dequantizeLinear(
      build.input("x", shape(), "uint8"),
      build.constant(ints([0.02], "float32", [])),
      build.constant(ints([3], "uint8", [])),
    ),
  matMulInteger: (build, { size }) => {
    const inner = size();
    return build.matMulInteger(build.input("x", [size(), inner], "uint8"), build.weight("w", [inner, size()], "int8"));
  },
  lstm: (build, { size, floats }) => {
    const [inputs, hidden] = [size(), 4];
    const x = build.input("x", [3, 2, inputs], floats);
    const [w, r] = [build.weight("w", [1, 4 * hidden, inputs], floats), build.weight("r", [1, 4 * hidden, hidden], floats)];
    return build.lstm(x, w, r, { hidden_size: hidden })[0];
  },
};
