/** Checks that rules of shape inference share. All of them throw Error. */
import { describeType, type TensorType } from "../graph.ts";

/** The inputs, one for each name. Throws if there are more or fewer. */
export function operands<Names extends readonly string[]>(
  inputs: readonly TensorType[],
  ...names: Names
): { readonly [Index in keyof Names]: TensorType } {
  if (inputs.length !== names.length) throw new Error(`expected the inputs ${names.join(", ")}, got ${inputs.length}`);
  return inputs as { readonly [Index in keyof Names]: TensorType };
}

/** Throws unless `axis` is one of the tensor's axes, counted from 0. */
export function checkAxis(axis: number, { shape }: TensorType): void {
  if (!Number.isInteger(axis) || axis < 0 || axis >= shape.length)
    throw new Error(`axis ${axis} is out of range for the shape [${shape.join(", ")}]`);
}

/** Throws unless all inputs have the same element type. */
export function checkSameDataType(inputs: readonly TensorType[]): void {
  if (inputs.some(({ dataType }) => dataType !== inputs[0]?.dataType)) {
    throw new Error(`the inputs have different element types: ${inputs.map(describeType).join(", ")}`);
  }
}

/** Throws unless an attribute has one entry for each axis. */
export function checkRank(list: readonly number[], rank: number, name: string): void {
  if (list.length !== rank) throw new Error(`${name} has ${list.length} entries, and there are ${rank} axes`);
}
