/**
 * Dynamic quantization to uint8 as defined by ONNX's DynamicQuantizeLinear (https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html), for a whole
 * tensor (one row) or for each row.
 */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, i16x8, i32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { clamp } from "../../math/polynomial.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, laneCount, storeLanes } from "../loops/lanes.ts";
import { type RowLength, forVectors, loadVector, reduceRow } from "../loops/row-loops.ts";

const maxQuantum = 255;

/** Shape of the activations [rows, columns] whose scales and zero points are computed. Use one row for a scale per tensor. */
export interface QuantizationRangeRequest {
  readonly rows: number;
  readonly columns: number;
}

/**
 * Generates the kernel that computes the scale and zero point of each row. Parameters: x; scale (float32) and zeroPoint (uint8), one per row. One
 * piece (unit of parallel work) is one row. A row of zeros gets scale 1, a row with a NaN scale NaN.
 */
export function quantizationRange({ rows, columns }: QuantizationRangeRequest): Kernel {
  const rest = columns % laneCount;
  return defineKernel({
    family: "quantization-range",
    request: { rest },
    dynamicSizes: { vectors: Math.floor(columns / laneCount) },
    inputs: ["x"],
    outputs: ["scale", "zeroPoint"],
    pieces: rows,
    pieceNanoseconds: columns * 0.3 + 10,
    machine: { request: { rows, columns } },
    emit(f, { x, scale, zeroPoint }, from, to, { vectors }) {
      const length: RowLength = { vectors, rest };
      const rowBytes = f.value(i32.add(i32.mul(vectors, i32.const(laneCount * floatBytes)), i32.const(rest * floatBytes)));
      f.range(from, to, 1, (row) => {
        const start = f.value(offsetBy(x, row, rowBytes));
        const extreme = (combine: typeof f32x4.pmin): Local<"v128"> =>
          reduceRow(f, length, { combine, identity: v128.zero }, (offset) => loadVector(start, offset)); // 0 is always in the range
        const min = extreme(f32x4.pmin);
        // pmin and pmax ignore NaN, so NaN is detected separately.
        const isNan = (offset: I32): V128 => {
          const value = f.value(loadVector(start, offset));
          return f32x4.ne(value, value);
        };
        const strange = reduceRow(f, length, { combine: v128.or, identity: v128.zero }, isNan);
        const width = f.value(f32x4.sub(extreme(f32x4.pmax), min));
        const step = f32x4.div(width, f32x4.const(maxQuantum));
        const whole = v128.bitselect(f32x4.const(1), step, f32x4.eq(width, v128.zero));
        const safe = f.value(v128.bitselect(f32x4.const(Number.NaN), whole, strange));
        const zero = f32x4.nearest(clampQuantum(f32x4.sub(v128.zero, f32x4.div(min, safe))));
        storeLanes(f, offsetBy(scale, row, floatBytes), safe, 1);
        f.run(i32.store8(i32.add(zeroPoint, row), i32x4.extractLane(i32x4.truncSatF32x4S(zero), 0)));
      });
    },
  });
}

/** Shape of the activations [rows, columns], which share one scale and zero point. The number of columns is even. */
export interface QuantizeRequest {
  readonly rows: number;
  readonly columns: number;
}

/**
 * Generates the kernel that quantizes float32 to 8 bits: round(x / scale) + zero point, half to even, clamped to 0 to 255. The result is without the zero
 * point, as int16, as `integerMatmul` takes it. Parameters: x, scale, zeroPoint, y. One piece (unit of parallel work) is one row.
 */
export function quantize({ rows, columns }: QuantizeRequest): Kernel {
  return defineKernel({
    family: "quantize",
    request: { columns },
    inputs: ["x", "scale", "zeroPoint"],
    outputs: ["y"],
    pieces: rows,
    pieceNanoseconds: columns * 0.7 + 5,
    emit(f, { x, scale, zeroPoint, y }, from, to) {
      const divisor = f.value(v128.load32Splat(scale));
      const zero = f.value(i32x4.splat(i32.load8U(zeroPoint)));
      const shift = f.value(f32x4.convertI32x4S(zero));
      f.range(from, to, 1, (row) => {
        const source = f.value(offsetBy(x, row, columns * floatBytes));
        const target = f.value(offsetBy(y, row, columns * 2));
        forVectors(f, columns, (offset, lanes) => {
          const quantum = f.value(quantizedLanes(loadVector(source, offset), divisor, shift));
          storeInt16(f, i32.add(target, i32.shrU(offset, i32.const(1))), i32x4.sub(quantum, zero), lanes);
        });
      });
    },
  });
}

/** Shape and type of the quantized activations [rows, columns] from which the zero point is subtracted. The number of columns is even. */
export interface SubtractZeroPointRequest {
  readonly rows: number;
  readonly columns: number;
  readonly type: "uint8" | "int8";
  /** Whether there is a zero point, of the same type and for all elements. */
  readonly zeroPoint: boolean;
}

/**
 * Generates the kernel that subtracts the zero point from quantized activations, for `integerMatmul`. Parameters: x, zeroPoint if there is one, y
 * (int16). One piece (unit of parallel work) is one row.
 */
export function subtractZeroPoint({ rows, columns, type, zeroPoint }: SubtractZeroPointRequest): Kernel {
  const isSigned = type === "int8";
  return defineKernel({
    family: "subtract-zero-point",
    request: { columns, type, zeroPoint },
    inputs: ["x"],
    optional: { zeroPoint },
    outputs: ["y"],
    pieces: rows,
    pieceNanoseconds: columns * 0.3 + 5,
    emit(f, { x, y, zeroPoint: zeroAt }, from, to) {
      const zero = f.value(zeroAt === undefined ? v128.zero : i32x4.splat(isSigned ? i32.load8S(zeroAt) : i32.load8U(zeroAt)));
      f.range(from, to, 1, (row) => {
        const source = f.value(offsetBy(x, row, columns));
        const target = f.value(offsetBy(y, row, columns * 2));
        forVectors(f, columns, (offset, lanes) => {
          const bytes = v128.load32Zero(i32.add(source, i32.shrU(offset, i32.const(2))));
          const wide = isSigned
            ? i32x4.extendLowI16x8S(i16x8.extendLowI8x16S(bytes))
            : i32x4.extendLowI16x8U(i16x8.extendLowI8x16U(bytes));
          storeInt16(f, i32.add(target, i32.shrU(offset, i32.const(1))), i32x4.sub(wide, zero), lanes);
        });
      });
    },
  });
}

/** Quantizes four float32 lanes: round(x / divisor) + shift, half to even, clamped to 0 to 255. Returns int32 lanes. */
export function quantizedLanes(x: V128, divisor: V128, shift: V128): V128 {
  return getLowBits(clampQuantum(f32x4.add(f32x4.nearest(f32x4.div(x, divisor)), shift)));
}

function clampQuantum(x: V128): V128 {
  return clamp(x, 0, maxQuantum);
}

/** Converts float32 lanes that hold small integers to int32: adding 2^23 + 2^22 puts the integer in the low bits. Faster than the conversion instruction. */
function getLowBits(whole: V128): V128 {
  const base = f32x4.const(12_582_912);
  return i32x4.sub(f32x4.add(whole, base), base);
}

/** Stores 4 or 2 int32 lanes as int16. */
function storeInt16(f: FunctionBuilder, address: I32, value: V128, lanes: number): void {
  const words = f.value(i16x8.narrowI32x4S(value, value));
  const at = f.value(address);
  f.run(lanes === 4 ? v128.store64Lane(at, words, 0) : v128.store32Lane(at, words, 0));
}
