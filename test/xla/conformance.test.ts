/** The backend `xla` on a CPU plugin: the contract of backends. Language models, goldens and other plugins are in models.long.test.ts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { xla } from "inferyard/backends/xla";
import { afterAll, describe, expect, it } from "vitest";
import { backendCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";
import { tinyBert } from "../fixtures/conformance-subjects.ts";
import { hasSharedData, needsData } from "../fixtures/shared-data.ts";
import { needsPlugin, pjrtPlugin } from "./fixtures/pjrt-plugins.ts";

const [noData, dataTitle] = needsData("the backend xla on a CPU plugin");
const [skip, title, plugin] = needsPlugin(dataTitle, noData ? { reason: "no shared data" } : await pjrtPlugin());

const folder = hasSharedData ? mkdtempSync(join(tmpdir(), "inferyard-xla-conformance-")) : "";
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(skip)(title, () => {
  const device = { type: "cpu", index: 0 } as const;
  const create = (): ReturnType<typeof xla> => xla({ plugin });

  describe("the contract of backends", () => {
    for (const { name, run } of skip ? [] : backendCasesOnOneModel({ ...tinyBert(folder), create, device }))
      it(name, async () => await expect(run()).resolves.toBeUndefined());
  });
});
