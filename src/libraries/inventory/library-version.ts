/** Version of a library by what its file states. */
import { basename } from "node:path";
import type { Fact } from "../../contract/backend.ts";

/** ONNX Runtime names the version of its symbols after the release. */
const symbolVersion = /^VERS_(\d+(?:\.\d+)+)$/;

/** libonnxruntime.so.1.30.0, libllama.v0.5.0.so, libopenblasp-r0.3.21.so, libonnxruntime.1.30.0.dylib. */
const fileVersion = /(?:\.so\.|\.v|-r|\.)(\d+(?:\.\d+)+)(?:\.so|\.dylib|\.dll)?$/;

/** The version by symbol versions that the library defines, otherwise by its file name. A number alone ("libomp.so.5") is that of an ABI, and none. */
export function libraryVersion(path: string, definedVersions: readonly string[]): Fact<string> | undefined {
  for (const name of definedVersions) {
    const value = symbolVersion.exec(name)?.[1];
    if (value !== undefined) return { value, source: `symbol version ${name}` };
  }
  const value = fileVersion.exec(basename(path))?.[1];
  return value === undefined ? undefined : { value, source: "file name" };
}
