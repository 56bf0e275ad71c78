/**
 * AMD GPUs of the ROCm stack, as the kernel's compute driver (KFD) lists them. Sources: Linux
 * drivers/gpu/drm/amd/amdkfd/kfd_topology.c; ROCm documentation, "GPU isolation techniques".
 */
import type { Accelerator } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { ProbeResult } from "./probe-result.ts";
import type { MachineSources } from "../sources.ts";
import { absent, found } from "./probe-result.ts";
import { findProgram } from "../libraries.ts";
import { byUniqueUuid, visibleDevices } from "./visible-devices.ts";

interface AmdGpu {
  /** Number of its node in the KFD topology. */
  readonly node: string;
  readonly uuid: string | undefined;
  /** For example "gfx942". */
  readonly target: string;
  readonly renderMinor: string;
  readonly totalBytes: number;
}

const topology = "/sys/class/kfd/kfd/topology/nodes";

/** Looks for AMD GPUs in the KFD topology and applies ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES. Linux only. */
export async function probeRocm(sources: MachineSources): Promise<ProbeResult> {
  if (sources.platform !== "linux") return absent(`ROCm devices are looked for on Linux only, and this is ${sources.platform}`);
  const nodes = await sources.list(topology);
  if (nodes.length === 0) return absent("no AMD GPU compute driver on this machine (/sys/class/kfd not found)");
  const byNumber = nodes.toSorted((a, b) => Number(a) - Number(b));
  const gpus = (await Promise.all(byNumber.map((node) => readNode(sources, node)))).filter((gpu) => gpu !== undefined);
  if (gpus.length === 0) return absent(`the AMD GPU compute driver lists no GPU (${topology})`);
  if (!(await sources.exists("/dev/kfd"))) return absent("the kernel lists AMD GPUs, but /dev/kfd is not here for this process");

  const { visible, hiddenBy } = visibleGpus(sources, gpus);
  const names = visible.length === 0 ? new Map<string, string>() : await readNames(sources);
  const devices = await Promise.all(visible.map((gpu, index) => accelerator(sources, gpu, index, names.get(gpu.node))));
  return found(devices, `${hiddenBy} hides every AMD GPU (${gpus.length} installed)`);
}

async function readNode(sources: MachineSources, node: string): Promise<AmdGpu | undefined> {
  // Unreadable in a container that was not given the device, which is then hidden from ROCm as well.
  const properties = pairs(await sources.readFile(`${topology}/${node}/properties`));
  const version = Number(properties.get("gfx_target_version") ?? 0);
  if (Number(properties.get("simd_count") ?? 0) === 0 || version === 0) return undefined;
  const uniqueId = properties.get("unique_id");
  return {
    node,
    uuid: uniqueId === undefined ? undefined : `GPU-${BigInt(uniqueId).toString(16).padStart(16, "0")}`,
    target: targetName(version),
    renderMinor: properties.get("drm_render_minor") ?? "",
    totalBytes: await readMemoryBanks(sources, node),
  };
}

/**
 * Converts gfx_target_version, which is decimal (major, two digits of minor, two of stepping), to a target name, whose stepping
 * is hexadecimal.
 */
function targetName(version: number): string {
  const major = Math.floor(version / 10_000);
  const minor = Math.floor(version / 100) % 100;
  return `gfx${major}${minor}${(version % 100).toString(16)}`;
}

/** Bytes of the device's own memory: heaps 1 (visible to the host) and 2 (not visible). Heap 0 is the host's memory. */
async function readMemoryBanks(sources: MachineSources, node: string): Promise<number> {
  const directory = `${topology}/${node}/mem_banks`;
  const banks = await Promise.all(
    (await sources.list(directory)).map((bank) => sources.readFile(`${directory}/${bank}/properties`)),
  );
  return banks
    .map(pairs)
    .filter((bank) => ["1", "2"].includes(bank.get("heap_type") ?? ""))
    .reduce((sum, bank) => sum + Number(bank.get("size_in_bytes") ?? 0), 0);
}

/**
 * Applies ROCR_VISIBLE_DEVICES first; HIP_VISIBLE_DEVICES, or CUDA_VISIBLE_DEVICES if that is not set, then selects among the
 * remaining devices.
 */
function visibleGpus(sources: MachineSources, gpus: readonly AmdGpu[]): { visible: readonly AmdGpu[]; hiddenBy: string } {
  let visible = gpus;
  let hiddenBy = "";
  const hip = sources.environment["HIP_VISIBLE_DEVICES"] === undefined ? "CUDA_VISIBLE_DEVICES" : "HIP_VISIBLE_DEVICES";
  for (const variable of ["ROCR_VISIBLE_DEVICES", hip]) {
    const list = sources.environment[variable];
    if (list === undefined || visible.length === 0) continue;
    const before = visible;
    visible = visibleDevices(list, { byNumber: (number) => before[number], byUuid: (start) => byUniqueUuid(before, start) });
    hiddenBy = `${variable}="${list}"`;
  }
  return { visible, hiddenBy };
}

/** Product names by node, from rocminfo if it is installed, since the kernel does not know all names. */
async function readNames(sources: MachineSources): Promise<ReadonlyMap<string, string>> {
  const program = await findProgram(sources, "rocminfo", ["/opt/rocm/bin"]);
  const agents = program === undefined ? "" : (await sources.run(program, [])).stdout;
  const names = new Map<string, string>();
  for (const agent of agents.split(/^Agent \d+\s*$/m)) {
    const value = (label: string): string | undefined => new RegExp(`^ {2}${label}:[ \\t]*(\\S.*?)\\s*$`, "m").exec(agent)?.[1];
    const node = value("Node");
    const name = value("Marketing Name");
    if (node !== undefined && name !== undefined && value("Device Type") === "GPU") names.set(node, name);
  }
  return names;
}

async function accelerator(sources: MachineSources, gpu: AmdGpu, index: number, name: string | undefined): Promise<Accelerator> {
  const device = `/sys/class/drm/renderD${gpu.renderMinor}/device`;
  const [product, total, used] = (
    await Promise.all(
      ["product_name", "mem_info_vram_total", "mem_info_vram_used"].map((file) => sources.readFile(`${device}/${file}`)),
    )
  ).map((text) => text?.trim() ?? "");
  // A partitioned card has one such file for all partitions, so its use says nothing about one of them.
  const freeBytes = used !== "" && Number(total) === gpu.totalBytes ? gpu.totalBytes - Number(used) : undefined;
  return {
    device: { type: "rocm", index },
    name: `${name ?? (product === "" || product === undefined ? "AMD GPU" : product)} (${gpu.target})`,
    source: `${topology}/${gpu.node}${name === undefined ? "" : ", rocminfo"}`,
    ...(gpu.totalBytes === 0 ? {} : { memory: { totalBytes: gpu.totalBytes, ...omitUndefined({ freeBytes }) } }),
  };
}

/** Parses lines of "name value". */
function pairs(text: string | undefined): ReadonlyMap<string, string> {
  return new Map(
    (text ?? "").split("\n").map((line): [string, string] => {
      const [name = "", value = ""] = line.trim().split(/\s+/);
      return [name, value];
    }),
  );
}
