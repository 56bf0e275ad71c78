/**
 * Matrix products of 8-bit integers with exact 32-bit sums, followed by scales, bias and activation.
 *
 * Activations are int16 without their zero point (`quantize`, `subtractZeroPoint`); weights are packed without theirs. One instruction (i32x4.dot_i16x8_s)
 * multiplies and adds two neighbouring k. It takes any weights; `byteMatmul` is faster where the machine and the weights allow it.
 */
import { i32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import type { IntegerWeightsShape } from "./integer-packing.ts";
import { type IntegerOutput, optionalOperands, storeIntegers } from "./integer-epilogue.ts";
import { laneCount } from "../loops/lanes.ts";
import { emitMicroKernel, tileColumns, tileRows } from "../matmul/micro-kernel.ts";
import { emitTiles, tilingFor, rowSpecialization } from "../matmul/tiling.ts";

/** Shapes, weight width and output form of one matrix product of int16 activations and packed 8- or 16-bit weights. */
export interface IntegerMatmulRequest extends IntegerWeightsShape {
  /** Rows of A and C. A is [m, k] int16; B is [k, n] packed by `packIntegerWeights`; C is [m, n] row-major. */
  readonly m: number;
  readonly output: IntegerOutput;
}

const multiplyAddsPerNanosecond = 40;

/**
 * Generates the kernel of a product of int16 activations and 8-bit weights, exact in int32. Parameters: a, b, then aScale, bScale, bias, residual as
 * the output form takes them, then c. One piece (unit of parallel work) is a panel of 8 columns, or a block of 4 rows where m is large.
 */
export function integerMatmul(request: IntegerMatmulRequest): Kernel {
  const { m, n, k, weightBytes, output } = request;
  const pairs = k / 2;
  const loops = tilingFor(m, n, pairs * 4);
  const pairBytes = tileColumns * 2 * weightBytes;
  return defineKernel({
    family: "integer-matmul",
    request: { rows: rowSpecialization(loops), n, k, weightBytes, output },
    dynamicSizes: { rowBlocks: Math.floor(m / tileRows) },
    inputs: ["a", "b"],
    optional: optionalOperands(output),
    outputs: ["c"],
    pieces: loops.pieces,
    pieceNanoseconds: (m * n * k) / loops.pieces / multiplyAddsPerNanosecond + 1,
    emit(f, { a, b, c, ...optional }, from, to, { rowBlocks }) {
      emitTiles(f, { ...loops, rowBlocks }, { from, to }, (place) => {
        const { rowBlock, rows, panel, columns } = place;
        const sums = emitMicroKernel(f, {
          rows,
          vectors: Math.ceil(columns / laneCount),
          depth: pairs,
          a: offsetBy(a, rowBlock, tileRows * pairs * 4),
          b: offsetBy(b, panel, pairs * pairBytes),
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
        storeIntegers(f, { n, output, place, sums, c, operands: optional });
      });
    },
  });
}
