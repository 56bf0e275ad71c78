/** Loads an ONNX file into the engine. */
import { InferyardError, messageOf, throwIfAborted } from "../../contract/errors.ts";
import type { ModelFiles } from "../../contract/backend.ts";
import { type DataType, type TensorInfo, dimensionOf } from "../../contract/tensor.ts";
import {
  TraceBudget,
  checkOperators,
  type ExternalData,
  type OnnxModel,
  type OnnxType,
  onnxSource,
  type OnnxValueInfo,
  readOnnxModel,
} from "../../engine/index.ts";
import { basename, dirname, isAbsolute, join, normalize, sep } from "../../platform/node/paths.ts";
import { libraryOf, type NativeState } from "./check-generated-code.ts";
import { createEngine, type NativeLoadOptions, traceLimits } from "./create-engine.ts";
import type { CreateModel } from "./graph-model.ts";
import { OpenModelFiles } from "./open-model-files.ts";

/** Data types that inputs and outputs may have. Narrower types occur inside of models only. */
const publicTypes: ReadonlySet<string> = new Set<DataType>([
  "float32",
  "float64",
  "float16",
  "bfloat16",
  "int8",
  "int16",
  "int32",
  "int64",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "bool",
  "string",
]);

/**
 * Loads an ONNX model; `create` makes the loaded model of it. Throws MODEL_INVALID for a damaged file and MODEL_UNSUPPORTED for operators or types that
 * the engine does not have.
 */
export async function loadOnnx<Model>(
  file: ModelFiles,
  options: NativeLoadOptions,
  state: NativeState,
  create: CreateModel<Model>,
): Promise<Model> {
  const displayName = basename(file.path);
  const files = new OpenModelFiles();
  try {
    return await loadFrom(files, file, displayName, options, state, create);
  } finally {
    files.close();
  }
}

async function loadFrom<Model>(
  files: OpenModelFiles,
  file: ModelFiles,
  displayName: string,
  options: NativeLoadOptions,
  state: NativeState,
  create: CreateModel<Model>,
): Promise<Model> {
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
  const nonTensorOutputs = graph.outputs.filter(({ type }) => type.kind !== "tensor").map(({ name }) => name);
  const engine = await createEngine(onnxSource(model), inputs, options, files.identity, state);
  const { identity } = files;
  const { graphOptimization } = options;
  const loaded = await create({
    engine,
    inputs,
    outputs,
    nonTensorOutputs,
    library: libraryOf(state, options.kernels),
    weightBytes: file.bytes,
    notes: blockNotes(model),
    identity,
    graphOptimization,
  });
  loadRemaining(); // loads what is not packed yet into memory, because the files are closed after this
  return loaded;
}

/** What stays quantized, for the evidence. */
function blockNotes({ graph }: OnnxModel): readonly string[] {
  const types = [...graph.initializers.values()].flatMap(({ storage }) => storage?.blocks?.type ?? []);
  const counts = [...new Set(types)].map((type) => `${types.filter((each) => each === type).length} in ${type}`);
  return counts.length === 0 ? [] : [`matrices of MatMulNBits that stay in blocks: ${counts.join(", ")}`];
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
        `${displayName} has tensor data in ${inside}, which cannot be read: ${messageOf(error)}`,
        {
          remedy: "download the whole model again, with all its files",
          cause: error,
        },
      );
    }
  }
}

function tensorInfo({ name, type }: OnnxValueInfo): TensorInfo {
  if (type.kind !== "tensor" || !publicTypes.has(type.dataType)) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `"${name}" is ${typeName(type)}, which is not a supported type of inputs and outputs`,
    );
  }
  return { name, dataType: type.dataType as DataType, shape: (type.shape ?? []).map(dimensionOf) };
}

function typeName(type: OnnxType): string {
  if (type.kind === "tensor") return type.dataType;
  return type.kind === "other" ? type.name : `a ${type.kind}`;
}
