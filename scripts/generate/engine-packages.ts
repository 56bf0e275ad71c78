/**
 * Writes src/libraries/npm/generated-engine-packages.ts: the packages that `inferyard backends install` fetches, with the versions and digests of package-lock.json.
 *
 *     npm run engine-packages
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "oxfmt";
import type { EnginePackage } from "../../src/libraries/npm/engine-package.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface LockEntry {
  readonly version: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

/** By the name of what is installed: its package, the packages with native code that it chooses from, and dependencies that only its install script needs. */
const engines: Readonly<
  Record<string, { readonly package: string; readonly native?: RegExp; readonly without?: readonly string[] }>
> = {
  onnx: { package: "onnxruntime-node", without: ["adm-zip", "global-agent"] },
  llamacpp: { package: "node-llama-cpp", native: /^@node-llama-cpp\// },
  koffi: { package: "koffi", native: /^@koromix\/koffi-(?:darwin|linux|win32)-(?:arm64|x64)$/ },
};

/** The text of the generated module. `lock`: the text of package-lock.json. */
export async function enginePackagesModule(lock: string): Promise<string> {
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, LockEntry>> };
  const table = Object.fromEntries(Object.entries(engines).map(([name, engine]) => [name, collect(packages, engine)]));
  const text = [
    "/** Written by `npm run engine-packages` from package-lock.json. */",
    'import type { EnginePackage } from "./engine-package.ts";',
    "",
    "/** By the name of what is installed: its packages, with paths below the folder that they are installed in. */",
    `export const enginePackages: Readonly<Record<"onnx" | "llamacpp" | "koffi", readonly EnginePackage[]>> = ${JSON.stringify(table)};`,
    "",
  ].join("\n");
  const options = JSON.parse(readFileSync(join(root, ".oxfmtrc.json"), "utf8")) as Parameters<typeof format>[2];
  return (await format("generated.ts", text, options)).code;
}

function collect(
  packages: Readonly<Record<string, LockEntry>>,
  { package: name, native, without = [] }: (typeof engines)[string],
): readonly EnginePackage[] {
  const found = new Map<string, EnginePackage>();
  const visit = (path: string): void => {
    const entry = packages[path];
    if (entry === undefined) throw new Error(`package-lock.json has no ${path}`);
    if (found.has(path)) return;
    if (entry.integrity === undefined) throw new Error(`package-lock.json has no digest of ${path}`);
    const { version, integrity, os, cpu } = entry;
    found.set(path, {
      path,
      version,
      integrity,
      ...(os === undefined ? {} : { os }),
      ...(cpu === undefined ? {} : { cpu }),
    });
    const natives = path === `node_modules/${name}` ? Object.keys(entry.optionalDependencies ?? {}) : [];
    const hasDigest = (each: string): boolean => packages[`node_modules/${each}`]?.integrity !== undefined; // some builds are not on every registry
    const chosen = natives.filter((each) => native?.test(each) === true && hasDigest(each));
    const wanted = [...Object.keys(entry.dependencies ?? {}), ...chosen];
    for (const dependency of wanted) if (!without.includes(dependency)) visit(resolveFrom(packages, path, dependency));
  };
  visit(`node_modules/${name}`);
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The path of the package that `require(name)` finds in the package at `from`. */
function resolveFrom(packages: Readonly<Record<string, LockEntry>>, from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/node_modules/"), 0))) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === "") throw new Error(`package-lock.json has no ${name} for ${from}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await enginePackagesModule(readFileSync(join(root, "package-lock.json"), "utf8"));
  writeFileSync(join(root, "src/libraries/npm/generated-engine-packages.ts"), text);
}
