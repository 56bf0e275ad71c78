/** Finds models named in the setting `models` that are not on this machine. Their settings have no effect; the name may be misspelled. */
import { InferyardError } from "../contract/errors.ts";
import { readManifest } from "../models/index.ts";
import type { Settings } from "./settings.ts";

/**
 * References in `models` that resolve to no local model, each with a note without a full stop. They are not errors, since a model may be downloaded
 * later.
 */
export async function missingModels({
  models = {},
}: Settings): Promise<readonly { readonly name: string; readonly note: string }[]> {
  const checked = Object.keys(models).map(async (name) => {
    try {
      await readManifest(name);
      return [];
    } catch (error) {
      if (!(error instanceof InferyardError) || error.code !== "MODEL_NOT_FOUND") return [];
      const remedy = error.remedy === undefined ? "" : `; ${error.remedy}`;
      return [{ name, note: `has settings in "models", which concern no model on this machine: ${error.message}${remedy}` }];
    }
  });
  return (await Promise.all(checked)).flat();
}
