/** Accelerators of macOS: Metal GPUs, and Core ML, which distributes a model over GPU, neural engine and processor. */
import { isObject } from "../../contract/shapes/shape.ts";
import type { Accelerator } from "../../contract/backend.ts";
import type { ProbeResult } from "./probe-result.ts";
import type { MachineSources } from "../sources.ts";
import { absent, found } from "./probe-result.ts";

const coreMlFramework = "/System/Library/Frameworks/CoreML.framework";

/** Looks for GPUs that support Metal, with system_profiler. macOS only. */
export async function probeMetal(sources: MachineSources): Promise<ProbeResult> {
  if (sources.platform !== "darwin") return absent(`Metal needs macOS, and this is ${sources.platform}`);
  const output = await sources.run("/usr/sbin/system_profiler", ["-json", "SPDisplaysDataType"]);
  if (!output.ok) return absent(`system_profiler fails: ${output.reason}`);
  const displays = parseDisplays(output.stdout);
  if (displays === undefined) return absent("system_profiler printed something other than its JSON");
  return found(
    displays.filter(supportsMetal).map((display, index) => metalDevice(display, index)),
    "system_profiler lists no GPU that supports Metal",
  );
}

/** Looks for the Core ML framework. macOS only. */
export async function probeCoreMl(sources: MachineSources): Promise<ProbeResult> {
  if (sources.platform !== "darwin") return absent(`Core ML needs macOS, and this is ${sources.platform}`);
  if (!(await sources.exists(coreMlFramework))) return absent(`Core ML is not on this machine (${coreMlFramework} not found)`);
  const chip = sources.system.cpuModel()?.trim();
  return {
    devices: [
      {
        device: { type: "coreml", index: 0 },
        name: chip === undefined ? "Core ML" : `Core ML on ${chip}`,
        source: coreMlFramework,
      },
    ],
  };
}

type Display = Readonly<Record<string, unknown>>;

function parseDisplays(text: string): readonly Display[] | undefined {
  try {
    const report: unknown = JSON.parse(text);
    const displays = isObject(report) ? report["SPDisplaysDataType"] : undefined;
    return Array.isArray(displays) ? displays.filter(isObject) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The key is spdisplays_mtlgpufamilysupport since macOS 11, and spdisplays_metal before. A GPU without Metal has neither, or a
 * value with "not".
 */
function supportsMetal(display: Display): boolean {
  return ["spdisplays_mtlgpufamilysupport", "spdisplays_metal"].some((key) => {
    const value = display[key];
    return typeof value === "string" && !/not/i.test(value);
  });
}

/** Only a GPU with dedicated memory states it; Apple's chips share the machine's memory. */
function metalDevice(display: Display, index: number): Accelerator {
  const name = display["sppci_model"] ?? display["_name"];
  const totalBytes = memoryBytes(display["spdisplays_vram"]);
  return {
    device: { type: "metal", index },
    name: typeof name === "string" ? name : "Metal GPU",
    source: "system_profiler SPDisplaysDataType",
    ...(totalBytes === undefined ? {} : { memory: { totalBytes } }),
  };
}

/** Parses "8 GB" and "1536 MB" into bytes. */
function memoryBytes(text: unknown): number | undefined {
  const [, amount, unit] = (typeof text === "string" ? /^(\d+) (MB|GB)$/.exec(text) : undefined) ?? [];
  return amount === undefined ? undefined : Number(amount) * 1024 ** (unit === "GB" ? 3 : 2);
}
