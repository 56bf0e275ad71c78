/** Finds onnxruntime-node without loading its library. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Requirement, unusablePackage } from "../../contract/availability.ts";
import type { OnnxRuntime } from "../onnxruntime/library.ts";
import { getMessage } from "../../contract/errors.ts";
import { type Provider, providers } from "./providers.ts";
import { findPackageManifest, importEngine, installCommand } from "../../storage/installed-engines.ts";
import { findCutOffLibrary } from "../../platform/node/whole-library.ts";

/**
 * The package requirement. `--ignore-scripts`: the package's install script downloads CUDA libraries from outside the registry
 * and fails without them.
 */
export const requirement: Requirement = {
  kind: "package",
  name: "onnxruntime-node",
  range: ">=1.24 <2",
  install: installCommand("onnx", "npm install onnxruntime-node --ignore-scripts"),
};

/** The package onnxruntime-node as it is installed: its version and the folder of its native binaries. */
export interface InstalledPackage {
  readonly version: string;
  /** Folder of the binding and its libraries. Undefined if the package has none for this platform. */
  readonly binaries: string | undefined;
}

/** Finds the installed package. Undefined if it is not installed; throws BACKEND_UNAVAILABLE if it is damaged. */
export function findPackage(platform: string, architecture: string): InstalledPackage | undefined {
  try {
    const manifest = findPackageManifest("onnxruntime-node", "onnx", import.meta.url);
    if (manifest === undefined) return undefined;
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
    return { version, binaries: findBinaries(dirname(manifest), platform, architecture) };
  } catch (error) {
    throw unusablePackage(requirement, `is installed but damaged: ${getMessage(error)}`, error);
  }
}

function findBinaries(folder: string, platform: string, architecture: string): string | undefined {
  const bin = join(folder, "bin");
  if (!existsSync(bin)) return undefined;
  return readdirSync(bin)
    .map((version) => join(bin, version, platform, architecture))
    .find((candidate) => existsSync(join(candidate, "onnxruntime_binding.node")));
}

/** The first library of an execution provider that is missing in the folder of the Node.js binding; undefined if none is missing. */
export function missingLibrary(provider: Provider, binaries: string = ""): string | undefined {
  return provider.libraries?.find((name) => !existsSync(join(binaries, name)));
}

/** Whether the installed package has the provider of a device type for this platform. */
export function hasProvider(platform: string, architecture: string, deviceType: string): boolean {
  const provider = providers.find((each) => each.deviceType === deviceType);
  const binaries = findPackage(platform, architecture)?.binaries;
  if (provider === undefined || binaries === undefined) return false;
  return provider.platforms.includes(`${platform}/${architecture}`) && missingLibrary(provider, binaries) === undefined;
}

/** Loads the library with this log level. Throws BACKEND_UNAVAILABLE if it cannot be loaded or one of its files is cut off. */
export async function importLibrary(logLevel: "fatal" | "warning"): Promise<OnnxRuntime> {
  const { binaries } = findPackage(process.platform, process.arch) ?? {};
  const cutOff = binaries === undefined ? undefined : findCutOffLibrary(binaries);
  if (cutOff !== undefined) throw unusablePackage(requirement, `is installed but damaged: ${cutOff}`);
  try {
    const module = (await importEngine("onnxruntime-node", "onnx", () => import("onnxruntime-node"))) as OnnxRuntime;
    module.env.logLevel = logLevel;
    return module;
  } catch (error) {
    throw unusablePackage(requirement, `could not be loaded: ${getMessage(error)}`, error);
  }
}
