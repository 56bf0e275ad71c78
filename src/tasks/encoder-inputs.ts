/** Tensors for a text encoder: the input names that exports use, filled from token ids. */
import { InferyardError } from "../errors.ts";
import type { DataType, Tensor, TensorInfo, TensorMap } from "../tensor.ts";

/** One row: its ids, and which text each is of (left out: 0 for all). */
export interface TokenRow {
  readonly ids: readonly number[];
  readonly typeIds?: readonly number[];
  /** How many of the leading ids other tokens see. Default: all. */
  readonly attended?: number;
}

/** Rows of ids, padded on the right to `length`. */
export interface TokenBatch {
  readonly rows: readonly TokenRow[];
  readonly length: number;
  readonly padId: number;
}

type Fill = (batch: TokenBatch, put: (index: number, value: number) => void) => void;

const fills: ReadonlyMap<string, Fill> = new Map<string, Fill>([
  [
    "input_ids",
    ({ rows, length, padId }, put) =>
      eachPosition(rows, length, (row, position, index) => put(index, rows[row]?.ids[position] ?? padId)),
  ],
  [
    "attention_mask",
    ({ rows, length }, put) =>
      eachPosition(rows, length, (row, position, index) =>
        put(index, position < (rows[row]?.attended ?? rows[row]?.ids.length ?? 0) ? 1 : 0),
      ),
  ],
  [
    "token_type_ids",
    ({ rows, length }, put) =>
      eachPosition(rows, length, (row, position, index) => put(index, rows[row]?.typeIds?.[position] ?? 0)),
  ],
  ["position_ids", ({ rows, length }, put) => eachPosition(rows, length, (_row, position, index) => put(index, position))],
]);

/** Throws MODEL_UNSUPPORTED for an input this does not know how to fill. */
export function encoderInputs(inputs: readonly TensorInfo[], batch: TokenBatch): TensorMap {
  return Object.fromEntries(inputs.map(({ name, dataType }) => [name, fillTensor(name, dataType, batch)]));
}

function fillTensor(name: string, dataType: DataType, batch: TokenBatch): Tensor {
  const fill = fills.get(name);
  if (fill === undefined || (dataType !== "int64" && dataType !== "int32")) {
    throw new InferyardError("MODEL_UNSUPPORTED", `the model's input "${name}" (${dataType}) is not one a text encoder is fed`, {
      remedy: `a text encoder takes ${[...fills.keys()].join(", ")} as int64 or int32`,
    });
  }
  const shape = [batch.rows.length, batch.length];
  const count = batch.rows.length * batch.length;
  if (dataType === "int64") {
    const data = new BigInt64Array(count);
    fill(batch, (index, value) => (data[index] = BigInt(value)));
    return { dataType, shape, data };
  }
  const data = new Int32Array(count);
  fill(batch, (index, value) => (data[index] = value));
  return { dataType, shape, data };
}

function eachPosition(
  rows: readonly unknown[],
  length: number,
  visit: (row: number, position: number, index: number) => void,
): void {
  for (let row = 0; row < rows.length; row += 1) {
    for (let position = 0; position < length; position += 1) visit(row, position, row * length + position);
  }
}
