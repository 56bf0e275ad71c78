/** Total memory, and how much of it this process may still use. */
import type { Fact, MachineFacts } from "../contract/backend.ts";
import type { MachineSources } from "./sources.ts";
import { readMemoryLimits, smallest } from "./cgroups.ts";

/** Total and available memory in bytes, each the minimum of the machine's and the control groups'. */
export async function readMemory(sources: MachineSources): Promise<MachineFacts["memory"]> {
  if (sources.platform === "linux") return readLinuxMemory(sources);
  const figures = memoryFigures(sources);
  if (sources.platform !== "darwin") return figures;
  return { ...figures, available: (await readMacAvailable(sources)) ?? figures.available };
}

/** Amounts that Node.js reports, for systems on which nothing better can be read. */
export function memoryFigures(sources: MachineSources): MachineFacts["memory"] {
  return {
    total: { value: sources.system.totalMemory(), source: "os.totalmem" },
    available: { value: sources.system.freeMemory(), source: "os.freemem" },
  };
}

async function readLinuxMemory(sources: MachineSources): Promise<MachineFacts["memory"]> {
  const [text, limits] = await Promise.all([sources.readFile("/proc/meminfo"), readMemoryLimits(sources)]);
  const figures = memoryFigures(sources);
  const total = meminfo(text, "MemTotal") ?? figures.total;
  const available = meminfo(text, "MemAvailable") ?? figures.available;
  return {
    total: smallest([total, ...limits.map(({ limit }) => limit)]) ?? total,
    available: smallest([available, ...limits.map(({ free }) => free)]) ?? available,
  };
}

function meminfo(text: string | undefined, name: string): Fact<number> | undefined {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text ?? "")?.[1];
  return kibibytes === undefined ? undefined : { value: Number(kibibytes) * 1024, source: `${name} in /proc/meminfo` };
}

/** os.freemem counts only free pages on macOS; inactive and speculative pages are reclaimed on demand as well. */
async function readMacAvailable(sources: MachineSources): Promise<Fact<number> | undefined> {
  const output = await sources.run("/usr/bin/vm_stat", []);
  const pageBytes = Number(/page size of (\d+) bytes/.exec(output.stdout)?.[1]);
  const pages = ["free", "inactive", "speculative"].map((name) =>
    Number(new RegExp(`^Pages ${name}:\\s+(\\d+)\\.?$`, "m").exec(output.stdout)?.[1]),
  );
  const value = pageBytes * pages.reduce((sum, count) => sum + count, 0);
  return Number.isNaN(value) ? undefined : { value, source: "vm_stat (free, inactive and speculative pages)" };
}
