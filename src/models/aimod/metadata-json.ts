/** Reads metadata.json, the manifest of Kapsl, in a package or in the folder of an unpacked one. */
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import { manifestInvalid, manifestUnsupported } from "../validation/manifest-errors.ts";
import { type Folder, type JsonObject, readJsonObject, displayNameIn } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";

/** File name of the manifest in every .aimod package. */
export const metadataName = "metadata.json";

/**
 * Reads the metadata.json of the folder. Returns undefined if there is none or it is not Kapsl's, since the file name is common. Throws MODEL_INVALID for an
 * invalid one, and MODEL_UNSUPPORTED for features that this version does not have.
 */
export async function readAimodFolder(folder: Folder): Promise<ManifestOverrides | undefined> {
  const json = await readJsonObject(folder, metadataName);
  return json === undefined || !isKapslMetadata(json) ? undefined : await readOverrides(folder, json);
}

/**
 * Reads the metadata.json of an unpacked .aimod package. Throws MODEL_INVALID if there is none or it is invalid, and MODEL_UNSUPPORTED for features that this
 * version does not have.
 */
export async function readAimodPackage(folder: Folder): Promise<ManifestOverrides> {
  const json = await readJsonObject(folder, metadataName);
  if (json === undefined)
    throw modelInvalid(
      `${folder.displayName} holds no ${metadataName}, so it is not a package of a model`,
      "pack the model again",
    );
  return await readOverrides(folder, json);
}

/** Whether a metadata.json is one of Kapsl: it has the three fields that every .aimod package states. */
export function isKapslMetadata(json: JsonObject): boolean {
  return ["project_name", "framework", "model_file"].every((key) => typeof json[key] === "string");
}

async function readOverrides(folder: Folder, json: JsonObject): Promise<ManifestOverrides> {
  const displayName = displayNameIn(folder, metadataName);
  // Imported on demand: loading zod takes longer than loading all other modules of this folder.
  const [{ checkAimod }, { aimodOverrides }] = await Promise.all([import("./check-aimod.ts"), import("./hardware.ts")]);
  const check = checkAimod(json);
  if (check.problems !== undefined) throw manifestInvalid(displayName, check.problems, "correct it and pack the model again");
  if (check.unsupported.length > 0)
    throw manifestUnsupported(displayName, check.unsupported, "take it out of metadata.json if the model does without it");
  return aimodOverrides(check.json);
}
