/** Intel's OpenVINO runtime. It is a library, not a device: it selects the device among its own plugins. */
import type { ProbeResult } from "./probe-result.ts";
import type { MachineSources } from "../sources.ts";
import { absent } from "./probe-result.ts";
import { findSystemLibrary } from "../libraries.ts";

/** File names of the library. Since 2022 they end in the version, for example libopenvino.so.2541 or libopenvino.2541.dylib. */
const libraryNames: Readonly<Partial<Record<NodeJS.Platform, RegExp>>> = {
  win32: /^openvino\.dll$/i,
  darwin: /^libopenvino(?:\.\d+)*\.dylib$/,
};

/** Looks for the OpenVINO library, where the loader would find it or in INTEL_OPENVINO_DIR. */
export async function probeOpenVino(sources: MachineSources): Promise<ProbeResult> {
  const library =
    (await findSystemLibrary(sources, libraryNames[sources.platform] ?? /^libopenvino\.so(?:\.\d+)*$/)) ??
    (await inInstallation(sources));
  if (library === undefined) return absent("no OpenVINO runtime on this machine (libopenvino not found)");
  return { devices: [{ device: { type: "openvino", index: 0 }, name: "OpenVINO runtime", source: library }] };
}

/** The library in Intel's archive, whose setupvars script sets INTEL_OPENVINO_DIR. */
async function inInstallation(sources: MachineSources): Promise<string | undefined> {
  const root = sources.environment["INTEL_OPENVINO_DIR"];
  if (root === undefined) return undefined;
  const path =
    sources.platform === "win32"
      ? `${root}\\runtime\\bin\\intel64\\Release\\openvino.dll`
      : `${root}/runtime/lib/intel64/libopenvino.so`;
  return (await sources.exists(path)) ? path : undefined;
}
