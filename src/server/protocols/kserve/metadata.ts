/** Metadata of models, from the loaded model or from its files. Nothing is loaded for it. */
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { Manifest } from "../../../models/manifest.ts";
import type { ModelHandle } from "../../../runtime/model-handle.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import type { LoadProgress } from "../../serving/load-progress.ts";
import { toDatatype } from "./datatypes.ts";
import { type GraphTensors, readGraphTensors } from "./graph-tensors.ts";
import type { ModelMetadata, TensorMetadata } from "./schemas.ts";
import { getTextTask, textTensors } from "./text-models.ts";

/** What the metadata is made of. */
interface DescribedModel {
  readonly manifest: Manifest;
  readonly platform: string;
  /** The model's own inputs and outputs; undefined if its files do not declare them. */
  readonly tensors: GraphTensors | undefined;
  /** Target it runs on; undefined if it is not in memory. */
  readonly target?: string;
}

/** Metadata of a model in memory. */
export function loadedMetadata(name: string, version: string, handle: ModelHandle): ModelMetadata {
  const { manifest, target, decision, inputs, outputs } = handle;
  const platform = decision.selected?.library.name ?? target;
  return toMetadata(name, version, { manifest, platform, tensors: { inputs, outputs }, target });
}

/**
 * Metadata of the first variant of a model that is not in memory. Throws MODEL_LOADING if its files do not declare its inputs and outputs, which
 * a load would tell.
 */
export async function fileMetadata(name: string, version: string, manifest: Manifest): Promise<ModelMetadata> {
  const [variant] = manifest.variants;
  const tensors = variant?.format === "onnx" ? await readGraphTensors(variant.path, manifest.name) : undefined;
  return toMetadata(name, version, { manifest, platform: variant?.format ?? manifest.source, tensors });
}

/**
 * A model that takes texts shows its text input, and its raw tensors, which it also accepts, among the properties: a client that fills every
 * input would otherwise fill both.
 */
function toMetadata(name: string, version: string, { manifest, platform, tensors, target }: DescribedModel): ModelMetadata {
  const task = getTextTask({ manifest, inputs: tensors?.inputs ?? [] });
  const shown = task === undefined ? tensors : textTensors(task);
  if (shown === undefined) throw notLoaded(name, { reason: "its files do not name its tensors" });
  const raw: Record<string, string> =
    task === undefined || tensors === undefined
      ? {}
      : {
          raw_inputs: JSON.stringify(tensors.inputs.map(tensorMetadata)),
          raw_outputs: JSON.stringify(tensors.outputs.map(tensorMetadata)),
        };
  return {
    name,
    versions: [version],
    platform,
    inputs: shown.inputs.map(tensorMetadata),
    outputs: shown.outputs.map(tensorMetadata),
    properties: { ...omitUndefined({ target }), tasks: manifest.tasks.join(", "), ...raw },
  };
}

/** The error MODEL_LOADING. `reason`: why the model cannot be described before it is loaded. `progress`: progress of the load. */
export function notLoaded(
  name: string,
  { reason, progress }: { readonly reason?: string; readonly progress?: LoadProgress | undefined } = {},
): InferyardError {
  const why = reason === undefined ? "" : `, and ${reason}`;
  return new InferyardError("MODEL_LOADING", `the model ${JSON.stringify(name)} is not loaded${why}`, {
    remedy: "its first request loads it, and so does POST /v2/repository/models/NAME/load",
    retryAfterMs: 1000,
    ...(progress === undefined ? {} : { data: { loading: progress } }),
  });
}

function tensorMetadata({ name, dataType, shape }: TensorInfo): TensorMetadata {
  return { name, datatype: toDatatype(dataType), shape: shape.map((size) => (typeof size === "number" ? size : -1)) };
}
