/** Default of `maxRunMemory` for `serve`: without one, a single request could exhaust the machine's memory. */
import { readMemory } from "../../devices/memory.ts";
import { type MachineSources, nodeSources } from "../../devices/sources.ts";

/** Fraction of the memory of the machine, or of its control group. */
const share = 0.25;

/** Default of the setting `maxRunMemory` in bytes, a share of the memory of the machine. */
export async function defaultRunMemory(sources: MachineSources = nodeSources()): Promise<number> {
  const { total } = await readMemory(sources);
  return Math.floor(share * total.value);
}
