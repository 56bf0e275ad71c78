/** What the server and its models say of themselves. */
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { TensorInfo } from "../../tensor.ts";
import { datatypeOf } from "./datatypes.ts";
import type { ModelMetadata, TensorMetadata } from "./schemas.ts";
import { textTaskOf, textTensors } from "./text-models.ts";

/**
 * A model of texts shows its text side, and its raw tensors, which it takes as well, among the properties: a client that fills every input
 * would otherwise fill both.
 */
export function modelMetadata(name: string, version: string, handle: ModelHandle): ModelMetadata {
  const task = textTaskOf(handle);
  const shown = task === undefined ? handle : textTensors(task);
  const raw: Record<string, string> =
    task === undefined
      ? {}
      : { raw_inputs: JSON.stringify(handle.inputs.map(described)), raw_outputs: JSON.stringify(handle.outputs.map(described)) };
  return {
    name,
    versions: [version],
    platform: handle.decision.selected?.library.name ?? handle.target,
    inputs: shown.inputs.map(described),
    outputs: shown.outputs.map(described),
    properties: { target: handle.target, tasks: handle.manifest.tasks.join(", "), ...raw },
  };
}

function described({ name, dataType, shape }: TensorInfo): TensorMetadata {
  return { name, datatype: datatypeOf(dataType), shape: shape.map((size) => (typeof size === "number" ? size : -1)) };
}
