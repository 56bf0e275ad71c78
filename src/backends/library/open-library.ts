/** Opens a llama library in this process, with its log captured. */
import type { Library, LibraryFileDigest } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { LlamaLayout } from "../../libraries/contracts/index.ts";
import { ForeignFunctions, type NativeLibrary } from "../../libraries/ffi/index.ts";
import { explainRefusal, proveLoads } from "../../libraries/validation/first-load.ts";
import { proveLlamaLayout } from "../../libraries/validation/index.ts";
import type { LibraryFile } from "../../contract/reloading.ts";
import { getChange, describeLibrary, getFolder } from "./find-library.ts";
import { type LlamaFunctions, bindLlama } from "./llama-functions.ts";
import { NativeLog } from "./native-log.ts";

/** The library to open. */
export interface LibrarySource {
  /** Absolute path. */
  readonly path: string;
  /** SHA-256 that the file must have. Default: any. */
  readonly sha256?: string | undefined;
  /** Files that the library must consist of: itself and the files it loads, with digests. Default: any. */
  readonly files?: readonly LibraryFileDigest[] | undefined;
}

/** A library in this process. */
export interface OpenedLibrary {
  readonly ffi: ForeignFunctions;
  readonly library: NativeLibrary;
  readonly file: LibraryFile;
  readonly functions: LlamaFunctions;
  readonly structs: LlamaLayout;
  /** Releases whose layouts the structs have. */
  readonly layout: string;
  readonly devices: readonly ComputeDevice[];
  readonly log: NativeLog;
  close(): void;
}

/** Name, version and files of the library, as recorded in a decision. */
export const getLibraryName = ({ name, version, files }: LibraryFile): Library => ({ name, version, files });

/**
 * Opens the library, after a child process has opened it without crashing: see `proveLoads`. Throws BACKEND_UNAVAILABLE if a file is not the one that
 * was validated or koffi is not installed, LOAD_FAILED if the loader refuses it, and LIBRARY_INCOMPATIBLE if no known release of llama.cpp has its
 * functions and structs.
 */
export async function openLibrary({ path, sha256, files }: LibrarySource): Promise<OpenedLibrary> {
  const { file, loaded } = await describeLibrary(path);
  const isOther = sha256 !== undefined && sha256 !== file.sha256;
  const change = isOther
    ? `its sha256 is ${file.sha256}, not ${sha256}`
    : files === undefined
      ? undefined
      : getChange(file.files, files);
  if (change !== undefined) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `${path} is another library than the one that was validated: ${change}`, {
      remedy: "reload the library (runtime.reloadLibrary), so that it is validated",
    });
  }
  const digests = new Map([[path, file.sha256], ...loaded.map((each) => [each.path, each.sha256] as const)]);
  await proveLoads([path], { companions: loaded.slice(1).map((each) => each.path), digests });
  const ffi = await ForeignFunctions.load();
  const library = await open(ffi, path);
  // The library may be another one than was validated in a child, where LD_LIBRARY_PATH or what it needs has changed.
  const structs = proveLlamaLayout(library);
  const functions = bindLlama(library, structs);
  const log = new NativeLog(ffi, library);
  functions.loadComputeLibraries(await getFolder(path));
  functions.start();
  return {
    ffi,
    library,
    file,
    functions,
    structs,
    layout: [...new Set(Object.values(structs).map(({ release }) => release))].join(", "),
    devices: computeDevices(library),
    log,
    close() {
      log.close();
      // The library stays mapped: its threads may still be ending, and the process ends after it.
    },
  };
}

async function open(ffi: ForeignFunctions, path: string): Promise<NativeLibrary> {
  try {
    return ffi.open(path);
  } catch (error) {
    throw await explainRefusal(error, path);
  }
}

/** A device of ggml. */
interface ComputeDevice {
  /** "CPU", "CUDA0", ... */
  readonly name: string;
  readonly description: string;
  /** `ggml_backend_dev_t`. */
  readonly address: bigint;
}

/** All devices that the library has loaded. Empty for releases without the functions. */
function computeDevices(library: NativeLibrary): readonly ComputeDevice[] {
  if (!library.has("ggml_backend_dev_count")) return [];
  const text = { result: "string", parameters: ["pointer"] } as const;
  const count = library.bind("ggml_backend_dev_count", { result: "size", parameters: [] })();
  const get = library.bind("ggml_backend_dev_get", { result: "pointer", parameters: ["size"] });
  const name = library.bind("ggml_backend_dev_name", text);
  const description = library.bind("ggml_backend_dev_description", text);
  return Array.from({ length: count }, (_, index): ComputeDevice => {
    const address = get(index);
    return { name: name(address) ?? "", description: (description(address) ?? "").trim(), address };
  });
}
