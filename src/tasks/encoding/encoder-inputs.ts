/**
 * Input tensors of a text encoder by the names that ONNX exports use: `input_ids`, `attention_mask`, `token_type_ids`, `position_ids`. A decoder that embeds
 * may have been exported with the inputs of its cache, which is empty where nothing was read before.
 */
import { emptyCacheShape, isCacheInput } from "../../runtime/loading/cache-inputs.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import { type DataType, type Tensor, type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";

/** One row of a batch. */
export interface EncoderInputRow {
  /** Token ids, special tokens included. */
  readonly ids: readonly number[];
  /** Token type (segment) of each id. Default: 0 for all. */
  readonly typeIds?: readonly number[];
  /** Number of leading ids that are attended to (`attention_mask` 1). Default: all. */
  readonly attended?: number;
}

/** Rows to be padded on the right to `length` tokens with `padId`. */
export interface EncodedBatch {
  readonly rows: readonly EncoderInputRow[];
  readonly length: number;
  readonly padId: number;
}

/** Returns the value at each position of a row. Reads each column of the row once, since getters of `Encoding` may compute it on each access. */
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

/** Whether a model has the inputs of a text encoder: token ids, and optionally inputs that `encoderInputs` derives from them. */
export function isTextEncoder(inputs: readonly TensorInfo[]): boolean {
  return (
    inputs.some(({ name }) => name === "input_ids") &&
    inputs.every(({ name, dataType }) => fills.has(name) || cacheFlags.has(name) || isCacheInput({ name, dataType }))
  );
}

/** Names of decoder inputs that control the KV cache. */
const cacheFlags: ReadonlySet<string> = new Set(["cache_position", "use_cache_branch", "past_key_values_length"]);

/**
 * Builds the tensors that a model declares as inputs: token inputs, `[rows, length]` of int64 or int32, and the tensors of an empty cache. Throws
 * MODEL_UNSUPPORTED for any other input.
 */
export function encoderInputs(inputs: readonly TensorInfo[], batch: EncodedBatch): TensorMap {
  return Object.fromEntries(
    inputs.map((input) => [input.name, emptyCache(input, batch) ?? fillTensor(input.name, input.dataType, batch)]),
  );
}

/** An input of a decoder about what it read before; undefined for an input about the tokens of the batch. */
function emptyCache({ name, dataType, shape }: TensorInfo, { rows, length }: EncodedBatch): Tensor | undefined {
  if (name === "cache_position" && dataType === "int64") {
    return { dataType, shape: [length], data: BigInt64Array.from({ length }, (_, position) => BigInt(position)) };
  }
  // Whether cached tokens are read, and how many there are.
  if (name === "use_cache_branch" || name === "past_key_values_length") return zeros(dataType, [1]);
  return isCacheInput({ name, dataType }) ? zeros(dataType, emptyCacheShape({ shape }, rows.length)) : undefined;
}

function fillTensor(name: string, dataType: DataType, batch: EncodedBatch): Tensor {
  const fill = fills.get(name);
  if (fill === undefined || (dataType !== "int64" && dataType !== "int32")) {
    throw unsupportedModel(
      `the model's input "${name}" (${dataType}) is not an input of a text encoder`,
      `a text encoder takes ${[...fills.keys()].join(", ")} as int64 or int32`,
    );
  }
  const { rows, length, padId } = batch;
  const shape = [rows.length, length];
  const count = rows.length * length;
  // The low halves of int64 elements are written as int32, which avoids a BigInt for each token; supported platforms are little-endian.
  const wide = dataType === "int64" ? new BigInt64Array(count) : undefined;
  const data = wide === undefined ? new Int32Array(count) : new Int32Array(wide.buffer);
  const stride = wide === undefined ? 1 : 2;
  for (const [index, row] of rows.entries()) {
    const valueAt = fill(row, padId);
    const start = index * length;
    for (let position = 0; position < length; position += 1) data[(start + position) * stride] = valueAt(position);
  }
  return wide === undefined ? { dataType: "int32", shape, data } : { dataType: "int64", shape, data: wide };
}
