/** The filters of Jinja2 with `tojson` of transformers. Left out: `random`, which is not deterministic, `pprint` and `urlize`. */
import type { Filter } from "./environment.ts";
import { sequenceFilters } from "./sequence-filters.ts";
import { textFilters } from "./text-filters.ts";
import { valueFilters } from "./value-filters.ts";

/** Filters by name. */
export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ...sequenceFilters,
  ...textFilters,
  ...valueFilters,
]);

/** Filters of Jinja2 that are left out. */
export const missingFilters: ReadonlySet<string> = new Set(["pprint", "random", "urlize"]);
