import { describeType, type TensorType } from "../graph.ts";

/** The inputs, of which there must be as many as are named. */
export function operands<Names extends readonly string[]>(
  inputs: readonly TensorType[],
  ...names: Names
): { readonly [Index in keyof Names]: TensorType } {
  if (inputs.length !== names.length) throw new Error(`it takes ${names.join(", ")} and has ${inputs.length} inputs`);
  return inputs as { readonly [Index in keyof Names]: TensorType };
}

export function checkAxis(axis: number, { shape }: TensorType): void {
  if (!Number.isInteger(axis) || axis < 0 || axis >= shape.length)
    throw new Error(`there is no axis ${axis} in [${shape.join(", ")}]`);
}

export function checkSameDataType(inputs: readonly TensorType[]): void {
  if (inputs.some(({ dataType }) => dataType !== inputs[0]?.dataType)) {
    throw new Error(`its inputs are of different types: ${inputs.map(describeType).join(", ")}`);
  }
}

/** Every entry of a list of attributes belongs to an axis. */
export function checkRank(list: readonly number[], rank: number, name: string): void {
  if (list.length !== rank) throw new Error(`${name} has ${list.length} entries for ${rank} axes`);
}
