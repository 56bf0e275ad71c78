// Packs the package, installs it into an empty project without optional packages, and embeds with it, as a new user would.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "inferyard-pack-"));
const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

try {
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", folder], root));
  const tarball = join(folder, packed.filename);
  writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true }\n');
  run("npm", ["install", "--no-audit", "--no-fund", "--omit=optional", tarball], folder);
  if (existsSync(join(folder, "node_modules/onnxruntime-node"))) throw new Error("installing pulled in an optional package");
  const output = JSON.parse(run("npx", ["inferyard", "embed", "--json", "hello"], folder));
  if (output.target !== "native:cpu" || output.embeddings[0].length !== output.dimensions)
    throw new Error(`a wrong answer: ${output.target}`);
  const client =
    'import { createClient, ServerError } from "inferyard/client"; console.log(typeof createClient, typeof ServerError)';
  if (run("node", ["--input-type=module", "-e", client], folder).trim() !== "function function")
    throw new Error("no inferyard/client");
  const stray = packed.files.filter(({ path }) => path.includes(".test.") || path.includes("recorded"));
  if (stray.length > 0) throw new Error(`the package carries ${stray[0].path}`);
  if (!packed.files.some(({ path }) => path.endsWith("client/generated-openapi.d.ts")))
    throw new Error("the package lacks the types of inferyard/client: npm run build makes them");
  console.log(
    `package: ${packed.files.length} files, ${(statSync(tarball).size / 1e6).toFixed(1)} MB packed; installs alone and embeds on ${output.target}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
