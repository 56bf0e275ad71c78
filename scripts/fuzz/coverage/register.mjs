/** For `node --import`: modules of src/ that are loaded from here on count their edges in `globalThis.__edges`. */
import { register } from "node:module";
import { allocatorName } from "../allocator-name.mjs";

/** Counters of one byte; about 60,000 are used. */
const capacity = 2 ** 18;
const edges = { counters: new Uint8Array(capacity), used: 0 };

globalThis.__edges = edges;
globalThis[allocatorName] = (count) => {
  if (edges.used + count > capacity)
    throw new Error(`more than ${capacity} edges: raise the capacity in scripts/fuzz/coverage/register.mjs`);
  const own = edges.counters.subarray(edges.used, edges.used + count);
  edges.used += count;
  return own;
};
register("./hooks.mjs", import.meta.url);
