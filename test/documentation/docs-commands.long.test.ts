/** The pages that docs-commands.test.ts leaves out, and pages with commands that take long (`<!-- long suite -->`), run whole. */
import { describe, expect, it } from "vitest";
import { needsData } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";
import { runPage } from "./fixtures/doc-run.ts";
import { askedPages, longPages, otherPages } from "./fixtures/doc-sample.ts";

const [skip, name] = needsData("the commands and programs of");

describe.skipIf(skip)(name, () => {
  it.each(askedPages(otherPages()))("%s print what it shows", async (page) => {
    expect(await runPage(page, false)).toEqual([]);
  });
});

const [skipLong, longName] = needsData("the long commands of");

describe.skipIf(skipLong)(longName, () => {
  const ofSample = new Set(["docs/guide/cross-validation.md", "docs/guide/memory.md"]);
  for (const [isSkipped, title, pages] of sampled("%s print what it shows", longPages(), (page) => ofSample.has(page)))
    it.skipIf(isSkipped).each(askedPages(pages))(title, async (page) => {
      expect(await runPage(page, true)).toEqual([]);
    });
});
