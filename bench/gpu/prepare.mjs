// Makes the folder .gpu for bench/gpu/check.sh: `npm run gpu:prepare`. It holds Node.js, the built package with its dependencies, models of ../shared/data
// with their goldens and the conformance cases, as one archive in pieces below 40 MB, each in a folder of its own.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("../..", import.meta.url));
const data = resolve(root, "../shared/data");
const out = join(root, ".gpu");
const stage = join(out, "stage");
const pieceBytes = 38e6;
const maxModelBytes = 16e6; // of a folder; MiniLM, which is larger, is taken without its ONNX files

rmSync(out, { recursive: true, force: true });
mkdirSync(join(stage, "node_modules"), { recursive: true });

cpSync(process.execPath, join(stage, "node"));
const own = join(stage, "node_modules/inferyard");
for (const part of ["dist", "bin", "builtin", "package.json"]) cpSync(join(root, part), join(own, part), { recursive: true });
for (const part of ["types", "browser"]) rmSync(join(own, "dist", part), { recursive: true, force: true });
const production = execFileSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], { cwd: root, encoding: "utf8" });
const unused = /js-tiktoken|@opentelemetry|@langchain|onnxruntime|llama/;
for (const folder of [
  ...production.trim().split("\n").slice(1),
  ...["koffi", "@koromix/koffi-linux-x64"].map((name) => join(root, "node_modules", name)),
]) {
  if (existsSync(folder) && !unused.test(relative(root, folder)))
    cpSync(folder, join(stage, relative(root, folder)), { recursive: true });
}

for (const [name, source] of [
  ["goldens", "scripts/goldens/main.ts"],
  ["conformance", "bench/gpu/conformance-shard.ts"],
  ["flags", "bench/gpu/flags.ts"],
  ["programs", "bench/gpu/cuda-programs.mjs"],
]) {
  const bundle = await rolldown({
    input: join(root, source),
    platform: "node",
    external: ["inferyard", /^inferyard\//, "koffi"],
  });
  await bundle.write({ file: join(stage, `${name}.mjs`), format: "esm", codeSplitting: false });
}
for (const file of ["gpu/check.mjs", "gpu/torch-times.py", "measuring", "xla/decoding.mjs", "native/gpt2-file.mjs"])
  cpSync(join(root, "bench", file), join(stage, "bench", file), { recursive: true });
symlinkSync("node_modules/inferyard/dist", join(stage, "dist")); // where the benchmarks look for the build

const withoutComparison = new Set(["ocr-pages", "whisper-base"]); // the harness has no comparison for their goldens
for (const name of readdirSync(data)) {
  const folder = join(data, name);
  if (withoutComparison.has(name) || !existsSync(join(folder, "goldens.json"))) continue;
  const isLarge = bytesOf(folder) > maxModelBytes;
  if (isLarge && name !== "all-MiniLM-L6-v2") continue;
  cpSync(folder, join(stage, "data", name), { recursive: true, filter: (path) => !isLarge || !path.endsWith(".onnx") });
}
cpSync(join(data, "onnx-conformance"), join(stage, "onnx-conformance"), { recursive: true });

const archive = join(out, "all.tar.xz");
execFileSync("sh", ["-c", `tar -c -C "${stage}" . | xz -T0 -3 > "${archive}"`], { stdio: "inherit" });
rmSync(stage, { recursive: true });
const bytes = readFileSync(archive);
for (let start = 0, index = 0; start < bytes.length; start += pieceBytes, index += 1) {
  const piece = join(out, String(index), "piece");
  mkdirSync(dirname(piece), { recursive: true });
  writeFileSync(piece, bytes.subarray(start, start + pieceBytes));
}
rmSync(archive);
process.stdout.write(`${relative(root, out)}: ${readdirSync(out).length} pieces, ${(bytes.length / 1e6).toFixed(1)} MB\n`);

function bytesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
