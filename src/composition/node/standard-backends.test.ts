import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { backendPages, backendsFolder } from "../../../scripts/generate/pages/backend-pages.ts";
import { ownBackends } from "../../runtime/targets/known-names.ts";
import { standardBackends } from "./standard-backends.ts";

it("the standard backends are those whose names are known, and their settings reach them", () => {
  expect(standardBackends().map(({ name }) => name)).toEqual(ownBackends);
  const settings = { plugin: "/opt/plugin.so", buckets: { batch: [4] } };
  const given = standardBackends({ library: "/opt/libllama.so", xla: settings }).map(({ entry }) => entry?.options);
  expect(given).toEqual(expect.arrayContaining([{ library: "/opt/libllama.so" }, { ...settings, probed: [] }]));
});

it("docs/reference/backends has a page for each, made from what it declares: npm run schemas writes them", () => {
  const pages = backendPages();
  expect(readdirSync(backendsFolder).toSorted()).toEqual([...pages.keys()].toSorted());
  for (const [name, text] of pages) expect(readFileSync(new URL(name, backendsFolder), "utf8")).toBe(text);
});
