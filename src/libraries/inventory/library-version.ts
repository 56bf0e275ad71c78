/** Version of a library by what its file states. */
import { basename } from "node:path";
import type { Fact } from "../../contract/backend.ts";
import type { LibraryClass } from "../analysis/index.ts";

/** What states the release of libraries of a class. Any other number in a file is that of an interface: libgomp.so.1.0.0 is part of GCC 14. */
type Statement = "symbol version" | "file name" | "suffix of the file name";

/** Classes whose makers state the release, by the first letters of their names. */
const statements: readonly (readonly [RegExp, readonly Statement[]])[] = [
  // libonnxruntime.so.1.30.0; its linker script names the symbols VERS_1.30.0. Those of its providers are VERS_1.0, as Bazel's default is for PJRT plugins.
  [/^onnxruntime$/, ["symbol version", "file name"]],
  // ggml has releases of its own: libggml.so.0.9.4. The one in libggml.v0.5.0.so is that of llama.cpp, whose node-llama-cpp packages it.
  [/^ggml\b/, ["suffix of the file name"]],
  // libllama.v0.5.0.so, libllama.so.0.0.7347, libcudart.so.12.4.127, libcuda.so.570.133.20, libopenblasp-r0.3.21.so, libdnnl.so.3.4
  [/^(?:llama|cuda-\w+|cublas|cublaslt|cudnn|cusparselt|openblas|onednn)$/, ["file name"]],
];

const symbolVersion = /^VERS_(\d+(?:\.\d+)+)$/;
const suffix = /\.so\.(\d+(?:\.\d+)+)$|\.(\d+(?:\.\d+)+)\.dylib$/;
const fileVersion = /(?:\.so\.|\.v|-r|\.)(\d+(?:\.\d+)+)(?:\.so|\.dylib|\.dll)?$/;

/** The release of a library of these classes, by the versions of symbols that it defines, otherwise by its file name; undefined where neither states one. */
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
