/** Names of the models in the store, for the server. */
import type { ModelStore } from "../../models/model-store.ts";
import type { StoredNames } from "../../server/index.ts";

/** A function that lists the names; it reports each damaged record once. */
export function getStoredNames(store: ModelStore, tell: (line: string) => void): StoredNames {
  const told = new Set<string>();
  return async () => {
    const { records, damaged } = await store.inventory();
    for (const { name, problem, remedy } of damaged) {
      if (told.has(name)) continue;
      told.add(name);
      tell(`inferyard: the record of ${name} is damaged: ${problem}; ${remedy}`);
    }
    return records.map(({ name }) => name);
  };
}
