/** ARCHITECTURE.md names the folders that there are, and their ranks as the lint has them. */
import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { layersWithin, ranks } from "../../scripts/layout/layout.ts";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("ARCHITECTURE.md", root), "utf8");

/** The lines of the code block below a heading. */
function blockBelow(heading: string): string[] {
  const section = page.slice(page.indexOf(`## ${heading}\n`));
  return /```text\n([\s\S]*?)```/.exec(section)?.[1]?.split("\n") ?? [];
}

it("the layout lists every folder of src/, and no other", () => {
  const listed = blockBelow("Layout").flatMap((line) => /^ {2}([a-z-]+)\/\S* /.exec(line)?.[1] ?? []);
  const folders = readdirSync(new URL("src", root), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(listed.toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
});

it("the layers are the ranks of scripts/layout/layout.ts, lowest first", () => {
  const words = (line: string): string[] => line.split(/ {3,}/)[0]?.split(/\s+/).filter(Boolean) ?? [];
  const listed = blockBelow("Layers")
    .map(words)
    .filter((names) => names.length > 0);
  expect(listed).toEqual(ranks.map((names) => names.filter((name) => name !== "version.ts")));
});

it("the layers of the engine are those of the table of its folders", () => {
  const listed = [...page.matchAll(/^\| `([a-z/0-9]+)\/` \|/gm)].map(([, name = ""]) => name.split("/")[0]);
  const layers = (layersWithin["engine"] ?? []).flat().filter((name) => name !== ".");
  expect([...new Set(listed.slice(listed.indexOf("ir")))]).toEqual(layers);
});
