/** Runtimes on machines that tests describe. */
import { expect, it } from "vitest";
import { scriptedBackend, scriptedMachine } from "../testing/index.ts";
import { createRuntime } from "./create-runtime.ts";

it("a runtime selects by the facts of a scripted machine, which its backends get too", async () => {
  const source = "scripted";
  const machine = scriptedMachine({ memory: { total: { value: 2, source }, available: { value: 1, source } } });
  const probed: unknown[] = [];
  const mine = scriptedBackend("mine", {
    capabilities: { models: [{ kind: "tensor", format: "safetensors", architectures: "any", runsIn: "caller" }] },
  });
  const backend = {
    ...mine,
    probe: (options: Parameters<typeof mine.probe>[0]) => (probed.push(options.machine), mine.probe(options)),
  };
  await using runtime = await createRuntime({ backends: [backend], machine });
  expect(await runtime.machine({ again: true })).toBe(machine);
  const { candidates } = await runtime.explain("builtin");
  const reason: unknown = expect.stringMatching(/of memory, and 1 MB is available/);
  expect(candidates).toMatchObject([{ target: "mine:cpu", stage: "requirement", reason }]);
  expect(probed).toContain(machine);
});
