/** Loader hooks (`node:module`) that compile TypeScript and count the edges of everything in src/ (tests excluded). Results are cached by content. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "./instrument.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const counted = join(root, "src");
const cache = join(root, "node_modules", ".cache", "inferyard-fuzz", "compiled");
const compiler = readFileSync(new URL("instrument.mjs", import.meta.url), "utf8");

export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return await nextLoad(url, context);
  return { format: "module", shortCircuit: true, source: compiled(fileURLToPath(url)) };
}

function compiled(path) {
  const source = readFileSync(path, "utf8");
  const key = createHash("sha256")
    .update(JSON.stringify([compiler, path, source]))
    .digest("hex");
  const place = join(cache, `${key}.js`);
  try {
    return readFileSync(place, "utf8");
  } catch {
    const text = compile(source, path, path.startsWith(counted));
    mkdirSync(cache, { recursive: true });
    // Processes that start at once write the same bytes: the rename shows whole files only.
    writeFileSync(`${place}.${process.pid}`, text);
    renameSync(`${place}.${process.pid}`, place);
    return text;
  }
}
