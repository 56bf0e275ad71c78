/** Kapsl's metadata.json: what it says of the model, checked. It lies in a package, or in the folder of an unpacked one. */
import type { ManifestOverrides } from "../huggingface/read-huggingface.ts";
import { manifestInvalid, manifestUnsupported } from "../validation/manifest-errors.ts";
import { type Folder, type JsonObject, readJsonObject, shownIn } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";

/** The name every package has its manifest under. */
export const metadataName = "metadata.json";

/** Undefined where the folder has no metadata.json, or one of another kind: the name is a common one. */
export async function readAimodFolder(folder: Folder): Promise<ManifestOverrides | undefined> {
  const json = await readJsonObject(folder, metadataName);
  return json === undefined || !isKapslMetadata(json) ? undefined : await readOverrides(folder, json);
}

/** For the folder a package was unpacked into. MODEL_INVALID where there is no metadata.json. */
export async function readAimodPackage(folder: Folder): Promise<ManifestOverrides> {
  const json = await readJsonObject(folder, metadataName);
  if (json === undefined)
    throw modelInvalid(`${folder.shown} holds no ${metadataName}, so it is not a package of a model`, "pack the model again");
  return await readOverrides(folder, json);
}

export function isKapslMetadata(json: JsonObject): boolean {
  return ["project_name", "framework", "model_file"].every((key) => typeof json[key] === "string");
}

async function readOverrides(folder: Folder, json: JsonObject): Promise<ManifestOverrides> {
  const shown = shownIn(folder, metadataName);
  // Imported where it is needed: the schema library takes longer to load than all the rest of this room.
  const [{ checkAimod }, { aimodOverrides }] = await Promise.all([import("./check-aimod.ts"), import("./aimod-overrides.ts")]);
  const check = checkAimod(json);
  if (check.problems !== undefined) throw manifestInvalid(shown, check.problems, "correct it and pack the model again");
  if (check.wishes.length > 0)
    throw manifestUnsupported(shown, check.wishes, "take it out of metadata.json if the model does without it");
  return aimodOverrides(check.json);
}
