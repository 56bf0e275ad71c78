/** The linear layers that some GGUF embedding models have after the pooling: Dense of sentence-transformers, without an activation. */
import { InferyardError } from "../../../contract/errors.ts";
import { requireDecoder } from "../../answers/decoder-answers.ts";
import { withFileWindow } from "../../file-window.ts";
import { modelInvalid } from "../../format-errors.ts";
import { decodeTensor, isDecodable } from "../blocks/index.ts";
import { readGguf } from "../read-gguf.ts";
import { ggufArchitecture } from "./architectures.ts";
import type { GgufModel } from "./read-model.ts";
import { GgufSettings } from "./settings.ts";

/** A linear layer: `${name}.weight`, `[outFeatures, inFeatures]`, and `${name}.bias`. */
export interface GgufLinear {
  readonly name: string;
  /** Path of the file that holds it, which is one of several for a model in parts. */
  readonly path: string;
  readonly inFeatures: number;
  readonly outFeatures: number;
  readonly bias: boolean;
}

/**
 * The layers, in order. Throws MODEL_INVALID if the sizes of one do not fit the metadata or the layer before, and MODEL_UNSUPPORTED if its type is not
 * decoded.
 */
export function ggufPostPooling(model: GgufModel): readonly GgufLinear[] {
  const settings = new GgufSettings(model);
  let width = settings.numberIfGiven("embedding_length") ?? 0;
  return (ggufArchitecture(model)?.postPooling ?? []).flatMap((name) => {
    const tensor = model.tensors.get(`${name}.weight`);
    if (tensor === undefined) return [];
    const [inFeatures = 0, outFeatures = 0] = tensor.shape;
    const bias = model.tensors.get(`${name}.bias`);
    const stated = [
      settings.numberIfGiven(`${name}_feat_in`) ?? width,
      settings.numberIfGiven(`${name}_feat_out`) ?? outFeatures,
    ];
    const fits = tensor.shape.length === 2 && width === inFeatures && (bias === undefined || bias.elements === outFeatures);
    if (!fits || stated[0] !== inFeatures || stated[1] !== outFeatures) {
      throw modelInvalid(
        `the tensor "${name}.weight" has the shape [${tensor.shape.join(", ")}], and a layer from ${width} to ${stated[1]} numbers is needed`,
        "download the file again, or convert the model again",
      );
    }
    for (const each of [tensor, bias]) if (each !== undefined && !isDecodable(each.type)) throw notDecoded(each.name, each.type);
    width = outFeatures;
    return [{ name, path: tensor.path, inFeatures, outFeatures, bias: bias !== undefined }];
  });
}

/** Reads the elements of a tensor as float32. Throws as `readGguf` does, and MODEL_INVALID if the file does not have it. */
export async function readGgufTensor(path: string, displayName: string, name: string): Promise<Float32Array> {
  const { tensors } = await readGguf(path, displayName);
  const tensor = tensors.find((each) => each.name === name);
  if (tensor === undefined) throw modelInvalid(`${displayName} has no tensor "${name}"`, "download the file again");
  const { type, start, bytes, elements } = tensor;
  if (!isDecodable(type)) throw notDecoded(name, type);
  const stored = await withFileWindow(path, displayName, "GGUF", (window) => window.readBytes(start, bytes));
  requireDecoder(type);
  return decodeTensor(type, stored, elements);
}

function notDecoded(name: string, type: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `the tensor "${name}" is of the type ${type}, which is not decoded`, {
    remedy: "use the model in another quantization",
    data: { tensor: name, type },
  });
}
