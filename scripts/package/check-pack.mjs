// Packs what `npm run build` made, holds the tarball to the rules of packages (publint, attw), installs it into an empty project without optional
// packages, imports each path and embeds with it, as a new user would.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "inferyard-pack-"));
const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const check = (command, args) => execFileSync(command, args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });

/** Packages that the files of dist/ import and package.json does not name. */
function undeclared() {
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
  const files = ["dist", "dist/browser"].flatMap((path) => readdirSync(join(root, path)).map((name) => join(root, path, name)));
  const specifiers = files
    .filter((path) => path.endsWith(".js"))
    .flatMap((path) => [...readFileSync(path, "utf8").matchAll(/(?:^import[^"\n;]*|\bimport\()"([^".][^"]*)"/gm)])
    .map(([, specifier]) => specifier)
    .filter((specifier) => !specifier.startsWith("node:"));
  const names = specifiers.map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)[0]);
  return [...new Set(names)].filter((name) => !(name in declared));
}

try {
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root));
  const tarball = join(folder, packed.filename);
  check("npx", ["publint", tarball, "--strict"]);
  check("npx", ["attw", tarball, "--profile", "esm-only", "--quiet"]);
  if (undeclared().length > 0) throw new Error(`dist/ imports packages that package.json lacks: ${undeclared().join(", ")}`);
  writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true }\n');
  run("npm", ["install", "--no-audit", "--no-fund", "--omit=optional", tarball], folder);
  if (existsSync(join(folder, "node_modules/onnxruntime-node"))) throw new Error("installing pulled in an optional package");
  const output = JSON.parse(run("npx", ["inferyard", "embed", "--json", "hello"], folder));
  if (output.target !== "native:cpu" || output.embeddings[0].length !== output.dimensions)
    throw new Error(`a wrong answer: ${output.target}`);
  const paths = Object.keys(manifest.exports).filter((path) => !/\*|json$|langchain|browser\/worker/.test(path)); // LangChain.js is optional
  const imports = paths.map((path) => `await import(${JSON.stringify(`inferyard${path.slice(1)}`)});`).join("\n");
  run("node", ["--input-type=module", "-e", imports], folder);
  const client =
    'import { createClient, ServerError } from "inferyard/client"; console.log(typeof createClient, typeof ServerError)';
  if (run("node", ["--input-type=module", "-e", client], folder).trim() !== "function function")
    throw new Error("no inferyard/client");
  const failing =
    'import { inspectFile } from "inferyard/inspect"; await inspectFile("/none.onnx").catch((error) => console.log(error.stack))';
  const stack = run("node", ["--enable-source-maps", "--input-type=module", "-e", failing], folder);
  const named =
    /\((.*\/src\/inspection\/index\.ts):\d+:\d+\)/.exec(stack)?.[1] ?? /at \S+ (.*src\/inspection\/index\.ts)/.exec(stack)?.[1];
  if (named === undefined || !existsSync(named.replace("file://", "")))
    throw new Error(`stack traces name no source file that the package has:\n${stack}`);
  const stray = packed.files.filter(({ path }) => path.includes(".test.") || path.includes("goldens"));
  if (stray.length > 0) throw new Error(`the package carries ${stray[0].path}`);
  if (!packed.files.some(({ path }) => path.endsWith("client/generated-openapi.d.ts")))
    throw new Error("the package lacks the types of inferyard/client: npm run build makes them");
  console.log(
    `package: ${packed.files.length} files, ${(statSync(tarball).size / 1e6).toFixed(1)} MB packed; installs alone and embeds on ${output.target}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
