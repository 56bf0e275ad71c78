/** The memory budget of a server that was given none: without one, whoever may ask could fill the machine with models. */
import type { Fact } from "../../backend.ts";
import { readMemory } from "../../devices/memory.ts";
import { type MachineSources, nodeSources } from "../../devices/sources.ts";

/** Of the memory of the machine, or of its control group where that has less; the rest is for the server itself and for others. */
const share = 0.8;

/** Bytes that all models may take together, and where the figure comes from. */
export async function defaultMemoryBudget(sources: MachineSources = nodeSources()): Promise<Fact<number>> {
  const { total } = await readMemory(sources);
  return { value: Math.floor(share * total.value), source: `${100 * share} % of ${total.source}` };
}
