/**
 * Resampling in fixed point with the vector instructions of WebAssembly: the same sums as `resize-picture.ts` in JavaScript, of 32-bit integers that wrap. A weight of
 * up to 24 bits is split into two signed 16-bit integers, `high * 4096 + low`, for which there is an instruction that multiplies and adds pairs.
 */
import type { AxisWeights } from "../resampling-filters.ts";
import {
  type WasmInstructions,
  type WasmFunction,
  type WasmKernels,
  add,
  addVectors,
  compilePictureKernels,
  constant,
  countDown,
  dotPairs,
  local,
  increase,
  loadInteger,
  loadSplat,
  loadBytes,
  narrowToBytes,
  narrowToShorts,
  set,
  shiftLeft,
  shiftRight,
  shuffle,
  splat,
  storeFirst,
  storeVector,
  subtract,
  widenHigh,
  widenLow,
  zeroVector,
} from "./wasm-code.ts";

const lowBits = 12;
/** Pixels of a row, and rows, that are added in one step. */
const [rowTaps, columnTaps] = [4, 2];
/** Bytes of a vector. Sources are followed by so many bytes at least that may be read. */
const vectorBytes = 16;
/** Bytes of the part of a picture that is resized at once. */
const partBytes = 2 ** 22;
const pageBytes = 65_536;

const rounding = (bits: number): WasmInstructions => splat([constant(1), subtract(local(bits), constant(1)), 0x74]);
const total = (high: number, low: number, bits: number): WasmInstructions =>
  shiftRight(addVectors(shiftLeft(local(high), constant(lowBits)), local(low)), local(bits));

/** Rows of pixels of three samples. `starts` has the byte offset of the first pixel of each column in its row. Writes one byte beyond the target. */
function colourRows(): WasmFunction {
  const [source, target, weights, starts, rowBytes, width, height, groups, bits] = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
  const [column, start, weight, from, group, high, low, samples, first, second] = [
    9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
  ] as const;
  const none = vectorBytes; // the first byte of the second vector, which is zero
  const pair = (pixel: number): WasmInstructions => {
    const at = 3 * pixel;
    const lanes = [0, 1, 2].flatMap((channel) => [at + channel, none, at + channel + 3, none]);
    return shuffle(local(samples), zeroVector, [...lanes, none, none, none, none]);
  };
  const addTo = (sum: number, offset: number): WasmInstructions =>
    set(
      sum,
      addVectors(
        local(sum),
        addVectors(
          dotPairs(local(first), loadSplat(local(weight), offset)),
          dotPairs(local(second), loadSplat(local(weight), offset + 4)),
        ),
      ),
    );
  const body = countDown(height, 1, [
    [set(start, local(starts)), set(weight, local(weights)), set(column, local(width))],
    countDown(column, 1, [
      [set(from, add(local(source), loadInteger(local(start)))), set(group, local(groups))],
      [set(high, zeroVector), set(low, rounding(bits))],
      countDown(group, 1, [
        [set(samples, loadBytes(local(from))), set(first, pair(0)), set(second, pair(2))],
        [addTo(high, 0), addTo(low, 8), increase(weight, constant(16)), increase(from, constant(3 * rowTaps))],
      ]),
      set(samples, total(high, low, bits)),
      set(samples, narrowToShorts(local(samples), local(samples))),
      storeFirst(local(target), narrowToBytes(local(samples), local(samples))),
      [increase(target, constant(3)), increase(start, constant(4))],
    ]),
    increase(source, local(rowBytes)),
  ]);
  return { name: "rows", parameters: 9, integers: 5, vectors: 5, body };
}

/** Columns of bytes. `length`: bytes of a row, a multiple of 16. `starts` has the byte offset of the first row of each output row. */
function byteColumns(): WasmFunction {
  const [source, target, weights, starts, length, height, pairs, bits] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
  const [rest, from, weight, count, at] = [8, 9, 10, 11, 12] as const;
  const highs = [13, 14, 15, 16];
  const lows = [17, 18, 19, 20];
  const [above, below, lower, upper] = [21, 22, 23, 24] as const;
  const interleaved = (first: number): WasmInstructions =>
    shuffle(
      local(above),
      local(below),
      Array.from({ length: vectorBytes }, (_, lane) => first + (lane >> 1) + (lane % 2) * vectorBytes),
    );
  const quarters = [widenLow(local(lower)), widenHigh(local(lower)), widenLow(local(upper)), widenHigh(local(upper))];
  const addAll = (sums: readonly number[], offset: number): WasmInstructions =>
    sums.map((sum, index) => set(sum, addVectors(local(sum), dotPairs(quarters[index] ?? [], loadSplat(local(weight), offset)))));
  const sums = highs.map((high, index) => total(high, lows[index] ?? 0, bits));
  const [first = [], second = [], third = [], fourth = []] = sums;
  const body = countDown(height, 1, [
    [set(rest, local(length)), set(at, add(local(source), loadInteger(local(starts))))],
    countDown(rest, vectorBytes, [
      [set(from, local(at)), set(weight, local(weights)), set(count, local(pairs))],
      highs.map((high) => set(high, zeroVector)),
      lows.map((low) => set(low, rounding(bits))),
      countDown(count, 1, [
        [set(above, loadBytes(local(from))), set(below, loadBytes(add(local(from), local(length))))],
        [set(lower, interleaved(0)), set(upper, interleaved(vectorBytes / 2))],
        [addAll(highs, 0), addAll(lows, 4)],
        [increase(weight, constant(8)), increase(from, add(local(length), local(length)))],
      ]),
      storeVector(local(target), narrowToBytes(narrowToShorts(first, second), narrowToShorts(third, fourth))),
      [increase(target, constant(vectorBytes)), increase(at, constant(vectorBytes))],
    ]),
    [increase(starts, constant(4)), set(weights, local(weight))],
  ]);
  return { name: "columns", parameters: 8, integers: 5, vectors: 12, body };
}

let kernels: WasmKernels | undefined | "not compiled" = "not compiled";

/** The kernels, compiled at the first call. Their code is pure: the memory holds nothing between calls. */
function getKernels(): WasmKernels | undefined {
  if (kernels === "not compiled") kernels = compilePictureKernels([colourRows(), byteColumns()]);
  return kernels;
}

/** Weights as a kernel reads them. */
interface PackedWeights {
  /** First source position of each output position. All `taps` positions from it on exist, but for at most `unit - 1`. */
  readonly starts: Int32Array;
  /** For each output position and each `unit` taps: the higher parts, then the lower parts. */
  readonly weights: Int16Array;
  readonly taps: number;
}

/** Weights for sums over equally many positions for all outputs, a multiple of `unit`; superfluous ones have the weight 0. */
function packWeights({ starts, counts, weights, stride }: AxisWeights, source: number, unit: number): PackedWeights {
  const taps = Math.ceil(counts.reduce((max, count) => Math.max(max, count), 1) / unit) * unit;
  const packed = new Int16Array(2 * taps * starts.length);
  const first = starts.map((start) => Math.max(0, Math.min(start, source - taps)));
  for (let out = 0; out < starts.length; out++) {
    const shift = (starts[out] ?? 0) - (first[out] ?? 0);
    for (let tap = 0; tap < (counts[out] ?? 0); tap++) {
      const weight = weights[out * stride + tap] ?? 0;
      const at = tap + shift;
      const place = 2 * (out * taps + at - (at % unit)) + (at % unit);
      packed[place] = weight >> lowBits;
      packed[place + unit] = weight & (2 ** lowBits - 1);
    }
  }
  return { starts: first, weights: packed, taps };
}

/** Places in the memory of the kernels, as bytes from its start. */
interface Places {
  readonly source: number;
  readonly target: number;
  readonly weights: number;
  readonly starts: number;
}

/** Makes room for a source and a target of so many bytes, and writes weights and starts behind them. */
function place(
  memory: WasmKernels["memory"],
  { source, target }: { readonly source: number; readonly target: number },
  { weights, starts }: Pick<PackedWeights, "weights" | "starts">,
): Places {
  const aligned = (bytes: number): number => Math.ceil(bytes / vectorBytes) * vectorBytes;
  const targetAt = aligned(source + 2 * vectorBytes);
  const weightsAt = aligned(targetAt + target + vectorBytes);
  const startsAt = aligned(weightsAt + weights.byteLength);
  const missing = startsAt + starts.byteLength - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
  new Int16Array(memory.buffer, weightsAt, weights.length).set(weights);
  new Int32Array(memory.buffer, startsAt, starts.length).set(starts);
  return { source: 0, target: targetAt, weights: weightsAt, starts: startsAt };
}

/** Rows of three samples a pixel from the width `from` to another one, into `out`. False if there are no kernels: nothing is written then. */
export function resizeRowsByKernel(
  { data, from, height }: { readonly data: Uint8Array; readonly from: number; readonly height: number },
  axis: AxisWeights,
  out: Uint8Array,
): boolean {
  const compiled = getKernels();
  if (compiled === undefined) return false;
  const { memory, functions } = compiled;
  const width = axis.starts.length;
  const { starts, weights, taps } = packWeights(axis, from, rowTaps);
  const [rowBytes, outBytes] = [3 * from, 3 * width];
  const rowsAtOnce = Math.min(height, Math.max(1, Math.floor(partBytes / Math.max(rowBytes, outBytes))));
  const sizes = { source: rowsAtOnce * rowBytes, target: rowsAtOnce * outBytes };
  const at = place(memory, sizes, { weights, starts: starts.map((start) => 3 * start) });
  for (let row = 0; row < height; row += rowsAtOnce) {
    const rows = Math.min(rowsAtOnce, height - row);
    new Uint8Array(memory.buffer, at.source).set(data.subarray(row * rowBytes, (row + rows) * rowBytes));
    functions["rows"]?.(at.source, at.target, at.weights, at.starts, rowBytes, width, rows, taps / rowTaps, axis.bits);
    out.set(new Uint8Array(memory.buffer, at.target, rows * outBytes), row * outBytes);
  }
  return true;
}

/** Rows of `length` bytes from the height `from` to another one, into `out`. False if there are no kernels: nothing is written then. */
export function resizeColumnsByKernel(
  { data, from, length }: { readonly data: Uint8Array; readonly from: number; readonly length: number },
  axis: AxisWeights,
  out: Uint8Array,
): boolean {
  const compiled = getKernels();
  if (compiled === undefined) return false;
  const { memory, functions } = compiled;
  const height = axis.starts.length;
  const { starts, weights, taps } = packWeights(axis, from, columnTaps);
  const most = Math.floor(partBytes / Math.max(from, height) / vectorBytes) * vectorBytes;
  const strip = Math.min(Math.ceil(length / vectorBytes) * vectorBytes, Math.max(vectorBytes, most));
  const sizes = { source: (Math.max(from, taps) + 1) * strip, target: height * strip };
  const at = place(memory, sizes, { weights, starts: starts.map((start) => start * strip) });
  const [source, target] = [new Uint8Array(memory.buffer, at.source), new Uint8Array(memory.buffer, at.target)];
  for (let left = 0; left < length; left += strip) {
    const bytes = Math.min(strip, length - left);
    for (let row = 0; row < from; row++) source.set(data.subarray(row * length + left, row * length + left + bytes), row * strip);
    functions["columns"]?.(at.source, at.target, at.weights, at.starts, strip, height, taps / columnTaps, axis.bits);
    for (let row = 0; row < height; row++) out.set(target.subarray(row * strip, row * strip + bytes), row * length + left);
  }
  return true;
}
