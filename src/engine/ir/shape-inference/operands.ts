/** Checks that rules of shape inference share. All of them throw Error. */
import { describeType, type TensorType } from "../tensor-type.ts";

/** The types of the inputs, one for each of `names`. Throws Error, which lists the names, if there are more or fewer inputs. */
export function operands<Names extends readonly string[]>(
  inputs: readonly TensorType[],
  ...names: Names
): { readonly [Index in keyof Names]: TensorType } {
  if (inputs.length !== names.length) throw new Error(`expected the inputs ${names.join(", ")}, got ${inputs.length}`);
  return inputs as { readonly [Index in keyof Names]: TensorType };
}

/** Throws Error unless `axis` is one of the tensor's axes, counted from 0; negative axes are not allowed. */
export function checkAxis(axis: number, { shape }: TensorType): void {
  if (!Number.isInteger(axis) || axis < 0 || axis >= shape.length)
    throw new Error(`axis ${axis} is out of range for the shape [${shape.join(", ")}]`);
}

/** Throws Error unless all inputs have the same element type. The error lists the types. */
export function checkSameDataType(inputs: readonly TensorType[]): void {
  if (inputs.some(({ dataType }) => dataType !== inputs[0]?.dataType)) {
    throw new Error(`the inputs have different element types: ${inputs.map(describeType).join(", ")}`);
  }
}

/** Throws Error unless the attribute `name`, whose value is `list`, has one entry for each of the `rank` axes. */
export function checkRank(list: readonly number[], rank: number, name: string): void {
  if (list.length !== rank) throw new Error(`${name} has ${list.length} entries, and there are ${rank} axes`);
}
