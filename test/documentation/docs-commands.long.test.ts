/** Pages with commands that take long (`<!-- long suite -->`), run whole. test/documentation/docs-commands.test.ts runs the others. */
import { describe, expect, it } from "vitest";
import { docPages } from "./fixtures/doc-blocks.ts";
import { hasBlocksFor, runPage } from "./fixtures/doc-run.ts";
import { needsData } from "../fixtures/shared-data.ts";

const [skip, name] = needsData("the long commands of");

describe.skipIf(skip)(name, () => {
  const pages = docPages.filter((page) => hasBlocksFor(page, true) && page.includes(process.env["DOCS_PAGE"] ?? ""));
  it.each(pages)("%s print what it shows", async (page) => {
    expect(await runPage(page, true)).toEqual([]);
  });
});
