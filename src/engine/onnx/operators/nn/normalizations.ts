/** Normalization layers. Moments of types smaller than float32 are computed in float32. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import type { Value } from "../../../ir/graph.ts";
import { normalizeAxes, normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { computeWidened, widened } from "../precision.ts";
import { alignToChannels } from "./window-attributes.ts";

/** All axes from `first` to `rank` - 1. */
function axesFrom(first: number, rank: number): readonly number[] {
  return Array.from({ length: rank - first }, (_, index) => first + index);
}

interface Moments {
  readonly mean: Value;
  readonly centred: Value;
  /** Population variance: divided by the number of elements. */
  readonly variance: Value;
}

/** Mean and variance over some axes, which keep size 1. */
function computeMoments(call: OperatorCall, x: Value, axes: readonly number[]): Moments {
  const mean = call.reduce("mean", x, axes, true);
  const centred = call.binary("sub", x, mean);
  return { mean, centred, variance: call.reduce("mean", call.binary("mul", centred, centred), axes, true) };
}

/** 1 / sqrt(variance + epsilon), element by element. `epsilon` must be above 0 where a variance can be 0. */
export function inverseStandardDeviation(call: OperatorCall, variance: Value, epsilon: number): Value {
  return call.unary("reciprocal", call.unary("sqrt", call.binary("add", variance, epsilon)));
}

/**
 * ONNX BatchNormalization (Ioffe and Szegedy, https://arxiv.org/abs/1502.03167). In training mode (version 14 on) it normalizes by the moments of the
 * batch, and also returns updated running moments.
 */
function batchNorm(call: OperatorCall): readonly Value[] {
  const x = widened(call, call.tensor(0));
  const rank = x.type.shape.length;
  const epsilon = call.float("epsilon", 1e-5);
  const momentum = call.float("momentum", 0.9);
  const spatial = call.version >= 9 || call.int("spatial", 1) === 1;
  call.ignore("consumed_inputs");
  const trains = call.version < 7 ? call.int("is_test", 0) === 0 : call.int("training_mode", 0) === 1;
  if (call.version < 14 && (trains || call.usesOutput(1)))
    throw new Error(`training mode is not supported in version ${call.version}`);
  const [scale, shift, mean, variance] = [1, 2, 3, 4].map((input) => {
    const each = widened(call, call.tensor(input));
    if (!spatial) return call.cast(each, x.type.dataType);
    return call.cast(rank > 1 ? alignToChannels(call, each, rank) : each, x.type.dataType);
  });
  if (scale === undefined || shift === undefined || mean === undefined || variance === undefined)
    throw new Error("an input is missing");
  const axes = Array.from({ length: rank }, (_, axis) => axis).filter((axis) => axis !== 1);
  const own = trains ? computeMoments(call, x, axes) : undefined;
  const used = own?.variance === undefined ? variance : call.reshape(own.variance, variance.type.shape);
  const centred = own?.centred ?? call.binary("sub", x, mean);
  const normalized = call.binary("mul", centred, call.binary("mul", scale, inverseStandardDeviation(call, used, epsilon)));
  const y = call.cast(call.binary("add", normalized, shift), call.tensor(0).type.dataType);
  if (own === undefined) return [y];
  const moved = (running: Value, current: Value, input: number): Value => {
    const sum = call.binary("add", call.binary("mul", running, momentum), call.binary("mul", current, 1 - momentum));
    const { shape, dataType } = call.tensor(input).type;
    return call.cast(call.reshape(sum, shape), dataType);
  };
  return [y, moved(mean, call.reshape(own.mean, mean.type.shape), 3), moved(variance, used, 4)];
}

/** ONNX InstanceNormalization: each channel of each batch entry by its own moments. */
const instanceNorm = computeWidened((call, x) => {
  call.ignore("consumed_inputs");
  const rank = x.type.shape.length;
  const { centred, variance } = computeMoments(call, x, axesFrom(2, rank));
  const normalized = call.binary("mul", centred, inverseStandardDeviation(call, variance, call.float("epsilon", 1e-5)));
  return scaledByChannel(call, normalized, rank);
});

/** Multiplied by the scale and moved by the shift of its channel, inputs 1 and 2. */
function scaledByChannel(call: OperatorCall, normalized: Value, rank: number): Value {
  const scale = alignToChannels(call, widened(call, call.tensor(1)), rank);
  const shift = alignToChannels(call, widened(call, call.tensor(2)), rank);
  return call.binary("add", call.binary("mul", normalized, scale), shift);
}

/** ONNX GroupNormalization (Wu and He, https://arxiv.org/abs/1803.08494). Scale and shift are per group up to version 20, per channel from 21 on. */
const groupNorm = computeWidened((call, x) => {
  const { shape } = x.type;
  const groups = call.int("num_groups", 0);
  const channels = at(shape, 1);
  if (groups < 1 || channels % groups !== 0) throw new Error(`${channels} channels cannot be divided into num_groups ${groups}`);
  checkStashType(call);
  const grouped = call.reshape(x, [at(shape, 0), groups, elementCount(shape.slice(1)) / groups]);
  const { centred, variance } = computeMoments(call, grouped, [2]);
  const normalized = call.binary("mul", centred, inverseStandardDeviation(call, variance, call.float("epsilon", 1e-5)));
  if (call.version >= 21) return scaledByChannel(call, call.reshape(normalized, shape), shape.length);
  const scale = call.reshape(widened(call, call.tensor(1)), [groups, 1]);
  const shift = call.reshape(widened(call, call.tensor(2)), [groups, 1]);
  return call.reshape(call.binary("add", call.binary("mul", normalized, scale), shift), shape);
});

/** RMSNorm without scale (Zhang and Sennrich, https://arxiv.org/abs/1910.07467): x / sqrt(mean(x²) + epsilon), and the factor that x was multiplied by. */
export function rmsNormalize(call: OperatorCall, x: Value, axes: readonly number[], epsilon: number): readonly [Value, Value] {
  const factor = inverseStandardDeviation(call, call.reduce("mean", call.binary("mul", x, x), axes, true), epsilon);
  return [call.binary("mul", x, factor), factor];
}

/** ONNX RMSNormalization, opset 23, and SimplifiedLayerNormalization of onnxruntime. Outputs: the normalized tensor, and the inverse RMS. */
function rmsNorm(call: OperatorCall): readonly Value[] {
  const x = widened(call, call.tensor(0));
  const rank = x.type.shape.length;
  checkStashType(call);
  const axes = axesFrom(normalizeAxis(call.int("axis", -1), rank), rank);
  const [normalized, factor] = rmsNormalize(call, x, axes, call.float("epsilon", 1e-5));
  const scale = call.cast(call.tensor(1), x.type.dataType);
  return [call.cast(call.binary("mul", normalized, scale), call.tensor(1).type.dataType), factor];
}

/** ONNX LpNormalization: x / norm. If the norm is 0, the elements are 0 and stay 0. */
const lpNorm = computeWidened((call, x) => {
  const axis = normalizeAxis(call.int("axis", -1), x.type.shape.length);
  const p = call.int("p", 2);
  if (p !== 1 && p !== 2) throw new Error(`p is ${p}, and must be 1 or 2`);
  const sum = call.reduce("sum", p === 1 ? call.unary("abs", x) : call.binary("mul", x, x), [axis], true);
  const norm = p === 1 ? sum : call.unary("sqrt", sum);
  return call.binary("div", x, call.select(call.binary("equal", norm, 0), 1, norm));
});

/** ONNX LRN, local response normalization (Krizhevsky et al. 2012). A convolution with ones sums the squares of neighbouring channels. */
const localResponseNorm = computeWidened((call, x) => {
  const [batch = 0, channels = 0, ...sizes] = x.type.shape;
  const size = call.int("size", 0);
  if (size < 1) throw new Error('the attribute "size" must be at least 1');
  const [alpha, beta, bias] = [call.float("alpha", 1e-4), call.float("beta", 0.75), call.float("bias", 1)];
  const squares = call.reshape(call.binary("mul", x, x), [batch, 1, channels, elementCount(sizes)]);
  // The neighbourhood reaches at most over all channels.
  const [before = 0, after = 0] = [Math.floor((size - 1) / 2), Math.ceil((size - 1) / 2)].map((reach) =>
    Math.min(reach, channels),
  );
  const ones = call.add({ kind: "expand", shape: [1, 1, before + after + 1, 1] }, call.scalar(1, x.type.dataType));
  const pads = [before, 0, after, 0];
  const window = { strides: [1, 1], dilations: [1, 1], pads };
  const sums = call.reshape(call.add({ kind: "convolution", groups: 1, ...window }, squares, ones), x.type.shape);
  const base = call.binary("add", call.binary("mul", sums, alpha / size), bias);
  return call.binary("div", x, call.binary("pow", base, beta));
});

/** ONNX MeanVarianceNormalization: adds 1e-9 to the standard deviation, as the function body of its specification does. */
const meanVarianceNorm = computeWidened((call, x) => {
  const axes = normalizeAxes(call.ints("axes") ?? [0, 2, 3], x.type.shape.length);
  const { centred, variance } = computeMoments(call, x, axes);
  return call.binary("div", centred, call.binary("add", call.unary("sqrt", variance), 1e-9));
});

/**
 * ONNX LayerNormalization (Ba et al., https://arxiv.org/abs/1607.06450). Outputs: the normalized tensor, and on request mean and inverse standard
 * deviation in float32.
 */
function layerNorm(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const rank = x.type.shape.length;
  const axis = normalizeAxis(call.int("axis", -1), rank);
  const epsilon = call.float("epsilon", 1e-5);
  checkStashType(call);
  const inputs = [x, call.tensor(1), call.tensorIfGiven(2)].filter((input) => input !== undefined);
  const normalized = call.add({ kind: "layer-norm", axis, epsilon }, ...inputs);
  if (!call.usesOutput(1) && !call.usesOutput(2)) return [normalized];
  const { mean, variance } = computeMoments(call, call.cast(x, "float32"), axesFrom(axis, rank));
  return [normalized, mean, inverseStandardDeviation(call, variance, epsilon)];
}

/** Throws unless `stash_type` is float32, the precision of the moments. */
function checkStashType(call: OperatorCall): void {
  const type = call.int("stash_type", 1);
  if (type !== 1) throw new Error(`stash_type ${type} is not supported, only 1 (float32)`);
}

/** Translates normalization layers, such as BatchNormalization, LayerNormalization and RMSNormalization, to graph operations. */
export const normalizations: OperatorFamily = {
  BatchNormalization: since(1, batchNorm),
  InstanceNormalization: since(1, instanceNorm),
  GroupNormalization: since(18, groupNorm),
  LayerNormalization: since(17, layerNorm),
  RMSNormalization: since(23, (call) => rmsNorm(call).slice(0, 1)),
  SimplifiedLayerNormalization: since(1, rmsNorm),
  "com.microsoft:SimplifiedLayerNormalization": since(1, rmsNorm),
  LpNormalization: since(1, lpNorm),
  LRN: since(1, localResponseNorm),
  MeanVarianceNormalization: since(9, meanVarianceNorm),
};
