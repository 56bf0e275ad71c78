/** The priority of work that must not delay the event loop of a server. */
import { getPriority, setPriority } from "node:os";

/** Increment of the nice value of the process or thread, 0 to 19. */
const niceness = 10;

/**
 * Lowers the priority of this process, or of the calling thread. Threads that it starts later inherit it. On systems other than Linux threads have the priority of their
 * process, and keep it.
 */
export function lowerPriority(of: "process" | "thread"): void {
  if (of === "thread" && process.platform !== "linux") return;
  try {
    setPriority(getPriority() + niceness);
  } catch {
    // Some systems forbid it: the priority stays.
  }
}
