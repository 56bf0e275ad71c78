/**
 * Models on XLA on three CPU plugins: the contract of language models, and goldens. A sample each time on one plugin; TEST_SLOW=1 all on each.
 */
import { xla } from "inferyard/backends/xla";
import { describe, expect, it } from "vitest";
import { runGoldens } from "../../scripts/goldens/run.ts";
import { languageCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";
import { filesOf, samplesOf } from "../fixtures/language-subjects.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";
import { fetchPlugin, needsPlugin, pluginVersions } from "./fixtures/pjrt-plugins.ts";

const [noData, dataTitle] = needsData("models on XLA");
const llama = `${sharedData}tiny-random-llama/`;

/** Folders of the shared data, with the file of weights that runs; undefined: the one that the runtime chooses. */
const models: readonly (readonly [folder: string, weights: string | undefined])[] = [
  ["all-MiniLM-L6-v2", "model.safetensors"],
  ["all-MiniLM-L6-v2", "onnx/model.onnx"],
  ["all-MiniLM-L6-v2", "onnx/model_quantized.onnx"],
  ["minilm-l3-ner", undefined],
  ["tiny-random-deberta-v3", undefined],
  ["tiny-random-modernbert", undefined],
  ["tiny-random-vit", undefined],
  ["tiny-random-clip", undefined],
  ["tiny-random-colbert", undefined],
];

for (const version of pluginVersions) {
  const fetched = noData ? { reason: "no shared data" } : await fetchPlugin(version);
  const [skip, title, plugin] = needsPlugin(`${dataTitle}, plugin ${version}`, fetched);
  describe.skipIf(skip)(title, () => {
    const create = (): ReturnType<typeof xla> => xla({ plugin });
    const device = { type: "cpu", index: 0 } as const;
    const cases = skip
      ? []
      : languageCasesOnOneModel({
          model: filesOf(llama, { path: "model.safetensors" }),
          samples: samplesOf(llama),
          create,
          device,
        });
    if (runsAll || version === "0.106")
      for (const { name, run } of cases) it(name, async () => await expect(run()).resolves.toBeUndefined());

    // Of each run: each model on one of the plugins.
    const tried = models.filter((_each, index) => runsAll || index % pluginVersions.length === pluginVersions.indexOf(version));
    it.each(tried)("%s %s has its goldens", async (model, weights) => {
      const settings = { backends: [create()], host: "inline" } as const;
      const results = await runGoldens(`${sharedData}${model}`, ["xla:cpu"], () => {}, weights, settings);
      expect(results.map(({ verdict, failures, reason }) => [verdict, reason, ...failures])).toEqual([["passed", undefined]]);
    });
  });
}
