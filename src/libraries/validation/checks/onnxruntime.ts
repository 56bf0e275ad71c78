/** Checks of ONNX Runtime, by the one struct that its releases share. */
import { apiBase } from "../../contracts/index.ts";
import { readField } from "../../ffi/index.ts";
import { type LibraryCheck, type CheckedLibrary, refuse } from "./checked-library.ts";

interface ApiBase {
  readonly version: string;
  /** The table of functions of a version of the API; 0n if the library does not have it. */
  readonly api: (version: number) => bigint;
}

function openBase({ ffi, library }: CheckedLibrary): ApiBase {
  const base = library.bind("OrtGetApiBase", { result: "pointer", parameters: [] })();
  const bytes = ffi.bytesAt(base, apiBase.size);
  const pointer = (field: string): bigint => BigInt(readField(apiBase, bytes, field));
  return {
    version: ffi.functionAt(pointer("GetVersionString"), { result: "string", parameters: [] })() ?? "",
    api: ffi.functionAt(pointer("GetApi"), { result: "pointer", parameters: ["uint32"] }),
  };
}

const version: LibraryCheck = {
  step: "version",
  run(checked) {
    const { version: stated } = openBase(checked);
    if (/^1\.\d+\.\d+/.test(stated)) return { detail: stated, version: stated };
    throw refuse(checked, "version", { expected: "a version 1.x.y", found: JSON.stringify(stated) });
  },
};

/** Release 1.N has versions 1 to N of the API: a release that states another number than it answers is no ONNX Runtime as published. */
const abi: LibraryCheck = {
  step: "abi",
  run(checked) {
    const { version: stated, api } = openBase(checked);
    const newest = Number(stated.split(".")[1]);
    const absent = Array.from({ length: newest }, (_, index) => index + 1).filter((number) => api(number) === 0n);
    const beyond = api(newest + 1);
    if (absent.length === 0 && beyond === 0n) {
      return { detail: `GetApi has versions 1 to ${newest} and refuses ${newest + 1}` };
    }
    throw refuse(checked, "abi", {
      expected: `GetApi of ${stated} has versions 1 to ${newest} of the API and no other`,
      found: absent.length > 0 ? `no table for ${absent.join(", ")}` : `a table for ${newest + 1}`,
    });
  },
};

export const onnxruntimeChecks: readonly LibraryCheck[] = [version, abi];
