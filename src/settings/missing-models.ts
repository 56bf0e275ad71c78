/** Models that the setting `models` names and that are not on this machine: their settings concern nothing, as after a misspelled name. */
import { InferyardError } from "../contract/errors.ts";
import { readManifest } from "../models/index.ts";
import type { Settings } from "./settings.ts";

/** The references that lead to no model now, each with a note that says so, without a full stop. They are not refused, since a model may be fetched later. */
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
