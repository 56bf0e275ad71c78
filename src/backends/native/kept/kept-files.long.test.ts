/** Files of kept plans that are damaged, of others, or no longer right. */
import { chmodSync, chownSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { filesIn, load, path, rows, save, settled, use, useKeptModel } from "../../../../test/engine/fixtures/kept-model.ts";
import { openKeptFolders } from "./kept-files.ts";

useKeptModel();

describe("plans that an earlier process kept", () => {
  it("are not used for another file, build, setting, or after the checks of code were forgotten", async () => {
    await use([3]);
    expect((await use([3], {}, "another build"))[0]).toBe(false);
    expect((await use([3], { graphOptimization: "basic" }))[0]).toBe(false);
    expect((await use([3], { maxTraceTime: 60_000 }))[0]).toBe(false);
    expect((await use([3]))[0]).toBe(true);
    rmSync(path("data/self-tests"), { recursive: true });
    expect((await use([3]))[0]).toBe(false);
    expect((await use([3]))[0]).toBe(true);
    const before = await use([3]);
    save(2);
    await settled();
    const [isRestored, outputs] = await use([3]);
    expect([isRestored, outputs]).not.toEqual(before);
    expect(isRestored).toBe(false);
  });

  it("are not loaded for a caller who has left", async () => {
    await use([3]);
    expect((await use([3]))[0]).toBe(true);
    await expect(load({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    const leaving = new AbortController();
    const loading = load({ signal: leaving.signal });
    leaving.abort();
    await expect(loading).rejects.toMatchObject({ code: "ABORTED" });
  });

  it.each(["packed-weights", "plans"])("are ignored and written again where a file of %s is damaged", async (folder) => {
    const [, outputs] = await use([3]);
    const flipped =
      (position: number) =>
      (intact: Buffer): Buffer => {
        const at = position < 1 ? Math.floor(position * intact.length) : position;
        return Buffer.from(intact).fill(intact[at]! ^ 1, at, at + 1);
      };
    const damages: readonly ((intact: Buffer) => Uint8Array)[] = [
      flipped(4), // magic
      flipped(8), // version
      flipped(60), // digest
      flipped(300), // description, or what follows it
      flipped(0.5),
      flipped(0.9999),
      (intact) => intact.subarray(0, intact.length - 1),
      (intact) => intact.subarray(0, 100),
      () => Buffer.alloc(0),
      (intact) => Buffer.concat([intact, Buffer.of(0)]),
    ];
    for (const damage of damages) {
      for (const file of filesIn(folder)) writeFileSync(file, damage(readFileSync(file)));
      const { model: loaded, isRestored } = await load();
      expect([isRestored, await loaded.run(rows(3))]).toEqual([false, outputs[0]]);
      expect((await loaded.evidence()).join("; ")).toMatch(
        /the plans of an earlier process were not used: (the file (is damaged|ends early)|a plan, its machine code or the record of its checks is missing)/,
      );
      await loaded.dispose();
      expect(await use([3])).toEqual([true, outputs]);
    }
  });

  it.skipIf(process.platform === "win32")("are ignored where other users could have written them", async () => {
    const [, outputs] = await use([3]);
    for (const folder of ["packed-weights", "plans"]) {
      for (const file of filesIn(folder)) chmodSync(file, 0o622);
      expect(await use([3])).toEqual([false, outputs]);
      expect(await use([3])).toEqual([true, outputs]);
      chmodSync(path(`data/${folder}`), 0o777);
      expect(await use([3])).toEqual([false, outputs]);
      chmodSync(path(`data/${folder}`), 0o700);
    }
  });

  it.skipIf(process.geteuid?.() !== 0)("are ignored where another user owns them", async () => {
    const [, outputs] = await use([3]);
    for (const folder of ["packed-weights", "plans"]) {
      for (const file of filesIn(folder)) chownSync(file, 12_345, 12_345);
      expect(await use([3])).toEqual([false, outputs]);
      expect(await use([3])).toEqual([true, outputs]);
    }
  });

  it("are for their user alone, are not kept where nothing can be written, and a variable turns them off", async () => {
    await use([3]);
    for (const folder of ["packed-weights", "plans"])
      for (const file of filesIn(folder)) expect(statSync(file).mode & 0o777).toBe(0o600);
    vi.stubEnv("INFERYARD_PLAN_CACHE", "off");
    expect((await use([3]))[0]).toBe(false);
    vi.stubEnv("INFERYARD_PLAN_CACHE", "yes");
    await expect(openKeptFolders()).rejects.toMatchObject({ code: "CONFIG_INVALID", message: /may be off/ });
    vi.stubEnv("INFERYARD_PLAN_CACHE", "");
    writeFileSync(path("file"), "");
    vi.stubEnv("INFERYARD_HOME", path("file/below"));
    expect((await use([3]))[0]).toBe(false);
    expect((await use([3]))[0]).toBe(false);
  });

  it("of one process do not fit the weights that another wrote at the same time", async () => {
    const [one, other] = [await load(), await load()];
    const [a] = [await one.model.run(rows(3)), await one.model.run(rows(4))];
    expect(await other.model.run(rows(3))).toEqual(a);
    await Promise.all([one.model.dispose(), other.model.dispose()]);
    expect(filesIn("packed-weights")).toHaveLength(1);
    const { model: later, isRestored } = await load();
    expect(isRestored).toBe(true);
    expect(await later.run(rows(3))).toEqual(a);
    await later.run(rows(4)); // the plan belongs to the weights of the first process, which the second one replaced
    await later.dispose();
    expect((await use([3, 4]))[0]).toBe(true);
  });
});

describe("a model that runs them", () => {
  it("opens the file that it was loaded from, also once it is deleted or replaced", async () => {
    const [, outputs] = await use([3]);
    const [, [others]] = await use([5], { graphOptimization: "all" });
    for (const change of [
      () => rmSync(path()),
      () => {
        renameSync(path(), path("old"));
        save(2);
      },
    ]) {
      const { model: loaded, isRestored } = await load();
      expect(isRestored).toBe(true);
      const saved = readFileSync(path());
      change();
      expect([await loaded.run(rows(5)), await loaded.run(rows(3))]).toEqual([others, outputs[0]]);
      await loaded.dispose();
      rmSync(path("data"), { recursive: true });
      writeFileSync(path(), saved);
      await settled();
      await use([3]);
    }
  });
});
