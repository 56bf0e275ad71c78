import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { stagingName } from "../staging.ts";
import type { CodeFormat, StoredCode } from "./code-file.ts";
import { CodeFolder } from "./code-folder.ts";

let home = "";
let path = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "inferyard-programs-"));
  path = join(home, "data", "xla-programs");
});
afterEach(() => rmSync(home, { recursive: true }));

const isWindows = process.platform === "win32";
const keyOf = (digit: number): string => String(digit).repeat(64);
const fileOf = (digit: number): string => join(path, `${keyOf(digit)}.program`);
const format: CodeFormat<string> = {
  magic: "IYTESTED",
  version: 1,
  extension: "program",
  parseDescription: (value) => (typeof value === "string" ? value : undefined),
};
const program = (digit: number, bytes = 10): StoredCode<string> => ({
  key: keyOf(digit),
  description: `program ${digit}`,
  executable: new Uint8Array(bytes).fill(digit),
});
const openFolder = (settings: { readonly path: string; readonly maxBytes?: number }): Promise<CodeFolder<string>> =>
  CodeFolder.open(format, { maxBytes: 2 ** 30, setting: "cacheBytes", ...settings });

/** The code as its user gets it. */
const read = (folder: CodeFolder<string>, key: string): StoredCode<string> | undefined => folder.load(key, (each) => each);

describe("the folder of compiled code", () => {
  it("keeps programs for the next process, and forgets removed ones", async () => {
    const folder = await openFolder({ path });
    expect(read(folder, keyOf(1))).toBeUndefined();
    folder.write(program(1));
    const next = await openFolder({ path });
    expect(read(next, keyOf(1))).toEqual(program(1));
    expect(next.list()).toMatchObject([{ key: keyOf(1), description: program(1).description }]);
    expect([next.remove(keyOf(1)), read(next, keyOf(1)), readdirSync(path), next.problem]).toEqual([
      true,
      undefined,
      [],
      undefined,
    ]);
  });

  it("removes the least recently used above the maximum of bytes", async () => {
    const probe = await openFolder({ path: join(home, "probe") });
    probe.write(program(1, 1000));
    const size = probe.files()[0]!.bytes;
    const folder = await openFolder({ path, maxBytes: 3 * size });
    for (const digit of [1, 2, 3]) {
      folder.write(program(digit, 1000));
      utimesSync(fileOf(digit), digit, digit);
    }
    expect(read(folder, keyOf(1))).toBeDefined(); // used now
    folder.write(program(4, 1000));
    expect(
      folder
        .files()
        .map(({ key }) => key[0])
        .toSorted(),
    ).toEqual(["1", "3", "4"]);
    folder.write(program(5, 4 * size)); // larger than all that may be kept
    expect(read(folder, keyOf(5))).toBeUndefined();
    expect(folder.files()).toHaveLength(3);
  });

  it("is not used where nothing may be kept", async () => {
    (await openFolder({ path })).write(program(1));
    const folder = await openFolder({ path, maxBytes: 0 });
    folder.write(program(2));
    expect([read(folder, keyOf(1)), folder.problem, folder.files().length]).toEqual([undefined, "cacheBytes is 0", 1]);
  });

  it("removes damaged files, and those of another program", async () => {
    const folder = await openFolder({ path });
    folder.write(program(1));
    const whole = readFileSync(fileOf(1));
    const damaged = [whole.subarray(0, 50), Buffer.alloc(0), Buffer.concat([whole, Buffer.of(0)]), Buffer.alloc(whole.length)];
    for (const bytes of damaged) {
      writeFileSync(fileOf(1), bytes, { mode: 0o600 });
      expect([read(folder, keyOf(1)), readdirSync(path)]).toEqual([undefined, []]);
    }
    writeFileSync(fileOf(2), whole, { mode: 0o600 });
    expect(folder.list()).toMatchObject([{ key: keyOf(2) }]);
    expect([read(folder, keyOf(2)), readdirSync(path)]).toEqual([undefined, []]);
    writeFileSync(fileOf(3), "no program", { mode: 0o600 });
    expect(folder.list()).toMatchObject([{ key: keyOf(3), description: undefined }]);
  });

  it.skipIf(isWindows)("takes nothing that others could have written", async () => {
    const folder = await openFolder({ path });
    folder.write(program(1));
    chmodSync(fileOf(1), 0o666);
    expect([read(folder, keyOf(1)), readdirSync(path)]).toEqual([undefined, []]);
    folder.write(program(1));
    symlinkSync(fileOf(1), fileOf(2));
    expect(read(folder, keyOf(2))).toBeUndefined();
    chmodSync(path, 0o777);
    const open = await openFolder({ path });
    expect(open.problem).toContain("can be written by others");
    expect(read(open, keyOf(1))).toBeUndefined();
  });

  it("says why it keeps nothing, and never throws", async () => {
    mkdirSync(join(home, "data"));
    writeFileSync(path, "a file");
    const folder = await openFolder({ path });
    expect(folder.problem).toContain("is no folder");
    folder.write(program(1));
    expect([read(folder, keyOf(1)), folder.files(), folder.list()]).toEqual([undefined, [], []]);
    rmSync(path);
    const gone = await openFolder({ path });
    rmSync(path, { recursive: true });
    gone.write(program(1)); // as with a full disk
    expect(gone.problem).toContain("ENOENT");
    gone.write(program(1));
    expect([read(gone, keyOf(1)), CodeFolder.at(format, path).files()]).toEqual([undefined, []]);
  });

  it("removes what its user refuses, unless memory is short", async () => {
    const folder = await openFolder({ path });
    const refuse = (code: "RUN_FAILED" | "OUT_OF_MEMORY") => () => {
      throw new InferyardError(code, "refused");
    };
    folder.write(program(1));
    expect(() => folder.load(keyOf(1), refuse("OUT_OF_MEMORY"))).toThrow("refused");
    expect(readdirSync(path)).toHaveLength(1);
    expect([folder.load(keyOf(1), refuse("RUN_FAILED")), readdirSync(path)]).toEqual([undefined, []]);
  });

  it.skipIf(isWindows)("removes what ended the process that loaded it", async () => {
    const folder = await openFolder({ path });
    for (const digit of [1, 2]) folder.write(program(digit));
    const { pid } = spawnSync(process.execPath, ["-e", "0"]); // a process that has ended
    const mark = (digit: number, of: number): void =>
      writeFileSync(`${fileOf(digit)}${stagingName("loading").replace(`-${process.pid}-`, `-${of}-`)}`, "");
    mark(1, pid);
    mark(2, process.pid);
    const next = await openFolder({ path });
    expect([read(next, keyOf(1)), read(next, keyOf(2))]).toEqual([undefined, program(2)]);
    expect(readdirSync(path)).toHaveLength(2); // the mark of this process stays
  });

  it.skipIf(isWindows)("loses nothing to a process that is killed while it writes", async () => {
    const folder = await openFolder({ path });
    folder.write(program(1));
    const name = stagingName("writing").split(`-${process.pid}-`);
    // The child writes half a file under the name that it would have, and is killed before the rename.
    const half = `const { writeFileSync } = require("node:fs");
      writeFileSync(process.argv[1] + ${JSON.stringify(name[0])} + "-" + process.pid + "-" + ${JSON.stringify(name[1])}, Buffer.alloc(50));
      process.kill(process.pid, "SIGKILL");`;
    const { signal } = spawnSync(process.execPath, ["-e", half, fileOf(1)]);
    expect([signal, readdirSync(path).length]).toEqual(["SIGKILL", 2]);
    expect(folder.files()).toHaveLength(1);
    const next = await openFolder({ path });
    expect([readdirSync(path).length, read(next, keyOf(1))]).toEqual([1, program(1)]);
  });
});
