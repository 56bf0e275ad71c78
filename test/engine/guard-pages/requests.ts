/** Random requests of every family of kernels that has machine code, with the bytes of their operands. */
import type { Activation } from "../../../src/engine/ir/operations.ts";
import { scaledBlocks } from "../../../src/formats/scaled-blocks/block-formats.ts";
import { blockFormats } from "../../../src/formats/gguf/blocks/index.ts";
import type { Kernel } from "../../../src/engine/codegen/wasm/kernel.ts";
import {
  activationRowBytes,
  blockLayout,
  packedBlockBytes,
} from "../../../src/engine/codegen/wasm/kernels/blocks/block-layout.ts";
import { blockMatmul } from "../../../src/engine/codegen/wasm/kernels/blocks/block-matmul.ts";
import { quantizeActivationBytes } from "../../../src/engine/codegen/wasm/kernels/blocks/quantize-activation-bytes.ts";
import { quantizeActivations } from "../../../src/engine/codegen/wasm/kernels/blocks/quantize-activations.ts";
import { panelChannels } from "../../../src/engine/codegen/wasm/kernels/convolution/channel-panels.ts";
import { conv2d } from "../../../src/engine/codegen/wasm/kernels/convolution/conv2d.ts";
import { pool2d } from "../../../src/engine/codegen/wasm/kernels/convolution/pool2d.ts";
import { type KernelWindow, resolveWindow } from "../../../src/engine/codegen/wasm/kernels/convolution/window.ts";
import { elementwise } from "../../../src/engine/codegen/wasm/kernels/elementwise/elementwise.ts";
import {
  type ElementwiseInput,
  type ElementwiseRequest,
  laneBytes,
} from "../../../src/engine/codegen/wasm/kernels/elementwise/request.ts";
import { functionTables } from "../../../src/engine/codegen/wasm/kernels/elementwise/support.ts";
import { type MatrixStrides, batchedMatmul } from "../../../src/engine/codegen/wasm/kernels/matmul/batched-matmul.ts";
import { matmul } from "../../../src/engine/codegen/wasm/kernels/matmul/matmul.ts";
import { packedMatmulLength } from "../../../src/engine/codegen/wasm/kernels/matmul/weight-packing.ts";
import { rowBytes } from "../../../src/engine/codegen/wasm/kernels/quantized/byte-layout.ts";
import { byteMatmul } from "../../../src/engine/codegen/wasm/kernels/quantized/byte-matmul.ts";
import { packedBytesLength } from "../../../src/engine/codegen/wasm/kernels/quantized/pack-bytes.ts";
import { quantizationRange } from "../../../src/engine/codegen/wasm/kernels/quantized/quantize.ts";
import { quantizeRows } from "../../../src/engine/codegen/wasm/kernels/quantized/quantize-rows.ts";
import { gather } from "../../../src/engine/codegen/wasm/kernels/movement/gather.ts";
import { norm } from "../../../src/engine/codegen/wasm/kernels/reductions/norm.ts";
import { softmax } from "../../../src/engine/codegen/wasm/kernels/reductions/softmax.ts";
import type { X64Level } from "../../../src/kernels/simd-levels.ts";
import type { Random } from "./random.ts";

/** A kernel, and the bytes of its operands by their names. Scratch memory is left out. */
export interface GuardedRequest {
  readonly kernel: Kernel;
  readonly operands: Readonly<Record<string, number>>;
  /** Operands that the kernel writes. */
  readonly outputs: readonly string[];
}

const floatBytes = 4;
const activations = [
  "none",
  "none",
  "relu",
  "gelu",
  "gelu-tanh",
  "silu",
  "sigmoid",
  "tanh",
] as const satisfies readonly Activation[];
const residuals = ["none", "before-activation", "after-activation"] as const;

/** Bytes of tensors of float32 by the numbers of their elements. */
function floats<Name extends string>(counts: Readonly<Record<Name, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries<number>(counts).map(([name, count]) => [name, count * floatBytes]));
}

/** Elements from the first to the last one of a tensor with strides. */
function extent(sizes: readonly number[], strides: readonly number[]): number {
  return 1 + sizes.reduce((sum, size, axis) => sum + (size - 1) * strides[axis]!, 0);
}

function randomMatmul(random: Random): GuardedRequest {
  const isTall = random.next() < 0.03; // pieces are rows where they do not fit the cache
  const [m, n, k] = isTall
    ? [random.integer(400, 700), random.size(20), random.integer(200, 330)]
    : [random.size(60), random.size(200), random.integer(0, random.pick([7, 70]))];
  const bias = random.boolean();
  const request = {
    m,
    n,
    k,
    bias,
    activation: random.pick(activations),
    residual: random.pick(residuals),
    panelColumns: 16,
  } as const;
  const b = packedMatmulLength({ k, n, panelColumns: 16 });
  return { kernel: matmul(request), operands: floats({ a: m * k, b, bias: n, residual: m * n, c: m * n }), outputs: ["c"] };
}

function randomBatchedMatmul(random: Random): GuardedRequest {
  const isFew = random.next() < 0.4;
  const [m, n, k] = isFew
    ? [random.integer(1, 3), random.size(90), random.size(150)]
    : [random.integer(4, random.pick([8, 40])), random.size(60), random.size(40)];
  const batch = Array.from({ length: random.integer(0, 2) }, () => random.integer(1, 3));
  const strides = (rows: number, columns: number): MatrixStrides => {
    const axes = random.integer(0, 4);
    const [row, column] = [
      [columns, 1],
      [1, rows],
      [columns + random.integer(0, 9), 1], // a part of wider rows
      [1, rows + random.integer(0, 9)],
      [2, rows * 3],
    ][axes] as [number, number];
    const matrix = extent([rows, columns], [row, column]) + random.integer(0, 5);
    const isShared = random.next() < 0.2;
    return {
      row,
      column,
      batch: batch.map((_, axis) => (isShared ? 0 : axis === batch.length - 1 ? matrix : batch[1]! * matrix)),
    };
  };
  const [a, b] = [strides(m, k), strides(k, n)];
  const c: MatrixStrides = {
    row: n,
    column: 1,
    batch: batch.map((_, axis) => (axis === batch.length - 1 ? m * n : batch[1]! * m * n)),
  };
  const elements = (rows: number, columns: number, each: MatrixStrides): number =>
    extent([rows, columns, ...batch], [each.row, each.column, ...each.batch]);
  return {
    kernel: batchedMatmul({ m, n, k, batch, a, b, c, alpha: random.pick([1, 0.125]), ...(isFew ? {} : { panelColumns: 16 }) }),
    operands: floats({ a: elements(m, k, a), b: elements(k, n, b), c: elements(m, n, c) }),
    outputs: ["c"],
  };
}

function randomByteMatmul(random: Random): GuardedRequest {
  const [m, n, k] = [random.size(40), random.size(120), 2 * random.size(130)];
  const bScale = random.pick(["tensor", "column"] as const);
  const epilogue = { bScale, bias: random.boolean(), activation: random.pick(activations), residual: random.pick(residuals) };
  const output = random.next() < 0.2 ? "int32" : epilogue;
  return {
    kernel: byteMatmul({ m, n, k, output }),
    operands: {
      a: m * rowBytes(k),
      b: packedBytesLength({ k, n }),
      ...floats({ aScale: 1, bScale: bScale === "column" ? n : 1, bias: n, residual: m * n, c: m * n }),
    },
    outputs: ["c"],
  };
}

const formats = [
  ...Object.values(blockFormats),
  ...([2, 4, 8] as const).flatMap((bits) =>
    [16, 64].flatMap((elements) => [false, true].map((hasMins) => scaledBlocks({ bits, elements, hasMins }))),
  ),
];

function randomBlockMatmul(random: Random, level: X64Level): GuardedRequest {
  const format = random.pick(formats);
  const [m, n, k] = [random.size(20), 8 * random.size(10), 256 * random.integer(1, random.pick([2, 6]))];
  const layout = blockLayout(format);
  const request = { m, n, k, format, bias: random.boolean(), residual: random.pick(residuals), machineLevel: level };
  return {
    kernel: blockMatmul(request),
    operands: {
      a: m * activationRowBytes(layout, k),
      b: packedBlockBytes(layout, k, n),
      ...floats({ bias: n, residual: m * n, c: m * n }),
    },
    outputs: ["c"],
  };
}

function randomQuantizeActivations(random: Random): GuardedRequest {
  const [rows, columns] = [random.size(20), 32 * random.size(20)];
  return {
    kernel: quantizeActivations({ rows, columns }),
    operands: { ...floats({ x: rows * columns }), y: rows * activationRowBytes({ depth: 2, superElements: 32 }, columns) },
    outputs: ["y"],
  };
}

function randomQuantizeActivationBytes(random: Random): GuardedRequest {
  const elements = random.pick([32, 64, 128, 256]);
  const [rows, columns] = [random.size(20), elements * random.size(6)];
  return {
    kernel: quantizeActivationBytes({ rows, columns, elements }),
    operands: { ...floats({ x: rows * columns }), y: rows * activationRowBytes({ depth: 4, superElements: elements }, columns) },
    outputs: ["y"],
  };
}

function randomQuantizeRows(random: Random): GuardedRequest {
  const [rows, columns] = [random.size(20), 2 * random.size(300)];
  return {
    kernel: quantizeRows({ rows, columns }),
    operands: { ...floats({ x: rows * columns, scale: 1 }), zeroPoint: 1, y: rows * rowBytes(columns) },
    outputs: ["y"],
  };
}

function randomQuantizationRange(random: Random): GuardedRequest {
  const [rows, columns] = [random.size(20), random.size(600)];
  return {
    kernel: quantizationRange({ rows, columns }),
    operands: { ...floats({ x: rows * columns, scale: rows }), zeroPoint: rows },
    outputs: ["scale", "zeroPoint"],
  };
}

/** A window with at least one output position. */
function randomWindow(random: Random, maxSize: number, maxStride: readonly [number, number]): KernelWindow {
  for (;;) {
    const pad = (): number => (random.boolean() ? 0 : random.integer(0, 3));
    const window: KernelWindow = {
      input: [random.size(14), random.size(random.pick([40, 90]))],
      size: [random.size(maxSize), random.size(random.next() < 0.1 ? 70 : maxSize)],
      strides: [random.integer(1, maxStride[0]), random.integer(1, maxStride[1])],
      dilations: [random.pick([1, 1, 2]), random.pick([1, 1, 2, 3])],
      pads: [pad(), pad(), pad(), pad()],
    };
    if (resolveWindow(window).output.every((places) => places >= 1)) return window;
  }
}

function randomConvolution(random: Random): GuardedRequest {
  const isPointwise = random.next() < 0.25;
  const window = isPointwise
    ? { input: [random.size(9), random.size(200)] as const, size: [1, 1] as const }
    : randomWindow(random, 5, [3, 3]);
  const groups = random.pick([1, 1, 2, 3]);
  const [inChannels, outChannels] = [groups * random.size(9), groups * random.size(40)];
  const batch = random.integer(1, 2);
  const bias = random.boolean();
  const isDepthwise = inChannels === groups && outChannels === groups;
  const hasPanels = !isDepthwise && random.boolean();
  const weightRows = hasPanels ? groups * panelChannels * Math.ceil(outChannels / groups / panelChannels) : outChannels;
  const { input, size, output } = resolveWindow(window);
  return {
    kernel: conv2d({ batch, inChannels, outChannels, groups, window, bias, activation: random.pick(activations), hasPanels }),
    operands: floats({
      x: batch * inChannels * input[0] * input[1],
      weights: (weightRows * inChannels * size[0] * size[1]) / groups,
      bias: outChannels,
      y: batch * outChannels * output[0] * output[1],
    }),
    outputs: ["y"],
  };
}

/** Enlarged rows: each element several times, from anywhere in the row. */
function randomGather(random: Random): GuardedRequest {
  const [outer, n, times] = [random.size(9), random.integer(8, 60), random.integer(1, 4)];
  const first = random.integer(0, n - 1);
  const columns = Array.from({ length: random.size(120) }, (_, index) => Math.min(n - 1, first + Math.floor(index / times)));
  const count = columns.length;
  return {
    kernel: gather({ outer, n, inner: 1, count, elementBytes: 4, indexType: "int64", columns }),
    operands: { ...floats({ x: outer * n, y: outer * count }), index: 8 * count },
    outputs: ["y"],
  };
}

function randomDepthwise(random: Random): GuardedRequest {
  const window = randomWindow(random, 7, [3, 2]);
  const [batch, channels] = [random.integer(1, 3), random.size(6)];
  const { input, size, output } = resolveWindow(window);
  const given = { batch, inChannels: channels, outChannels: channels, groups: channels, window };
  return {
    kernel: conv2d({ ...given, bias: random.boolean(), activation: random.pick(activations) }),
    operands: floats({
      x: batch * channels * input[0] * input[1],
      weights: channels * size[0] * size[1],
      bias: channels,
      y: batch * channels * output[0] * output[1],
    }),
    outputs: ["y"],
  };
}

function randomPooling(random: Random): GuardedRequest {
  const window = randomWindow(random, 7, [3, 2]);
  const planes = random.size(8);
  const { input, output } = resolveWindow(window);
  const kind = random.pick(["max", "average"] as const);
  return {
    kernel: pool2d({ planes, kind, window, countedPads: window.pads! }),
    operands: floats({ x: planes * input[0] * input[1], y: planes * output[0] * output[1] }),
    outputs: ["y"],
  };
}

function randomSoftmax(random: Random): GuardedRequest {
  const shape = [...Array.from({ length: random.integer(1, 3) }, () => random.size(5)), random.size(300)];
  const count = shape.reduce((product, size) => product * size, 1);
  const logarithm = random.next() < 0.3;
  const maskStrides = random.boolean() ? undefined : randomStrides(random, shape);
  return {
    kernel: softmax(maskStrides === undefined ? { shape, logarithm } : { shape, logarithm, maskStrides }),
    operands: floats({ x: count, y: count, mask: maskStrides === undefined ? 0 : extent(shape, maskStrides) }),
    outputs: ["y"],
  };
}

/** Strides of an operand that is broadcast along some axes, and may be a part of a larger tensor. The last one is 0 or 1. */
function randomStrides(random: Random, shape: readonly number[]): readonly number[] {
  let stride = 1;
  return shape
    .toReversed()
    .map((size, axis) => {
      if (random.next() < 0.4) return 0;
      const own = stride;
      stride = stride * size + (axis < shape.length - 1 && random.next() < 0.3 ? random.integer(1, 7) : 0);
      return own;
    })
    .toReversed();
}

function randomNorm(random: Random): GuardedRequest {
  const [rows, columns] = [random.size(30), random.size(600)];
  return {
    kernel: norm({ rows, columns, epsilon: 1e-5, gamma: random.boolean(), beta: random.boolean(), isCentred: random.boolean() }),
    operands: floats({ x: rows * columns, gamma: columns, beta: columns, y: rows * columns }),
    outputs: ["y"],
  };
}

/** Types of elements in memory; those of 32 bits are the ones that AVX2 has code for. */
const wideTypes = ["float32", "float32", "int32"] as const;
const memoryTypes = ["float32", "float32", "int32", "float16", "int8", "uint8", "int16", "uint16", "bool"] as const;
const comparisons = /^(?:not-)?equal$|^less|^greater/;
const binary =
  /^(?:add|sub|mul|div|min|max|equal|not-equal|less|less-or-equal|greater|greater-or-equal|pow|mod|remainder|and|or|xor|bitwise-(?:and|or|xor)|shift-.*)$/;
/** Functions that WebAssembly computes, lane by lane: a chain with one has no machine code. */
const hostFunctions = /^(?:tan|sin|cos|asin|acos|atan|sinh|cosh|asinh|acosh|atanh|log1p|remainder|mod|pow)$/;
const operations = Object.keys(functionTables.float32).filter((op) => !hostFunctions.test(op));

/** A chain on float32: inputs of any type are cast to it, and the last value to the output type. */
function randomElementwise(random: Random, level: X64Level): GuardedRequest {
  const types = level === "AVX2" ? wideTypes : memoryTypes;
  const shape = random.boolean()
    ? [random.size(3000)]
    : [...Array.from({ length: random.integer(1, 3) }, () => random.size(5)), random.size(80)];
  const inputs = Array.from({ length: random.integer(1, 4) }, (): ElementwiseInput => {
    const type = random.pick(types);
    return random.boolean() ? { type } : { type, strides: randomStrides(random, shape) };
  });
  const steps: ElementwiseRequest["steps"][number][] = [];
  const values = inputs.map(({ type }, index) => {
    if (type === "float32") return index;
    steps.push({ op: "cast", of: [index], to: "float32" });
    return inputs.length + steps.length - 1;
  });
  for (let count = random.integer(1, 6); count > 0; count -= 1) {
    const op = random.pick(operations);
    const of = binary.test(op) ? [random.pick(values), random.pick(values)] : [random.pick(values)];
    steps.push({ op, of } as unknown as ElementwiseRequest["steps"][number]);
    if (comparisons.test(op)) steps.push({ op: "cast", of: [inputs.length + steps.length - 1], to: "float32" });
    values.push(inputs.length + steps.length - 1);
  }
  const output = random.pick(types);
  if (output !== "float32") steps.push({ op: "cast", of: [values.at(-1)!], to: output });
  const count = shape.reduce((product, size) => product * size, 1);
  const operands = inputs.map(({ type, strides }, index) => {
    const elements = strides === undefined ? count : extent(shape, strides);
    return [`input${index}`, elements * laneBytes[type]] as const;
  });
  return {
    kernel: elementwise({ shape, inputs, steps, output }),
    operands: { ...Object.fromEntries(operands), output: count * laneBytes[output] },
    outputs: ["output"],
  };
}

/** By the name of the family. Not every request has machine code: what has none counts for nothing. */
export const randomRequests: Readonly<Record<string, (random: Random, level: X64Level) => GuardedRequest>> = {
  matmul: randomMatmul,
  "batched-matmul": randomBatchedMatmul,
  "byte-matmul": randomByteMatmul,
  "block-matmul": randomBlockMatmul,
  "quantize-activations": randomQuantizeActivations,
  "quantize-activation-bytes": randomQuantizeActivationBytes,
  "quantize-rows": randomQuantizeRows,
  "quantization-range": randomQuantizationRange,
  conv2d: randomConvolution,
  gather: randomGather,
  depthwise: randomDepthwise,
  pool2d: randomPooling,
  softmax: randomSoftmax,
  norm: randomNorm,
  elementwise: randomElementwise,
};
