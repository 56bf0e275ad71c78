/** The backends that a bundle has: their names, the modules that make them, and what takes the place of those that are left out. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InferyardError, invalidInput } from "../contract/errors.ts";
import { backendNames } from "../programs/backends/backend-names.ts";
import { readOldSettings } from "../programs/backends/old-settings.ts";

/** The module that creates a backend. */
export interface BackendModule {
  /** Path below this package. */
  readonly source: string;
  /** Name of the function that it exports. */
  readonly create: string;
}

/** The modules of one backend. */
export interface BackendModules {
  /** Runs models. */
  readonly models?: BackendModule;
  /** Runs programs (`inferyard/program`). */
  readonly programs?: BackendModule;
}

/** All backends of this package by name; the backends of programs are in the order of the standard registry. */
export const backendModules: Readonly<Record<string, BackendModules>> = {
  native: {
    models: { source: "src/backends/native/index.ts", create: "native" },
    programs: { source: "src/programs/backends/native-programs.ts", create: "nativePrograms" },
  },
  xla: {
    models: { source: "src/backends/xla/index.ts", create: "xla" },
    programs: { source: "src/programs/backends/xla-programs.ts", create: "xlaPrograms" },
  },
  blas: { programs: { source: "src/programs/backends/blas/blas-programs.ts", create: "blasPrograms" } },
  cuda: { programs: { source: "src/programs/backends/cuda/cuda-programs.ts", create: "cudaPrograms" } },
  onnx: { models: { source: "src/backends/onnx/index.ts", create: "onnx" } },
  llamacpp: { models: { source: "src/backends/llamacpp/index.ts", create: "llamacpp" } },
  wasm: { models: { source: "src/backends/wasm/index.ts", create: "wasm" } },
  library: { models: { source: "src/backends/library/index.ts", create: "library" } },
};

/** The registry of the backends of programs, which a bundle gets with its own ones alone. */
export const programRegistry = "src/programs/backends/standard-program-backends.ts";

/** Backends of a bundle. */
export interface BackendSelection {
  /** Names of `backendModules`, in their order. */
  readonly included: readonly string[];
  /** The other names. */
  readonly left: readonly string[];
  /** How settings in an older form were read: sentences without a full stop. */
  readonly notes: readonly string[];
}

/** The file of the settings in the form of YiRage's config.cmake. */
export const oldSettingsFile = "inferyard.config";

/**
 * Reads which backends a bundle has: `names` as the user gave them; without, the settings of `inferyard.config` in `folder`; without that file, the variables
 * `YIRAGE_BACKEND_USE_<NAME>`. Throws INPUT_INVALID for an empty list, a name twice, and names that are unknown, have capitals or have nothing to include, and
 * CONFIG_INVALID for a line of the file that is no setting.
 */
export async function selectBackends(
  names: readonly string[] | undefined,
  { folder, variables }: { readonly folder: string; readonly variables: Readonly<Record<string, string | undefined>> },
): Promise<BackendSelection> {
  if (names !== undefined) return selection(names, []);
  const text = await readFile(join(folder, oldSettingsFile), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new InferyardError("CONFIG_INVALID", `${oldSettingsFile} cannot be read: ${error.message}`, { cause: error });
  });
  const old = readOldSettings(text === undefined ? variables : parseOldSettings(text));
  return selection(old.names, old.notes);
}

/** The settings of a file as variables: lines `set(USE_CUDA ON)` of CMake, and lines `NAME=VALUE`. Throws CONFIG_INVALID for other lines. */
export function parseOldSettings(text: string): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const [index, line] of text.split("\n").entries()) {
    const stated = line.replace(/#.*/, "").trim();
    if (stated === "") continue;
    const setting = /^set\s*\(\s*(\w+)\s+"?([\w.-]*)"?\s*\)$/i.exec(stated) ?? /^(\w+)\s*=\s*"?([\w.-]*)"?$/.exec(stated);
    if (setting === null)
      throw new InferyardError("CONFIG_INVALID", `${oldSettingsFile}, line ${index + 1}, is no setting: ${stated}`, {
        remedy: "write set(USE_CUDA ON), or YIRAGE_BACKEND_USE_CUDA=ON",
      });
    const [, name = "", value = ""] = setting;
    // The options of config.cmake that are no backends are about the build of a C++ library.
    if (name === "USE_FORMAL_VERIFIER") continue;
    settings[name.startsWith("USE_") ? `YIRAGE_BACKEND_${name}` : name] = value;
  }
  return settings;
}

function selection(names: readonly string[], notes: readonly string[]): BackendSelection {
  const known = [...new Set([...Object.keys(backendModules), ...backendNames.map(({ name }) => name)])];
  if (names.length === 0)
    throw invalidInput(
      "a bundle needs at least one backend",
      `name some: --backends native,xla. The names are ${known.join(", ")}`,
    );
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalidInput(`the backend "${twice}" is named twice`, "name each backend once");
  const chosen = new Set(
    names.map((name) => {
      const small = name.toLowerCase();
      if (small !== name) throw invalidInput(`there is no backend "${name}"`, `names are in small letters: write "${small}"`);
      if (name.includes(":"))
        throw invalidInput(`"${name}" names a device or level`, `a bundle has whole backends: write "${name.split(":", 1)[0]}"`);
      const described = backendNames.find((each) => each.name === name);
      const computedBy = described === undefined ? name : described.computedBy;
      if (computedBy === undefined) throw invalidInput(`a bundle cannot have ${name}: ${described?.note}`);
      const [module = ""] = computedBy.split(":");
      if (Object.hasOwn(backendModules, module)) return module;
      throw invalidInput(`there is no backend "${name}"`, `the names are ${known.join(", ")}`);
    }),
  );
  const all = Object.keys(backendModules);
  return { included: all.filter((name) => chosen.has(name)), left: all.filter((name) => !chosen.has(name)), notes };
}

/** Sources of modules, by their absolute paths, for a bundle with these backends. */
export function replacedModules({ included, left }: BackendSelection): ReadonlyMap<string, string> {
  const path = (source: string): string => resolve(import.meta.dirname, "../..", source);
  const quoted = (source: string): string => JSON.stringify(path(source));
  const has = JSON.stringify(included.join(", "));
  const absent = left.flatMap((name) => {
    const { models, programs } = backendModules[name] ?? {};
    const modules: [string, string][] = [];
    const source = (made: string, { create }: BackendModule): string =>
      `import { ${made} } from ${quoted("src/bundling/absent-backends.ts")};\nexport const ${create} = () => ${made}(${JSON.stringify(name)}, ${has});\n`;
    if (models !== undefined) modules.push([path(models.source), source("absentBackend", models)]);
    if (programs !== undefined) modules.push([path(programs.source), source("absentProgramBackend", programs)]);
    return modules;
  });
  const programs = included.flatMap((name) => backendModules[name]?.programs ?? []);
  const registry = [
    `import { ProgramBackends } from ${quoted("src/programs/backends/program-backends.ts")};`,
    ...programs.map(({ create, source }) => `import { ${create} } from ${quoted(source)};`),
    `export const standardProgramBackends = () => new ProgramBackends([${programs.map(({ create }) => `${create}()`).join(", ")}]);`,
  ].join("\n");
  return new Map([...absent, [path(programRegistry), registry]]);
}
