/**
 * Ends of programs with models on XLA: at any moment of a load, a compilation or a run, on every host, a program ends with its own exit code and leaves no process
 * behind. Children that are killed are replaced. A sample each time; with TEST_SLOW=1 all moments on all three plugins.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRuntime } from "inferyard";
import { xla } from "inferyard/backends/xla";
import { afterAll, describe, expect, it, vi } from "vitest";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest, runsAll } from "../fixtures/slow.ts";
import { fetchPlugin, needsPlugin, pluginVersions } from "./fixtures/pjrt-plugins.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const program = fileURLToPath(new URL("fixtures/end-at.mjs", import.meta.url));
const model = `${sharedData}all-MiniLM-L6-v2`;
const folder = mkdtempSync(join(tmpdir(), "inferyard-xla-ending-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Runs the program to its end, with an empty cache of programs. Fails if it takes a minute, or leaves a child. */
async function endOf(...args: readonly string[]): Promise<Ending> {
  const data = mkdtempSync(join(folder, "data-"));
  const child = spawn(process.execPath, [program, ...args], {
    cwd: repository,
    env: { ...process.env, INFERYARD_HOME: data },
    stdio: "ignore",
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  const seen = new Set<number>();
  const watch = setInterval(() => childrenOf(child.pid ?? 0).forEach((pid) => seen.add(pid)), 50);
  const ending = await new Promise<Ending>((resolve) => child.on("close", (code, signal) => resolve({ code, signal })));
  clearInterval(watch);
  await vi.waitFor(() => expect([...seen].filter(isAlive)).toEqual([]), { timeout: 20_000 });
  rmSync(data, { recursive: true, force: true });
  return ending;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const hosts = ["inline", "worker", "process"];
const moments = ["load", "compile", "run"];
const ways: Readonly<Record<string, Ending>> = {
  exit: { code: 3, signal: null },
  throw: { code: 1, signal: null },
  SIGTERM: { code: null, signal: "SIGTERM" },
  SIGINT: { code: null, signal: "SIGINT" },
};
const all = hosts.flatMap((host) =>
  moments.flatMap((moment) =>
    Object.keys(ways).flatMap((how) => ["0", "150"].map((milliseconds) => [host, moment, milliseconds, how] as const)),
  ),
);
const [noData, dataTitle] = needsData("programs with models on XLA");

for (const [number, version] of pluginVersions.entries()) {
  const fetched = noData ? { reason: "no shared data" } : await fetchPlugin(version);
  const [skip, title, plugin] = needsPlugin(`${dataTitle}, plugin ${version}`, fetched);
  describe.skipIf(skip || process.platform !== "linux")(title, () => {
    // Of each run: every host, moment and way with some plugin.
    const tried = all.filter((_each, index) => runsAll || index % 17 === 3 * number);
    it.each(tried)("on the host %s, in a %s after %s ms, end by %s", async (host, moment, milliseconds, how) => {
      expect(await endOf(plugin, model, host, moment, milliseconds, how)).toEqual(ways[how]);
    });

    const ends = "end by themselves when nothing is left to do";
    const [isLeftOut, endsTitle] = number === 0 ? [false, ends] : onRequest(ends, "the first plugin is the sample");
    it.skipIf(isLeftOut)(endsTitle, async () => {
      expect(await endOf(plugin, `${sharedData}all-MiniLM-L6-v2`, "inline", "run", "0", "none")).toEqual({
        code: 4,
        signal: null,
      });
    });
  });
}

const fetched = noData ? { reason: "no shared data" } : await fetchPlugin("0.106");
const [skip, title, plugin] = needsPlugin("a child process that is killed", fetched);
describe.skipIf(skip || !hasSharedData || process.platform !== "linux")(title, () => {
  it("in a compilation or a run is HOST_DIED for its callers, and the next call works", async () => {
    const runtime = await createRuntime({ backends: [xla({ plugin })], target: "xla:cpu", host: "process" });
    const embed = (length: number): Promise<unknown> => runtime.embed("a cat sat ".repeat(length), { model });
    await embed(1);
    for (const length of [120, 1]) {
      const [child] = childrenOf(process.pid).slice(-1);
      const failed = embed(length).catch((error: unknown) => error);
      process.kill(child!, "SIGKILL");
      expect(await failed).toMatchObject({ code: "HOST_DIED" });
      await embed(2);
    }
    await runtime.dispose();
  });
});
