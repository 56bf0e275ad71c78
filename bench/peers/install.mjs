// Installs what the benchmark alone needs (transformers.js) beside it, when it is not there in the version of package.json.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;

export function installPeers() {
  const missing = Object.entries(readJson("package.json").dependencies).filter(([name, version]) => installed(name) !== version);
  if (missing.length === 0) return;
  console.error(
    `installing ${missing.map(([name, version]) => `${name} ${version}`).join(", ")} into bench/peers (about 480 MB)`,
  );
  // Install scripts are left out: onnxruntime-node's downloads CUDA libraries from outside the registry.
  const { status, error } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  console.error(`npm ci in bench/peers failed${error === undefined ? "" : `: ${error.message}`}`);
  process.exit(1);
}

function installed(name) {
  const path = join("node_modules", name, "package.json");
  return existsSync(join(folder, path)) ? readJson(path).version : undefined;
}

function readJson(path) {
  return JSON.parse(readFileSync(join(folder, path), "utf8"));
}
