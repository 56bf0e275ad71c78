/** Cumulative sums and products along one axis of [outer, n, inner]. float32 is accumulated in float64 and rounded when stored. */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32, i64 } from "../../assembler/scalar.ts";
import { f32x4, f64x2, i32x4, i64x2, shuffle32, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { emitBlock } from "../loops/blocks.ts";
import { offsetBy } from "../loops/addressing.ts";
import { indices, laneCount, storeLanes } from "../loops/lanes.ts";

/** Element type of the input and output of a cumulative operation. */
export type CumulativeType = "float32" | "int32" | "int64";

/** Shape and kind of one cumulative operation. Input and output are [outer, n, inner] and contiguous; the operation runs along n. */
export interface CumulativeRequest {
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
  readonly function: "sum" | "product";
  readonly type: CumulativeType;
  /** Whether result i excludes element i, as the `exclusive` attribute of ONNX CumSum. */
  readonly exclusive: boolean;
  /** Whether accumulation runs from the last element to the first. */
  readonly reverse: boolean;
}

const elementBytes: Readonly<Record<CumulativeType, number>> = { float32: 4, int32: 4, int64: 8 };
/** Columns per piece when the axis is not the last: one cache line. */
const blockColumns = 16;

/**
 * Generates the kernel of prefix sums or products along the middle axis of x [outer, n, inner]. Parameters: x, y (may be x). One piece (unit of
 * parallel work) is a block of 16 columns.
 */
export function cumulative(request: CumulativeRequest): Kernel {
  const { outer, n, inner, function: name, type, exclusive, reverse } = request;
  const bytes = elementBytes[type];
  const blocks = Math.ceil(inner / blockColumns);
  const step = (reverse ? -1 : 1) * inner * bytes;
  return defineKernel({
    family: "cumulative",
    request: { inner, name, type, exclusive, reverse },
    dynamicSizes: { n },
    inputs: ["x"],
    outputs: ["y"],
    pieces: outer * blocks,
    pieceNanoseconds: n * (inner === 1 ? 1.2 : Math.min(inner, blockColumns) * 0.5) + 5,
    emit(f, { x, y }, from, to, counts) {
      f.range(from, to, 1, (piece) => {
        const index = f.value(i32.divU(piece, i32.const(blocks)));
        const block = f.value(i32.sub(piece, i32.mul(index, i32.const(blocks))));
        const first = reverse ? i32.sub(counts.n, i32.const(1)) : i32.const(0);
        const row = i32.mul(i32.add(i32.mul(index, counts.n), first), i32.const(inner * bytes));
        const start = f.value(offsetBy(row, block, blockColumns * bytes));
        const [source, target] = [f.value(i32.add(x, start)), f.value(i32.add(y, start))];
        emitBlock(f, { block, blocks, size: inner, width: blockColumns }, (columns) => {
          const visit = scanColumns(f, request, source, target, columns);
          f.range(i32.const(0), counts.n, 1, () => {
            visit();
            f.increase(source, step);
            f.increase(target, step);
          });
        });
      });
    },
  });
}

/** Accumulators of four columns: one vector, or two vectors of two lanes. */
type Totals = readonly Local<"v128">[];

function scanColumns(
  f: FunctionBuilder,
  { function: name, type, exclusive }: CumulativeRequest,
  source: I32,
  target: I32,
  columns: number,
): () => void {
  const bytes = elementBytes[type];
  const groups = indices(Math.ceil(columns / laneCount)).map((group) => ({
    offset: group * laneCount * bytes,
    lanes: Math.min(laneCount, columns - group * laneCount),
    totals: (type === "int32" ? ["whole"] : ["low", "high"]).map(() => f.value(getIdentity(type, name))),
  }));
  const combine = name === "sum" ? "add" : "mul";
  const lanesOf = { float32: f64x2, int32: i32x4, int64: i64x2 }[type];
  return () => {
    for (const { offset, lanes, totals } of groups) {
      const given = loadColumns(f, type, source, offset);
      if (exclusive) storeColumns(f, type, target, offset, totals, lanes);
      totals.forEach((total, part) => f.set(total, lanesOf[combine](total, given[part] ?? total)));
      if (!exclusive) storeColumns(f, type, target, offset, totals, lanes);
    }
  };
}

function getIdentity(type: CumulativeType, name: "sum" | "product"): V128 {
  if (name === "sum") return v128.zero;
  if (type === "float32") return f64x2.const(1);
  return type === "int32" ? i32x4.const(1) : i64x2.splat(i64.const(1n));
}

function loadColumns(f: FunctionBuilder, type: CumulativeType, source: I32, offset: number): Totals {
  const low = f.value(v128.load(source, offset));
  if (type === "int32") return [low];
  if (type === "int64") return [low, f.value(v128.load(source, offset + 16))];
  return [f.value(f64x2.promoteLowF32x4(low)), f.value(f64x2.promoteLowF32x4(shuffle32(low, low, [2, 3, 2, 3])))];
}

function storeColumns(
  f: FunctionBuilder,
  type: CumulativeType,
  target: I32,
  offset: number,
  totals: Totals,
  lanes: number,
): void {
  const [low, high] = totals;
  if (low === undefined) return;
  if (type === "float32") {
    const [a, b] = [f32x4.demoteF64x2Zero(low), f32x4.demoteF64x2Zero(high ?? low)];
    storeLanes(f, target, shuffle32(a, b, [0, 1, 4, 5]), lanes, offset);
    return;
  }
  if (type === "int32") storeLanes(f, target, low, lanes, offset);
  else {
    storeLanes(f, target, low, Math.min(lanes, 2) * 2, offset);
    if (high !== undefined && lanes > 2) storeLanes(f, target, high, (lanes - 2) * 2, offset + 16);
  }
}
