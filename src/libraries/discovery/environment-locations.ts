/** Locations that environment variables name: source trees with their build folders, installations, and lists of folders. */
import { delimiter, join, resolve } from "node:path";
import type { SearchLocation, SearchedLocation } from "./search-location.ts";

/** A folder below the one that a variable names. */
interface Subfolder {
  readonly path: string;
  readonly depth: number;
}

const at = (path: string, depth = 0): Subfolder => ({ path, depth });

/** CMake puts libraries beside the sources of their targets, or where CMAKE_LIBRARY_OUTPUT_DIRECTORY says. ggml has a folder for each of its backends. */
const sourceTree: readonly Subfolder[] = [
  at("."),
  at("lib"),
  at("lib64"),
  at("src"),
  at("ggml/src", 1),
  at("build"),
  at("build/bin"),
  at("build/lib"),
  at("build/src"),
  at("build/ggml/src", 1),
  // bitnet.cpp builds llama.cpp as a part of itself.
  at("build/3rdparty/llama.cpp/src"),
  at("build/3rdparty/llama.cpp/ggml/src", 1),
];

const installation: readonly Subfolder[] = [at("."), at("lib"), at("lib64"), at("bin")];

interface LocationVariable {
  readonly name: string;
  /** Below each folder that the variable names. */
  readonly folders: readonly Subfolder[];
  /** Operating systems whose loader reads it. Default: all. */
  readonly platform?: NodeJS.Platform;
}

const variables: readonly LocationVariable[] = [
  { name: "BITNET_CPP_DIR", folders: sourceTree },
  { name: "BITNET_CPP_PATH", folders: sourceTree },
  { name: "BITNET_CROSSVAL_LIBDIR", folders: [at(".")] },
  { name: "LLAMA_CPP_DIR", folders: sourceTree },
  // onnxruntime's build.sh names its folders after the system and the configuration.
  { name: "ONNXRUNTIME_ROOT", folders: [...installation, at("build/Linux/Release"), at("build/MacOS/Release")] },
  { name: "PJRT_PLUGIN_LIBRARY_PATH", folders: [at(".")] },
  { name: "CUDA_HOME", folders: [...installation, at("targets/x86_64-linux/lib"), at("targets/sbsa-linux/lib")] },
  { name: "LD_LIBRARY_PATH", folders: [at(".")], platform: "linux" },
  { name: "DYLD_LIBRARY_PATH", folders: [at(".")], platform: "darwin" },
];

/** Locations by environment variables, and the variables that are not set. */
export interface EnvironmentLocations {
  readonly locations: readonly SearchLocation[];
  readonly unset: readonly SearchedLocation[];
}

/**
 * Locations that `environment` names. Each variable may list several folders as PATH does; relative ones are taken from `directory`. A variable of
 * another operating system's loader is left out.
 */
export function environmentLocations(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  directory: string,
): EnvironmentLocations {
  const locations: SearchLocation[] = [];
  const unset: SearchedLocation[] = [];
  for (const { name, folders, platform: only = platform } of variables) {
    if (only !== platform) continue;
    const named = (environment[name] ?? "").split(delimiter).filter((folder) => folder !== "");
    if (named.length === 0) unset.push({ rule: name, outcome: "absent", libraries: 0, notes: ["the variable is not set"] });
    for (const folder of new Set(named)) {
      for (const { path, depth } of folders) locations.push({ path: join(resolve(directory, folder), path), rule: name, depth });
    }
  }
  return { locations, unset };
}
