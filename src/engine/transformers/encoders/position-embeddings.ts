/** Learned absolute position embeddings, as in BERT and RoBERTa: one row of a table per position. */
import { InferyardError } from "../../../contract/errors.ts";
import type { Value } from "../../ir/graph.ts";
import { int64Literal } from "../../ir/literal.ts";
import { dimensions, type TensorOps } from "../../build/tensor-ops.ts";
import { embedding, type Layer } from "../../build/nn/layers.ts";
import type { Weights } from "../weights.ts";

const tableName = "embeddings.position_embeddings.weight";

/**
 * BERT's position embeddings: position i of a sequence is row i. Token ids `[batch, length]` give `[length, width]`, which broadcasts over the batch.
 * The layer throws INPUT_INVALID for more than `rows` tokens.
 */
export function positionEmbeddings(weights: Weights, rows: number, width: number): Layer {
  const row = embedding(weights, tableName, rows, width);
  return (ops, ids) => {
    const [, length] = dimensions(ids, 2);
    checkLength(length, rows);
    return row(ops, arange(ops, 0, length));
  };
}

/**
 * RoBERTa's position embeddings (`create_position_ids_from_input_ids`): tokens count from `padding` + 1, padding tokens stay at row `padding`, the
 * id of the padding token. Token ids `[batch, length]` give `[batch, length, width]`. The layer throws INPUT_INVALID for more tokens than rows.
 */
export function positionEmbeddingsAfterPadding(weights: Weights, rows: number, width: number, padding: number): Layer {
  const row = embedding(weights, tableName, rows, width);
  return (ops, ids) => {
    const [, length] = dimensions(ids, 2);
    checkLength(length, rows - padding - 1);
    const isToken = ops.cast(ops.unary("not", ops.binary("equal", ids, padding)), "int64");
    const counted = ops.add({ kind: "cumulative", function: "sum", axis: 1, exclusive: false, reverse: false }, isToken);
    return row(ops, ops.binary("add", ops.binary("mul", counted, isToken), padding));
  };
}

/** The integers `first` to `first + count - 1` as an int64 constant `[count]`, like `torch.arange`. */
export function arange(ops: TensorOps, first: number, count: number): Value {
  return ops.builder.constant(int64Literal(Array.from({ length: count }, (_, index) => first + index)));
}

/** Throws INPUT_INVALID if a sequence of `length` tokens exceeds the `max` positions of the model. */
function checkLength(length: number, max: number): void {
  if (length <= max) return;
  throw new InferyardError("INPUT_INVALID", `the text has ${length} tokens, and the model has positions for ${max}`, {
    remedy: "truncate the text or split it",
  });
}
