/** Intel's OpenVINO runtime. It is a library rather than a device: what it computes on, it decides among its own plugins. */
import type { ProbeResult } from "./probe-result.ts";
import type { MachineSources } from "../sources.ts";
import { absent } from "./probe-result.ts";
import { findLibrary } from "../libraries.ts";

/** Since 2022 the file name ends in the version, for example libopenvino.so.2541 or libopenvino.2541.dylib. */
const libraryNames: Readonly<Partial<Record<NodeJS.Platform, RegExp>>> = {
  win32: /^openvino\.dll$/i,
  darwin: /^libopenvino(?:\.\d+)*\.dylib$/,
};

export async function probeOpenVino(sources: MachineSources): Promise<ProbeResult> {
  const library =
    (await findLibrary(sources, libraryNames[sources.platform] ?? /^libopenvino\.so(?:\.\d+)*$/)) ??
    (await inInstallation(sources));
  if (library === undefined) return absent("no OpenVINO runtime on this machine (libopenvino not found)");
  return { devices: [{ device: { type: "openvino", index: 0 }, name: "OpenVINO runtime", source: library }] };
}

/** Intel's archive sets INTEL_OPENVINO_DIR in its setupvars script. */
async function inInstallation(sources: MachineSources): Promise<string | undefined> {
  const root = sources.environment["INTEL_OPENVINO_DIR"];
  if (root === undefined) return undefined;
  const path =
    sources.platform === "win32"
      ? `${root}\\runtime\\bin\\intel64\\Release\\openvino.dll`
      : `${root}/runtime/lib/intel64/libopenvino.so`;
  return (await sources.exists(path)) ? path : undefined;
}
