/** Products with quantized weights by ggml's own kernels, through FFI. A browser has src/platform/browser/ggml-kernels.ts instead. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { InferyardError } from "../../errors.ts";
import type { MultiplyBlocks } from "../../kernels/scalar-product.ts";

/** ggml's kernels on this machine. */
export interface GgmlKernels {
  /** Where they come from, for the evidence. */
  readonly source: string;
  /** The function that multiplies weights of a type; undefined if ggml does not multiply it. */
  kernelFor(type: string): MultiplyBlocks | undefined;
}

/**
 * Opens ggml: that in the folder LLAMA_CPP_DIR, or that of node-llama-cpp's binaries. Its code runs in this process. Throws BACKEND_UNAVAILABLE if neither is
 * there, koffi is not installed or this is a worker thread, and LIBRARY_INCOMPATIBLE and LOAD_FAILED as `GgmlLibrary.open` does. Undefined where no native code can be called.
 */
export const openGgmlKernels: (() => Promise<GgmlKernels>) | undefined = async () => {
  // koffi crashes the process when a thread that has loaded it ends while another one has it too.
  if (!isMainThread) {
    throw new InferyardError("BACKEND_UNAVAILABLE", "kernels of ggml cannot be called in a worker thread", {
      remedy: 'set host to "process", or to "inline"',
    });
  }
  const folder = ggmlFolder();
  const { GgmlLibrary } = await import("../../libraries/ggml/index.ts");
  const library = await GgmlLibrary.open(folder);
  return {
    source: library.cpuPath,
    kernelFor(type) {
      if (library.types.get(type)?.canMultiply !== true) return undefined;
      return ({ m, n, k }, activations, weights, output) => {
        const product = library.product(type, k);
        const row = new Uint8Array(product.activationBytes);
        const result = new Float32Array(1);
        for (let index = 0; index < m; index += 1) {
          product.quantize(activations.slice(index * k, (index + 1) * k), row);
          for (let column = 0; column < n; column += 1) {
            product.multiply(weights.subarray(column * product.rowBytes, (column + 1) * product.rowBytes), row, result);
            output[index * n + column] = result[0] as number;
          }
        }
      };
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
