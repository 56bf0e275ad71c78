/** Memory limits of a server whose settings have none: without them, clients could fill the machine with models, and one request could exhaust it. */
import type { Fact } from "../../contract/backend.ts";
import { readMemory } from "../../devices/memory.ts";
import { type MachineSources, nodeSources } from "../../devices/sources.ts";

/** Fractions of the memory of the machine, or of its control group; the rest is for the server itself and others. */
const [modelShare, runShare] = [0.8, 0.25];

/** Defaults of memory settings of a runtime. */
export interface MemoryDefaults {
  /** Bytes that all models may take together, with the source of the figure. */
  readonly maxMemory: Fact<number>;
  /** Bytes that one run may take besides the weights. */
  readonly maxRunMemory: number;
}

/** The defaults on this machine. */
export async function getMemoryDefaults(sources: MachineSources = nodeSources()): Promise<MemoryDefaults> {
  const { total } = await readMemory(sources);
  return {
    maxMemory: { value: Math.floor(modelShare * total.value), source: `${100 * modelShare} % of ${total.source}` },
    maxRunMemory: Math.floor(runShare * total.value),
  };
}
