/**
 * Interleaves the phases of a decomposed transposed convolution: with stride s, the output element at position u is element floor(u / s) of phase
 * u mod s.
 */
import { required } from "../../../../../contract/checked.ts";
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { copyMemory, f32, i32 } from "../../assembler/scalar.ts";
import { shuffle32, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy, product, unravel } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount } from "../loops/lanes.ts";
import { transposed } from "../matmul/panel-copy.ts";

/** One spatial axis of a transposed convolution that is decomposed into phases. All lengths are in elements. */
export interface InterleavedAxis {
  /** Number of phases, which is the stride of the transposed convolution. */
  readonly phases: number;
  /** Length of each phase. */
  readonly phaseLength: number;
  /** Number of elements cropped at the beginning. */
  readonly skip: number;
  /** Length of the output after cropping. */
  readonly length: number;
}

/** Shapes of the phases, see `convolution-transpose-phases.ts`, and of the interleaved output. */
export interface InterleaveRequest {
  /** Batch times channels. */
  readonly planes: number;
  readonly axes: readonly InterleavedAxis[];
}

/**
 * Generates the kernel that interleaves the phases of a decomposed transposed convolution to its output. Parameters: x [planes, phases of each axis,
 * phase length of each axis], y [planes, output length of each axis], float32. One piece (unit of parallel work) writes one row of y.
 */
export function interleave({ planes, axes }: InterleaveRequest): Kernel {
  const outer = axes.slice(0, -1);
  const { phases, phaseLength, skip, length } = required(axes.at(-1), "the last axis");
  const outerPlaces = product(outer.map((axis) => axis.phaseLength));
  const head = Math.min(length, (phases - (skip % phases)) % phases);
  const blocks = Math.floor((length - head) / (phases * laneCount));
  return defineKernel({
    family: "interleave",
    request: { outer, phases, head, rest: skip % phases },
    dynamicSizes: { kept: length, blocks, skip, rowBytes: phaseLength * floatBytes },
    inputs: ["x"],
    outputs: ["y"],
    pieces: planes * product(outer.map((axis) => axis.length)),
    pieceNanoseconds: length * 0.4 + 20,
    emit(f, { x, y }, from, to, counts) {
      // A phase of one plane consists of `outerPlaces` rows.
      const phaseBytes = f.value(i32.mul(counts.rowBytes, i32.const(outerPlaces)));
      const planeBytes = f.value(i32.mul(phaseBytes, i32.const(product(axes.map((axis) => axis.phases)))));
      f.range(from, to, 1, (row) => {
        const [plane = row, ...at] = unravel(f, row, [planes, ...outer.map((axis) => axis.length)]);
        const source = f.value(i32.add(x, i32.mul(plane, planeBytes)));
        for (const [index, axis] of outer.entries()) {
          const element = f.value(i32.add(at[index] ?? row, i32.const(axis.skip)));
          const place = f.value(i32.divU(element, i32.const(axis.phases)));
          const phase = i32.sub(element, i32.mul(place, i32.const(axis.phases)));
          const inner = axes.slice(index + 1);
          const phaseStep = i32.mul(phaseBytes, i32.const(product(inner.map((each) => each.phases))));
          const placeStep = i32.mul(counts.rowBytes, i32.const(product(outer.slice(index + 1).map((each) => each.phaseLength))));
          f.increase(source, i32.add(i32.mul(phase, phaseStep), i32.mul(place, placeStep)));
        }
        const target = f.value(i32.add(y, i32.mul(row, i32.mul(counts.kept, i32.const(floatBytes)))));
        if (phases === 1) {
          const first = i32.add(source, i32.mul(counts.skip, i32.const(floatBytes)));
          f.run(copyMemory(target, first, i32.mul(counts.kept, i32.const(floatBytes))));
          return;
        }
        const singles = (first: I32, end: I32): void =>
          f.range(first, end, 1, (element) => {
            const whole = f.value(i32.add(element, counts.skip));
            const place = f.value(i32.divU(whole, i32.const(phases)));
            const phase = i32.sub(whole, i32.mul(place, i32.const(phases)));
            const at = offsetBy(i32.add(source, i32.mul(phase, phaseBytes)), place, floatBytes);
            f.run(f32.store(offsetBy(target, element, floatBytes), f32.load(at)));
          });
        if (head > 0) singles(i32.const(0), i32.const(head));
        const firstPlace = i32.divU(i32.add(counts.skip, i32.const(head)), i32.const(phases));
        const cursor: Cursor = {
          source: f.value(offsetBy(source, firstPlace, floatBytes)),
          target: f.value(i32.add(target, i32.const(head * floatBytes))),
          phaseBytes,
        };
        f.range(i32.const(0), counts.blocks, 1, () => {
          emitBlock(f, phases, cursor);
          f.increase(cursor.source, laneCount * floatBytes);
          f.increase(cursor.target, phases * laneCount * floatBytes);
        });
        singles(i32.add(i32.const(head), i32.mul(counts.blocks, i32.const(phases * laneCount))), counts.kept);
      });
    },
  });
}

interface Cursor {
  readonly source: Local<"i32">;
  readonly target: Local<"i32">;
  readonly phaseBytes: I32;
}

/** Stores 4 * phases consecutive output elements: four neighbouring elements of every phase, interleaved. */
function emitBlock(f: FunctionBuilder, phases: number, { source, target, phaseBytes }: Cursor): void {
  if (phases === 2) {
    const even = f.value(v128.load(source));
    const odd = f.value(v128.load(i32.add(source, phaseBytes)));
    f.run(v128.store(target, shuffle32(even, odd, [0, 4, 1, 5])));
    f.run(v128.store(target, shuffle32(even, odd, [2, 6, 3, 7]), laneCount * floatBytes));
    return;
  }
  const from = f.value(source);
  const to = f.value(target);
  if (phases % laneCount === 0) {
    f.repeat(phases / laneCount, () => {
      const rows = indices(laneCount).map(() => {
        const row = f.value(v128.load(from));
        f.increase(from, phaseBytes);
        return row;
      });
      transposed(f, rows).forEach((lanes, place) => f.run(v128.store(to, lanes, place * phases * floatBytes)));
      f.increase(to, laneCount * floatBytes);
    });
    return;
  }
  f.repeat(phases, () => {
    const row = f.value(v128.load(from));
    for (const place of indices(laneCount)) f.run(v128.store32Lane(to, row, place, place * phases * floatBytes));
    f.increase(from, phaseBytes);
    f.increase(to, floatBytes);
  });
}
