/** Discrete Fourier transforms, computed as products with DFT matrices, and the windows and filter banks that go with them. */
import { at } from "../../../../contract/checked.ts";
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, toLiteral, toNumbers } from "../../../ir/literal.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, since } from "../operator-rule.ts";

/** A complex signal [..., n] as two tensors; a real signal has no imaginary part. */
interface Complex {
  readonly real: Value;
  readonly imaginary?: Value;
}

/** The real and imaginary parts of a tensor [..., n, 1 or 2]. */
function getComplex(call: OperatorCall, x: Value): Complex {
  const { shape } = x.type;
  const parts = shape.at(-1);
  const part = (index: number): Value => call.reshape(call.slice(x, shape.length - 1, index, 1), shape.slice(0, -1));
  if (parts === 1) return { real: part(0) };
  if (parts === 2) return { real: part(0), imaginary: part(1) };
  throw new Error(`the last axis has ${parts} elements, and must have 1 (real) or 2 (complex)`);
}

/** The matrix factor(n) * wave(2 pi k n / length) for rows n and columns k, where `wave` is a cosine or sine. */
function waveMatrix(
  call: OperatorCall,
  type: ElementType,
  [rows, columns]: readonly [number, number],
  length: number,
  wave: (angle: number) => number,
  factor: (row: number) => number = () => 1,
): Value {
  call.builder.reserve({ dataType: "float64", shape: [rows, columns] });
  const values = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    // the angle is reduced to one turn before it is rounded
    for (let column = 0; column < columns; column += 1)
      values[row * columns + column] = factor(row) * wave((2 * Math.PI * ((row * column) % length)) / length);
  }
  return call.builder.constant(toLiteral(type, [rows, columns], values));
}

/** Y[k] = sum of x[n] e^(-2 pi i k n / N) over the last axis, for k < `bins`; the inverse has the opposite sign and divides by N. */
function transform(call: OperatorCall, { real, imaginary }: Complex, bins: number, inverse: boolean): readonly [Value, Value] {
  const { dataType, shape } = real.type;
  const length = at(shape, shape.length - 1);
  const factor = (): number => (inverse ? 1 / length : 1);
  const size = [length, bins] as const;
  const cosines = waveMatrix(call, dataType, size, length, Math.cos, factor);
  const sines = waveMatrix(call, dataType, size, length, inverse ? Math.sin : (angle) => -Math.sin(angle), factor);
  const times = (x: Value, by: Value): Value => call.add({ kind: "matmul" }, x, by);
  if (imaginary === undefined) return [times(real, cosines), times(real, sines)];
  return [
    call.binary("sub", times(real, cosines), times(imaginary, sines)),
    call.binary("add", times(real, sines), times(imaginary, cosines)),
  ];
}

/** The real signal of `length` elements whose spectrum is given for non-negative frequencies. */
function realInverse(call: OperatorCall, { real, imaginary }: Complex, length: number): Value {
  const { dataType, shape } = real.type;
  const bins = at(shape, shape.length - 1);
  // Every bin counts twice, for its conjugate, except frequency 0 and, for an even length, the highest.
  const factor = (bin: number): number => (bin === 0 || 2 * bin === length ? 1 : 2) / length;
  const size = [bins, length] as const;
  const even = call.add({ kind: "matmul" }, real, waveMatrix(call, dataType, size, length, Math.cos, factor));
  if (imaginary === undefined) return even;
  return call.binary(
    "sub",
    even,
    call.add({ kind: "matmul" }, imaginary, waveMatrix(call, dataType, size, length, Math.sin, factor)),
  );
}

/** The last axis cut or zero-padded to `size` elements. */
function cutOrPadded(call: OperatorCall, x: Value, size: number): Value {
  const axis = x.type.shape.length - 1;
  const length = at(x.type.shape, axis);
  if (length >= size) return length === size ? x : call.slice(x, axis, 0, size);
  const none = x.type.shape.map(() => 0);
  const pad = { kind: "pad", mode: "constant", before: none, after: none.with(axis, size - length) } as const;
  return call.add(pad, x, call.scalar(0, x.type.dataType));
}

/** Real and imaginary parts as a new last axis. */
function joined(call: OperatorCall, parts: readonly Value[]): Value {
  const rank = at(parts, 0).type.shape.length;
  const grown = parts.map((part) => call.reshape(part, [...part.type.shape, 1]));
  return grown.length === 1 && grown[0] !== undefined ? grown[0] : call.add({ kind: "concat", axis: rank }, ...grown);
}

/** ONNX DFT. The axis is an attribute in version 17 and an input from 20 on. */
function dft(call: OperatorCall): Value {
  const x = call.tensor(0);
  const rank = x.type.shape.length;
  const axis = normalizeAxis(call.version < 20 ? call.int("axis", 1) : (call.knownIntegersIfGiven(2)?.[0] ?? -2), rank);
  if (axis === rank - 1) throw new Error(`axis ${axis} holds real and imaginary parts, and cannot be transformed`);
  const inverse = call.int("inverse", 0) === 1;
  const oneSided = call.int("onesided", 0) === 1;
  const stated = call.knownIntegersIfGiven(1)?.[0];
  const size = at(x.type.shape, axis);
  const length = stated ?? (inverse && oneSided ? 2 * (size - 1) : size);
  if (!(length > 0)) throw new Error(`dft_length is ${length}, and must be positive`);
  const order = [...Array.from({ length: rank - 1 }, (_, each) => each).filter((each) => each !== axis), axis];
  const { real, imaginary } = getComplex(call, x);
  const half = Math.floor(length / 2) + 1;
  const prepared = (part: Value): Value => cutOrPadded(call, call.transpose(part, order), inverse && oneSided ? half : length);
  const signal = { real: prepared(real), ...(imaginary === undefined ? {} : { imaginary: prepared(imaginary) }) };
  const back = order.map((_, axis) => order.indexOf(axis));
  const give = (...parts: readonly Value[]): Value =>
    joined(
      call,
      parts.map((part) => call.transpose(part, back)),
    );
  if (inverse && oneSided) return give(realInverse(call, signal, length));
  if (oneSided && imaginary !== undefined) throw new Error("onesided is only defined for real input");
  return give(...transform(call, signal, oneSided ? half : length, inverse));
}

/** ONNX STFT: transforms of overlapping frames. Inputs: signal [batch, length, 1 or 2], step, optional window and frame length. Returns [batch, frames, bins, 2]. */
function stft(call: OperatorCall): Value {
  const signal = call.tensor(0);
  const step = call.knownInteger(1);
  const window = call.tensorIfGiven(2);
  const size = call.knownIntegersIfGiven(3)?.[0] ?? window?.type.shape[0];
  const [, length = 0] = signal.type.shape;
  if (size === undefined || !(size > 0) || !(step > 0) || size > length || signal.type.shape.length !== 3)
    throw new Error(`frame length ${size} and step ${step} do not fit a signal of shape [${signal.type.shape.join(", ")}]`);
  const oneSided = call.int("onesided", 1) === 1;
  const frames = Math.floor((length - size) / step) + 1;
  call.builder.reserve({ dataType: "int64", shape: [frames, size] });
  const positions = Array.from({ length: frames * size }, (_, index) => Math.floor(index / size) * step + (index % size));
  const indices = call.builder.constant(int64Literal(positions, [frames, size]));
  const framed = (part: Value): Value => {
    const cut = call.add({ kind: "gather", axis: 1 }, part, indices);
    return window === undefined ? cut : call.binary("mul", cut, window);
  };
  const { real, imaginary } = getComplex(call, signal);
  if (oneSided && imaginary !== undefined) throw new Error("onesided is only defined for real input");
  const parts = { real: framed(real), ...(imaginary === undefined ? {} : { imaginary: framed(imaginary) }) };
  return joined(call, transform(call, parts, oneSided ? Math.floor(size / 2) + 1 : size, false));
}

/** The window a0 - a1 cos(t) + a2 cos(2t) over one turn. A periodic window is one element longer, without the last. */
function window(a0: number, a1: number, a2: number): Translate {
  return (call) => {
    const size = call.knownInteger(0);
    const turn = call.int("periodic", 1) === 1 ? size : size - 1;
    const type = call.elementType("output_datatype") ?? "float32";
    call.builder.reserve({ dataType: "float64", shape: [size] });
    const values = Float64Array.from({ length: size }, (_, index) => {
      const angle = (2 * Math.PI * index) / turn;
      return a0 - a1 * Math.cos(angle) + a2 * Math.cos(2 * angle);
    });
    return call.builder.constant(toLiteral(type, [size], values));
  };
}

/** ONNX MelWeightMatrix: overlapping triangular filters, equally wide in mel, over the bins of a transform: [bins, bands]. */
function melWeights(call: OperatorCall): Value {
  const [bands = 0, length = 0, rate = 1] = [0, 1, 2].map((index) => call.knownIntegers(index)[0]);
  const [lowest = 0, highest = 0] = [3, 4].map((index) => toNumbers(call.known(index))[0]);
  const type = call.elementType("output_datatype") ?? "float32";
  const bins = Math.floor(length / 2) + 1;
  call.builder.reserve({ dataType: "float64", shape: [bins, bands] });
  call.builder.reserve({ dataType: "float64", shape: [bands] });
  const mel = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700);
  const step = (mel(highest) - mel(lowest)) / (bands + 2);
  const edges = Array.from({ length: bands + 2 }, (_, index) => {
    const hertz = 700 * (10 ** ((mel(lowest) + index * step) / 2595) - 1);
    return Math.floor(((length + 1) * hertz) / rate);
  });
  if (edges.some((edge) => !(edge >= 0 && edge < bins)))
    throw new Error(`the mel bands exceed the ${bins} bins of the transform`);
  const weights = new Float64Array(bins * bands);
  for (let band = 0; band < bands; band += 1) {
    const [lower = 0, centre = 0, upper = 0] = edges.slice(band, band + 3);
    if (centre === lower) weights[centre * bands + band] = 1;
    else for (let bin = lower; bin <= centre; bin += 1) weights[bin * bands + band] = (bin - lower) / (centre - lower);
    for (let bin = centre; bin < upper; bin += 1) weights[bin * bands + band] = (upper - bin) / (upper - centre);
  }
  return call.builder.constant(toLiteral(type, [bins, bands], weights));
}

/** Translates signal processing of ai.onnx to graph operations: the Fourier transforms DFT and STFT, window functions and MelWeightMatrix. */
export const signal: OperatorFamily = {
  DFT: since(17, dft),
  STFT: since(17, stft),
  HannWindow: since(17, window(0.5, 0.5, 0)),
  HammingWindow: since(17, window(25 / 46, 21 / 46, 0)),
  BlackmanWindow: since(17, window(0.42, 0.5, 0.08)),
  MelWeightMatrix: since(17, melWeights),
};
