/** Facts about the processor: model, instruction sets, and how much of it this process may use. */
import type { CpuFacts, Fact } from "../../contract/backend.ts";
import type { MachineSources } from "../sources.ts";
import { armProcessorNames } from "./arm-processors.ts";
import { readCpuQuota } from "../cgroups.ts";
import { linuxFeatures, macFeatures, windowsFeatureNumbers, windowsFeatures } from "./cpu-features.ts";
import { windowsSystemDirectory } from "../libraries.ts";

/** Reads facts about the processor on Linux, macOS and Windows. On other systems only the facts that Node.js reports. */
export async function readCpu(sources: MachineSources): Promise<CpuFacts> {
  const figures = cpuFigures(sources, `not read on ${sources.platform}`);
  if (sources.platform === "linux") return readLinuxCpu(sources, figures);
  if (sources.platform === "win32") return { ...figures, features: await readWindowsFeatures(sources) };
  if (sources.platform !== "darwin") return figures;
  const output = await sources.run("/usr/sbin/sysctl", ["hw.optional"]);
  const source = output.ok ? "sysctl hw.optional" : `sysctl hw.optional failed: ${output.reason}`;
  return { ...figures, features: { value: macFeatures(output.stdout, sources.architecture), source } };
}

/**
 * Facts about the processor that Node.js reports, for systems on which nothing better can be read. `whyNoFeatures` is the reason
 * why its instruction sets are unknown.
 */
export function cpuFigures(sources: MachineSources, whyNoFeatures: string): CpuFacts {
  const processors: Fact<number> = { value: sources.system.processors(), source: "os.availableParallelism" };
  // On Linux the model is read from files, since asking Node.js costs milliseconds on a machine with many processors.
  const model = sources.platform === "linux" ? undefined : sources.system.cpuModel()?.trim();
  return {
    model: { value: model ?? "unknown processor", source: "os.cpus" },
    features: { value: [], source: whyNoFeatures },
    cores: processors,
    quota: processors,
  };
}

async function readLinuxCpu(sources: MachineSources, figures: CpuFacts): Promise<CpuFacts> {
  const [cpuinfo, status, online, quota] = await Promise.all([
    sources.readFile("/proc/cpuinfo"),
    sources.readFile("/proc/self/status"),
    sources.readFile("/sys/devices/system/cpu/online"),
    readCpuQuota(sources),
  ]);
  const cores = allowedProcessors(status, online) ?? figures.cores;
  const model = cpuinfo === undefined ? undefined : linuxModel(cpuinfo);
  return {
    model: model === undefined ? figures.model : { value: model, source: "/proc/cpuinfo" },
    features: { value: linuxFeatures(cpuinfo ?? "", sources.architecture), source: "/proc/cpuinfo" },
    cores,
    // A quota below one processor still runs one thread, part of the time.
    quota: quota !== undefined && quota.value < cores.value ? { ...quota, value: Math.max(1, quota.value) } : cores,
  };
}

function linuxModel(cpuinfo: string): string | undefined {
  return /^model name\s*:\s*(\S.*?)\s*$/m.exec(cpuinfo)?.[1] ?? armProcessorNames(cpuinfo);
}

/** Number of processors in the affinity mask that are online; the mask may name others. */
function allowedProcessors(status: string | undefined, online: string | undefined): Fact<number> | undefined {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status ?? "")?.[1];
  if (list === undefined) return undefined;
  const allowed = numbersIn(list);
  const plugged = online === undefined ? undefined : new Set(numbersIn(online.trim()));
  const value = allowed.filter((processor) => plugged === undefined || plugged.has(processor)).length;
  return value === 0 ? undefined : { value, source: "Cpus_allowed_list in /proc/self/status" };
}

/** Parses lists such as "0-3,8,10-11". */
function numbersIn(list: string): readonly number[] {
  return list.split(",").flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split("-").map(Number);
    return Number.isNaN(first) ? [] : Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}

/** Windows has no file with the instruction sets, and Node.js does not report them, so PowerShell is used. */
async function readWindowsFeatures(sources: MachineSources): Promise<CpuFacts["features"]> {
  const signature = '[DllImport("kernel32.dll")] public static extern bool IsProcessorFeaturePresent(uint number);';
  const script =
    `$processor = Add-Type -Namespace Inferyard -Name Processor -PassThru -MemberDefinition '${signature}'; ` +
    `(${windowsFeatureNumbers.join(",")} | Where-Object { $processor::IsProcessorFeaturePresent($_) }) -join ','`;
  const output = await sources.run(`${windowsSystemDirectory(sources)}\\WindowsPowerShell\\v1.0\\powershell.exe`, [
    "-NoLogo",
    "-NoProfile",
    "-NonInteractive",
    "-Command",
    script,
  ]);
  if (!output.ok) return { value: [], source: `IsProcessorFeaturePresent was not read: ${output.reason}` };
  const numbers = output.stdout
    .trim()
    .split(",")
    .filter((text) => text !== "")
    .map(Number);
  return { value: windowsFeatures(numbers, sources.architecture), source: "IsProcessorFeaturePresent" };
}
