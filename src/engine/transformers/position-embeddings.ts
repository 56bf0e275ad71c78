/** Where a token stands, as a row of a table that was learned. */
import { InferyardError } from "../../errors.ts";
import type { Value } from "../ir/graph.ts";
import { int64Literal } from "../ir/literal.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import { embedding, type Layer } from "../build/nn/layers.ts";
import type { Weights } from "./weights.ts";

const tableName = "embeddings.position_embeddings.weight";

/** 0, 1, 2, ...: of ids [N, L] gives [L, width]. INPUT_INVALID where there are more tokens than rows. */
export function positionEmbeddings(weights: Weights, rows: number, width: number): Layer {
  const row = embedding(weights, tableName, rows, width);
  return (ops, ids) => {
    const [, length = 0] = ids.type.shape;
    checkLength(length, rows);
    return row(ops, arange(ops, 0, length));
  };
}

/** Of ids [N, L] gives [N, L, width]: padding stands at its own id, the others count from behind it, as RoBERTa has it. */
export function positionEmbeddingsAfterPadding(weights: Weights, rows: number, width: number, padding: number): Layer {
  const row = embedding(weights, tableName, rows, width);
  return (ops, ids) => {
    const [, length = 0] = ids.type.shape;
    checkLength(length, rows - padding - 1);
    const real = ops.cast(ops.unary("not", ops.binary("equal", ids, padding)), "int64");
    const counted = ops.add({ kind: "cumulative", function: "sum", axis: 1, exclusive: false, reverse: false }, real);
    return row(ops, ops.binary("add", ops.binary("mul", counted, real), padding));
  };
}

/** first, first + 1, ...: int64 [count]. */
export function arange(ops: TensorOps, first: number, count: number): Value {
  return ops.builder.constant(int64Literal(Array.from({ length: count }, (_, index) => first + index)));
}

export function checkLength(length: number, most: number): void {
  if (length <= most) return;
  throw new InferyardError("INPUT_INVALID", `the text has ${length} tokens, and the model has places for ${most}`, {
    remedy: "cut the text, or split it",
  });
}
