/** Reads the modules of sentence-transformers with weights of their own (Dense, LayerNorm, SparseAutoEncoder, SparseStaticEmbedding), and checks their config.json against the shapes in their model.safetensors. */
import { type InferyardError, unsupportedModel } from "../../contract/errors.ts";
import { basename, dirname } from "../../platform/node/paths.ts";
import type { DenseActivation, ModuleWeights, VectorModule } from "../manifest.ts";
import { type Folder, type JsonObject, isFile, pathInside, displayNameIn } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import type { VectorModuleEntry } from "./modules.ts";
import { readHeader } from "../manifest/weights.ts";
import { broken, readModuleConfig } from "./module-entry.ts";

/** sentence-transformers' names of the vector of a text, and of the vectors of its tokens. */
type VectorName = "sentence_embedding" | "token_embeddings";

/** A module with the lengths of its input and output vectors. */
interface SizedModule {
  readonly module: VectorModule;
  readonly inputSize: number;
  readonly outputSize: number;
}

/**
 * Reads the modules of sentence-transformers that follow the first or its pooling, in order; `input` is the size of their input. Throws MODEL_INVALID if files
 * are missing or damaged or if a module's input size differs from the output size of the module before, and MODEL_UNSUPPORTED for options that this version
 * does not compute.
 */
export async function readVectorModules(
  folder: Folder,
  entries: readonly VectorModuleEntry[],
  input: VectorName = "sentence_embedding",
): Promise<VectorModule[]> {
  const modules: VectorModule[] = [];
  let length: number | undefined;
  for (const { type, path } of entries) {
    if (type === "Normalize") {
      modules.push({ kind: "normalize" });
      continue;
    }
    const { module, inputSize, outputSize } =
      type === "Dense" ? await readDense(folder, path, input) : await readLayerNorm(folder, path);
    if (length !== undefined && length !== inputSize) {
      throw modelInvalid(
        `${displayNameIn(folder, path)} takes vectors of ${inputSize} numbers, and the module before it gives ${length}`,
        "download the whole folder of the model again",
      );
    }
    length = outputSize;
    modules.push(module);
  }
  return modules;
}

const activations: readonly DenseActivation[] = ["Identity", "Tanh", "ReLU", "GELU", "Sigmoid", "SiLU"];

async function readDense(folder: Folder, path: string, expected: VectorName): Promise<SizedModule> {
  const { config, displayName } = await readModuleConfig(folder, `${path}/config.json`);
  const { module_input_name: input = expected, module_output_name, bias = true, use_residual: residual = false } = config;
  const output = module_output_name ?? input;
  if (input !== expected || output !== input)
    throw unsupported(
      `${displayName} works on ${JSON.stringify(input)} and gives ${JSON.stringify(output)}`,
      `Dense on ${expected}`,
    );
  for (const [key, value] of Object.entries({ bias, use_residual: residual }))
    if (typeof value !== "boolean") throw broken(displayName, `"${key}" is neither true nor false`);
  const inFeatures = sizeIn(config, "in_features", displayName);
  const outFeatures = sizeIn(config, "out_features", displayName);
  const activation = activationIn(config, displayName);
  const added = inFeatures === outFeatures ? "identity" : "linear";
  const shapes = {
    "linear.weight": [outFeatures, inFeatures],
    ...(bias === true ? { "linear.bias": [outFeatures] } : {}),
    ...(residual === true && added === "linear" ? { "residual.weight": [outFeatures, inFeatures] } : {}),
  };
  const weights = await findWeights(folder, `${path}/model.safetensors`, shapes);
  return {
    module: {
      kind: "dense",
      weights,
      inFeatures,
      outFeatures,
      bias: bias === true,
      activation,
      ...(residual === true ? { residual: added } : {}),
    },
    inputSize: inFeatures,
    outputSize: outFeatures,
  };
}

/** Reads the module SparseAutoEncoder of a CSR model in the folder `path`. Throws as `readVectorModules` does. */
export async function readAutoEncoder(folder: Folder, path: string): Promise<VectorModule> {
  const { config, displayName } = await readModuleConfig(folder, `${path}/config.json`);
  const inFeatures = sizeIn(config, "input_dim", displayName);
  const outFeatures = sizeIn({ hidden_dim: 512, ...config }, "hidden_dim", displayName);
  const kept = sizeIn({ k: 8, ...config }, "k", displayName);
  const file = `${path}/model.safetensors`;
  const shapes = { pre_bias: [inFeatures], latent_bias: [outFeatures] };
  const weights = await findWeights(folder, file, shapes);
  // The two names are of one tensor; safetensors keeps one of them.
  const names = ["encoder.weight", "decoder.linear.weight"];
  const { tensors } = await readHeader(weights.path, weights.displayName);
  const encoder = names.find((name) => tensors.has(name)) ?? "encoder.weight";
  await findWeights(folder, file, { [encoder]: [outFeatures, inFeatures] });
  if (kept > outFeatures) throw broken(displayName, `"k" is ${kept}, and the vectors have ${outFeatures} numbers`);
  return { kind: "auto-encoder", weights, encoder, inFeatures, outFeatures, kept, standardize: config["normalize"] === true };
}

/** Reads the module SparseStaticEmbedding in the folder `path`: a factor for each token of the vocabulary. Throws as `readVectorModules` does. */
export async function readTokenWeights(folder: Folder, path: string): Promise<VectorModule> {
  const { config, displayName } = await readModuleConfig(folder, `${path}/config.json`);
  if (typeof config["path"] === "string")
    throw unsupported(`${displayName} takes the weights from ${config["path"]}`, "SparseStaticEmbedding with model.safetensors");
  const file = `${path}/model.safetensors`;
  const weights = await findWeights(folder, file, {});
  const shape = (await readHeader(weights.path, weights.displayName)).tensors.get("weight")?.shape ?? [];
  if (shape.length !== 1) throw misfit(weights.displayName, "weight", shape.length === 0 ? undefined : shape, ["tokens"]);
  return { kind: "scale", weights, features: shape[0] ?? 0 };
}

/** A linear layer of torch in a file of its own, with `weight` and `bias`. `outFeatures` undefined: any. Undefined if the file is not there. */
export async function readLinear(
  folder: Folder,
  file: string,
  activation: DenseActivation,
  outFeatures?: number,
): Promise<VectorModule | undefined> {
  const weights = { path: pathInside(folder, file, folder.displayName), displayName: displayNameIn(folder, file) };
  if (!(await isFile(weights.path, weights.displayName))) return undefined;
  const found = (await readHeader(weights.path, weights.displayName)).tensors.get("weight")?.shape;
  const [rows = 0, columns = 0] = found ?? [];
  if (found?.length !== 2 || (outFeatures ?? rows) !== rows)
    throw misfit(weights.displayName, "weight", found, [outFeatures ?? "outputs", "inputs"]);
  await findWeights(folder, file, { bias: [rows] });
  return { kind: "dense", weights, inFeatures: columns, outFeatures: rows, bias: true, activation, prefix: "" };
}

/** ColBERT's projection `linear.weight` among the weights of the encoder. Undefined if the folder has no such tensor. */
export async function readProjection(folder: Folder): Promise<VectorModule | undefined> {
  const file = "model.safetensors";
  const weights = { path: pathInside(folder, file, folder.displayName), displayName: displayNameIn(folder, file) };
  if (!(await isFile(weights.path, weights.displayName))) return undefined;
  const shape = (await readHeader(weights.path, weights.displayName)).tensors.get("linear.weight")?.shape;
  if (shape === undefined) return undefined;
  const [outFeatures = 0, inFeatures = 0] = shape;
  if (shape.length !== 2) throw misfit(weights.displayName, "linear.weight", shape, ["outputs", "inputs"]);
  return { kind: "dense", weights, inFeatures, outFeatures, bias: false, activation: "Identity" };
}

async function readLayerNorm(folder: Folder, path: string): Promise<SizedModule> {
  const { config, displayName } = await readModuleConfig(folder, `${path}/config.json`);
  const features = sizeIn(config, "dimension", displayName);
  const weights = await findWeights(folder, `${path}/model.safetensors`, { "norm.weight": [features], "norm.bias": [features] });
  return { module: { kind: "layer-norm", weights, features }, inputSize: features, outputSize: features };
}

function sizeIn(config: JsonObject, key: string, displayName: string): number {
  const size = config[key];
  if (typeof size === "number" && Number.isSafeInteger(size) && size > 0) return size;
  throw broken(displayName, `"${key}" is no size`);
}

/** `activation_function` is the full name of a torch class. As in sentence-transformers, the default is Tanh, and null means none. */
function activationIn(config: JsonObject, displayName: string): DenseActivation {
  const stated = config["activation_function"];
  if (stated === undefined) return "Tanh";
  if (stated === null) return "Identity";
  const name = typeof stated === "string" && stated.startsWith("torch.nn.") ? stated.split(".").at(-1) : undefined;
  const known = activations.find((activation) => activation === name);
  if (known !== undefined) return known;
  throw unsupported(
    `${displayName} asks for the activation ${JSON.stringify(stated)}`,
    `one of torch.nn's ${activations.join(", ")}`,
  );
}

/** The weights in this file. Throws MODEL_INVALID unless it has tensors of these names and shapes. */
async function findWeights(
  folder: Folder,
  file: string,
  shapes: Readonly<Record<string, readonly number[]>>,
): Promise<ModuleWeights> {
  const weights = { path: pathInside(folder, file, "modules.json"), displayName: displayNameIn(folder, file) };
  if (!(await isFile(weights.path, weights.displayName))) {
    const other = `${dirname(file)}/pytorch_model.bin`;
    throw missingModuleWeights(
      weights.displayName,
      await isFile(pathInside(folder, other, "modules.json"), displayNameIn(folder, other)),
    );
  }
  const { tensors } = await readHeader(weights.path, weights.displayName);
  for (const [name, shape] of Object.entries(shapes)) {
    const found = tensors.get(name)?.shape;
    if (found === undefined || found.join() !== shape.join()) throw misfit(weights.displayName, name, found, shape);
  }
  return weights;
}

function misfit(
  displayName: string,
  name: string,
  found: readonly number[] | undefined,
  shape: readonly (number | string)[],
): InferyardError {
  const has = found === undefined ? "is not there" : `is [${found.join(", ")}]`;
  return modelInvalid(
    `${displayName} does not fit its config.json: ${name} ${has}, and [${shape.join(", ")}] is needed`,
    "download the whole folder of the model again",
  );
}

/**
 * Creates the error for a module without `model.safetensors`; `displayName` is the path of that file. The code is MODEL_UNSUPPORTED
 * with `isPickled`, if there is a pytorch_model.bin instead, and MODEL_INVALID otherwise. The error is returned, not thrown.
 */
export function missingModuleWeights(displayName: string, isPickled: boolean): InferyardError {
  if (!isPickled)
    return modelInvalid(`${displayName} is missing, and modules.json names its folder`, "download the whole folder of the model");
  const name = basename(dirname(displayName));
  return unsupportedModel(
    `the weights of ${displayName.slice(0, -"/model.safetensors".length)} are in pytorch_model.bin, which this version does not read`,
    `write them as ${name}/model.safetensors: SentenceTransformer(MODEL).save_pretrained(FOLDER, safe_serialization=True)`,
  );
}

function unsupported(what: string, known: string): InferyardError {
  return unsupportedModel(
    `${what}, which this version does not compute; it computes ${known}`,
    "use a model without it, or an ONNX export with an output sentence_embedding",
  );
}
