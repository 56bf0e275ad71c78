/** Version of a library by what its file states. */
import { basename } from "node:path";
import type { Fact } from "../../contract/backend.ts";
import type { LibraryClass } from "../analysis/index.ts";

/** Where libraries of a class state their release. Other numbers in a file are versions of the interface: libgomp.so.1.0.0 is part of GCC 14. */
type Statement = "symbol version" | "file name" | "suffix of the file name";

/** Library classes whose files state the release: pattern of the class name, and where to read the release. */
const statements: readonly (readonly [RegExp, readonly Statement[]])[] = [
  // libonnxruntime.so.1.30.0 has symbols VERS_1.30.0. Its providers have VERS_1.0, which is also Bazel's default for PJRT plugins.
  [/^onnxruntime$/, ["symbol version", "file name"]],
  // ggml has its own release numbers: libggml.so.0.9.4. The number in libggml.v0.5.0.so, as packaged by node-llama-cpp, is a release of llama.cpp.
  [/^ggml\b/, ["suffix of the file name"]],
  // libllama.v0.5.0.so, libllama.so.0.0.7347, libcudart.so.12.4.127, libcuda.so.570.133.20, libopenblasp-r0.3.21.so, libdnnl.so.3.4
  [/^(?:llama|cuda-\w+|cublas|cublaslt|cudnn|cusparselt|openblas|onednn)$/, ["file name"]],
];

const symbolVersion = /^VERS_(\d+(?:\.\d+)+)$/;
const suffix = /\.so\.(\d+(?:\.\d+)+)$|\.(\d+(?:\.\d+)+)\.dylib$/;
const fileVersion = /(?:\.so\.|\.v|-r|\.)(\d+(?:\.\d+)+)(?:\.so|\.dylib|\.dll)?$/;

/**
 * The release of a library of these classes, read from the symbol versions that it defines, otherwise from its file name; undefined if neither states
 * a release.
 */
export function libraryVersion(
  path: string,
  classes: readonly Pick<LibraryClass, "name" | "confidence">[],
  definedVersions: readonly string[],
): Fact<string> | undefined {
  const names = classes.filter(({ confidence }) => confidence !== "possible").map(({ name }) => name);
  const stated = new Set(statements.flatMap(([pattern, by]) => (names.some((name) => pattern.test(name)) ? by : [])));
  if (stated.has("symbol version")) {
    for (const name of definedVersions) {
      const value = symbolVersion.exec(name)?.[1];
      if (value !== undefined) return { value, source: `symbol version ${name}` };
    }
  }
  const pattern = stated.has("file name") ? fileVersion : stated.has("suffix of the file name") ? suffix : undefined;
  const [, first, second] = pattern?.exec(basename(path)) ?? [];
  const value = first ?? second;
  return value === undefined ? undefined : { value, source: "file name" };
}
