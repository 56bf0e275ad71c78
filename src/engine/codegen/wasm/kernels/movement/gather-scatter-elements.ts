/** GatherElements and ScatterElements of ONNX: each index replaces one coordinate of its own position. */
import { at, required } from "../../../../../contract/checked.ts";
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { type ElementBytes, copyElement } from "../loops/copy-bytes.ts";
import { contiguousStrides } from "../../../../ir/broadcast.ts";
import { type Axis, collapseAxes } from "../loops/axes.ts";
import { offsetBy, minimum, addressAt, product, unravel } from "../loops/addressing.ts";
import { type IndexType, indexOutOfRange, loadIndex } from "./load-index.ts";
import { type ScatterReductionKernel, type ScatterType, elementBytesOf, storeReduced } from "./scatter-reduction.ts";

interface IndexedElements {
  /** Shape of the indices. The data is at least as large on every axis but `axis`. */
  readonly shape: readonly number[];
  /** Strides of the data in elements. */
  readonly strides: readonly number[];
  readonly axis: number;
  /** Size of the data along `axis`. Negative indices count from the end. */
  readonly size: number;
  readonly indexType: IndexType;
}

/** Shapes and types of one GatherElements kernel. The output is contiguous and has the shape of the indices. */
export interface GatherElementsRequest extends IndexedElements {
  readonly elementBytes: ElementBytes;
}

/** Shapes, types and reduction of one ScatterElements kernel. The updates are contiguous and have the shape of the indices. */
export interface ScatterElementsRequest extends IndexedElements {
  readonly type: ScatterType;
  readonly reduction: ScatterReductionKernel;
}

/** Elements per piece of a single long row. */
const blockElements = 1024;

/**
 * Generates the kernel of ONNX GatherElements. Parameters: x, index, y. Returns the status 0 or `indexOutOfRange`. One piece (unit of parallel work)
 * is a row of the indices, or a block of 1,024 when they are one row.
 */
export function gatherElements({ shape, strides, axis, size, elementBytes, indexType }: GatherElementsRequest): Kernel {
  const axes = collapseAxes(shape, [contiguousStrides(shape), strides.with(axis, 0)]);
  const outer = axes.slice(0, -1);
  const { size: length, strides: steps } = axes.at(-1) ?? { size: 1, strides: [1, 0] };
  const axisBytes = at(strides, axis) * elementBytes;
  const isOneRow = outer.length === 0;
  return defineKernel({
    family: "gather-elements",
    request: { outer, steps, axisBytes, elementBytes, indexType },
    dynamicSizes: { size, length },
    inputs: ["x", "index"],
    outputs: ["y"],
    pieces: isOneRow ? Math.ceil(length / blockElements) : product(outer.map((each) => each.size)),
    pieceNanoseconds: Math.min(length, isOneRow ? blockElements : length) * 2.5 + 10,
    emit(f, { x, index, y }, from, to, counts) {
      const status = f.value(i32.const(0));
      const row = (source: I32, first: I32, begin: I32, end: I32): void => {
        const target = f.value(offsetBy(offsetBy(y, first, elementBytes), begin, elementBytes));
        f.range(begin, end, 1, (place) => {
          const at = loadIndex(f, index, i32.add(first, place), counts.size, indexType);
          f.when(
            i32.ltU(at, counts.size),
            () => {
              const along = offsetBy(
                offsetBy(source, place, required(steps[1], "the stride of x") * elementBytes),
                at,
                axisBytes,
              );
              copyElement(f, target, f.value(along), elementBytes, 0, 0);
            },
            () => f.set(status, i32.const(indexOutOfRange)),
          );
          f.increase(target, elementBytes);
        });
      };
      if (isOneRow) {
        const end = f.value(minimum(i32.mul(to, i32.const(blockElements)), counts.length));
        row(x, i32.const(0), i32.mul(from, i32.const(blockElements)), end);
        return status;
      }
      f.range(from, to, 1, (piece) => {
        const source = rowAddress(f, x, piece, outer, 1, elementBytes);
        row(source, f.value(i32.mul(piece, counts.length)), i32.const(0), counts.length);
      });
      return status;
    },
  });
}

/** Columns per piece of a scatter. */
const blockColumns = 256;

/**
 * Generates the kernel of ONNX ScatterElements. Parameters: index, updates, y, which already holds the data. Returns the status 0 or
 * `indexOutOfRange`. Updates can only collide along the axis, so a piece (unit of parallel work) is a position of all other axes, the last of them in
 * blocks of 256. Within a piece updates are applied in order.
 */
export function scatterElements({ shape, strides, axis, size, type, reduction, indexType }: ScatterElementsRequest): Kernel {
  const dense = contiguousStrides(shape);
  const others = (values: readonly number[]): number[] => values.toSpliced(axis, 1);
  const axes = collapseAxes(others(shape), [others(dense), others(strides)]);
  const outer = axes.slice(0, -1);
  const { size: columns, strides: steps } = axes.at(-1) ?? { size: 1, strides: [1, 1] };
  const blocks = Math.ceil(columns / blockColumns);
  const bytes = elementBytesOf[type];
  const [along, length, stride] = [at(dense, axis), at(shape, axis), at(strides, axis)];
  return defineKernel({
    family: "scatter-elements",
    request: { outer, columns, steps, along, stride, type, reduction, indexType },
    dynamicSizes: { size, length },
    inputs: ["index", "updates"],
    outputs: ["y"],
    pieces: blocks * product(outer.map((each) => each.size)),
    pieceNanoseconds: length * Math.min(columns, blockColumns) * 2.5 + 10,
    emit(f, { index, updates, y }, from, to, counts) {
      const status = f.value(i32.const(0));
      f.range(from, to, 1, (piece) => {
        const row = f.value(i32.divU(piece, i32.const(blocks)));
        const first = f.value(i32.mul(i32.sub(piece, i32.mul(row, i32.const(blocks))), i32.const(blockColumns)));
        const end = f.value(minimum(i32.add(first, i32.const(blockColumns)), i32.const(columns)));
        const target = rowAddress(f, y, row, outer, 1, bytes);
        const start = f.value(rowAddress(f, i32.const(0), row, outer, 0, 1));
        f.range(i32.const(0), counts.length, 1, () => {
          f.range(first, end, 1, (column) => {
            const place = f.value(offsetBy(start, column, steps[0] ?? 1));
            const at = loadIndex(f, index, place, counts.size, indexType);
            f.when(
              i32.ltU(at, counts.size),
              () => {
                const into = offsetBy(
                  offsetBy(target, column, required(steps[1], "the stride of y") * bytes),
                  at,
                  stride * bytes,
                );
                storeReduced(f, type, reduction, f.value(into), f.value(offsetBy(updates, place, bytes)));
              },
              () => f.set(status, i32.const(indexOutOfRange)),
            );
          });
          f.increase(start, along);
        });
      });
      return status;
    },
  });
}

function rowAddress(
  f: FunctionBuilder,
  base: I32,
  row: I32,
  outer: readonly Axis[],
  operand: 0 | 1,
  bytes: number,
): Local<"i32"> {
  const coordinates = unravel(
    f,
    row,
    outer.map(({ size }) => size),
  );
  return f.value(
    addressAt(
      base,
      coordinates,
      outer.map(({ strides }) => required(strides[operand], "the stride of an operand") * bytes),
    ),
  );
}
