import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeSources } from "./sources.ts";

const sources = nodeSources();
const runScript = (script: string, signal?: AbortSignal) => sources.run(process.execPath, ["-e", script], signal);

describe("nodeSources", () => {
  it("answers absence without throwing", async () => {
    expect(await sources.readFile("/no/such/file")).toBeUndefined();
    expect(await sources.list("/no/such/directory")).toEqual([]);
    expect(await sources.exists("/no/such/file")).toBe(false);
    expect(await sources.run("/no/such/program", [])).toMatchObject({ ok: false, reason: expect.stringContaining("ENOENT") });
  });

  it("keeps the message of a program that fails on either stream", async () => {
    expect(await runScript("console.error('the driver is gone'); process.exit(9)")).toMatchObject({
      ok: false,
      reason: "the driver is gone",
    });
    expect(await runScript("console.log('No devices were found'); process.exit(6)")).toEqual({
      ok: false,
      stdout: "No devices were found\n",
      reason: "No devices were found",
    });
    expect(await runScript("process.exit(3)")).toMatchObject({ reason: "it ended with 3 and printed nothing" });
  });

  it("kills a program at the signal and answers at once, with the signal's reason", async () => {
    const folder = mkdtempSync(join(tmpdir(), "inferyard-sources-"));
    const started = join(folder, "pid"); // written by the program: a busy machine may take its time to start it
    const script = `process.on('SIGTERM', () => {}); require('node:fs').writeFileSync(${JSON.stringify(started)}, String(process.pid)); setInterval(() => {}, 1000)`;
    const stop = new AbortController();
    const running = runScript(script, stop.signal);
    await expect.poll(() => existsSync(started) && readFileSync(started, "utf8") !== "", { timeout: 30_000 }).toBe(true);
    stop.abort(new Error("no answer within the limit"));
    expect(await running).toMatchObject({ ok: false, reason: "no answer within the limit" });
    const child = Number(readFileSync(started, "utf8"));
    await expect.poll(() => isAlive(child), { timeout: 30_000 }).toBe(false);
    rmSync(folder, { recursive: true, force: true });
  });

  it("starts nothing after the signal", async () => {
    expect(await runScript("", AbortSignal.abort(new Error("too late")))).toMatchObject({ ok: false, reason: "too late" });
  });
});

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}
