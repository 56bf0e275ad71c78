/** Metrics of compiled programs: what compilers of backends did for the models in memory. */
import { Counter, type Registry } from "prom-client";
import type { ProgramCounts } from "../../contract/backend.ts";
import type { Runtime } from "../../api/runtime.ts";
import { addCollected } from "./collected.ts";

/** Adds the metrics to the registry. `getName`: the label of a model's reference. Models whose engines compile no programs have no series. */
export function watchPrograms(registry: Registry, runtime: Pick<Runtime, "memory">, nameOf: (reference: string) => string): void {
  const total = (name: string, help: string, read: (counts: ProgramCounts) => number): void => {
    const configuration = { name: `inferyard_${name}`, help, labelNames: ["model", "target"], registers: [registry] };
    addCollected(Counter, configuration, (add) => {
      for (const { reference, target, programs } of runtime.memory().models)
        if (programs !== undefined) add({ model: nameOf(reference), target }, read(programs));
    });
  };
  total("programs_compiled_total", "Programs compiled for models in memory", ({ compiled }) => compiled);
  total("program_compile_seconds_total", "Time in which programs were compiled", ({ compileMs }) => compileMs / 1000);
  total("programs_cached_total", "Programs taken from the cache on disk instead of compiled", ({ cached }) => cached);
  total("program_cache_read_bytes_total", "Bytes of programs read from the cache on disk", ({ cachedBytes }) => cachedBytes);
}
