/** Finds node-llama-cpp without loading it, and loads builds of llama.cpp that it contains. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Requirement, unusablePackage } from "../../contract/availability.ts";
import type { Library, LibraryFileDigest } from "../../contract/backend.ts";
import { getOrInsert, omitUndefined } from "../../contract/checked.ts";
import { getMessage } from "../../contract/errors.ts";
import type { Llama, LlamaGpu, LlamaModule } from "./library.ts";
import { findPackageManifest, importEngine, installCommand } from "../../storage/installed-engines.ts";
import { readNativeFiles } from "./native-files.ts";

/** The package requirement. No install script is needed: the builds are packages of their own. */
export const requirement: Requirement = {
  kind: "package",
  name: "node-llama-cpp",
  range: ">=3.22.1 <4",
  install: installCommand("llamacpp", "npm install node-llama-cpp --ignore-scripts"),
};

/** The version of the installed package; undefined if it is not installed. Throws BACKEND_UNAVAILABLE if it is damaged. */
export function installedVersion(): string | undefined {
  const manifest = findManifest();
  if (manifest === undefined) return undefined;
  try {
    return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  } catch (error) {
    throw unusablePackage(requirement, `is installed but damaged: ${getMessage(error)}`, error);
  }
}

/** Whether the package with the build for a kind of GPU is installed. */
export function hasBuild(platform: string, architecture: string, gpu: LlamaGpu): boolean {
  const manifest = findManifest();
  if (manifest === undefined) return false;
  return existsSync(join(dirname(manifest), "..", "@node-llama-cpp", buildName(platform, architecture, gpu)));
}

/** Name of the package with a build: "linux-x64-cuda". */
export function buildName(platform: string, architecture: string, gpu: LlamaGpu): string {
  const system = { darwin: "mac", win32: "win" }[platform] ?? platform;
  if (gpu === "metal") return `${system}-${architecture}-metal`;
  return `${system}-${architecture}${gpu === false ? "" : `-${gpu}`}`;
}

/** A build of llama.cpp that node-llama-cpp contains. */
export interface LlamaBuild {
  /** Version of node-llama-cpp. */
  readonly version: string;
  /** Path of the folder that contains all native code of the build. */
  readonly folder: string;
  /** Path of the addon for Node.js, which links to the other libraries. */
  readonly addon: string;
}

/**
 * Finds the build that `openLlama` loads. Undefined if the package is not installed or is damaged, has no such build, has another layout of files, or might
 * prefer a llama.cpp that was compiled on this machine.
 */
export function findBuild(platform: string, architecture: string, gpu: LlamaGpu): LlamaBuild | undefined {
  const manifest = findManifest();
  if (manifest === undefined) return undefined;
  try {
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
    const name = buildName(platform, architecture, gpu);
    const folder = join(dirname(manifest), "..", "@node-llama-cpp", name, "bins", name);
    const addon = join(folder, "llama-addon.node");
    const compiled = join(dirname(manifest), "llama", "localBuilds");
    if (!existsSync(addon) || (existsSync(compiled) && readdirSync(compiled).length > 0)) return undefined;
    return { version, folder, addon };
  } catch {
    return undefined; // package.json cannot be read, or is not JSON
  }
}

async function importLlama(): Promise<LlamaModule> {
  return (await importEngine("node-llama-cpp", "llamacpp", () => import("node-llama-cpp"))) as LlamaModule;
}

/** The main file of the package leads to its folder: its `exports` hide package.json. */
function findManifest(): string | undefined {
  return findPackageManifest("node-llama-cpp", "llamacpp", import.meta.url);
}

/** A loaded build, and the errors that llama.cpp has logged since the last query. */
export interface OpenLlama {
  readonly llama: Llama;
  readonly library: Library;
  /** Errors that were logged, joined; undefined if there were none. */
  readonly takeErrors: () => string | undefined;
}

/**
 * Imports node-llama-cpp and loads the native code of a build, without a computation. Throws the errors of Node.js and of the dynamic linker, and may end the
 * process.
 */
export async function loadNativeCode({ addon }: LlamaBuild): Promise<void> {
  await importLlama();
  createRequire(import.meta.url)(addon);
}

/** Loads a build. Throws BACKEND_UNAVAILABLE if the package has none for this machine or it cannot be loaded. */
export async function openLlama(gpu: LlamaGpu): Promise<OpenLlama> {
  const errors: string[] = [];
  const reading = getNativeFiles(gpu); // beside the load, which waits for a process
  try {
    const module = await importLlama();
    const llama = await module.getLlama({
      gpu,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      logLevel: module.LlamaLogLevel.error,
      logger: (_level, message) => {
        if (errors.length < maxErrors) errors.push(message.trim());
      },
    });
    const { release } = llama.llamaCppRelease;
    const files = await reading;
    return {
      llama,
      library: { name: "node-llama-cpp", version: installedVersion() ?? release, ...omitUndefined({ files }) },
      takeErrors: () => [...new Set(errors.splice(0))].join("; ") || undefined,
    };
  } catch (error) {
    const name = gpu === false ? "the CPU" : gpu;
    const cause = [error instanceof Error ? error.constructor.name : "", getMessage(error), ...errors].filter(Boolean);
    const problem = `has no build of llama.cpp for ${name} that loads here: ${[...new Set(cause)].join(": ")}`;
    throw unusablePackage(requirement, problem, error);
  }
}

/**
 * Native files of the loaded build of llama.cpp; undefined if the build is not known to belong to the package node-llama-cpp, or if a file cannot be
 * read.
 */
async function getNativeFiles(gpu: LlamaGpu): Promise<readonly LibraryFileDigest[] | undefined> {
  const build = findBuild(process.platform, process.arch, gpu);
  return build === undefined ? undefined : await readNativeFiles(build.folder).catch(() => undefined);
}

/**
 * Builds of llama.cpp that one backend has loaded, kept until the backend is disposed: node-llama-cpp tries a build in a separate process each time it loads
 * one, which takes half a second. Their models share the log: node-llama-cpp has one logger per process.
 */
export class LlamaBuilds {
  readonly #opened = new Map<LlamaGpu, Promise<OpenLlama>>();

  /** Throws as `openLlama` does; a build that failed is tried again. */
  async get(gpu: LlamaGpu): Promise<OpenLlama> {
    const opened = getOrInsert(this.#opened, gpu, () => openLlama(gpu));
    try {
      return await opened;
    } catch (error) {
      this.#opened.delete(gpu);
      throw error;
    }
  }

  async dispose(): Promise<void> {
    const opened = [...this.#opened.values()];
    this.#opened.clear();
    for (const build of await Promise.allSettled(opened)) if (build.status === "fulfilled") await build.value.llama.dispose();
  }
}

/** Errors that are kept: enough for the reason of a failure. */
const maxErrors = 8;
