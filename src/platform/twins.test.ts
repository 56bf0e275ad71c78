import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url);
const { browser } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { browser: Record<string, string> };

/** The source of a built file. */
const sourceOf = (built: string): string => new URL(built.replace("./dist/", "src/").replace(/\.js$/, ".ts"), root).href;

describe("modules that a browser has in the place of Node.js's", () => {
  it.each(Object.entries(browser))("%s has all its names in %s", async (original, twin) => {
    const [names, twins] = await Promise.all(
      [original, twin].map(async (file) => Object.keys((await import(sourceOf(file))) as object)),
    );
    expect(twins).toEqual(expect.arrayContaining(names!));
  });
});

it("the entry for browsers has the public names of the one for Node.js, and refuses to work there", async () => {
  const [node, page] = await Promise.all([import("../index.ts"), import("../api/browser/index.ts")]);
  expect(Object.keys(page).toSorted()).toEqual(Object.keys(node).toSorted());
  await expect(page.createRuntime()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
