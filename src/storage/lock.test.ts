import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, utimesSync } from "node:fs";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LockHolder, currentHolder } from "./lock-holder.ts";
import { delay, withLock } from "./lock.ts";

let folder = "";
let path = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-lock-"));
  path = join(folder, "x.lock");
});
afterEach(() => rm(folder, { recursive: true }));

const holds = async (change: Partial<LockHolder>): Promise<void> =>
  writeFile(path, JSON.stringify({ ...(await currentHolder()), token: "other", ...change }));
/** Of a process that has ended. */
const deadPid = (): number => spawnSync("true").pid;

describe("a lock", () => {
  it("is held by one caller at a time, within one process too, and leaves no file behind", async () => {
    let inside = 0;
    const most: number[] = [];
    const enter = (): Promise<void> =>
      withLock(path, async () => {
        most.push((inside += 1));
        await delay(10);
        inside -= 1;
      });
    await Promise.all([enter(), enter(), enter()]);
    expect(most).toEqual([1, 1, 1]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is given back when the work fails", async () => {
    await expect(withLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(existsSync(path)).toBe(false);
  });

  it("reports once which process it waits for, and stops when the caller aborts", async () => {
    const holder = await currentHolder();
    await holds({});
    const waited: LockHolder[] = [];
    const control = new AbortController();
    const onWait = (other: LockHolder): void => {
      waited.push(other);
      setTimeout(() => control.abort(), 150);
    };
    const entering = withLock(path, () => Promise.resolve(), { onWait, signal: control.signal });
    await expect(entering).rejects.toMatchObject({ code: "ABORTED" });
    expect(waited.map(({ pid, host }) => ({ pid, host }))).toEqual([{ pid: holder.pid, host: holder.host }]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ token: "other" });
  });

  // The longest silence would end the test with a timeout if the dead were not seen at once.
  it.each([
    ["that has ended", () => ({ pid: deadPid() })],
    ["whose number another process has now", () => ({ started: "1" })],
  ])("of a process %s is taken over at once", async (_name, change) => {
    await holds(change());
    expect(await withLock(path, () => Promise.resolve("in"), { staleAfterMs: 1e9 })).toBe("in");
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ["on another machine", { host: "elsewhere" }],
    ["of before the machine was started again", { boot: "before" }],
    ["in another container", { processes: "pid:[1]" }],
  ])("%s is taken over when it has been silent for long, by this process's clock", async (_name, change) => {
    await holds({ ...change, pid: deadPid() });
    await utimes(path, 0, 0); // its clock may say anything
    expect(await withLock(path, () => Promise.resolve("in"), { staleAfterMs: 120 })).toBe("in");
  });

  it("held on another machine is waited for while its heartbeat continues", async () => {
    await holds({ host: "elsewhere" });
    const life = setInterval(() => utimesSync(path, new Date(), new Date()), 20);
    const entering = withLock(path, () => Promise.resolve("in"), { staleAfterMs: 600 });
    const first = await Promise.race([entering, delay(1200).then(() => "still waiting")]);
    clearInterval(life);
    expect(first).toBe("still waiting");
    expect(await entering).toBe("in");
  });

  it("that cannot be read is broken after `staleAfterMs` without a heartbeat", async () => {
    await writeFile(path, '{"pid":');
    expect(await withLock(path, () => Promise.resolve("in"), { staleAfterMs: 120 })).toBe("in");
  });
});
