import { expect, it, vi } from "vitest";
import { WorkerProcesses } from "./worker-processes.ts";

/** Workers that run a text of JavaScript. */
const start = (text: string): WorkerProcesses =>
  new WorkerProcesses(1, { program: process.execPath, args: ["-e", text], environment: process.env, directory: "." });

const check = (workers: WorkerProcesses): string => {
  try {
    workers.check();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

it("workers that end by themselves without a chunk are given up, with what they said", async () => {
  const workers = start('console.error("no such setting"); process.exit(1)');
  await vi.waitFor(() => expect(check(workers)).toMatch(/^the workers end without a result: .*no such setting/s), {
    timeout: 60_000,
  });
  await workers.close();
});

it("workers that a row kills are started again", async () => {
  const workers = start('process.send("row", () => process.kill(process.pid, "SIGKILL"))');
  const seen = new Set<number>();
  await vi.waitFor(
    () => {
      for (const pid of workers.processes) seen.add(pid);
      expect(seen.size).toBeGreaterThan(4);
    },
    { timeout: 60_000, interval: 5 },
  );
  expect(check(workers)).toBe("");
  await workers.close();
});
