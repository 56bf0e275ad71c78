/**
 * Products of 8-bit integers with exact 32-bit sums, and what usually follows: scales, bias, activation.
 *
 * Activations are centred int16 (`quantize`, `centre`), weights are packed once, both without their zero points: two neighbouring k at a
 * time are multiplied and added by one instruction (i32x4.dot_i16x8_s). The relaxed instruction for bytes would be a quarter faster, but wants
 * 7-bit operands and saturates: its sums of 8-bit activations would not be exact.
 */
import type { I32, Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { f32x4, i32x4, v128 } from "../assembler/vector.ts";
import { type Kernel, defineKernel } from "../kernel.ts";
import type { Activation } from "../math/activation.ts";
import { advanced } from "./indexing.ts";
import type { WeightBytes } from "./integer-packing.ts";
import { storeLanes } from "./lanes.ts";
import { floatBytes, indices, laneCount, multiplyTile, tileColumns, tileRows } from "./matmul-tile.ts";
import { emitProduct, productLoops } from "./product-loops.ts";
import { centredStride } from "./quantize.ts";
import { type Tail, storeTile } from "./tail.ts";

export interface IntegerMatmulRequest {
  /** A is [m, k] centred int16 with rows of `centredStride(k)`; B [k, n] packed by `packIntegerWeights`; C [m, n] row-major. */
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** As `packIntegerWeights` said. */
  readonly weightBytes: WeightBytes;
  /** The sums as int32, or turned into float32. */
  readonly output: "int32" | FloatOutput;
}

/** activation(sum * aScale * bScale + bias) + residual */
export interface FloatOutput {
  readonly aScale: "tensor" | "row";
  readonly bScale: "tensor" | "column";
  readonly bias?: boolean;
  readonly activation?: Activation;
  readonly residual?: Tail["residual"];
}

const multiplyAddsPerNanosecond = 40;

/** Parameters: a, b, then aScale, bScale, bias, residual where the output has them, then c. Pieces as of `matmul`. */
export function integerMatmul(request: IntegerMatmulRequest): Kernel {
  const { m, n, k, weightBytes, output } = request;
  const pairs = centredStride(k) / 2;
  const loops = productLoops(m, n, pairs * 4);
  const float = output === "int32" ? undefined : output;
  const pairBytes = tileColumns * 2 * weightBytes;
  const cRowBytes = n * floatBytes;
  return defineKernel({
    family: "integer-matmul",
    request: { m, n, k, weightBytes, output },
    inputs: ["a", "b"],
    optional: {
      aScale: float !== undefined,
      bScale: float !== undefined,
      bias: float?.bias ?? false,
      residual: (float?.residual ?? "none") !== "none",
    },
    outputs: ["c"],
    pieces: loops.pieces,
    pieceNanoseconds: (m * n * k) / loops.pieces / multiplyAddsPerNanosecond + 1,
    emit(f, { a, b, c, ...optional }, from, to) {
      emitProduct(f, loops, { from, to }, ({ rowBlock, rows, panel, columns }) => {
        const sums = multiplyTile(f, {
          rows,
          vectors: Math.ceil(columns / laneCount),
          depth: pairs,
          a: advanced(a, rowBlock, tileRows * pairs * 4),
          b: advanced(b, panel, pairs * pairBytes),
          aRowBytes: pairs * 4,
          aDepthBytes: 4,
          bDepthBytes: pairBytes,
          bVectorBytes: (vector) => Math.floor(vector / 2) * pairs * pairBytes + (vector % 2) * (pairBytes / 2),
          arithmetic: {
            loadColumns: (address, offset) => (weightBytes === 1 ? v128.load8x8S : v128.load)(address, offset),
            accumulate: (_f, factor, weights, sum) => i32x4.add(sum, i32x4.dotI16x8S(weights, factor)),
          },
          start: () => v128.zero,
        });
        const onC = (base: I32): Local<"i32"> =>
          f.value(advanced(advanced(base, panel, tileColumns * floatBytes), rowBlock, tileRows * cRowBytes));
        const at = onC(c);
        if (float === undefined) {
          sums.forEach((row, r) =>
            row.forEach((sum, v) => storeLanes(f, at, sum, Math.min(laneCount, columns - v * laneCount), r * cRowBytes + v * 16)),
          );
          return;
        }
        const { aScale = a, bScale = a, bias, residual } = optional;
        const onColumns = (base: I32): I32 => advanced(base, panel, tileColumns * floatBytes);
        const factors = indices(rows).map((row) =>
          f.value(
            float.aScale === "tensor"
              ? v128.load32Splat(aScale)
              : v128.load32Splat(advanced(aScale, rowBlock, tileRows * floatBytes), row * floatBytes),
          ),
        );
        const scales = indices(Math.ceil(columns / laneCount)).map((vector) =>
          f.value(float.bScale === "tensor" ? v128.load32Splat(bScale) : v128.load(onColumns(bScale), vector * 16)),
        );
        const biasAt = bias && f.value(onColumns(bias));
        storeTile(
          f,
          { activation: float.activation ?? "none", residual: float.residual ?? "none" },
          {
            sums,
            columns,
            c: at,
            cRowBytes,
            residual: residual && onC(residual),
            residualRowBytes: cRowBytes,
            finish: (sum, row, vector) => {
              const scale = f32x4.mul(factors[row] ?? sum, scales[vector] ?? sum);
              return scaled(f, f32x4.convertI32x4S(sum), scale, biasAt && v128.load(biasAt, vector * 16));
            },
          },
        );
      });
    },
  });
}

function scaled(f: FunctionBuilder, value: V128, scale: V128, bias: V128 | undefined): V128 {
  return bias === undefined ? f32x4.mul(value, scale) : f.madd(value, scale, bias);
}
