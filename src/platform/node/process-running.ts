/** Whether a process still runs. */

/** Whether a process with this id runs on this machine, in the same PID namespace. Process ids are reused: it may be another process than the one that had it. */
export function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs as another user.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
