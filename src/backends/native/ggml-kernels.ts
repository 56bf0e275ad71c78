/** Products with quantized weights by ggml's own kernels, through FFI. A browser has src/composition/browser/ggml-kernels.ts instead. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { LibraryFileDigest } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { MultiplyBlocks } from "../../kernels/scalar-product.ts";

/** ggml's kernels on this machine. */
export interface GgmlKernels {
  /** Source of the kernels, for the evidence. */
  readonly source: string;
  /** ggml's base library and all its CPU backends. The best backend for this processor is loaded. */
  readonly files: readonly LibraryFileDigest[];
  /** The function that multiplies weights of a type; undefined if ggml does not multiply it. */
  kernelFor(type: string): MultiplyBlocks | undefined;
}

/**
 * Opens ggml's libraries: from the folder LLAMA_CPP_DIR, or from node-llama-cpp's binaries. Its code runs in this process, once a child process has loaded
 * the same files. Throws BACKEND_UNAVAILABLE if neither is
 * there or koffi is not installed, and LIBRARY_INCOMPATIBLE and LOAD_FAILED as `proveLoads` and `GgmlLibrary.open` do. Undefined where no native code can be called.
 */
export const openGgmlKernels: (() => Promise<GgmlKernels>) | undefined = async () => {
  const folder = ggmlFolder();
  const [{ GgmlLibrary, findGgmlFiles, readGgmlDigests }, { proveLoads }] = await Promise.all([
    import("../../libraries/ggml/index.ts"),
    import("../../libraries/validation/first-load.ts"),
  ]);
  const found = await findGgmlFiles(folder);
  const files = await readGgmlDigests(found);
  await proveLoads([found.base, ...found.cpu], { digests: new Map(files.map(({ path, sha256 }) => [path, sha256])) });
  const library = await GgmlLibrary.open(folder);
  return {
    source: library.cpuPath,
    files: files.map(({ name, sha256 }) => ({ name, sha256 })),
    kernelFor(type) {
      if (library.types.get(type)?.canMultiply !== true) return undefined;
      return library.multiplier(type);
    },
  };
};

/** The folder with libggml-base and libggml-cpu. */
function ggmlFolder(): string {
  const named = process.env["LLAMA_CPP_DIR"];
  if (named !== undefined && named !== "") {
    const folders = [named, join(named, "build/bin"), join(named, "build/lib"), join(named, "lib"), join(named, "bin")];
    return folders.find((folder) => existsSync(join(folder, libraryName("ggml-base")))) ?? named;
  }
  const package_ = `@node-llama-cpp/${process.platform}-${process.arch}`;
  try {
    const root = dirname(createRequire(import.meta.url).resolve(package_));
    return join(root, "..", "bins", `${process.platform}-${process.arch}`);
  } catch (cause) {
    throw new InferyardError(
      "BACKEND_UNAVAILABLE",
      `ggml was not found: ${package_} is not installed, and LLAMA_CPP_DIR is not set`,
      {
        cause,
        remedy: "npm install node-llama-cpp, or set LLAMA_CPP_DIR to a folder with libggml-base and libggml-cpu",
      },
    );
  }
}

function libraryName(name: string): string {
  if (process.platform === "win32") return `${name}.dll`;
  return `lib${name}.${process.platform === "darwin" ? "dylib" : "so"}`;
}
