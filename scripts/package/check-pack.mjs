// Packs what `npm run build` made, holds the tarball to the rules of packages (publint, attw), unpacks it beside links to the packages it depends on
// and to no optional one, imports each path and embeds with it. `--without-rules`, of `npm test`, leaves out publint and attw, two thirds of the time: the
// long suite runs all of it (test/package/package-rules.long.test.ts) and installs the tarball with npm (test/package/installed.long.test.ts).
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, extract } from "tar";

const holdsToRules = !process.argv.includes("--without-rules");
const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "inferyard-pack-"));
const installed = join(folder, "node_modules/inferyard");
const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const node = (...args) => run(process.execPath, args, folder);
const check = (program, ...args) =>
  execFileSync(process.execPath, [join(root, "node_modules", program), ...args], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });

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
  if (holdsToRules) check("publint/src/cli.js", tarball, "--strict");
  mkdirSync(installed, { recursive: true });
  extract({ file: tarball, cwd: installed, strip: 1, sync: true });
  if (holdsToRules) {
    // attw looks through all files for each folder it asks for: without sources and their maps it takes a third of the time.
    const types = join(folder, "types.tgz");
    const isOfTypes = (path) => !/\.map$|inferyard\/src\//.test(path);
    create({ file: types, gzip: { level: 1 }, sync: true, cwd: join(folder, "node_modules"), filter: isOfTypes }, ["inferyard"]);
    check("@arethetypeswrong/cli/dist/index.js", types, "--profile", "esm-only", "--quiet");
  }
  if (undeclared().length > 0) throw new Error(`dist/ imports packages that package.json lacks: ${undeclared().join(", ")}`);
  for (const name of Object.keys(manifest.dependencies)) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link, "junction");
  }
  const output = JSON.parse(node(join(installed, manifest.bin.inferyard), "embed", "--json", "hello"));
  if (output.target !== "native:cpu" || output.embeddings[0].length !== output.dimensions)
    throw new Error(`a wrong answer: ${output.target}`);
  const paths = Object.keys(manifest.exports).filter((path) => !/\*|json$|langchain|browser\/worker/.test(path)); // LangChain.js is optional
  const imports = paths.map((path) => `await import(${JSON.stringify(`inferyard${path.slice(1)}`)});`);
  const client =
    'const { createClient, ServerError } = await import("inferyard/client"); console.log(typeof createClient, typeof ServerError);';
  const failing =
    'await (await import("inferyard/inspect")).inspectFile("/none.onnx").catch((error) => console.log(error.stack));';
  const said = node("--enable-source-maps", "--input-type=module", "-e", [...imports, client, failing].join("\n"));
  if (!said.startsWith("function function\n")) throw new Error("no inferyard/client");
  const named =
    /\((.*\/src\/inspection\/index\.ts):\d+:\d+\)/.exec(said)?.[1] ?? /at \S+ (.*src\/inspection\/index\.ts)/.exec(said)?.[1];
  if (named === undefined || !existsSync(named.replace("file://", "")))
    throw new Error(`stack traces name no source file that the package has:\n${said}`);
  const stray = packed.files.filter(({ path }) => path.includes(".test.") || path.includes("goldens"));
  if (stray.length > 0) throw new Error(`the package carries ${stray[0].path}`);
  if (!packed.files.some(({ path }) => path.endsWith("client/generated-openapi.d.ts")))
    throw new Error("the package lacks the types of inferyard/client: npm run build makes them");
  console.log(
    `package: ${packed.files.length} files, ${(statSync(tarball).size / 1e6).toFixed(1)} MB packed; runs without optional packages and embeds on ${output.target}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
