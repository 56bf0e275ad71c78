/** ONNX files as graphs of the engine. */
import { InferyardError, getMessage, throwIfAborted } from "../../contract/errors.ts";
import type { LoadOptions, ModelFiles } from "../../contract/backend.ts";
import { type DataType, type TensorInfo, dataTypes, getDimension } from "../../contract/tensor.ts";
import {
  TraceBudget,
  checkOperators,
  type ExternalData,
  type OnnxType,
  onnxSource,
  type OnnxValueInfo,
  readOnnxModel,
} from "../../engine/index.ts";
import { basename, dirname, isAbsolute, join, normalize, sep } from "../../platform/node/paths.ts";
import { type OpenGraph, traceLimits } from "./open-graph.ts";
import type { OpenModelFiles } from "./open-model-files.ts";

/** Opens an ONNX model. Throws MODEL_INVALID for a damaged file and MODEL_UNSUPPORTED for operators or types that the engine does not have. */
export async function openOnnxGraph(files: OpenModelFiles, file: ModelFiles, options: LoadOptions): Promise<OpenGraph> {
  const displayName = basename(file.path);
  const { model, external, loadRemaining } = readOnnxModel(
    await files.open(file.path),
    displayName,
    new TraceBudget(traceLimits(options)),
  );
  throwIfAborted(options.signal);
  checkOperators(model);
  await supplyExternalData(external, files, dirname(file.path), displayName);
  throwIfAborted(options.signal);
  const { graph } = model;
  const inputs = graph.inputs.filter(({ name }) => !graph.initializers.has(name)).map((value) => tensorInfo(value));
  const outputs = graph.outputs.filter(({ type }) => type.kind === "tensor").map((value) => tensorInfo(value));
  if (outputs.length === 0) throw new InferyardError("MODEL_UNSUPPORTED", `${displayName} has no output that is a tensor`);
  return {
    source: onnxSource(model),
    inputs,
    outputs,
    nonTensorOutputs: graph.outputs.filter(({ type }) => type.kind !== "tensor").map(({ name }) => name),
    weightBytes: file.bytes,
    notes: [],
    identity: files.identity,
    files: files.identified,
    detachFromFile: loadRemaining,
  };
}

/** Supplies tensor data stored in files beside the model. Throws MODEL_INVALID for a location outside of the model's folder and for a file that cannot be read. */
async function supplyExternalData(
  external: readonly ExternalData[],
  files: OpenModelFiles,
  folder: string,
  displayName: string,
): Promise<void> {
  for (const { location, attach } of external) {
    const inside = normalize(location);
    if (location === "" || isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`)) {
      throw new InferyardError(
        "MODEL_INVALID",
        `${displayName} has tensor data in ${JSON.stringify(location)}, which is not a path below its folder`,
      );
    }
    try {
      attach(await files.open(join(folder, inside)));
    } catch (error) {
      throw new InferyardError(
        "MODEL_INVALID",
        `${displayName} has tensor data in ${inside}, which cannot be read: ${getMessage(error)}`,
        {
          remedy: "download the whole model again, with all its files",
          cause: error,
        },
      );
    }
  }
}

/** The name, type and free dimensions of an input or output. Throws MODEL_UNSUPPORTED for what is no tensor. */
export function tensorInfo({ name, type }: OnnxValueInfo): TensorInfo {
  if (type.kind !== "tensor" || !dataTypes.has(type.dataType)) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `"${name}" is ${typeName(type)}, which is not a supported type of inputs and outputs`,
    );
  }
  return { name, dataType: type.dataType as DataType, shape: (type.shape ?? []).map(getDimension) };
}

function typeName(type: OnnxType): string {
  if (type.kind === "tensor") return type.dataType;
  return type.kind === "other" ? type.name : `a ${type.kind}`;
}
