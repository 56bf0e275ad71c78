/** Reads the modules Dense and LayerNorm of sentence-transformers, and checks their config.json against the shapes in their model.safetensors. */
import { InferyardError } from "../../errors.ts";
import { basename, dirname } from "../../platform/node/paths.ts";
import type { DenseActivation, ModuleWeights, VectorModule } from "../manifest.ts";
import { type Folder, type JsonObject, isFile, pathInside, readJsonObject, displayNameIn } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import type { VectorModuleEntry } from "./modules.ts";
import { readHeader } from "../manifest/weights.ts";

/** A module with the lengths of its input and output vectors. */
interface SizedModule {
  readonly module: VectorModule;
  readonly inputSize: number;
  readonly outputSize: number;
}

/**
 * Reads the modules of sentence-transformers that follow pooling, in order. Throws MODEL_INVALID if files are missing or damaged
 * or if a module's input size differs from the output size of the module before, and MODEL_UNSUPPORTED for options that this
 * version does not compute.
 */
export async function readVectorModules(folder: Folder, entries: readonly VectorModuleEntry[]): Promise<VectorModule[]> {
  const modules: VectorModule[] = [];
  let length: number | undefined;
  for (const { type, path } of entries) {
    if (type === "Normalize") {
      modules.push({ kind: "normalize" });
      continue;
    }
    const { module, inputSize, outputSize } =
      type === "Dense" ? await readDense(folder, path) : await readLayerNorm(folder, path);
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

async function readDense(folder: Folder, path: string): Promise<SizedModule> {
  const { config, displayName } = await readConfig(folder, path);
  const { module_input_name: input = "sentence_embedding", module_output_name: output, bias = true } = config;
  if (input !== "sentence_embedding" || (output ?? input) !== input) {
    throw unsupported(`${displayName} works on ${JSON.stringify(input)} and gives ${JSON.stringify(output ?? input)}`);
  }
  if (config["use_residual"] === true) throw unsupported(`${displayName} adds its input to its output (use_residual)`);
  if (typeof bias !== "boolean") throw broken(displayName, '"bias" is neither true nor false');
  const inFeatures = sizeIn(config, "in_features", displayName);
  const outFeatures = sizeIn(config, "out_features", displayName);
  const activation = activationIn(config, displayName);
  const shapes = { "linear.weight": [outFeatures, inFeatures], ...(bias ? { "linear.bias": [outFeatures] } : {}) };
  const weights = await findWeights(folder, path, shapes);
  return {
    module: { kind: "dense", weights, inFeatures, outFeatures, bias, activation },
    inputSize: inFeatures,
    outputSize: outFeatures,
  };
}

async function readLayerNorm(folder: Folder, path: string): Promise<SizedModule> {
  const { config, displayName } = await readConfig(folder, path);
  const features = sizeIn(config, "dimension", displayName);
  const weights = await findWeights(folder, path, { "norm.weight": [features], "norm.bias": [features] });
  return { module: { kind: "layer-norm", weights, features }, inputSize: features, outputSize: features };
}

async function readConfig(folder: Folder, path: string): Promise<{ config: JsonObject; displayName: string }> {
  const file = `${path}/config.json`;
  const displayName = displayNameIn(folder, file);
  const config = await readJsonObject(folder, file);
  if (config !== undefined) return { config, displayName };
  throw modelInvalid(`${displayName} is missing, and modules.json names it`, "download the whole folder of the model");
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

/** The weights of the module in this folder. Throws MODEL_INVALID unless the file has tensors of these names and shapes. */
async function findWeights(
  folder: Folder,
  module: string,
  shapes: Readonly<Record<string, readonly number[]>>,
): Promise<ModuleWeights> {
  const file = `${module}/model.safetensors`;
  const weights = { path: pathInside(folder, file, "modules.json"), displayName: displayNameIn(folder, file) };
  if (!(await isFile(weights.path, weights.displayName))) {
    const other = `${module}/pytorch_model.bin`;
    throw missingModuleWeights(
      weights.displayName,
      await isFile(pathInside(folder, other, "modules.json"), displayNameIn(folder, other)),
    );
  }
  const { tensors } = await readHeader(weights.path, weights.displayName);
  for (const [name, shape] of Object.entries(shapes)) {
    const found = tensors.get(name)?.shape;
    if (found !== undefined && found.join() === shape.join()) continue;
    const has = found === undefined ? "is not there" : `is [${found.join(", ")}]`;
    throw modelInvalid(
      `${weights.displayName} does not fit its config.json: ${name} ${has}, and [${shape.join(", ")}] is needed`,
      "download the whole folder of the model again",
    );
  }
  return weights;
}

/**
 * Creates the error for a module without `model.safetensors`; `displayName` is the path of that file. The code is MODEL_UNSUPPORTED
 * with `isPickled`, if there is a pytorch_model.bin instead, and MODEL_INVALID otherwise. The error is returned, not thrown.
 */
export function missingModuleWeights(displayName: string, isPickled: boolean): InferyardError {
  if (!isPickled)
    return modelInvalid(`${displayName} is missing, and modules.json names its folder`, "download the whole folder of the model");
  const name = basename(dirname(displayName));
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `the weights of ${displayName.slice(0, -"/model.safetensors".length)} are in pytorch_model.bin, which this version does not read`,
    {
      remedy: `write them as ${name}/model.safetensors: SentenceTransformer(MODEL).save_pretrained(FOLDER, safe_serialization=True)`,
    },
  );
}

function broken(displayName: string, problem: string): InferyardError {
  return modelInvalid(`${displayName} is broken: ${problem}`, "download this file of the model again");
}

function unsupported(what: string, known = "Dense on a text's vector, without a residual"): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `${what}, which this version does not compute; it computes ${known}`, {
    remedy: "use a model without it, or an ONNX export with an output sentence_embedding",
  });
}
