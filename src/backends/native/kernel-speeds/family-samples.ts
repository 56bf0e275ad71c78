/** One call of each family of kernels that has machine code, as models make it, for measurements. */
import {
  batchedMatmul,
  byteMatmul,
  conv2d,
  elementwise,
  type Kernel,
  matmul,
  norm,
  packedBytesLength,
  packedMatmulLength,
  pool2d,
  quantizationRange,
  quantizeRows,
  rowBytes,
  softmax,
  widePanelColumns,
} from "../../../engine/codegen/wasm/index.ts";
import type { MachineFamilyName } from "../../../kernels/machine-families.ts";

/** A call of a kernel. */
export interface FamilySample {
  /** What is computed, in a few words: "linear layer of 128 x 384 x 1536". */
  readonly what: string;
  readonly kernel: Kernel;
  /** Bytes of the operands, by the names of the parameters. */
  readonly operands: Readonly<Record<string, number>>;
  /** Pairs of a multiplication and an addition. 0 where memory alone bounds the time. */
  readonly multiplyAdds: number;
  /** Type of what is multiplied. Default: float32. */
  readonly isBytes?: true;
}

const floats = (count: number): number => 4 * count;

function linearLayer(): FamilySample {
  const [m, k, n] = [128, 384, 1536];
  const b = packedMatmulLength({ k, n, panelColumns: widePanelColumns });
  return {
    what: `linear layer of ${m} x ${k} x ${n}`,
    kernel: matmul({ m, n, k, panelColumns: widePanelColumns }),
    operands: { a: floats(m * k), b: floats(b), c: floats(m * n) },
    multiplyAdds: m * n * k,
  };
}

function byteLayer(): FamilySample {
  const [m, k, n] = [128, 384, 1536];
  return {
    what: `linear layer of ${m} x ${k} x ${n} in int8`,
    kernel: byteMatmul({ m, n, k, output: "int32" }),
    operands: { a: m * rowBytes(k), b: packedBytesLength({ k, n }), c: floats(m * n) },
    multiplyAdds: m * n * k,
    isBytes: true,
  };
}

function attentionScores(): FamilySample {
  const [heads, tokens, size] = [12, 128, 32];
  const matrix = { row: heads * size, column: 1, batch: [size] };
  const scores = { row: tokens, column: 1, batch: [tokens * tokens] };
  return {
    what: `scores of ${heads} heads, ${tokens} x ${size} x ${tokens}`,
    kernel: batchedMatmul({
      m: tokens,
      n: tokens,
      k: size,
      batch: [heads],
      a: matrix,
      b: { ...matrix, row: 1, column: heads * size },
      c: scores,
      panelColumns: widePanelColumns,
    }),
    operands: { a: floats(tokens * heads * size), b: floats(tokens * heads * size), c: floats(heads * tokens * tokens) },
    multiplyAdds: heads * tokens * tokens * size,
  };
}

function convolution(channels: number, plane: number, groups: number): FamilySample {
  const window = { input: [plane, plane], size: [3, 3], pads: [1, 1, 1, 1] } as const;
  const weights = (channels * channels * 9) / groups;
  const kind = groups === 1 ? "convolution" : "depthwise convolution";
  return {
    what: `${kind} 3 x 3 of ${channels} channels, ${plane} x ${plane}`,
    kernel: conv2d({ batch: 1, inChannels: channels, outChannels: channels, groups, window }),
    operands: { x: floats(channels * plane * plane), weights: floats(weights), y: floats(channels * plane * plane) },
    multiplyAdds: weights * plane * plane,
  };
}

function pooling(): FamilySample {
  const [planes, plane] = [64, 112];
  const window = { input: [plane, plane], size: [2, 2], strides: [2, 2] } as const;
  return {
    what: `max pooling 2 x 2 of ${planes} planes, ${plane} x ${plane}`,
    kernel: pool2d({ planes, kind: "max", window }),
    operands: { x: floats(planes * plane * plane), y: floats((planes * plane * plane) / 4) },
    multiplyAdds: 0,
  };
}

function rows(what: string, kernel: Kernel, elements: number, others: Readonly<Record<string, number>> = {}): FamilySample {
  return { what, kernel, operands: { x: floats(elements), y: floats(elements), ...others }, multiplyAdds: 0 };
}

function quantizedRows(): FamilySample {
  const [count, columns] = [512, 384];
  const what = `quantization of ${count} rows of ${columns}`;
  const others = { scale: 4, zeroPoint: 1, y: count * rowBytes(columns) };
  return rows(what, quantizeRows({ rows: count, columns }), count * columns, others);
}

function chain(): FamilySample {
  const count = 512 * 1024;
  const float = { type: "float32" } as const;
  return {
    what: `silu(x) * y of ${count} elements`,
    kernel: elementwise({
      shape: [count],
      inputs: [float, float],
      steps: [
        { op: "silu", of: [0] },
        { op: "mul", of: [2, 1] },
      ],
      output: "float32",
    }),
    operands: { input0: floats(count), input1: floats(count), output: floats(count) },
    multiplyAdds: 0,
  };
}

/** By family; products of weights in blocks are measured by format instead. */
export const familySamples: Readonly<Partial<Record<MachineFamilyName, () => FamilySample>>> = {
  matmul: linearLayer,
  "batched-matmul": attentionScores,
  "byte-matmul": byteLayer,
  "quantize-rows": quantizedRows,
  "quantization-range": () => ({
    what: "range of 262144 elements",
    kernel: quantizationRange({ rows: 1, columns: 262_144 }),
    operands: { x: floats(262_144), scale: 4, zeroPoint: 1 },
    multiplyAdds: 0,
  }),
  conv2d: () => convolution(64, 56, 1),
  depthwise: () => convolution(128, 56, 128),
  pool2d: pooling,
  softmax: () => rows("softmax of 1536 rows of 128", softmax({ shape: [1536, 128] }), 1536 * 128),
  norm: () =>
    rows("layer norm of 512 rows of 384", norm({ rows: 512, columns: 384, epsilon: 1e-5, gamma: true, beta: true }), 512 * 384, {
      gamma: floats(384),
      beta: floats(384),
    }),
  elementwise: chain,
};
