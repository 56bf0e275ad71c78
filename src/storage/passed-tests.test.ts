import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PassedTests, type TestKey } from "./passed-tests.ts";

const key: TestKey = { build: "b1", processor: "p1", node: "v20" };
let home = "";
let folder = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "inferyard-passed-"));
  folder = join(home, "data", "self-tests");
});
afterEach(() => rmSync(home, { recursive: true }));

const open = (other: Partial<TestKey> = {}): PassedTests => new PassedTests(folder, { ...key, ...other } as TestKey);
const onlyFile = (): string => join(folder, readdirSync(folder)[0]!);
const isWindows = process.platform === "win32";

describe("tests that passed", () => {
  it("are known to the next process, with the time of the first", () => {
    expect(open()).toMatchObject({ names: [], isComplete: false, since: undefined });
    open().add(["b", "a"]);
    const { names, since, isComplete } = open();
    expect({ names, isComplete }).toEqual({ names: ["a", "b"], isComplete: false });
    expect(Date.now() - Date.parse(since!)).toBeLessThan(3_600_000);
    open().add(["c", "a"], { isComplete: true });
    expect(open()).toMatchObject({ names: ["a", "b", "c"], isComplete: true, since });
    expect(readdirSync(folder)).toHaveLength(1); // and no temporary file
  });

  it("are those of two processes that began with the same", () => {
    const [one, other] = [open(), open()];
    one.add(["a"]);
    other.add(["b"]);
    expect(open().names).toEqual(["a", "b"]);
  });

  it("say nothing about another build, processor or version of Node.js", () => {
    open().add(["a"]);
    for (const other of [{ build: "b2" }, { processor: "p2" }, { node: "v22" }]) {
      expect(open(other).names).toEqual([]);
      open(other).add(["x"]);
    }
    expect(open().names).toEqual(["a"]);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  it("are forgotten where all are repeated, and the new results take their place", () => {
    open().add(["a", "b"], { isComplete: true });
    const again = new PassedTests(folder, key, { forget: true });
    expect(again).toMatchObject({ names: [], isComplete: false });
    expect(open().names).toEqual(["a", "b"]); // until something passed again
    again.add(["a"]);
    expect(open()).toMatchObject({ names: ["a"], isComplete: false });
  });

  it("are kept for 16 keys, those that were written last", () => {
    for (let number = 0; number < 20; number += 1) open({ build: `b${number}` }).add(["a"]);
    expect(readdirSync(folder)).toHaveLength(16);
    expect(open({ build: "b19" }).names).toEqual(["a"]);
  });
});

describe("a file counts for nothing", () => {
  beforeEach(() => open().add(["a", "b"], { isComplete: true }));
  const edit = (change: (text: string) => string): void => writeFileSync(onlyFile(), change(readFileSync(onlyFile(), "utf8")));

  it.each<[string, (text: string) => string]>([
    ["that is cut off", (text) => text.slice(0, -20)],
    ["that is empty", () => ""],
    ["that is no object", () => "null"],
    ["with a name that was added", (text) => text.replace('"b"]', '"b","c"]')],
    ["of another version", (text) => text.replace('"version":1', '"version":2')],
    ["that is too large", (text) => `${text}${" ".repeat(1 << 20)}`],
  ])("%s", (_what, change) => {
    edit(change);
    expect(open()).toMatchObject({ names: [], isComplete: false, since: undefined });
    open().add(["d"]);
    expect(open().names).toEqual(["d"]);
  });

  it("that was written for another key", () => {
    const foreign = readFileSync(onlyFile());
    open({ build: "b2" }).add(["x"]);
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), foreign);
    expect(open({ build: "b2" }).names).toEqual([]);
    expect(open().names).toEqual(["a", "b"]);
  });

  it.skipIf(isWindows)("that others can write, or that is a link", () => {
    chmodSync(onlyFile(), 0o666);
    expect(open().names).toEqual([]);
    chmodSync(onlyFile(), 0o600);
    expect(open().names).toEqual(["a", "b"]);
    const file = onlyFile();
    renameSync(file, join(home, "elsewhere.json"));
    symlinkSync(join(home, "elsewhere.json"), file);
    expect(open().names).toEqual([]);
  });

  it.skipIf(isWindows)("in a folder that others can write, where nothing is written either", () => {
    chmodSync(folder, 0o777);
    expect(open().names).toEqual([]);
    open({ build: "b2" }).add(["x"]);
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

describe("where the folder cannot be written", () => {
  it("nothing is remembered, and nobody is told", () => {
    writeFileSync(join(home, "data"), ""); // a file in the place of a folder
    const tests = open();
    tests.add(["a"]);
    expect(tests.names).toEqual(["a"]);
    expect(open().names).toEqual([]);
  });

  it("a file that is in the way of the record stays", () => {
    open().add(["a"]);
    const path = onlyFile();
    rmSync(path);
    mkdirSync(path);
    open().add(["a"]);
    expect(open().names).toEqual([]);
    expect(readdirSync(folder)).toHaveLength(1);
  });
});
