/** Quantizes float32 rows to 8 bits, the activations of `blockMatmul` for ternary weights: see `block-layout.ts`. */
import type { V128 } from "../../assembler/expression.ts";
import { f32, i32 } from "../../assembler/scalar.ts";
import { acrossLanes, f32x4, i16x8, i32x4, i8x16, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices } from "../loops/lanes.ts";
import { byteActivationGroupBytes } from "./block-layout.ts";

/** The largest magnitude of a quantized activation. */
const largestCode = 127;
/** Elements of one iteration. */
const stepElements = 16;

/**
 * Generates the kernel that quantizes [rows, columns] float32 by groups of `elements`: x / scale rounded to the nearest integer, ties to even, with scale = max |x| /
 * 127. A group with a value that is not finite gets the scale NaN. Parameters: x, y. One piece (unit of parallel work) is one row. `columns` is a multiple of
 * `elements`, which is a multiple of 16.
 */
export function quantizeActivationBytes({
  rows,
  columns,
  elements,
}: {
  readonly rows: number;
  readonly columns: number;
  readonly elements: number;
}): Kernel {
  return defineKernel({
    family: "quantize-activation-bytes",
    request: { columns, elements },
    inputs: ["x"],
    outputs: ["y"],
    pieces: rows,
    pieceNanoseconds: columns * 0.5 + 10,
    machine: { request: { columns, elements } },
    emit(f, { x, y }, from, to) {
      const vectors = indices(stepElements / 4);
      const [largest, sum] = [f.local("v128"), f.local("v128")];
      const ones = f.value(i16x8.splat(i32.const(1)));
      f.range(from, to, 1, (row) => {
        const source = f.value(offsetBy(x, row, columns * floatBytes));
        const target = f.value(offsetBy(y, row, (columns / elements) * byteActivationGroupBytes(elements)));
        f.repeat(columns / elements, () => {
          f.set(largest, v128.zero);
          const values = f.value(source);
          f.repeat(elements / stepElements, () => {
            // max, unlike pmax, passes NaN on.
            for (const vector of vectors) f.set(largest, f32x4.max(largest, f32x4.abs(v128.load(values, 16 * vector))));
            f.increase(values, stepElements * floatBytes);
          });
          const max = f.value(acrossLanes(largest, f32x4.max));
          const scale = f.value(f32x4.mul(max, f32x4.const(1 / largestCode)));
          // 0 where the maximum is 0 or so small that its inverse is infinite.
          const isScaled = f32x4.gt(max, f32x4.const(largestCode * 2 ** -126));
          const inverse = f.value(v128.and(f32x4.div(f32x4.const(largestCode), max), isScaled));
          f.set(sum, v128.zero);
          f.repeat(elements / stepElements, () => {
            const quanta = (vector: number): V128 =>
              i32x4.truncSatF32x4S(f32x4.nearest(f32x4.mul(v128.load(source, 16 * vector), inverse)));
            const low = f.value(i16x8.narrowI32x4S(quanta(0), quanta(1)));
            const high = f.value(i16x8.narrowI32x4S(quanta(2), quanta(3)));
            f.run(v128.store(target, i8x16.narrowI16x8S(low, high), 0));
            f.set(sum, i32x4.add(sum, i32x4.dotI16x8S(i16x8.add(low, high), ones)));
            f.increase(source, stepElements * floatBytes);
            f.increase(target, stepElements);
          });
          f.run(f32.store(target, f32x4.extractLane(scale, 0), 0));
          f.run(i32.store(target, i32x4.extractLane(acrossLanes(sum, i32x4.add), 0), 4));
          f.increase(target, byteActivationGroupBytes(elements) - elements);
        });
      });
    },
  });
}
