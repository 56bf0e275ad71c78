/** Inputs and outputs declared in an ONNX file, for the metadata of a model that is not in memory. */
import { readOnnxOutline } from "../../../formats/onnx/onnx-outline.ts";
import type { OnnxValue } from "../../../formats/onnx/onnx-value.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import { toDataType, datatypes } from "./datatypes.ts";

const dataTypes = datatypes.map(toDataType);

/** Inputs and outputs of a model. */
export interface GraphTensors {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
}

/**
 * Inputs and outputs that an ONNX file declares; undefined if one is not a tensor or has a type that the protocol lacks. `displayName`: name of the
 * file in errors.
 */
export async function readGraphTensors(path: string, displayName: string): Promise<GraphTensors | undefined> {
  const { graph } = await readOnnxOutline(path, displayName);
  const [inputs, outputs] = [graph.inputs.map(toTensor), graph.outputs.map(toTensor)];
  const known = { inputs: inputs.filter((one) => one !== undefined), outputs: outputs.filter((one) => one !== undefined) };
  return known.inputs.length < inputs.length || known.outputs.length < outputs.length ? undefined : known;
}

/** A dimension without a name is dynamic. An undeclared shape is empty, as in a loaded model. */
function toTensor({ name, type, shape = [] }: OnnxValue): TensorInfo | undefined {
  const dataType = dataTypes.find((known) => known === type);
  return dataType === undefined ? undefined : { name, dataType, shape: shape.map((size) => size ?? "") };
}
