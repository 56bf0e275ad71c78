/** One batch: rows to tensors, the model's run, and single rows of what came of it. */
import { InferyardError } from "../../errors.ts";
import type { Reduction } from "../../hosts/output-reduction.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import { type TensorInfo, type TensorMap } from "../../tensor.ts";
import { toFloat32 } from "../../formats/floats/to-float32.ts";
import { type EncoderInputRow, encoderInputs } from "../shared/encoder-inputs.ts";

/** How rows become a batch, and what is wanted of it. */
export interface BatchOptions<Item extends EncoderInputRow = EncoderInputRow> {
  /** Name of the output that is read. */
  readonly output: string;
  /** Names of further outputs, for `other` of a row. Default: none. */
  readonly others?: readonly string[];
  /** The inputs of a batch whose longest row has `length` tokens. Default: those of a text encoder. */
  readonly tensors?: (rows: readonly Item[], length: number) => TensorMap;
  /** What is made of the output of a batch where the model lives; places of tokens in the order of their rows. Default: it comes as it is. */
  readonly reduction?: (rows: readonly Item[]) => Reduction;
}

/** A part of the output of a batch: what is said of one text. */
export interface EncoderValues {
  /** The whole batch; this text's values begin at `offset`. */
  readonly data: Float32Array;
  readonly offset: number;
  /** Of this text alone: [tokens of the batch, ...] or [...]; of a reduction with a row for each text, that row's; of one to tokens [its tokens, ...]. */
  readonly shape: readonly number[];
}

/** What was said of a row, by its place in the batch. */
export type BatchValues = (output: string, row: number) => EncoderValues;

export async function runBatch<Item extends EncoderInputRow>(
  lane: Pick<ModelHandle, "run">,
  model: { readonly inputs: readonly TensorInfo[]; readonly padId: number },
  batch: { readonly rows: readonly Item[]; readonly length: number },
  { output, others = [], tensors, reduction }: BatchOptions<Item>,
  signal?: AbortSignal,
): Promise<BatchValues> {
  const { rows, length } = batch;
  const inputs = tensors?.(rows, length) ?? encoderInputs(model.inputs, { rows, length, padId: model.padId });
  const reduced = reduction?.(rows);
  const results = await lane.run(inputs, {
    outputs: [output, ...others],
    ...(reduced === undefined ? {} : { reductions: { [output]: reduced } }),
    ...(signal === undefined ? {} : { signal }),
  });
  return valuesOf(results, { [output]: reduced });
}

/** Single rows of the outputs of a batch; each output is converted once. */
function valuesOf(results: TensorMap, reductions: Readonly<Record<string, Reduction | undefined>>): BatchValues {
  const converted = new Map<string, Float32Array>();
  return (output, row) => {
    const result = results[output];
    if (result === undefined) throw new InferyardError("CONTRACT_VIOLATION", `the backend did not return output "${output}"`);
    const data = converted.get(output) ?? toFloat32(result);
    converted.set(output, data);
    const shape = result.shape.slice(1);
    const size = shape.reduce((product, dimension) => product * dimension, 1);
    const reduction = reductions[output];
    if (reduction?.kind !== "tokens") return { data, offset: row * size, shape };
    const before = reduction.positions.filter((position) => position.row < row).length;
    const own = reduction.positions.filter((position) => position.row === row).length;
    return { data, offset: before * size, shape: [own, ...shape] };
  };
}
