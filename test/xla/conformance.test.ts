/** The backend `xla` on a CPU plugin: the contract of backends and of language models, models against their goldens, and the limits of threads. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { xla } from "inferyard/backends/xla";
import { afterAll, describe, expect, it } from "vitest";
import { runGoldens } from "../../scripts/goldens/run.ts";
import { backendCasesOnOneModel, languageCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";
import { tinyBert } from "../fixtures/conformance-subjects.ts";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";
import { filesOf, samplesOf } from "../fixtures/language-subjects.ts";
import { needsPlugin, pjrtPlugin } from "./fixtures/pjrt-plugins.ts";

const [noData, dataTitle] = needsData("the backend xla on a CPU plugin");
const [skip, title, plugin] = needsPlugin(dataTitle, noData ? { reason: "no shared data" } : await pjrtPlugin());

const folder = hasSharedData ? mkdtempSync(join(tmpdir(), "inferyard-xla-conformance-")) : "";
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const llama = `${sharedData}tiny-random-llama/`;

describe.skipIf(skip)(title, () => {
  const device = { type: "cpu", index: 0 } as const;
  const create = (): ReturnType<typeof xla> => xla({ plugin });

  describe("the contract of backends", () => {
    for (const { name, run } of skip ? [] : backendCasesOnOneModel({ ...tinyBert(folder), create, device }))
      it(name, async () => await expect(run()).resolves.toBeUndefined());
  });

  describe("the contract of language models", () => {
    for (const { name, run } of skip
      ? []
      : languageCasesOnOneModel({
          model: filesOf(llama, { path: "model.safetensors" }),
          samples: samplesOf(llama),
          create,
          device,
        }))
      it(name, async () => await expect(run()).resolves.toBeUndefined());
  });

  it.each(["tiny-random-bert", "tiny-random-vit"])("%s has its goldens", async (model) => {
    const settings = { backends: [create()], host: "inline" } as const;
    const results = await runGoldens(`${sharedData}${model}`, ["xla:cpu"], () => {}, undefined, settings);
    expect(results.map(({ verdict, failures, reason }) => [verdict, reason, ...failures])).toEqual([["passed", undefined]]);
  });
});
