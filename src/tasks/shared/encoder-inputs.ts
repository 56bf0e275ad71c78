/** Tensors for a text encoder: the input names that exports use, filled from token ids. */
import { InferyardError } from "../../errors.ts";
import type { DataType, Tensor, TensorInfo, TensorMap } from "../../tensor.ts";

/** One row: its ids, and which text each is of (left out: 0 for all). */
export interface EncoderInputRow {
  readonly ids: readonly number[];
  readonly typeIds?: readonly number[];
  /** How many of the leading ids other tokens see. Default: all. */
  readonly attended?: number;
}

/** Rows of ids, padded on the right to `length`. */
export interface TokenBatch {
  readonly rows: readonly EncoderInputRow[];
  readonly length: number;
  readonly padId: number;
}

/** The value at each position of a row. A row is asked once for what it has: an encoding makes its columns anew each time. */
type Fill = (row: EncoderInputRow, padId: number) => (position: number) => number;

const fills: ReadonlyMap<string, Fill> = new Map<string, Fill>([
  [
    "input_ids",
    ({ ids }, padId) =>
      (position) =>
        ids[position] ?? padId,
  ],
  [
    "attention_mask",
    ({ ids, attended = ids.length }) =>
      (position) =>
        position < attended ? 1 : 0,
  ],
  [
    "token_type_ids",
    ({ typeIds = [] }) =>
      (position) =>
        typeIds[position] ?? 0,
  ],
  ["position_ids", () => (position) => position],
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
  const { rows, length, padId } = batch;
  const shape = [rows.length, length];
  const count = rows.length * length;
  const eachPosition = (put: (index: number, value: number) => void): void => {
    for (const [index, row] of rows.entries()) {
      const valueAt = fill(row, padId);
      for (let position = 0; position < length; position += 1) put(index * length + position, valueAt(position));
    }
  };
  if (dataType === "int64") {
    const data = new BigInt64Array(count);
    eachPosition((index, value) => (data[index] = BigInt(value)));
    return { dataType, shape, data };
  }
  const data = new Int32Array(count);
  eachPosition((index, value) => (data[index] = value));
  return { dataType, shape, data };
}
