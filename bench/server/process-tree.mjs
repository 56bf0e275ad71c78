// Memory (MB) and processor time (seconds) of a process and all it started, from /proc. Undefined where there is none.
import { readFileSync, readdirSync } from "node:fs";

// resident: pages in memory, those that processes share counted for each; proportional: each page once (proc(5), smaps_rollup).
export function memoryOfTree(root) {
  const tree = processesOf(root);
  if (tree === undefined) return undefined;
  return { processes: tree.length, resident: sumOf(tree, "Rss"), proportional: sumOf(tree, "Pss") };
}

const ticksPerSecond = 100; // what the kernel gives user programs, whatever its own clock (proc(5))

// Of processes that are alive: what ended since is not in it.
export function secondsOfTree(root) {
  return processesOf(root)?.reduce((sum, id) => {
    const stat = read(`/proc/${id}/stat`);
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    return sum + (user + system) / ticksPerSecond;
  }, 0);
}

function processesOf(root) {
  const parents = parentsOfAll();
  return parents && [...parents.keys()].filter((id) => isBelow(id, root, parents));
}

function sumOf(tree, field) {
  const kilobytes = tree.map((id) =>
    Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(read(`/proc/${id}/smaps_rollup`))?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, value) => sum + value, 0) / 1024;
}

function isBelow(id, root, parents) {
  for (let at = id; at !== undefined; at = parents.get(at)) if (at === root) return true;
  return false;
}

function parentsOfAll() {
  try {
    const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return new Map(ids.map((id) => [Number(id), Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${id}/status`))?.[1] ?? 0)]));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

// A process may end while we look.
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
