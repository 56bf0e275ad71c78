/** Where the CUDA driver, NVRTC and cuBLAS are looked for. Files are found by their names, none is read or loaded. */
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { nodeSources } from "../../../devices/index.ts";
import { directoriesIn, loaderDirectories } from "../../../devices/libraries.ts";
import { pythonEnvironments } from "../../../libraries/discovery/site-packages.ts";

/** One of the libraries. */
export type CudaLibraryKind = "driver" | "nvrtc" | "cublas";

const fileNames: Readonly<Record<CudaLibraryKind, RegExp>> = {
  driver: /^libcuda\.so(?:\.1)?$|^nvcuda\.dll$/,
  nvrtc: /^libnvrtc\.so(?:\.\d+)*$|^nvrtc64_\d+_0\.dll$/,
  cublas: /^libcublas\.so(?:\.\d+)*$|^cublas64_\d+\.dll$/,
};

/** Folders of the wheels of CUDA 12 and 13 in a folder of Python packages. */
const packageFolders = [
  "nvidia/cuda_nvrtc/lib",
  "nvidia/cublas/lib",
  "nvidia/cu13/lib",
  "nvidia/cuda_nvrtc/bin",
  "nvidia/cublas/bin",
];

/** Absolute paths of files by kind, in the order in which they are tried. */
export type CudaFiles = Readonly<Record<CudaLibraryKind, readonly string[]>>;

/**
 * Looks into the folders of `CUDA_PATH` and `CUDA_HOME`, Python packages, `LD_LIBRARY_PATH`, the loader's cache, the loader's folders, and /usr/local/cuda*; newer versions
 * first within a folder. Throws nothing.
 */
export async function findCuda(environment: Readonly<Record<string, string | undefined>> = process.env): Promise<CudaFiles> {
  const sources = { ...nodeSources(), environment };
  const environments = await pythonEnvironments({ environment, platform: sources.platform, home: homedir() });
  const stated = ["CUDA_PATH", "CUDA_HOME"].flatMap((name) => environment[name] ?? []);
  const installed = (await sources.list("/usr/local"))
    .filter((name) => /^cuda(?:-[\d.]+)?$/.test(name))
    .sort(newestFirst)
    .map((name) => join("/usr/local", name));
  const toolkits = (roots: readonly string[]): readonly string[] =>
    roots.flatMap((root) => ["lib64", "bin", "targets/x86_64-linux/lib"].map((each) => join(resolve(root), each)));
  const folders = [
    ...toolkits(stated),
    ...environments.flatMap(({ folders: packages }) =>
      packages.flatMap((folder) => packageFolders.map((each) => join(folder, each))),
    ),
    ...(sources.platform === "linux" ? directoriesIn(sources, "LD_LIBRARY_PATH").map((path) => resolve(path)) : []),
  ];
  const cached = (await sources.cachedLibraries()) ?? [];
  const listed = await Promise.all(
    [...folders, ...loaderDirectories(sources), ...toolkits(installed)].map(async (folder) => ({
      folder,
      names: await sources.list(folder),
    })),
  );
  const before = listed.slice(0, folders.length);
  const after = listed.slice(folders.length);
  const ofCache = cached.map((path) => ({ folder: dirname(path), names: [basename(path)] }));
  const all = [...before, ...ofCache, ...after];
  const find = async (kind: CudaLibraryKind): Promise<readonly string[]> => {
    const paths = all.flatMap(({ folder, names }) =>
      names
        .filter((name) => fileNames[kind].test(name))
        .sort(newestFirst)
        .map((name) => join(folder, name)),
    );
    const files = new Map<string, string>();
    for (const path of paths) {
      const identity = await realpath(path).catch(() => path);
      if (!files.has(identity)) files.set(identity, path);
    }
    return [...files.values()];
  };
  const [driver, nvrtc, cublas] = await Promise.all([find("driver"), find("nvrtc"), find("cublas")]);
  return { driver, nvrtc, cublas };
}

function newestFirst(one: string, other: string): number {
  return other.localeCompare(one, "en", { numeric: true });
}
