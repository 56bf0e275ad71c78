/** Tensors as the callers of programs give them, and their checks. */
import { invalidInput } from "../../contract/errors.ts";
import {
  checkInputs,
  type DataType,
  elementCount,
  type Tensor,
  type TensorData,
  type TensorInfo,
  type TensorMap,
  zeros,
} from "../../contract/tensor.ts";

/** A tensor in the form of onnxruntime. */
export interface OrtTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: TensorData;
}

/**
 * A tensor for a program: our form, onnxruntime's form, or its elements alone where the dimensions are known: those of a weight, or of an input with at most one
 * free dimension.
 */
export type TensorArgument = Tensor | OrtTensor | TensorData;

/** Whether a value is a tensor whose array has the type of its elements and fills its shape. */
export function isFilled(tensor: unknown): tensor is Tensor {
  if (typeof tensor !== "object" || tensor === null) return false;
  const { dataType, shape, data } = tensor as Partial<Tensor>;
  if (dataType === undefined || !Array.isArray(shape) || data === undefined) return false;
  if (!shape.every((size) => Number.isSafeInteger(size) && size >= 0)) return false;
  const empty = getEmpty(dataType);
  return empty !== undefined && data.constructor === empty.data.constructor && data.length === elementCount(shape);
}

/**
 * Brings arguments into the form of tensors and checks them against what is expected. Throws one INPUT_INVALID that lists every problem: a missing or unknown name,
 * a wrong type or shape, two sizes of one dimension.
 */
export function toTensors(expected: readonly TensorInfo[], given: Readonly<Record<string, TensorArgument>>): TensorMap {
  if (typeof given !== "object" || given === null) throw invalidInput("the tensors are not an object of tensors by name");
  const tensors = Object.entries(given).map(([name, argument]): [string, Tensor] => {
    const info = expected.find((each) => each.name === name);
    return [name, toTensor(argument, info)];
  });
  const named = Object.fromEntries(tensors);
  checkInputs(expected, named);
  const scalar = expected.find(({ name, shape }) => shape.length === 0 && (named[name]?.shape.length ?? 0) > 0);
  if (scalar !== undefined)
    throw invalidInput(`"${scalar.name}" has shape [${named[scalar.name]?.shape.join(", ")}], and is a scalar`);
  return named;
}

function toTensor(argument: TensorArgument, info: TensorInfo | undefined): Tensor {
  if (ArrayBuffer.isView(argument)) return fromElements(argument as TensorData, info);
  if (typeof argument === "object" && argument !== null && "dims" in argument && "type" in argument)
    return { dataType: argument.type as DataType, shape: argument.dims, data: argument.data };
  return argument as Tensor;
}

/** A tensor with these elements, whose shape follows from the description: one free dimension has the size that the number of elements tells. */
function fromElements(data: TensorData, info: TensorInfo | undefined): Tensor {
  if (info === undefined) return { dataType: "float32", shape: [data.length], data }; // refused by its name
  const { dataType, shape, name } = info;
  const free = shape.filter((size) => typeof size === "string");
  if (free.length > 1)
    throw invalidInput(
      `"${name}" has ${free.length} free dimensions, which a list of elements does not tell`,
      "give { dataType, shape, data }",
    );
  const fixed = shape.reduce<number>((product, size) => (typeof size === "number" ? product * size : product), 1);
  return {
    dataType,
    shape: shape.map((size) => (typeof size === "number" ? size : fixed === 0 ? 0 : data.length / fixed)),
    data,
  };
}

function getEmpty(dataType: DataType): Tensor | undefined {
  try {
    return zeros(dataType, [0]);
  } catch {
    return undefined;
  }
}
