/**
 * Writes docs/reference/api/ from the docstrings of the published entry points. With `--check` it writes nothing, and ends with 1 where the
 * pages differ from what the docstrings say now.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Application } from "typedoc";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = join(root, "docs/reference/api");

async function write(folder: string): Promise<void> {
  const app = await Application.bootstrapWithPlugins({ options: join(root, "typedoc.json"), out: folder, logLevel: "Error" });
  const project = await app.convert();
  if (project === undefined) throw new Error("the entry points of typedoc.json do not compile: npm run typecheck says why");
  await app.generateOutputs(project);
}

/** Every file of a folder and what is in it. */
function contents(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    names
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length), readFileSync(path, "utf8")]),
  );
}

if (values.check) {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-api-"));
  try {
    await write(folder);
    const [now, committed] = [contents(folder), contents(pages)];
    const stale = [...new Set([...now.keys(), ...committed.keys()])].filter((name) => now.get(name) !== committed.get(name));
    for (const name of stale) console.error(`docs/reference/api${name} is not what the docstrings say: npm run api`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  await write(pages);
}
