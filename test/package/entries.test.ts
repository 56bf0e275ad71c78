/** The table of the build, package.json and the type check name the same modules. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pageEntries } from "../../scripts/build/page-entries.ts";
import { fileNameOf, modules, programs, subpaths } from "../../src/bundling/entries.ts";

const root = new URL("../../", import.meta.url);
const json = (path: string): unknown => JSON.parse(readFileSync(new URL(path, root), "utf8").replace(/^\/\/.*$/gm, ""));
const declarations = (source: string): string => source.replace(/^src\//, "./dist/types/").replace(/\.ts$/, ".d.ts");

interface Target {
  readonly types: string;
  readonly default: string;
}

const { exports } = json("package.json") as {
  readonly exports: Readonly<Record<string, Target & { readonly browser?: Target }>>;
};
const page = { types: declarations(pageEntries["inferyard"]!), default: "./dist/browser/inferyard.js" };

describe("the public paths", () => {
  it("are those of package.json, for Node.js and for pages", () => {
    const expected: Record<string, unknown> = Object.fromEntries(
      Object.entries(subpaths).map(([path, source]) => [
        path === "" ? "." : `./${path}`,
        {
          ...(path === "" ? { browser: page } : {}),
          types: declarations(source),
          default: `./dist/${fileNameOf(path)}.js`,
        },
      ]),
    );
    const worker = { types: declarations(pageEntries["inferyard-worker"]!), default: "./dist/browser/inferyard-worker.js" };
    const data = { "./schemas/*": "./schemas/*", "./package.json": "./package.json" };
    expect(exports).toEqual({ ...expected, "./browser": page, "./browser/worker": worker, ...data });
  });

  it("are the sources in the type check", () => {
    const { compilerOptions } = json("tsconfig.check.json") as { compilerOptions: { paths: Record<string, string[]> } };
    const expected = Object.entries(subpaths).map(([path, source]) => [
      path === "" ? "inferyard" : `inferyard/${path}`,
      [`./${source}`],
    ]);
    expect(compilerOptions.paths).toEqual({
      ...Object.fromEntries(expected),
      "inferyard/browser": [`./${pageEntries["inferyard"]}`],
    });
  });
});

it("every file that the table names was built", () => {
  const names = [...Object.keys(subpaths).map(fileNameOf), ...Object.keys(modules), ...Object.keys(programs)];
  const files = [...names.map((name) => `dist/${name}.js`), ...Object.keys(pageEntries).map((name) => `dist/browser/${name}.js`)];
  expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
