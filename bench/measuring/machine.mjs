// The machine a figure was measured on, and how much of it others used meanwhile.
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem, type } from "node:os";

export const cores = availableParallelism();
const quietCores = 0.1; // more than this beside a measurement is said aloud

export function describeMachine() {
  const model = cpus()[0]?.model ?? "unknown processor";
  const gigabytes = (totalmem() / 2 ** 30).toFixed(1);
  return `${model}, ${cores} ${cores === 1 ? "core" : "cores"}, ${gigabytes} GB, ${type()} ${release()}, Node.js ${process.versions.node}`;
}

// Call it before the work and its result after: mean cores used by processes that are neither this one nor its children. A child counts
// as ours once it has ended. Undefined where there is no /proc/stat.
export function watchLoad() {
  const before = readTimes();
  return () => {
    const after = readTimes();
    if (before === undefined || after === undefined) return undefined;
    const seconds = (after.at - before.at) / 1000;
    const busy = after.busy - before.busy;
    const own = after.own - before.own;
    return { others: Math.max(0, busy - own) / seconds, stolen: (after.stolen - before.stolen) / seconds };
  };
}

export function describeLoad(load) {
  if (load === undefined) return "unknown (no /proc/stat here)";
  const stolen = load.stolen < 0.01 ? "" : `, and the hypervisor took ${load.stolen.toFixed(2)}`;
  const noisy = load.others + load.stolen < quietCores ? "" : ": not quiet, so trust no figure to a few per cent";
  return `others used ${load.others.toFixed(2)} of ${cores} cores on average${stolen}${noisy}`;
}

// Processor time in milliseconds, in steps of 10, of all children that have ended; undefined where there is no /proc/stat.
export function childrenTime() {
  const times = readTimes();
  return times && times.children * 1000;
}

// The kernel gives user programs hundredths of a second, whatever its own clock (proc(5), sysconf(_SC_CLK_TCK)).
const ticksPerSecond = 100;

// In seconds. /proc/stat counts the whole machine, /proc/self/stat this process and those of its children that have ended.
function readTimes() {
  const [all, self] = ["/proc/stat", "/proc/self/stat"].map(readIfThere);
  if (all === undefined || self === undefined) return undefined;
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = all.split("\n")[0].split(/\s+/).slice(1).map(Number);
  const afterName = self.slice(self.lastIndexOf(")") + 2).split(" "); // the name may hold spaces; field 3 follows it
  const own = afterName.slice(11, 15).map(Number); // fields 14 to 17: own user and system time, then the children's
  return {
    at: performance.now(),
    busy: (user + nice + system + interrupts + softInterrupts) / ticksPerSecond,
    stolen: stolen / ticksPerSecond,
    own: own.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond,
    children: (own[2] + own[3]) / ticksPerSecond,
  };
}

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
