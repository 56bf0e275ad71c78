/** Runs one batch: builds the input tensors, runs the model, and gives access to single rows of its outputs. */
import { getOrInsert, omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { OutputReduction } from "../../hosts/output-reduction.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import { type TensorInfo, type TensorMap } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import { type EncoderInputRow, encoderInputs } from "../encoding/encoder-inputs.ts";

/** Inputs and outputs of a batch. `Item`: the type of its rows. */
export interface BatchOptions<Item extends EncoderInputRow = EncoderInputRow> {
  /** Name of the output to read. */
  readonly output: string;
  /** Names of further outputs to read. Default: none. */
  readonly others?: readonly string[];
  /** Builds the input tensors of a batch whose longest row has `length` tokens. Default: the inputs of a text encoder (`encoderInputs`). */
  readonly tensors?: (rows: readonly Item[], length: number) => TensorMap;
  /** Reduction of `output`, applied in the model's host before results are copied out; token positions are sorted by row. Default: none. */
  readonly reduction?: (rows: readonly Item[]) => OutputReduction;
}

/** The part of a batch output that belongs to one row. */
export interface EncoderValues {
  /** The output of the whole batch; the values of this row begin at element `offset`. */
  readonly data: Float32Array;
  readonly offset: number;
  /**
   * Shape of the part: the shape of the output without its batch axis, for example `[tokens, dimensions]` or `[labels]`. After a reduction to tokens:
   * `[selected tokens of this row, ...]`.
   */
  readonly shape: readonly number[];
  /** Number of tokens that the rows of the batch were padded to. */
  readonly paddedTokens: number;
}

/** The part of an output that belongs to a row. `row`: its index in the batch. */
export type BatchValues = (output: string, row: number) => EncoderValues;

/**
 * Runs a model on one batch. `instance`: the model or one of its replicas. Throws CONTRACT_VIOLATION, when the values are read, for an output that
 * the backend did not return.
 */
export async function runBatch<Item extends EncoderInputRow>(
  instance: Pick<ModelHandle, "run">,
  model: { readonly inputs: readonly TensorInfo[]; readonly padId: number },
  batch: { readonly rows: readonly Item[]; readonly length: number },
  { output, others = [], tensors, reduction }: BatchOptions<Item>,
  signal?: AbortSignal,
): Promise<BatchValues> {
  const { rows, length } = batch;
  const inputs = tensors?.(rows, length) ?? encoderInputs(model.inputs, { rows, length, padId: model.padId });
  const reduced = reduction?.(rows);
  const results = await instance.run(inputs, {
    outputs: [output, ...others],
    ...(reduced === undefined ? {} : { reductions: { [output]: reduced } }),
    ...omitUndefined({ signal }),
  });
  return getValues(results, { [output]: reduced }, length);
}

/** Accessor of single rows. Each output is converted to float32 once, when it is first read. */
function getValues(
  results: TensorMap,
  reductions: Readonly<Record<string, OutputReduction | undefined>>,
  paddedTokens: number,
): BatchValues {
  const converted = new Map<string, Float32Array>();
  return (output, row) => {
    const result = results[output];
    if (result === undefined) throw new InferyardError("CONTRACT_VIOLATION", `the backend did not return output "${output}"`);
    const data = getOrInsert(converted, output, () => toFloat32(result));
    const shape = result.shape.slice(1);
    const size = shape.reduce((product, dimension) => product * dimension, 1);
    const reduction = reductions[output];
    if (reduction?.kind !== "tokens") return { data, offset: row * size, shape, paddedTokens };
    const before = reduction.positions.filter((position) => position.row < row).length;
    const own = reduction.positions.filter((position) => position.row === row).length;
    return { data, offset: before * size, shape: [own, ...shape], paddedTokens };
  };
}
