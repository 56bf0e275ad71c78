/**
 * Models on XLA on three CPU plugins: the contract of language models, and goldens. A sample each time on one plugin; TEST_SLOW=1 all on each.
 */
import { createRuntime } from "inferyard";
import type { Backend } from "inferyard/backend";
import { onnx } from "inferyard/backends/onnx";
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
  ["minilm-l3-ner", undefined],
  ["tiny-random-deberta-v3", undefined],
  ["tiny-random-modernbert", undefined],
  ["tiny-random-vit", undefined],
  ["tiny-random-clip", undefined],
  ["tiny-random-colbert", undefined],
  ["magika", undefined],
];

for (const version of pluginVersions) {
  const fetched = noData ? { reason: "no shared data" } : await fetchPlugin(version);
  const [skip, title, plugin] = needsPlugin(`${dataTitle}, plugin ${version}`, fetched);
  describe.skipIf(skip)(title, () => {
    const create = (): ReturnType<typeof xla> => xla({ plugin });
    const device = { type: "cpu", index: 0 } as const;
    const cases =
      skip || !(runsAll || version === "0.106")
        ? []
        : languageCasesOnOneModel({
            model: filesOf(llama, { path: "model.safetensors" }),
            samples: samplesOf(llama),
            create,
            device,
          });
    for (const { name, run } of cases) it(name, async () => await expect(run()).resolves.toBeUndefined());

    // Of each run: each tiny model on one of the plugins.
    const tried = models.filter(
      ([folder], index) =>
        runsAll || (folder !== "all-MiniLM-L6-v2" && index % pluginVersions.length === pluginVersions.indexOf(version)),
    );
    it.each(tried)("%s %s has its goldens", async (model, weights) => {
      const settings = { backends: [create()], host: "inline" } as const;
      const results = await runGoldens(`${sharedData}${model}`, ["xla:cpu"], () => {}, weights, settings);
      expect(results.map(({ verdict, failures, reason }) => [verdict, reason, ...failures])).toEqual([["passed", undefined]]);
    });

    it.skipIf(!runsAll && version !== "0.106")("weights in int8 give the vectors that onnxruntime gives", async () => {
      const texts = ["a cat sat on the mat", "what is the capital of France?"];
      const embed = async (backend: Backend, target: string): Promise<readonly Float32Array[]> => {
        const runtime = await createRuntime({ backends: [backend], target, host: "inline" });
        const { embeddings } = await runtime.embed(texts, { model: `${sharedData}all-MiniLM-L6-v2`, variant: "int8" });
        await runtime.dispose();
        return embeddings;
      };
      const [own, other] = [await embed(create(), "xla:cpu"), await embed(onnx(), "onnx:cpu")];
      const products = own.map((vector, row) => vector.reduce((sum, value, index) => sum + value * other[row]![index]!, 0));
      for (const cosine of products) expect(cosine).toBeGreaterThan(0.999);
    });
  });
}
