/** NVIDIA devices, numbered as a CUDA program that is started now would see them. */
import type { Accelerator } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { ProbeResult } from "./probe-result.ts";
import type { GpuInstance, GpuRow } from "./nvidia-smi.ts";
import type { MachineSources, CommandOutput } from "../sources.ts";
import { absent, found } from "./probe-result.ts";
import { findSystemLibrary, findProgram } from "../libraries.ts";
import { gpuQueries, parseCudaVersion, parseGpuRows, parseInstances } from "./nvidia-smi.ts";
import { byUniqueUuid, visibleDevices } from "./visible-devices.ts";

/** A CUDA device: a whole GPU, or a MIG instance of one. */
interface Candidate {
  readonly gpu: GpuRow;
  readonly instance?: GpuInstance;
}

/** Directories of nvidia-smi outside the PATH: WSL, Google's driver containers, older Windows drivers. */
const furtherDirectories = ["/usr/lib/wsl/lib", "/usr/local/nvidia/bin", "C:\\Program Files\\NVIDIA Corporation\\NVSMI"];

/**
 * Looks for NVIDIA devices with nvidia-smi, or through the files of the kernel driver if nvidia-smi is not installed. The reason of absence
 * distinguishes: no driver, a driver that does not answer, no device, and all devices hidden.
 */
export async function probeCuda(sources: MachineSources): Promise<ProbeResult> {
  if (sources.platform === "darwin") return absent("macOS has no NVIDIA driver");
  const library = await findCudaDriver(sources);
  if (library === undefined) return absent(await noDriverReason(sources));
  const program = await findProgram(sources, "nvidia-smi", furtherDirectories);
  if (program === undefined) return fromKernelDriver(sources, library);

  const [listing, banner] = await Promise.all([queryGpus(sources, program), sources.run(program, [])]);
  if (!listing.ok) return absent(`the NVIDIA driver is installed, but nvidia-smi fails: ${listing.reason}`);
  if (listing.rows.length === 0) {
    return absent(
      `the NVIDIA driver is installed, but lists no device: ${listing.stdout.trim() || "nvidia-smi printed nothing"}`,
    );
  }
  const list = sources.environment["CUDA_VISIBLE_DEVICES"];
  const devices = visibleCandidates(listing.rows, await readInstances(sources, program, listing.rows), list);
  const cudaVersion = parseCudaVersion(banner.stdout);
  const source = `nvidia-smi${numberingNote(sources, devices)}`;
  return found(
    devices.map((device, index) => accelerator(device, index, cudaVersion, source)),
    list === undefined
      ? "every NVIDIA device is in MIG mode, and none has an instance"
      : `CUDA_VISIBLE_DEVICES="${list}" hides every NVIDIA device (${listing.rows.length} installed)`,
  );
}

/**
 * Devices without nvidia-smi, as in many containers: the GPUs that the kernel driver lists and whose device node exists. Their memory and MIG
 * partitions are unknown. A driver library alone proves no GPU.
 */
async function fromKernelDriver(sources: MachineSources, library: string): Promise<ProbeResult> {
  const folder = "/proc/driver/nvidia/gpus";
  const rows = await Promise.all(
    (await sources.list(folder)).map((bus) => kernelDriverRow(sources, `${folder}/${bus}/information`)),
  );
  const known = rows.filter((row) => row !== undefined);
  const missing = `the NVIDIA driver library is here (${library}), but nvidia-smi is not on the PATH`;
  if (known.length === 0) return absent(`${missing}, and the kernel driver lists no GPU in ${folder}`);
  const list = sources.environment["CUDA_VISIBLE_DEVICES"];
  const devices = visibleCandidates(known, [], list);
  return found(
    devices.map((device, index) => accelerator(device, index, undefined, `${folder}; nvidia-smi is not on the PATH`)),
    `CUDA_VISIBLE_DEVICES="${list ?? ""}" hides every NVIDIA device (${known.length} installed)`,
  );
}

async function kernelDriverRow(sources: MachineSources, path: string): Promise<GpuRow | undefined> {
  const text = (await sources.readFile(path)) ?? "";
  const value = (label: string): string | undefined => new RegExp(`^${label}:\\s*(\\S.*?)\\s*$`, "m").exec(text)?.[1];
  const [name, minor] = [value("Model"), value("Device Minor")];
  if (name === undefined || minor === undefined || !(await sources.exists(`/dev/nvidia${minor}`))) return undefined;
  const version = /Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)/.exec(
    (await sources.readFile("/proc/driver/nvidia/version")) ?? "",
  )?.[1];
  return { uuid: value("GPU UUID"), name, driverVersion: version, partitioned: false };
}

/** Path of NVIDIA's driver library as the loader finds it. Undefined without one. */
export function findCudaDriver(sources: MachineSources): Promise<string | undefined> {
  return findSystemLibrary(sources, cudaDriverName(sources));
}

function cudaDriverName({ platform }: MachineSources): string {
  return platform === "win32" ? "nvcuda.dll" : "libcuda.so.1";
}

async function noDriverReason(sources: MachineSources): Promise<string> {
  const libraryName = cudaDriverName(sources);
  const loaded = sources.platform === "linux" && (await sources.exists("/proc/driver/nvidia/version"));
  return loaded
    ? `the NVIDIA kernel driver is loaded, but its library is not where the loader looks (${libraryName} not found)`
    : `no NVIDIA driver on this machine (${libraryName} not found)`;
}

async function queryGpus(
  sources: MachineSources,
  program: string,
): Promise<CommandOutput & { readonly rows: readonly GpuRow[] }> {
  let output: CommandOutput = { ok: false, stdout: "", reason: "it was not asked" };
  for (const fields of gpuQueries) {
    output = await sources.run(program, [`--query-gpu=${fields.join(",")}`, "--format=csv,noheader,nounits"]);
    if (output.ok) return { ...output, rows: parseGpuRows(output.stdout, fields) };
    if (!/not a valid field/i.test(output.reason)) break;
  }
  return { ...output, rows: [] };
}

async function readInstances(sources: MachineSources, program: string, rows: readonly GpuRow[]): Promise<readonly GpuInstance[]> {
  if (!rows.some(({ partitioned }) => partitioned)) return [];
  return parseInstances((await sources.run(program, ["-L"])).stdout);
}

/** A GPU in MIG mode stands for its first instance, and a process can use one instance only (NVIDIA MIG user guide, "CUDA visible devices"). */
function visibleCandidates(
  rows: readonly GpuRow[],
  instances: readonly GpuInstance[],
  list: string | undefined,
): readonly Candidate[] {
  const parts: readonly Candidate[] = instances.flatMap((instance) => {
    const gpu = rows.find(({ uuid }) => uuid === instance.gpuUuid);
    return gpu === undefined ? [] : { gpu, instance };
  });
  const wholes = rows.map((gpu) => (gpu.partitioned ? parts.find((part) => part.gpu === gpu) : { gpu }));
  const named = [
    ...wholes.map((whole, index) => ({ uuid: rows[index]?.uuid, whole })),
    ...parts.map((whole) => ({ uuid: whole.instance?.uuid, whole })),
  ];
  const visible =
    list === undefined
      ? wholes.filter((whole) => whole !== undefined)
      : visibleDevices(list, {
          byNumber: (number) => wholes[number],
          byUuid: (start) => byUniqueUuid(named, start)?.whole,
        });
  const firstInstance = visible.find(({ instance }) => instance !== undefined);
  return visible.filter((device) => device.instance === undefined || device === firstInstance);
}

function accelerator({ gpu, instance }: Candidate, index: number, cudaVersion: string | undefined, source: string): Accelerator {
  // nvidia-smi gives the memory of the whole GPU only, so an instance has none that is known.
  const totalBytes = instance === undefined ? gpu.totalBytes : undefined;
  return {
    device: { type: "cuda", index },
    name: instance === undefined ? gpu.name : `${gpu.name} MIG ${instance.profile}`,
    source,
    ...(totalBytes === undefined ? {} : { memory: { totalBytes, ...omitUndefined({ freeBytes: gpu.freeBytes }) } }),
    ...omitUndefined({ computeCapability: gpu.computeCapability, cudaVersion, driverVersion: gpu.driverVersion }),
  };
}

/**
 * nvidia-smi numbers devices by PCI bus; CUDA puts the fastest first unless CUDA_DEVICE_ORDER says otherwise. The note is
 * needed only if the devices differ.
 */
function numberingNote(sources: MachineSources, devices: readonly Candidate[]): string {
  const alike = new Set(devices.map(({ gpu }) => gpu.name)).size <= 1;
  if (alike || sources.environment["CUDA_DEVICE_ORDER"] === "PCI_BUS_ID") return "";
  return ", numbered by PCI bus; CUDA numbers the same way only with CUDA_DEVICE_ORDER=PCI_BUS_ID";
}
