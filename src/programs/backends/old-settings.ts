/** Settings of the single-choice era of YiRage's build, as names of backends. */
import { InferyardError } from "../../contract/errors.ts";
import { documentNames } from "./backend-names.ts";

/** Backends that old settings name. */
export interface OldSettings {
  /** Names in the order of the document; empty if no setting is there. */
  readonly names: readonly string[];
  /** What each setting was read as: sentences without a full stop. */
  readonly notes: readonly string[];
}

const offValues: ReadonlySet<string> = new Set(["", "0", "off", "false", "no"]);

/**
 * Reads `YIRAGE_BACKEND_USE_<NAME>`, of which the old build allowed one, and `YIRAGE_BACKEND_<NAME>_ENABLED`, which it maps to. A setting of 0, OFF, FALSE, NO or of
 * nothing counts as absent. Throws CONFIG_INVALID for a name that the document does not have.
 */
export function readOldSettings(variables: Readonly<Record<string, string | undefined>>): OldSettings {
  const found = Object.entries(variables).flatMap(([variable, value = ""]) => {
    const stated = /^YIRAGE_BACKEND_(?:USE_(\w+)|(\w+)_ENABLED)$/.exec(variable);
    const name = (stated?.[1] ?? stated?.[2])?.toLowerCase();
    if (name === undefined || offValues.has(value.trim().toLowerCase())) return [];
    if (!documentNames.includes(name))
      throw new InferyardError("CONFIG_INVALID", `${variable} names no backend`, {
        remedy: `the names are ${documentNames.join(", ")}`,
      });
    return [{ variable, name }];
  });
  const names = documentNames.filter((each) => found.some(({ name }) => name === each));
  return {
    names,
    notes: found.map(({ variable, name }) => `${variable} is read as the backend "${name}": name it in the options instead`),
  };
}
