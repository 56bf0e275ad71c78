/** Layer normalization and root mean square normalization over the last axis. */
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, storeLanes } from "../loops/lanes.ts";
import { forVectors, loadVector, reduceRow } from "../loops/row-loops.ts";

/** Shape and parameters of one normalization kernel. x and y are [rows, columns] float32, contiguous; each row is normalized. */
export interface NormRequest {
  readonly rows: number;
  readonly columns: number;
  readonly epsilon: number;
  /** Multiplies the result by gamma [columns]. */
  readonly gamma?: boolean;
  /** Adds beta [columns] to the result. */
  readonly beta?: boolean;
  /** Whether the mean is subtracted first. Default: true. */
  readonly isCentred?: boolean;
}

const sumReducer = { combine: f32x4.add, identity: v128.zero };

/**
 * Generates the kernel of layer normalization of each row: (x - mean) / sqrt(variance + epsilon), with the population variance (Ba et al. 2016), or of root mean
 * square normalization: x / sqrt(mean of squares + epsilon) (Zhang and Sennrich 2019). Parameters: x, then gamma and beta if requested, then y, which may be x. One
 * piece (unit of parallel work) is one row.
 */
export function norm({ rows, columns, epsilon, gamma = false, beta = false, isCentred = true }: NormRequest): Kernel {
  const request = { columns, epsilon, gamma, beta, isCentred };
  return defineKernel({
    family: "norm",
    request,
    inputs: ["x"],
    optional: { gamma, beta },
    outputs: ["y"],
    pieces: rows,
    pieceNanoseconds: columns * 0.7 + 10,
    machine: { request },
    emit(f, offsets, from, to) {
      f.range(from, to, 1, (row) => {
        const getRow = (base: I32): Local<"i32"> => f.value(offsetBy(base, row, columns * floatBytes));
        const x = getRow(offsets.x);
        const y = getRow(offsets.y);
        const { mean, factor } = statistics(f, request, x);
        forVectors(f, columns, (offset, lanes) => {
          const scaled = f32x4.mul(centred(loadVector(x, offset), mean), factor);
          const multiplied = offsets.gamma === undefined ? scaled : f32x4.mul(scaled, loadVector(offsets.gamma, offset));
          const result = offsets.beta === undefined ? multiplied : f32x4.add(multiplied, loadVector(offsets.beta, offset));
          storeLanes(f, f.value(offsetBy(y, offset, 1)), result, lanes);
        });
      });
    },
  });
}

/**
 * Generates code for the mean, unless it stays, and the inverse standard deviation of a row, in two passes. A single pass loses precision if the mean is large.
 */
function statistics(
  f: FunctionBuilder,
  { columns, epsilon, isCentred }: Pick<Required<NormRequest>, "columns" | "epsilon" | "isCentred">,
  row: I32,
): { readonly mean: Local<"v128"> | undefined; readonly factor: Local<"v128"> } {
  const share = f32x4.const(1 / columns);
  const sum = isCentred ? reduceRow(f, columns, sumReducer, (offset) => loadVector(row, offset)) : undefined;
  const mean = sum && f.value(f32x4.mul(sum, share));
  const squares = reduceRow(f, columns, sumReducer, (offset) => {
    const x = f.value(centred(loadVector(row, offset), mean));
    return f32x4.mul(x, x);
  });
  const deviation = f32x4.sqrt(f.madd(squares, share, f32x4.const(epsilon)));
  return { mean, factor: f.value(f32x4.div(f32x4.const(1), deviation)) };
}

function centred(x: V128, mean: Local<"v128"> | undefined): V128 {
  return mean === undefined ? x : f32x4.sub(x, mean);
}
