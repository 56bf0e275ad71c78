/** Quantizes float32 rows to 16 bits, the activations of `blockMatmul`: see `block-layout.ts`. */
import type { V128 } from "../../assembler/expression.ts";
import { f32, i32 } from "../../assembler/scalar.ts";
import { acrossLanes, f32x4, i16x8, i32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices } from "../loops/lanes.ts";
import { activationGroup, activationGroupBytes, activationScaleOffset, activationSumOffsets } from "./block-layout.ts";

/**
 * The largest magnitude of a quantized activation. The products are of 16-bit integers anyway, and their sums over a group fit 32 bits: 32 * 32767 * 128 < 2^31. 8 bits,
 * which other engines use, would be no faster here and 256 times coarser.
 */
const largestCode = 32_767;

/**
 * Generates the kernel that quantizes [rows, columns] float32 by groups of 32: x / scale rounded to the nearest integer, ties to even, with scale = max |x| /
 * 32767. A group with a value that is not finite gets the scale NaN. Parameters: x, y. One piece (unit of parallel work) is one row. `columns` is a multiple of 32.
 */
export function quantizeActivations({ rows, columns }: { readonly rows: number; readonly columns: number }): Kernel {
  return defineKernel({
    family: "quantize-activations",
    request: { columns },
    inputs: ["x"],
    outputs: ["y"],
    pieces: rows,
    pieceNanoseconds: columns * 0.5 + 10,
    machine: { request: { columns } },
    emit(f, { x, y }, from, to) {
      const vectors = indices(activationGroup / 4);
      const largest = f.local("v128");
      const sums = f.locals("v128", 2);
      const ones = f.value(i16x8.splat(i32.const(1)));
      f.range(from, to, 1, (row) => {
        const source = f.value(offsetBy(x, row, columns * floatBytes));
        const target = f.value(offsetBy(y, row, (columns / activationGroup) * activationGroupBytes));
        f.repeat(columns / activationGroup, () => {
          f.set(largest, v128.zero);
          // max, unlike pmax, passes NaN on.
          for (const vector of vectors) f.set(largest, f32x4.max(largest, f32x4.abs(v128.load(source, 16 * vector))));
          const max = f.value(acrossLanes(largest, f32x4.max));
          const scale = f.value(f32x4.mul(max, f32x4.const(1 / largestCode)));
          // 0 where the maximum is 0 or so small that its inverse is infinite.
          const isScaled = f32x4.gt(max, f32x4.const(largestCode * 2 ** -126));
          const inverse = f.value(v128.and(f32x4.div(f32x4.const(largestCode), max), isScaled));
          const quanta = (vector: number): V128 =>
            i32x4.truncSatF32x4S(f32x4.nearest(f32x4.mul(v128.load(source, 16 * vector), inverse)));
          for (const sum of sums) f.set(sum, v128.zero);
          for (const pair of indices(vectors.length / 2)) {
            const codes = f.value(i16x8.narrowI32x4S(quanta(2 * pair), quanta(2 * pair + 1)));
            f.run(v128.store(target, codes, 16 * pair));
            const sum = pair < vectors.length / 4 ? sums[0] : sums[1];
            if (sum !== undefined) f.set(sum, i32x4.add(sum, i32x4.dotI16x8S(codes, ones)));
          }
          f.run(f32.store(target, f32x4.extractLane(scale, 0), activationScaleOffset));
          const halves = sums.map((sum) => f.value(i32x4.extractLane(acrossLanes(sum, i32x4.add), 0)));
          const [first, second] = halves;
          if (first === undefined || second === undefined) return;
          for (const [index, value] of [first, second, i32.add(first, second)].entries())
            f.run(i32.store(target, value, activationSumOffsets[index] ?? 0));
          f.increase(source, activationGroup * floatBytes);
          f.increase(target, activationGroupBytes);
        });
      });
    },
  });
}
