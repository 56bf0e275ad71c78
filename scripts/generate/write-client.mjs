// Writes src/client/generated-openapi.ts, the types of `inferyard/client`: `npm run client`. The build and the type check run it with `--if-older`,
// which writes nothing where the file is as new as all that it is made from, or was made from the same document.
import { existsSync, readFileSync, readdirSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const started = new Date();
const { values } = parseArgs({ options: { "if-older": { type: "boolean", default: false } } });
const root = fileURLToPath(new URL("../..", import.meta.url));
const file = join(root, "src/client/generated-openapi.ts");
const makers = ["./client-types.ts", "./openapi-document.ts"].map((path) => new URL(path, import.meta.url));

function isUpToDate() {
  if (!existsSync(file)) return false;
  const written = statSync(file).mtimeMs;
  const sources = readdirSync(join(root, "src"), { recursive: true })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => join(root, "src", path));
  return [...sources, ...makers, join(root, "package-lock.json")].every((path) => statSync(path).mtimeMs <= written);
}

async function write() {
  const { tsImport } = await import("tsx/esm/api");
  const [{ clientTypes, sourceLine }, { openApiDocument }] = await Promise.all(
    makers.map(({ href }) => tsImport(href, import.meta.url)),
  );
  const document = await openApiDocument();
  if (!values["if-older"] || !existsSync(file) || !readFileSync(file, "utf8").includes(sourceLine(document))) {
    const complete = `${file}.${process.pid}.new`; // another process may be reading the file
    writeFileSync(complete, await clientTypes(document));
    renameSync(complete, file);
  }
  utimesSync(file, started, started); // a source that was saved since then makes it older
}

if (!values["if-older"] || !isUpToDate()) await write();
