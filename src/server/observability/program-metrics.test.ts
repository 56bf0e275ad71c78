import { Registry } from "prom-client";
import { expect, it } from "vitest";
import type { Runtime } from "../../api/runtime.ts";
import { programsOfModels } from "../../contract/shapes/program-counts.ts";
import { watchPrograms } from "./program-metrics.ts";

const counts = { compiled: 1, compileMs: 2100, cached: 2, cachedBytes: 1000 };
type Models = ReturnType<Runtime["memory"]>["models"];

it("metrics of programs are those of the models in memory whose engines compile programs", async () => {
  const registry = new Registry();
  let models: readonly object[] = [
    { reference: "m", target: "xla:cpu", programs: counts },
    { reference: "n", target: "native:cpu" },
  ];
  watchPrograms(registry, { memory: () => ({ limits: null, models: models as unknown as Models }) }, (name) =>
    name.toUpperCase(),
  );
  const values = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(await values()).toEqual([
    'inferyard_programs_compiled_total{model="M",target="xla:cpu"} 1',
    'inferyard_program_compile_seconds_total{model="M",target="xla:cpu"} 2.1',
    'inferyard_programs_cached_total{model="M",target="xla:cpu"} 2',
    'inferyard_program_cache_read_bytes_total{model="M",target="xla:cpu"} 1000',
  ]);
  models = [];
  expect(await values()).toEqual([]);
});

it("counts of replicas are added up", () => {
  expect(programsOfModels([{}, { programs: undefined }])).toBeUndefined();
  expect(programsOfModels([{ programs: counts }, {}, { programs: counts }])).toEqual({
    compiled: 2,
    compileMs: 4200,
    cached: 4,
    cachedBytes: 2000,
  });
});
