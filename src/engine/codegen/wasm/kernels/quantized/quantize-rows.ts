/** Quantizes float32 activations to rows of bytes for `byteMatmul`, with the norm and offset that its sums need for each row. */
import type { I32, V128 } from "../../assembler/expression.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, i16x8, i32x4, i8x16, shuffle32, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices } from "../loops/lanes.ts";
import { quantizedLanes } from "./quantize.ts";
import { normOffset, rowBytes, runSteps, stepDepth } from "./byte-layout.ts";

/** Shape of the activations: [rows, columns] float32, contiguous. */
export interface QuantizeRowsRequest {
  readonly rows: number;
  readonly columns: number;
}

/** Elements that are quantized at a time. */
const groupSize = 8;
const runSize = runSteps * stepDepth;

/**
 * Generates the kernel that quantizes float32 rows to bytes for `byteMatmul`. Parameters: x, scale (float32) and zeroPoint (uint8), one for all rows,
 * and y, rows of `rowBytes` bytes. One piece (unit of parallel work) is one row.
 */
export function quantizeRows({ rows, columns }: QuantizeRowsRequest): Kernel {
  return defineKernel({
    family: "quantize-rows",
    request: { columns },
    inputs: ["x", "scale", "zeroPoint"],
    outputs: ["y"],
    pieces: rows,
    pieceNanoseconds: columns * 0.5 + 10,
    machine: { request: { rows, columns } },
    emit(f, { x, scale, zeroPoint, y }, from, to) {
      const isUnsigned = f.features.byteDot === "unsigned";
      const divisor = f.value(v128.load32Splat(scale));
      const shift = f.value(i32.load8U(zeroPoint));
      const zero = f.value(i16x8.splat(shift));
      const added = f.value(f32x4.convertI32x4S(i32x4.splat(shift)));
      const squares = f.local("v128");
      const largest = f.local("v128");
      const group = (source: I32, target: I32, count: number): void => {
        const quanta = (offset: number): V128 => quantizedLanes(v128.load(source, offset), divisor, added);
        const low = f.value(quanta(0));
        const narrow = f.value(i16x8.narrowI32x4S(low, count > 4 ? quanta(16) : low));
        const bytes = f.value(i8x16.narrowI16x8U(narrow, narrow));
        const words = i16x8.extendLowI8x16U(bytes); // read back from the bytes, so that the norms also cover the byte that a NaN is converted to
        f.run(v128.store64Lane(target, isUnsigned ? bytes : v128.xor(bytes, i8x16.splat(i32.const(128))), 0)); // 8 bytes never exceed the row, which ends with the norm and factor
        const centred = f.value(keepWords(i16x8.sub(words, zero), count));
        f.set(squares, i32x4.add(squares, i32x4.dotI16x8S(centred, centred)));
      };
      const run = (source: I32, target: I32, size: number): void => {
        f.set(squares, v128.zero);
        for (const start of indices(Math.ceil(size / groupSize)).map((index) => index * groupSize))
          group(
            i32.add(source, i32.const(start * floatBytes)),
            i32.add(target, i32.const(start)),
            Math.min(groupSize, size - start),
          );
        // The 32-bit lanes 0 and 2 hold squares of one 16-bit lane of the dot product, 1 and 3 those of the other.
        f.set(largest, i32x4.maxS(largest, i32x4.add(squares, shuffle32(squares, squares, [2, 3, 0, 1]))));
      };
      f.range(from, to, 1, (row) => {
        const source = f.value(offsetBy(x, row, columns * floatBytes));
        const start = f.value(offsetBy(y, row, rowBytes(columns)));
        const target = f.value(start);
        f.set(largest, v128.zero);
        f.repeat(Math.floor(columns / runSize), () => {
          run(source, target, runSize);
          f.increase(source, runSize * floatBytes);
          f.increase(target, runSize);
        });
        if (columns % runSize > 0) run(source, target, columns % runSize);
        const max = i32x4.maxS(largest, shuffle32(largest, largest, [1, 0, 3, 2]));
        const norm = f32x4.ceil(f32x4.sqrt(f32x4.convertI32x4S(max)));
        f.run(i32.store(start, i32x4.extractLane(i32x4.truncSatF32x4S(norm), 0), normOffset(columns)));
        f.run(i32.store(start, i32.sub(i32.const(isUnsigned ? 0 : 128), shift), normOffset(columns) + 4));
      });
    },
  });
}

/** Keeps the first `count` 16-bit lanes and sets the others to 0. */
function keepWords(words: V128, count: number): V128 {
  if (count >= groupSize) return words;
  return v128.and(words, v128.const(indices(16).map((byte) => (byte < count * 2 ? 0xff : 0))));
}
