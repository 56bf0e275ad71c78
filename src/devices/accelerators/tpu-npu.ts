/**
 * TPUs and neural processors. On Linux both are PCI devices with a device node, so no program is needed to find them. Sources:
 * Linux Documentation/accel; PCI ids as in JAX's hardware_utils.py and in the amdxdna and ivpu drivers.
 */
import type { ProbeResult } from "./probe-result.ts";
import type { MachineSources } from "../sources.ts";
import { absent, found } from "./probe-result.ts";
import { findSystemLibrary } from "../libraries.ts";
import { findWindowsNeuralProcessors } from "./windows.ts";

/** Google's PCI vendor id. Network and disk controllers of its cloud have it too, so the device id decides. */
const google = "0x1ae0";

const tpuGenerations: Readonly<Record<string, string>> = {
  "0x0027": "Google TPU v2 or v3",
  "0x005e": "Google TPU v4",
  "0x0062": "Google TPU v5p",
  "0x0063": "Google TPU v5e",
  "0x006f": "Google TPU v6e",
  "0x0076": "Google TPU 7x",
};

/** PCI vendors of neural processors in the kernel's accel subsystem. */
const neuralVendors: Readonly<Record<string, string>> = { "0x8086": "Intel NPU", "0x1022": "AMD NPU", "0x1002": "AMD NPU" };

/** Looks for Google TPUs by their PCI ids. Linux only. */
export async function probeTpu(sources: MachineSources): Promise<ProbeResult> {
  if (sources.platform !== "linux") return absent(`TPUs are looked for on Linux only, and this is ${sources.platform}`);
  const [nodes, groups] = await Promise.all([sources.list("/dev"), sources.list("/dev/vfio")]);
  const ownNodes = nodes.some((name) => /^accel\d+$/.test(name));
  const groupNumbers = groups.filter((name) => /^\d+$/.test(name));
  if (!ownNodes && groupNumbers.length === 0)
    return absent("no TPU on this machine (neither /dev/accel0 nor a device in /dev/vfio)");

  const addresses = ownNodes
    ? await sources.list("/sys/bus/pci/devices")
    : (await Promise.all(groupNumbers.map((group) => sources.list(`/sys/kernel/iommu_groups/${group}/devices`))))
        .flat()
        .toSorted();
  const chips = (await Promise.all(addresses.map((address) => tpuChip(sources, address)))).filter((chip) => chip !== undefined);
  const library = chips.length === 0 ? undefined : await tpuLibrary(sources);
  return found(
    chips.map(({ name, source }, index) => ({
      device: { type: "tpu", index },
      name,
      source: library === undefined ? source : `${source}, ${library}`,
    })),
    "no TPU on this machine (the devices in /dev are not Google's)",
  );
}

/** Looks for neural processors of Intel and AMD: in the accel subsystem on Linux, in the registry on Windows. */
export async function probeNpu(sources: MachineSources): Promise<ProbeResult> {
  if (sources.platform === "win32") return findWindowsNeuralProcessors(sources);
  if (sources.platform === "darwin") return absent("macOS opens its neural engine to Core ML only");
  const nodes = (await sources.list("/sys/class/accel")).filter((name) => /^accel\d+$/.test(name));
  if (nodes.length === 0) return absent("no neural processor on this machine (/sys/class/accel is empty)");
  const processors = (await Promise.all(nodes.map((node) => neuralProcessor(sources, node)))).filter(
    (processor) => processor !== undefined,
  );
  const usable = processors.filter(({ openable }) => openable);
  return found(
    usable.map(({ name, source }, index) => ({ device: { type: "npu", index }, name, source })),
    processors.length === 0
      ? `no neural processor of Intel or AMD on this machine (${nodes.join(", ")} in /sys/class/accel is another vendor's)`
      : `the kernel lists a neural processor (${processors.map(({ name }) => name).join(", ")}), but its node in /dev/accel is not here for this process`,
  );
}

async function tpuChip(sources: MachineSources, address: string): Promise<{ name: string; source: string } | undefined> {
  const directory = `/sys/bus/pci/devices/${address}`;
  const [vendor, device] = await Promise.all([sources.readFile(`${directory}/vendor`), sources.readFile(`${directory}/device`)]);
  const name = vendor?.trim() === google ? tpuGenerations[device?.trim() ?? ""] : undefined;
  return name === undefined ? undefined : { name, source: directory };
}

async function tpuLibrary(sources: MachineSources): Promise<string | undefined> {
  const chosen = sources.environment["TPU_LIBRARY_PATH"];
  if (chosen !== undefined && (await sources.exists(chosen))) return chosen;
  return findSystemLibrary(sources, "libtpu.so");
}

interface NeuralProcessor {
  readonly name: string;
  readonly source: string;
  readonly openable: boolean;
}

async function neuralProcessor(sources: MachineSources, node: string): Promise<NeuralProcessor | undefined> {
  const directory = `/sys/class/accel/${node}/device`;
  const [vendor, device, product] = await Promise.all(
    ["vendor", "device", "vbnv"].map(async (file) => (await sources.readFile(`${directory}/${file}`))?.trim()),
  );
  const kind = neuralVendors[vendor ?? ""];
  if (kind === undefined) return undefined;
  return {
    name: `${kind} ${product ?? `(PCI device ${vendor}:${device ?? "?"})`}`,
    source: directory,
    openable: await sources.exists(`/dev/accel/${node}`),
  };
}
