/**
 * Writes docs/reference/api/ from the docstrings of the published entry points: `npm run api`. With `--check` the pages go to a folder that is
 * removed at the end. Ends with 1 where the generator warns, such as of a link that leads nowhere.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Application } from "typedoc";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Sources of the published entry points, with the names that programs import: "src/contract/index.ts" is "inferyard/backend". */
function entryPoints(): ReadonlyMap<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, { readonly types?: string }>>;
  };
  const entries = Object.entries(exports).flatMap(([key, { types }]): readonly [string, string][] =>
    types === undefined || key === "./browser/worker" // a program, which exports nothing
      ? []
      : [[types.replace(/^\.\/dist\/(types\/)?/, "src/").replace(/\.d\.ts$/, ".ts"), posix.join(name, key)]],
  );
  return new Map(entries);
}

/** Whether the generator had nothing to say. */
async function write(folder: string): Promise<boolean> {
  const names = entryPoints();
  const app = await Application.bootstrapWithPlugins({
    options: join(root, "typedoc.json"),
    entryPoints: [...names.keys()],
    out: folder,
    logLevel: "Warn",
  });
  const project = await app.convert();
  if (project === undefined) return false;
  for (const module of project.children ?? []) {
    const file = project.getSymbolIdFromReflection(module)?.fileName;
    const name = file === undefined ? undefined : names.get(relative(root, file).split(sep).join("/"));
    if (name !== undefined) module.name = name;
  }
  app.validate(project);
  await app.generateOutputs(project);
  return app.logger.warningCount === 0 && app.logger.errorCount === 0;
}

const folder = values.check ? mkdtempSync(join(tmpdir(), "inferyard-api-")) : join(root, "docs/reference/api");
try {
  if (!(await write(folder))) process.exitCode = 1;
} finally {
  if (values.check) rmSync(folder, { recursive: true, force: true });
}
