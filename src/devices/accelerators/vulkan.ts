/**
 * Vulkan devices that are hardware. Mesa installs a software device (llvmpipe, through lavapipe) nearly everywhere, and engines
 * that count it report a GPU on machines that have none. Source: Vulkan loader documentation, "Driver discovery"; `vulkaninfo
 * --summary`.
 */
import type { Accelerator } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { ProbeResult } from "./probe-result.ts";
import type { MachineSources } from "../sources.ts";
import { absent, found } from "./probe-result.ts";
import { directoriesIn, findSystemLibrary, findProgram } from "../libraries.ts";

const loaderNames: Readonly<Partial<Record<NodeJS.Platform, string>>> = { win32: "vulkan-1.dll", darwin: "libvulkan.1.dylib" };

/** Driver manifests of software implementations: lavapipe and SwiftShader. */
const softwareManifest = /^(?:lvp_icd|vk_swiftshader)/;

/** PCI vendors by the file name of a driver's manifest, for machines without vulkaninfo. */
const manifestVendors: readonly (readonly [RegExp, string])[] = [
  [/^(?:radeon|amd)_/, "0x1002"],
  [/^intel_/, "0x8086"],
  [/^(?:nvidia|nouveau)_/, "0x10de"],
];

/**
 * Looks for Vulkan devices with vulkaninfo, or by driver manifests and render nodes if it is not installed. Software devices
 * are not counted.
 */
export async function probeVulkan(sources: MachineSources): Promise<ProbeResult> {
  const loaderName = loaderNames[sources.platform] ?? "libvulkan.so.1";
  const loader = await findSystemLibrary(sources, loaderName);
  if (loader === undefined) return absent(`no Vulkan loader on this machine (${loaderName} not found)`);
  const manifests = sources.platform === "linux" ? await driverManifests(sources) : undefined;
  if (manifests?.length === 0) return absent(`the Vulkan loader is here (${loader}), but no driver for it`);
  if (manifests?.every((manifest) => softwareManifest.test(manifest))) {
    return absent(`Vulkan has only a software driver here (${manifests.join(", ")}), which computes on the processor`);
  }
  const program = await findProgram(sources, "vulkaninfo", sources.platform === "win32" ? [getDirectory(loader)] : []);
  if (program === undefined) return fromRenderNodes(sources, manifests ?? []);
  const output = await sources.run(program, ["--summary"]);
  if (!output.ok) return absent(`a Vulkan driver is installed, but vulkaninfo fails: ${output.reason}`);
  const devices = parseSummary(output.stdout);
  const hardware = devices.filter(({ software }) => !software);
  return found(
    hardware.map(vulkanDevice),
    devices.length === 0
      ? "a Vulkan driver is installed, but vulkaninfo lists no device"
      : `Vulkan has only software devices here (${devices.map(({ name }) => name).join(", ")})`,
  );
}

interface SummaryDevice {
  readonly name: string;
  readonly driver: string | undefined;
  readonly software: boolean;
}

/** Parses the blocks "GPU0:", "GPU1:", ... of the summary. */
function parseSummary(text: string): readonly SummaryDevice[] {
  return text
    .split(/^GPU\d+:\s*$/m)
    .slice(1)
    .flatMap((block) => {
      const value = (label: string): string | undefined =>
        new RegExp(`^\\s*${label}\\s*=\\s*(\\S.*?)\\s*$`, "m").exec(block)?.[1];
      const name = value("deviceName");
      if (name === undefined) return [];
      const software =
        (value("deviceType") ?? "").includes("DEVICE_TYPE_CPU") ||
        /LLVMPIPE|SWIFTSHADER/.test(value("driverID") ?? "") ||
        /llvmpipe|lavapipe|swiftshader/i.test(name);
      return { name, driver: value("driverInfo") ?? value("driverVersion"), software };
    });
}

function vulkanDevice({ name, driver }: SummaryDevice, index: number): Accelerator {
  return {
    device: { type: "vulkan", index },
    name,
    source: "vulkaninfo --summary",
    ...omitUndefined({ driverVersion: driver }),
  };
}

/** File names of the driver manifests in the directories that the loader searches, without duplicates. */
async function driverManifests(sources: MachineSources): Promise<readonly string[]> {
  const { environment } = sources;
  const variable = environment["VK_DRIVER_FILES"] === undefined ? "VK_ICD_FILENAMES" : "VK_DRIVER_FILES";
  const chosen = directoriesIn(sources, variable);
  const shared = directoriesIn(sources, "XDG_DATA_DIRS");
  const home = environment["HOME"];
  const roots = [
    "/etc",
    "/usr/local/etc",
    ...(shared.length === 0 ? ["/usr/local/share", "/usr/share"] : shared),
    ...(home === undefined ? [] : [`${home}/.local/share`]),
  ];
  const found =
    chosen.length > 0 ? chosen : (await Promise.all(roots.map((root) => sources.list(`${root}/vulkan/icd.d`)))).flat();
  const names = found.map((path) => path.slice(path.lastIndexOf("/") + 1)).filter((name) => name.endsWith(".json"));
  return [...new Set(names)].toSorted();
}

/**
 * Without vulkaninfo: render nodes whose PCI vendor has a driver. A single one is device 0; the order of several is known to
 * the loader only, so none is reported.
 */
async function fromRenderNodes(sources: MachineSources, manifests: readonly string[]): Promise<ProbeResult> {
  const vendors = manifestVendors
    .filter(([pattern]) => manifests.some((manifest) => pattern.test(manifest)))
    .map(([, vendor]) => vendor);
  const nodes = (await sources.list("/sys/class/drm")).filter((name) => name.startsWith("renderD"));
  const devices = (await Promise.all(nodes.map((node) => renderNode(sources, node, vendors)))).filter(
    (device) => device !== undefined,
  );
  const note = "vulkaninfo is not installed";
  if (devices.length > 1)
    return absent(`${devices.length} devices have a Vulkan driver, but ${note}, and only it tells their numbers`);
  return found(devices, `a Vulkan driver is installed (${manifests.join(", ")}), but ${note} and no device of it was found`);
}

async function renderNode(sources: MachineSources, node: string, vendors: readonly string[]): Promise<Accelerator | undefined> {
  const directory = `/sys/class/drm/${node}/device`;
  const [vendor, device] = await Promise.all([sources.readFile(`${directory}/vendor`), sources.readFile(`${directory}/device`)]);
  if (vendor === undefined || !vendors.includes(vendor.trim())) return undefined;
  return {
    device: { type: "vulkan", index: 0 },
    name: `PCI device ${vendor.trim()}:${device?.trim() ?? "?"}`,
    source: `${directory}; vulkaninfo, which would name it, is not installed`,
  };
}

function getDirectory(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")));
}
