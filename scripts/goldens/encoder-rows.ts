/** Token rows as the goldens have them, run as plain tensors: what the model itself says, with no task between. */
import type { ModelHandle, Tensor, TensorMap } from "inferyard";

export interface TokenRow {
  readonly input_ids: readonly number[];
  readonly attention_mask?: readonly number[] | undefined;
  readonly token_type_ids?: readonly number[] | undefined;
}

/** One batch of rows of equal length. The model is given what it takes of ids, mask and type ids; masks left out are ones, type ids zeros. */
export async function runRows(model: ModelHandle, rows: readonly TokenRow[], output: string): Promise<Tensor> {
  const length = rows[0]?.input_ids.length ?? 0;
  const columns: Readonly<Record<string, number[]>> = {
    input_ids: rows.flatMap(({ input_ids: ids }) => [...ids]),
    attention_mask: rows.flatMap(({ attention_mask: mask, input_ids: ids }) => [...(mask ?? ids.map(() => 1))]),
    token_type_ids: rows.flatMap(({ token_type_ids: types, input_ids: ids }) => [...(types ?? ids.map(() => 0))]),
  };
  const inputs: Record<string, Tensor> = {};
  for (const { name, dataType } of model.inputs) {
    const column = columns[name];
    if (column === undefined) throw new Error(`the model takes "${name}", which these goldens do not have`);
    const data = dataType === "int32" ? Int32Array.from(column) : BigInt64Array.from(column, BigInt);
    inputs[name] = { dataType: dataType === "int32" ? "int32" : "int64", shape: [rows.length, length], data };
  }
  const wanted = model.outputs.find(({ name }) => name === output) ?? model.outputs[0];
  const outputs: TensorMap = await model.run(inputs, wanted === undefined ? {} : { outputs: [wanted.name] });
  const result = wanted === undefined ? undefined : outputs[wanted.name];
  if (result === undefined) throw new Error(`the model gave no "${output}"`);
  return result;
}

/** The numbers of row `index` of the first dimension. */
export function rowOf({ data, shape }: Tensor, index: number): Float32Array {
  if (!(data instanceof Float32Array)) throw new Error("the model gives no 32-bit floats");
  const size = data.length / (shape[0] ?? 1);
  return data.slice(index * size, (index + 1) * size);
}
