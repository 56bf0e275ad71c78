/** What one run may take on a server that was given no `maxRunMemory`: without a bound one request could fill the machine. */
import { readMemory } from "../../devices/memory.ts";
import { type MachineSources, nodeSources } from "../../devices/sources.ts";

/** Of the memory of the machine, or of its control group where that has less. */
const share = 0.25;

/** Bytes. */
export async function defaultRunMemory(sources: MachineSources = nodeSources()): Promise<number> {
  const { total } = await readMemory(sources);
  return Math.floor(share * total.value);
}
