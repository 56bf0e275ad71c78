// A control group that limits the memory of a server and everything it starts, where this program may make one (root, Linux).
// Interfaces: Linux documentation, admin-guide/cgroup-v1/memory and admin-guide/cgroup-v2.
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";

const versions = [
  {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    peak: "memory.max_usage_in_bytes",
    anonymous: /^total_rss (\d+)/m,
    kills: (folder) => Number(/^oom_kill (\d+)/m.exec(read(`${folder}/memory.oom_control`))?.[1] ?? 0),
  },
  {
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    peak: "memory.peak",
    anonymous: /^anon (\d+)/m,
    kills: (folder) => Number(/^oom_kill (\d+)/m.exec(read(`${folder}/memory.events`))?.[1] ?? 0),
  },
];

// Undefined where no group can be made: then only the server's own heap is limited.
export function createMemoryGroup(bytes) {
  for (const { root, limit, peak, anonymous, kills } of versions) {
    const folder = `${root}/inferyard-hostile-${process.pid}`;
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    try {
      writeFileSync(`${folder}/${limit}`, String(bytes));
      return {
        procs: `${folder}/cgroup.procs`,
        // Bytes that only a process holds: without the cache of files, which the system gives back when it needs memory.
        anonymous: () => Number(anonymous.exec(read(`${folder}/memory.stat`))?.[1] ?? Number.NaN),
        peak: () => Number(read(`${folder}/${peak}`)),
        // Begins the peak anew. Version 2 resets it for the open file only (Linux 6.12), so that its peaks are those of the whole run.
        resetPeak: () => tryWrite(`${folder}/${peak}`, "0"),
        kills: () => kills(folder),
        processes: () => read(`${folder}/cgroup.procs`).split("\n").filter(Boolean).map(Number),
        remove: () => tryRemove(folder),
      };
    } catch {
      tryRemove(folder); // no memory controller here
    }
  }
  return undefined;
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function tryWrite(path, text) {
  try {
    writeFileSync(path, text);
  } catch {
    // the peak stays that of the whole run
  }
}

function tryRemove(folder) {
  try {
    rmdirSync(folder);
  } catch {
    // a process is still in it
  }
}
