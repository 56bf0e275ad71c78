/** Transformers from safetensors on our own engine, through the public runtime, against goldens made by PyTorch. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runGoldens } from "../../scripts/goldens/run.ts";
import { writeSafetensors } from "../../src/formats/safetensors/write-safetensors.ts";
import { storedWeights } from "./fixtures/stored-weights.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";

const [skip, name] = needsData("transformers from safetensors on native:cpu");

const exported = [
  "tiny-random-deberta-v3",
  "tiny-random-modernbert",
  "tiny-random-cross-encoder",
  "tiny-bert-nli-untrained",
  "tiny-random-splade",
  "minilm-l3-ner",
];
/** Of each architecture, and each head. */
const ofSample: ReadonlySet<string> = new Set([
  "tiny-random-bert",
  "tiny-random-deberta-v3",
  "tiny-random-modernbert",
  "tiny-random-cross-encoder",
  "tiny-random-splade",
]);

describe.skipIf(skip)(name, () => {
  for (const [skipRows, title, models] of sampled("%s", ["all-MiniLM-L6-v2", "tiny-random-bert"], (model) => ofSample.has(model)))
    it.skipIf(skipRows).each(models)(title, async (model) => {
      const [result] = await runGoldens(`${sharedData}${model}`, ["native"], () => {}, "model.safetensors");
      expect(result).toMatchObject({ target: "native:cpu", verdict: "passed", failures: [] });
    });

  const folder = mkdtempSync(join(tmpdir(), "inferyard-transformers-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const [skipRows, title, models] of sampled("%s, whose weights are taken out of its ONNX export", exported, (model) =>
    ofSample.has(model),
  ))
    it.skipIf(skipRows).each(models)(title, async (model) => {
      const own = join(folder, model);
      mkdirSync(own);
      for (const file of readdirSync(`${sharedData}${model}`))
        if (file !== "onnx") cpSync(`${sharedData}${model}/${file}`, join(own, file), { recursive: true });
      await writeSafetensors(join(own, "model.safetensors"), storedWeights(`${sharedData}${model}/onnx/model.onnx`));
      const config = JSON.parse(readFileSync(join(own, "config.json"), "utf8")) as object;
      // The cross-encoder's says nothing of what it is.
      writeFileSync(join(own, "config.json"), JSON.stringify({ architectures: ["BertForSequenceClassification"], ...config }));
      const [result] = await runGoldens(own, ["native"], () => {});
      expect(result).toMatchObject({ target: "native:cpu", verdict: "passed", failures: [] });
    });
});
