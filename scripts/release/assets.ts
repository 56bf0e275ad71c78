/** The files inside a single program. */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { nodeEntries, packageRoot, writeBundle } from "../../src/bundling/write-bundle.ts";

/** By the key in the program: the path of a file. The keys are paths below the folder that the program mounts. */
export type Assets = Readonly<Record<string, string>>;

/** Packages that are no part of the bundle: those that a user may add, and their dependencies. (prom-client needs @opentelemetry/api.) */
const externalPackages = [
  "@langchain/core",
  "@opentelemetry/sdk-node",
  "js-tiktoken",
  "koffi",
  "node-llama-cpp",
  "ogg-opus-decoder",
  "onnxruntime-node",
  "onnxruntime-web",
  "sharp",
];

/** What each single program contains beside Node.js. */
export interface ProgramBundle {
  readonly assets: Assets;
  /** Folders of the npm packages that are part of the bundle, below the repository. */
  readonly packages: readonly string[];
}

/** Bundles all programs with their packages in the folder `bundle`. */
export async function bundleAssets(bundle: string): Promise<ProgramBundle> {
  rmSync(bundle, { recursive: true, force: true });
  const packages = await writeBundle({
    entries: nodeEntries,
    folder: bundle,
    runsIn: resolve(packageRoot, "dist"),
    isPage: false,
    isExternal: (id) => externalPackages.some((name) => id === name || id.startsWith(`${name}/`)),
  });
  writeFileSync(join(bundle, "package.json"), '{"type":"module"}\n');
  const files = (folder: string, key: string): [string, string][] =>
    readdirSync(folder)
      .toSorted()
      .map((name) => [`${key}/${name}`, join(folder, name)]);
  const scripts = ["start.cjs", "import.cjs"].map((name): [string, string] => [name, join(import.meta.dirname, name)]);
  return {
    assets: Object.fromEntries([...scripts, ...files(bundle, "dist"), ...files(join(packageRoot, "builtin"), "builtin")]),
    packages,
  };
}
