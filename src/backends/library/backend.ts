import { resolve } from "node:path";
import type {
  Availability,
  Capabilities,
  Device,
  DeviceAvailability,
  LanguageModel,
  LanguageModelFiles,
  LibraryFileDigest,
  LoadOptions,
  ModelFiles,
  ProbeOptions,
  Requirement,
} from "../../contract/backend.ts";
import { InferyardError, getMessage, throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { isKoffiInstalled, koffiInstall } from "../../libraries/ffi/koffi.ts";
import type { LibraryFile, ReloadableBackend } from "../../contract/reloading.ts";
import { runReportingChild } from "../../platform/node/report-child.ts";
import { estimateLlamaMemory } from "../gguf/memory.ts";
import { getLibraryDeviceType } from "./device-types.ts";
import { libraryRemedy } from "./library-remedy.ts";
import type { LibrarySource } from "./open-library.ts";
import type { LibraryTinyRunRequest } from "./tiny-run-child.ts";

/** Options of the backend. */
export interface LibraryOptions {
  /** Path of a shared library with the C interface of llama.cpp; a relative one is taken from the working directory. Default: the first that LLAMA_CPP_DIR leads to. */
  readonly library?: string;
  /** Hexadecimal SHA-256 that the file must have when a model is loaded. Default: its digest at the first inspection. */
  readonly sha256?: string;
  /**
   * Files that the library must consist of when a model is loaded: itself and the files it loads, with digests. Default: the files at the first
   * inspection.
   */
  readonly files?: readonly LibraryFileDigest[];
}

const koffi: Requirement = { kind: "package", name: "koffi", range: ">=3.3 <4", install: koffiInstall };
const llama: Requirement = { kind: "library", name: "libllama", install: libraryRemedy };

/** The backend `library`: a llama.cpp library of the user's own, through its C interface. Neither koffi nor the library is touched before `probe` or `load`. */
export function library(options: LibraryOptions = {}): ReloadableBackend {
  return new LibraryBackend(options);
}

class LibraryBackend implements ReloadableBackend {
  readonly name = "library";
  readonly contractVersion = 1;
  readonly requires: readonly Requirement[] = [koffi, llama];
  readonly #path: string | undefined;
  #found: Promise<LibraryFile | undefined> | undefined;
  /** Expected SHA-256 of the library when a model is loaded, also in a process that replaces one that died. */
  #sha256: string | undefined;
  #files: readonly LibraryFileDigest[] | undefined;

  constructor({ library: path, sha256, files }: LibraryOptions) {
    this.#path = path === undefined ? undefined : resolve(path);
    this.#sha256 = sha256;
    this.#files = files;
  }

  get entry(): NonNullable<ReloadableBackend["entry"]> {
    const path = this.#path === undefined ? {} : { library: this.#path };
    const digest = omitUndefined({ sha256: this.#sha256, files: this.#files });
    return {
      module: new URL("./index.ts", import.meta.url).href,
      export: "library",
      options: { ...path, ...digest } satisfies LibraryOptions,
    };
  }

  withLibrary(path: string): ReloadableBackend {
    return new LibraryBackend({ library: path });
  }

  libraryFile(): Promise<LibraryFile | undefined> {
    this.#found ??= this.#describe();
    return this.#found;
  }

  async #describe(): Promise<LibraryFile | undefined> {
    const { describeLibrary, findLibrary } = await import("./find-library.ts");
    const path = await findLibrary(this.#path);
    if (path === undefined) return undefined;
    const { file } = await describeLibrary(path);
    this.#sha256 ??= file.sha256;
    this.#files ??= file.files;
    return file;
  }

  async probe({ machine, run, full = false, device: only, signal }: ProbeOptions): Promise<Availability> {
    // Nothing is imported for users who name no library.
    if (this.#path === undefined && process.env["LLAMA_CPP_DIR"] === undefined)
      return { present: false, reason: "no llama.cpp library is configured", remedy: libraryRemedy };
    const [{ findLibrary }, { offeredDevices }] = await Promise.all([import("./find-library.ts"), import("./devices.ts")]);
    const path = await findLibrary(this.#path);
    if (path === undefined) return { present: false, reason: "no llama.cpp library is configured", remedy: libraryRemedy };
    if (!isKoffiInstalled())
      return { present: false, reason: "koffi, which calls libraries, is not installed", remedy: koffiInstall };
    const file = await this.libraryFile().catch((error: unknown) => error);
    if (!isLibraryFile(file)) return { present: false, reason: getMessage(file), remedy: libraryRemedy };
    const devices: DeviceAvailability[] = [];
    let validation: ReturnType<typeof getProblem> | undefined;
    for (const { device, absence } of await offeredDevices(file.path, machine)) {
      const isWanted = only === undefined || (only.type === device.type && only.index === device.index);
      if (!run || !isWanted || (absence !== undefined && !full)) {
        devices.push({ device, state: absence === undefined ? "present" : "absent", reason: absence ?? "found" });
        continue;
      }
      throwIfAborted(signal);
      const problem = await (validation ??= getProblem(file.path, signal));
      if (problem !== undefined) return { present: false, library: { name: file.name, version: file.version }, ...problem };
      const request: LibraryTinyRunRequest = { source: this.#getSource(file), device };
      const outcome = await runReportingChild<string>(new URL("./tiny-run-child.ts", import.meta.url), request, { signal });
      const reason = outcome.ok
        ? outcome.value
        : [absence, outcome.error.message].filter((part) => part !== undefined).join("; ");
      devices.push({ device, state: outcome.ok ? "available" : "absent", reason, milliseconds: outcome.milliseconds });
    }
    return { present: true, library: { name: file.name, version: file.version }, devices };
  }

  capabilities(device: Device): Capabilities {
    const isKnown = getLibraryDeviceType(device) !== undefined;
    return {
      // A library of the user's own may do anything to its process.
      models: isKnown ? [{ kind: "language", format: "gguf", architectures: "any", runsIn: "process" }] : [],
      precisions: isKnown ? ["fp32", "fp16", "bf16", "int8", "int4"] : [],
      options: ["threads", "contextLength", "allowSmallerContext", "cachePrecision"],
      cachePrecisions: ["fp16", "fp32"],
      // As of llamacpp, which is the same engine.
      footprint: { bytes: 110e6, perWeightByte: 1.1 },
    };
  }

  async load(): Promise<never> {
    throw unsupportedModel("the backend library runs language models alone");
  }

  async loadLanguage(model: LanguageModelFiles, device: Device, options: LoadOptions): Promise<LanguageModel> {
    throwIfAborted(options.signal);
    if (model.format !== "gguf") throw unsupportedModel(`the backend library does not run ${model.format}`);
    const file = await this.libraryFile();
    if (file === undefined)
      throw new InferyardError("BACKEND_UNAVAILABLE", "no llama.cpp library is configured", { remedy: libraryRemedy });
    const { openLibraryLanguageModel } = await import("./open-language-model.ts");
    return openLibraryLanguageModel(this.#getSource(file), model, device, options);
  }

  #getSource({ path }: LibraryFile): LibrarySource {
    return { path, sha256: this.#sha256, files: this.#files };
  }

  estimateCache(model: ModelFiles, _device: Device, settings: LoadOptions): ReturnType<typeof estimateLlamaMemory> {
    return estimateLlamaMemory(model, settings);
  }
}

function isLibraryFile(found: unknown): found is LibraryFile {
  return typeof found === "object" && found !== null && "sha256" in found;
}

/** Why a library does not keep the contract of llama.cpp; undefined if it does. It is loaded in a child process. */
async function getProblem(
  path: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly reason: string; readonly remedy?: string } | undefined> {
  try {
    const { validateLibrary } = await import("../../libraries/validation/index.ts");
    await validateLibrary(path, "llama", signal === undefined ? {} : { signal });
    return undefined;
  } catch (error) {
    throwIfAborted(signal);
    if (!(error instanceof InferyardError)) throw error;
    const { message, remedy } = error;
    return {
      reason: message
        .split("\n")
        .map((line) => line.trim())
        .join("; "),
      ...omitUndefined({ remedy }),
    };
  }
}
