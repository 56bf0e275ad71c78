/** Layer normalization and RMS normalization over the last axis, with the residual addition that precedes them in transformers. */
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, storeLanes } from "../loops/lanes.ts";
import { forVectors, loadVector, reduceRow } from "../loops/row-loops.ts";

/** Shape and fused operations of one normalization kernel. x and y are [rows, columns] float32, contiguous; each row is normalized. */
export interface NormRequest {
  readonly rows: number;
  readonly columns: number;
  /**
   * `layer`: (x - mean) / sqrt(variance + epsilon), with the population variance (Ba et al. 2016). `rms`: x / sqrt(mean of squares + epsilon) (Zhang and
   * Sennrich 2019).
   */
  readonly kind: "layer" | "rms";
  readonly epsilon: number;
  /** Multiplies the result by gamma [columns]. */
  readonly gamma?: boolean;
  /** Adds beta [columns] to the result. */
  readonly beta?: boolean;
  /** Adds a residual of x's shape before normalization. */
  readonly residual?: boolean;
  /** Adds inputBias [columns] before normalization. */
  readonly inputBias?: boolean;
  /** Also stores x + inputBias + residual, the input of the normalization, to the parameter `sum`. */
  readonly keepSum?: boolean;
}

const sumReducer = { combine: f32x4.add, identity: v128.zero };

/**
 * Generates the kernel of layer or RMS normalization of each row. Parameters: x, then gamma, beta, residual, inputBias, sum if requested, then y. y
 * and sum may be x or the residual. One piece (unit of parallel work) is one row.
 */
export function norm(request: NormRequest): Kernel {
  const {
    rows,
    columns,
    kind,
    epsilon,
    gamma = false,
    beta = false,
    residual = false,
    inputBias = false,
    keepSum = false,
  } = request;
  return defineKernel({
    family: "norm",
    request: { columns, kind, epsilon, gamma, beta, residual, inputBias, keepSum },
    inputs: ["x"],
    optional: { gamma, beta, residual, inputBias, sum: keepSum },
    outputs: ["y"],
    pieces: rows,
    pieceNanoseconds: columns * 0.7 + 10,
    emit(f, offsets, from, to) {
      f.range(from, to, 1, (row) => {
        const rowOf = (base: I32): Local<"i32"> => f.value(offsetBy(base, row, columns * floatBytes));
        const x = rowOf(offsets.x);
        const y = rowOf(offsets.y);
        const added = { residual: offsets.residual && rowOf(offsets.residual), bias: offsets.inputBias };
        const isAdded = residual || inputBias || keepSum;
        const total = isAdded ? addTerms(f, columns, x, added, offsets.sum === undefined ? y : rowOf(offsets.sum)) : x;
        const { mean, factor } = statistics(f, request, total);
        forVectors(f, columns, (offset, lanes) => {
          const centred = mean === undefined ? loadVector(total, offset) : f32x4.sub(loadVector(total, offset), mean);
          const scaled = f32x4.mul(centred, factor);
          const multiplied = offsets.gamma === undefined ? scaled : f32x4.mul(scaled, loadVector(offsets.gamma, offset));
          const result = offsets.beta === undefined ? multiplied : f32x4.add(multiplied, loadVector(offsets.beta, offset));
          storeLanes(f, f.value(offsetBy(y, offset, 1)), result, lanes);
        });
      });
    },
  });
}

interface AddedTerms {
  readonly residual: I32 | undefined;
  readonly bias: I32 | undefined;
}

function addTerms(f: FunctionBuilder, columns: number, x: I32, added: AddedTerms, to: Local<"i32">): Local<"i32"> {
  forVectors(f, columns, (offset, lanes) => {
    const terms = [added.bias, added.residual].flatMap((term) => (term === undefined ? [] : [loadVector(term, offset)]));
    const sum = terms.reduce<V128>((all, term) => f32x4.add(all, term), loadVector(x, offset));
    storeLanes(f, f.value(offsetBy(to, offset, 1)), sum, lanes);
  });
  return to;
}

/**
 * Generates code for the mean and the inverse standard deviation of a row, in two passes. A single pass loses precision if the mean is large. For
 * `rms` the mean is undefined.
 */
function statistics(
  f: FunctionBuilder,
  { columns, kind, epsilon }: NormRequest,
  row: I32,
): { readonly mean: Local<"v128"> | undefined; readonly factor: Local<"v128"> } {
  const share = f32x4.const(1 / columns);
  const mean =
    kind === "rms"
      ? undefined
      : f.value(
          f32x4.mul(
            reduceRow(f, columns, sumReducer, (offset) => loadVector(row, offset)),
            share,
          ),
        );
  const squares = reduceRow(f, columns, sumReducer, (offset) => {
    const x = f.value(mean === undefined ? loadVector(row, offset) : f32x4.sub(loadVector(row, offset), mean));
    return f32x4.mul(x, x);
  });
  const deviation = f32x4.sqrt(f.madd(squares, share, f32x4.const(epsilon)));
  return { mean, factor: f.value(f32x4.div(f32x4.const(1), deviation)) };
}
