/** Settings of the backend `xla` on a plugin: they reach the process of a model, and what they do is in the evidence. */
import { createRuntime } from "inferyard";
import { expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { needsPlugin, pjrtPlugin } from "./fixtures/pjrt-plugins.ts";

const [noData, dataTitle] = needsData("the plugin and the buckets of the settings, with the vectors of native");
const [noPlugin, title, plugin] = needsPlugin(dataTitle, await pjrtPlugin());
const model = `${sharedData}tiny-random-bert`;

it.skipIf(noData || noPlugin)(title, async () => {
  const buckets = { batch: [3], sequence: [24, 40] };
  await using runtime = await createRuntime({ xla: { plugin, buckets }, threads: 1 });
  const texts = ["a cat", "two cats sit on the mat"];
  const compiled = await runtime.embed(texts, { model, target: "xla:cpu", pooling: "mean" });
  expect(compiled.decision.selected).toMatchObject({ target: "xla:cpu", host: "process", library: { name: "xla" } });
  const evidence = compiled.decision.selected?.evidence.join("\n");
  expect(evidence).toContain(plugin);
  expect(evidence).toMatch(
    /inputs are padded to batches of 3, 6, 12 and so on, sequences of 24, 40, 80 and so on; so far to 3x24/,
  );
  const { embeddings } = await runtime.embed(texts, { model, target: "native:cpu", pooling: "mean" });
  for (const [index, vector] of embeddings.entries())
    for (const [at, value] of vector.entries()) expect(compiled.embeddings[index]?.[at]).toBeCloseTo(value, 4);
});
