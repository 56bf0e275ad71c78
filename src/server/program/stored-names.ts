/** Names of the models in the store, for the server. */
import type { ModelStore } from "../../models/model-store.ts";
import type { Log } from "../observability/log.ts";
import type { StoredNames } from "../serving/model-names.ts";

/** A function that lists the names; it logs each damaged record once. */
export function getStoredNames(store: ModelStore, log: Log): StoredNames {
  const told = new Set<string>();
  return async () => {
    const { records, damaged } = await store.inventory();
    for (const { name, problem, remedy } of damaged) {
      if (told.has(name)) continue;
      told.add(name);
      log.notes([{ name: `the record of ${name}`, note: `is damaged: ${problem}; ${remedy}` }]);
    }
    return records.map(({ name }) => name);
  };
}
