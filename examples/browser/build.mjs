// Builds the example page and the playground: one bundle, the worker's program beside it, and what no bundle can hold.
// Run it from the repository after `npm run build`: node examples/browser/build.mjs [folder]
import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

/** Builds into `folder` with `program` as the page's script, and gives esbuild's account of what went into which file. */
export async function buildPage(folder, program = join(here, "main.mjs")) {
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: { page: program, playground: join(here, "playground.mjs"), "inferyard-worker": "inferyard/browser/worker" },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    minify: true,
    metafile: true,
    platform: "browser",
    target: "es2022",
    logLevel: "warning",
  });
  const engine = dirname(fileURLToPath(import.meta.resolve("onnxruntime-web/wasm")));
  const inferyard = dirname(fileURLToPath(import.meta.resolve("inferyard/package.json")));
  // What no bundle can hold: the engine's own files, and the built-in model.
  for (const name of ["ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm"])
    await cp(join(engine, name), join(folder, name));
  await cp(join(inferyard, "builtin"), join(folder, "builtin"), { recursive: true });
  for (const file of ["index.html", "playground.html", "page.css", "microphone-worklet.js"])
    await cp(join(here, file), join(folder, file));
  return metafile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? join(here, "site");
  const { outputs } = await buildPage(folder);
  for (const [file, { bytes }] of Object.entries(outputs)) console.log(`${file}  ${Math.round(bytes / 1000)} kB`);
}
