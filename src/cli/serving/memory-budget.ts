/** Default memory budget of `serve`: without one, clients could fill the machine with models. */
import type { Fact } from "../../contract/backend.ts";
import { readMemory } from "../../devices/memory.ts";
import { type MachineSources, nodeSources } from "../../devices/sources.ts";

/** Fraction of the memory of the machine, or of its control group; the rest is for the server itself and others. */
const share = 0.8;

/** Memory in bytes that all models may take together, with the source of the figure. */
export async function defaultMemoryBudget(sources: MachineSources = nodeSources()): Promise<Fact<number>> {
  const { total } = await readMemory(sources);
  return { value: Math.floor(share * total.value), source: `${100 * share} % of ${total.source}` };
}
