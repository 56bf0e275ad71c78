/**
 * Limits of the Linux control groups of this process: version 1 (one hierarchy per controller), version 2 (a unified
 * hierarchy), and machines that mount both. An ancestor may set a limit, so every visible level is read. Source: Linux
 * documentation, admin-guide/cgroup-v1 and admin-guide/cgroup-v2; proc_pid_mountinfo(5).
 */
import type { Fact } from "../contract/backend.ts";
import type { MachineSources } from "./sources.ts";

/** A memory limit in bytes, and how much of it is free. */
export interface MemoryLimit {
  readonly limit: Fact<number>;
  readonly free: Fact<number>;
}

/** Directories of this process's groups, from its own group up to the mount point. */
interface GroupDirectories {
  readonly version1: readonly string[];
  readonly version2: readonly string[];
}

/** The smallest CPU quota of the process's control groups, in processors (1.5 is one and a half). Undefined if none is set. */
export async function readCpuQuota(sources: MachineSources): Promise<Fact<number> | undefined> {
  const directories = await groupDirectories(sources, "cpu");
  const quotas = await Promise.all([
    ...directories.version1.map(async (directory) => {
      const [quota, period] = await Promise.all([
        sources.readFile(`${directory}/cpu.cfs_quota_us`),
        sources.readFile(`${directory}/cpu.cfs_period_us`),
      ]);
      return quotaFact(`${directory}/cpu.cfs_quota_us`, quota, period);
    }),
    ...directories.version2.map(async (directory) => {
      const [quota, period] = (await sources.readFile(`${directory}/cpu.max`))?.trim().split(/\s+/) ?? [];
      return quotaFact(`${directory}/cpu.max`, quota, period);
    }),
  ]);
  return smallest(quotas.filter((quota) => quota !== undefined));
}

/** All memory limits of the process's control groups that are set, at every level of the hierarchy. */
export async function readMemoryLimits(sources: MachineSources): Promise<readonly MemoryLimit[]> {
  const directories = await groupDirectories(sources, "memory");
  const limits = await Promise.all([
    ...directories.version1.map((directory) =>
      memoryLimit(sources, directory, {
        limit: "memory.limit_in_bytes",
        usage: "memory.usage_in_bytes",
        reclaimable: "total_inactive_file",
        // A limit of an ancestor that the container may not see.
        inherited: "hierarchical_memory_limit",
      }),
    ),
    ...directories.version2.map((directory) =>
      memoryLimit(sources, directory, { limit: "memory.max", usage: "memory.current", reclaimable: "inactive_file" }),
    ),
  ]);
  return limits.filter((limit) => limit !== undefined);
}

/** The fact with the smallest value. Undefined for an empty list. */
export function smallest(facts: readonly Fact<number>[]): Fact<number> | undefined {
  return facts.reduce<Fact<number> | undefined>(
    (min, fact) => (min === undefined || fact.value < min.value ? fact : min),
    undefined,
  );
}

/** Converts quota and period, both in microseconds, to processors. "No quota" is -1 in version 1 and "max" in version 2. */
function quotaFact(file: string, quotaText: string | undefined, periodText: string | undefined): Fact<number> | undefined {
  const quota = wholeNumber(quotaText);
  const period = wholeNumber(periodText);
  if (quota === undefined || period === undefined || quota === 0 || period === 0) return undefined;
  return { value: quota / period, source: `${file} (${quota} of every ${period} µs)` };
}

async function memoryLimit(
  sources: MachineSources,
  directory: string,
  names: { limit: string; usage: string; reclaimable: string; inherited?: string },
): Promise<MemoryLimit | undefined> {
  const [limitText, usageText, statistics] = await Promise.all([
    sources.readFile(`${directory}/${names.limit}`),
    sources.readFile(`${directory}/${names.usage}`),
    sources.readFile(`${directory}/memory.stat`),
  ]);
  const statistic = (name: string): number | undefined =>
    wholeNumber(new RegExp(`^${name} (\\d+)$`, "m").exec(statistics ?? "")?.[1]);
  const inherited = names.inherited === undefined ? undefined : statistic(names.inherited);
  const limit = Math.min(wholeNumber(limitText) ?? Infinity, inherited ?? Infinity);
  if (limit === Infinity) return undefined;
  const used = (wholeNumber(usageText) ?? 0) - (statistic(names.reclaimable) ?? 0);
  const source = `${directory}/${names.limit}`;
  return {
    limit: { value: limit, source },
    free: { value: Math.max(0, limit - Math.max(0, used)), source: `${source} less ${names.usage}, plus ${names.reclaimable}` },
  };
}

async function groupDirectories(sources: MachineSources, controller: "cpu" | "memory"): Promise<GroupDirectories> {
  const [groups, mounts] = await Promise.all([sources.readFile("/proc/self/cgroup"), sources.readFile("/proc/self/mountinfo")]);
  const version1: string[] = [];
  const version2: string[] = [];
  for (const group of (groups ?? "").split("\n")) {
    // Format: hierarchy:controllers:path. The path may contain colons.
    const [, hierarchy, controllers, path] = /^(\d+):([^:]*):(.*)$/.exec(group) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const unified = hierarchy === "0" && controllers === "";
    if (!unified && !controllers.split(",").includes(controller)) continue;
    const mount = findMount(mounts ?? "", unified ? "cgroup2" : "cgroup", unified ? undefined : controller);
    if (mount !== undefined) (unified ? version2 : version1).push(...levels(mount, path));
  }
  return { version1, version2 };
}

/** Fields of mountinfo: 3 is the root of the mount in its file system, 4 the mount point; type and options follow the hyphen. */
function findMount(mounts: string, type: string, option: string | undefined): { root: string; at: string } | undefined {
  for (const line of mounts.split("\n")) {
    const [location, kind] = line.split(" - ");
    const [, , , root, at] = location?.split(" ") ?? [];
    const [fileSystem, , options] = kind?.split(" ") ?? [];
    if (root === undefined || at === undefined || fileSystem !== type) continue;
    if (option === undefined || options?.split(",").includes(option)) return { root, at };
  }
  return undefined;
}

/** A container may have its own group mounted as the root while the path is still relative to the host's root. */
function levels(mount: { root: string; at: string }, path: string): readonly string[] {
  const below = mount.root === "/" ? path : path.startsWith(`${mount.root}/`) ? path.slice(mount.root.length) : "/";
  const names = below.split("/").filter((name) => name !== "");
  return [...names.keys()]
    .map((count) => [mount.at, ...names.slice(0, count + 1)].join("/"))
    .reverse()
    .concat(mount.at);
}

function wholeNumber(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? "";
  return /^\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}
