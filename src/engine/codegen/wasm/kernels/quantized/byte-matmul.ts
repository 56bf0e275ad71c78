/**
 * Matrix products of bytes with exact 32-bit sums, using the relaxed SIMD dot product of bytes, followed by scales, bias and activation. See
 * `byte-layout.ts` for why the sums are exact.
 */
import { at } from "../../../../../contract/checked.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { i16x8, i32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy, maximum, minimum } from "../loops/addressing.ts";
import { type IntegerOutput, optionalOperands, storeIntegers } from "./integer-epilogue.ts";
import { indices, laneCount, vectorBytes } from "../loops/lanes.ts";
import { tileRows } from "../matmul/micro-kernel.ts";
import { type Tiling, emitTiles, getTilePieces, tilingFor, rowSpecialization } from "../matmul/tiling.ts";
import {
  columnSumsOffset,
  maxNormProduct,
  normOffset,
  onesOffset,
  panelBytes,
  panelHeaderBytes,
  rowBytes,
  runSteps,
  stepBytes,
  stepDepth,
  getSteps,
} from "./byte-layout.ts";

/** Shapes and output form of one matrix product of uint8 activations and int8 weights. */
export interface ByteMatmulRequest {
  /** Rows of A and C. A is [m, k] as `quantizeRows` writes it; B is [k, n] packed by `packBytes`; C is [m, n] row-major. */
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly output: IntegerOutput;
}

const multiplyAddsPerNanosecond = 60;
/** Panels of the widest tile of machine code. */
const tilePanels = 6;

/** How a product is divided into pieces and tiles. */
export function byteTiling({ m, n, k }: ByteMatmulRequest): Tiling {
  return tilingFor(m, n, rowBytes(k), 1);
}

/**
 * Generates the kernel of a product of uint8 activations and int8 weights. Parameters: a, b, then aScale, bScale, bias, residual as the output form
 * takes them, then c. One piece (unit of parallel work) is a panel of 8 columns, or a block of 4 rows where m is large.
 */
export function byteMatmul(request: ByteMatmulRequest): Kernel {
  const { m, n, k, output } = request;
  const loops = byteTiling(request);
  return defineKernel({
    family: "byte-matmul",
    request: { rows: rowSpecialization(loops), n, k, output },
    dynamicSizes: { rowBlocks: Math.floor(m / tileRows) },
    inputs: ["a", "b"],
    optional: optionalOperands(output),
    outputs: ["c"],
    pieces: loops.pieces,
    pieceNanoseconds: (m * n * k) / loops.pieces / multiplyAddsPerNanosecond + 1,
    tilePieces: getTilePieces(loops, tilePanels),
    machine: { request },
    emit(f, { a, b, c, ...optional }, from, to, { rowBlocks }) {
      emitTiles(f, { ...loops, rowBlocks }, { from, to }, (place) => {
        const { rowBlock, rows, panel, columns } = place;
        const sums = indices(rows).map(() => f.locals("v128", Math.ceil(columns / laneCount)));
        multiplyBytes(f, {
          k,
          sums,
          a: f.value(offsetBy(a, rowBlock, tileRows * rowBytes(k))),
          panel: f.value(offsetBy(b, panel, panelBytes(k))),
        });
        storeIntegers(f, { n, output, place, sums, c, operands: optional });
      });
    },
  });
}

interface ByteTile {
  readonly k: number;
  /** Local variables that receive the sums, as [row][vector]. */
  readonly sums: readonly (readonly Local<"v128">[])[];
  readonly a: Local<"i32">;
  readonly panel: Local<"i32">;
}

/** Local variables that the loops over the steps of a tile share: addresses of weights and activations, and a vector of int16 ones. */
interface StepCursor {
  readonly tile: ByteTile;
  readonly weights: Local<"i32">;
  readonly bytes: Local<"i32">;
  readonly ones: Local<"v128">;
}

function multiplyBytes(f: FunctionBuilder, tile: ByteTile): void {
  const { k, sums, a, panel } = tile;
  const norms = sums.map((_, row) => i32.load(a, row * rowBytes(k) + normOffset(k)));
  const norm = norms.reduce((max, next) => maximum(max, next));
  const walk: StepCursor = {
    tile,
    weights: f.value(i32.add(panel, i32.const(panelHeaderBytes))),
    bytes: f.value(a),
    ones: f.value(v128.load32Splat(panel, onesOffset)), // loaded once: V8 would create a constant again at each use
  };
  f.when(
    i32.leU(i32.mul(norm, i32.load(panel)), i32.const(maxNormProduct)),
    () => sumInSixteenBits(f, walk),
    () => sumInThirtyTwoBits(f, walk),
  );
}

/**
 * Generates the product of a tile with sums of one run in 16 bits. Each run starts from the sum of its weights times the zero-point factor, so that the
 * partial sums are those of activations without zero point, for which the norms bound the result.
 */
function sumInSixteenBits(f: FunctionBuilder, walk: StepCursor): void {
  const { tile, weights, ones } = walk;
  const { sums, a, k } = tile;
  for (const row of sums) for (const sum of row) f.set(sum, v128.zero);
  const factor = f.value(i16x8.splat(i32.load(a, normOffset(k) + 4)));
  const partial = sums.map((row) => f.locals("v128", row.length));
  forRuns(f, walk, (eachStep) => {
    for (const [vector, first] of (partial[0] ?? []).entries()) {
      f.set(first, i16x8.mul(v128.load(weights, vector * vectorBytes), factor));
      for (const row of partial.slice(1)) f.set(row[vector] ?? first, first);
    }
    f.increase(weights, stepBytes);
    eachStep((products, row, vector) => {
      const sum = partial[row]?.[vector];
      if (sum !== undefined) f.set(sum, i16x8.add(sum, products));
    });
    for (const [row, each] of sums.entries())
      for (const [vector, sum] of each.entries())
        f.set(sum, i32x4.add(sum, i32x4.dotI16x8S(partial[row]?.[vector] ?? sum, ones)));
  });
}

function sumInThirtyTwoBits(f: FunctionBuilder, walk: StepCursor): void {
  const { tile, weights, ones } = walk;
  const { sums, a, panel, k } = tile;
  const factor = f.value(v128.load32Splat(a, normOffset(k) + 4));
  for (const row of sums)
    for (const [vector, sum] of row.entries())
      f.set(sum, i32x4.mul(v128.load(panel, columnSumsOffset + vector * vectorBytes), factor));
  forRuns(f, walk, (eachStep) => {
    f.increase(weights, stepBytes);
    eachStep((products, row, vector) => {
      const sum = sums[row]?.[vector];
      if (sum !== undefined) f.set(sum, i32x4.add(sum, i32x4.dotI16x8S(products, ones)));
    });
  });
}

type EachStep = (use: (products: V128, row: number, vector: number) => void) => void;

/** Generates the loop over the runs of a panel. `run` generates the body of the loop and is given the generator of the inner loop over the steps of a run. */
function forRuns(f: FunctionBuilder, { tile, weights, bytes }: StepCursor, run: (eachStep: EachStep) => void): void {
  const { sums, k, panel } = tile;
  const steps = getSteps(k);
  const end = f.value(i32.add(panel, i32.const(panelBytes(k))));
  const runEnd = f.local("i32");
  const columns = f.locals("v128", at(sums, 0).length);
  const factor = f.local("v128");
  const eachStep: EachStep = (use) => {
    const full: I32 = i32.add(weights, i32.const(runSteps * stepBytes));
    f.set(runEnd, steps % runSteps === 0 ? full : minimum(full, end));
    f.doWhile(
      () => {
        columns.forEach((column, vector) => f.set(column, v128.load(weights, vector * vectorBytes)));
        for (const row of indices(sums.length)) {
          f.set(factor, v128.load32Splat(bytes, row * rowBytes(k)));
          columns.forEach((column, vector) => use(f.pairDot(column, factor), row, vector));
        }
        f.increase(weights, stepBytes);
        f.increase(bytes, stepDepth);
      },
      () => i32.ne(weights, runEnd),
    );
  };
  f.doWhile(
    () => run(eachStep),
    () => i32.ne(weights, end),
  );
}
