/** The reader agrees with readelf of GNU binutils on the dynamic libraries of Debian on this machine, and survives mutated files. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  dll,
  machoLibrary,
  mutate,
  needsFiles,
  needsPrograms,
  packaged,
  systemLibraries,
  universalLibrary,
} from "../../../test/libraries/fixtures/native-libraries.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import { InferyardError } from "../../contract/errors.ts";
import { type BinaryFile, type BinarySymbol, readBinary } from "./index.ts";

const [skip, name] = needsPrograms("agreement with readelf", "readelf");

const readelf = (path: string, ...flags: readonly string[]): string =>
  execFileSync("readelf", ["-W", ...flags, path], { encoding: "utf8", maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "ignore"] });

const bindings: Readonly<Record<string, string>> = { LOCAL: "local", GLOBAL: "global", WEAK: "weak", UNIQUE: "unique" };
const types: Readonly<Record<string, string>> = {
  NOTYPE: "unknown",
  OBJECT: "object",
  FUNC: "function",
  SECTION: "section",
  FILE: "file",
  COMMON: "common",
  TLS: "tls",
  IFUNC: "indirect",
};

/** Symbols as lines of "binding type imported name@version"; readelf writes "@@" before a default version, and its index after others. */
function expectedSymbols(path: string): string[] {
  const line = /^\s*\d+: [0-9a-f]+\s+\S+\s+(\S+)\s+(\S+)\s+(\S+)\s+(?:\[.*?\]\s+)?(\S+)(?: (.*))?$/gm;
  const text = readelf(path, "--dyn-syms").replaceAll("<OS specific>: 10", "UNIQUE"); // without the ABI of GNU in the header
  return [...text.matchAll(line)]
    .slice(1)
    .map(([, type = "", binding = "", , section, text = ""]) =>
      [bindings[binding], types[type] ?? "unknown", section === "UND", text.replace(/ \(\d+\)$/, "").trim()].join(" "),
    );
}

/** readelf leaves the version out of the absolute symbols that stand for a version. */
function lineOf({ binding, type, isImported, name, version, isDefaultVersion }: BinarySymbol): string {
  const suffix = version === undefined || version === name ? "" : `${isDefaultVersion ? "@@" : "@"}${version}`;
  return [binding, type, isImported, `${name}${suffix}`].join(" ");
}

function dynamicFacts(path: string): Pick<BinaryFile, "needed" | "name" | "rpath" | "runpath"> {
  const text = readelf(path, "-d");
  const values = (tag: string): string[] =>
    [...text.matchAll(new RegExp(`\\(${tag}\\).*\\[(.*)\\]`, "g"))].map(([, value]) => value!);
  const folders = (tag: string): string[] => values(tag).flatMap((value) => value.split(":").filter((folder) => folder !== ""));
  return { needed: values("NEEDED"), name: values("SONAME")[0], rpath: folders("RPATH"), runpath: folders("RUNPATH") };
}

describe.skipIf(skip)(name, () => {
  const step = amount(1, 8);
  const libraries = systemLibraries().filter((_path, index) => index % step === 0);

  it(`symbols with versions, needed libraries, soname and paths of 1 in ${step} libraries of Debian`, async () => {
    const differences: string[] = [];
    let read = 0;
    for (const path of libraries) {
      const content = readFileSync(path);
      if (content.toString("latin1", 0, 4) !== "\u007FELF") continue; // scripts of the linker
      const binary = await readBinary(path);
      read += 1;
      const { needed, name: soname, rpath, runpath } = binary;
      const [found, expected] = [binary.symbols.map((symbol) => lineOf(symbol)), expectedSymbols(path)];
      const at = expected.findIndex((line, index) => line !== found[index]);
      if (found.length !== expected.length || at >= 0)
        differences.push(`${path}: ${found.length} of ${expected.length}; ${found[at]} is ${expected[at]}`);
      const facts = JSON.stringify({ needed, name: soname, rpath, runpath });
      if (facts !== JSON.stringify(dynamicFacts(path))) differences.push(`${path}: ${facts}`);
    }
    expect(differences).toEqual([]);
    expect(read).toBeGreaterThan(libraries.length / 2);
  });
});

const mutated = amount(2000, 500);

describe(`${mutated} mutated libraries`, () => {
  let directory = "";
  beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), "inferyard-mutated-"))));
  afterAll(() => rmSync(directory, { recursive: true }));
  const [skipPackaged, packagedName] = needsFiles("each end in an answer or a typed error", packaged.ggml, packaged.ggmlZen4);

  it.skipIf(skipPackaged)(packagedName, async () => {
    const small = systemLibraries().filter((_path, index) => index % 50 === 0);
    const originals: Buffer[] = [packaged.ggml, packaged.ggmlZen4, ...small].map((path) => readFileSync(path));
    originals.push(machoLibrary(0x01000007), universalLibrary(), dll());
    const path = join(directory, "mutated");
    const outcomes = { answers: 0, refusals: 0 };
    const unexpected: string[] = [];
    for (let seed = 0; seed < mutated; seed += 1) {
      writeFileSync(path, mutate(originals[seed % originals.length]!, seed));
      try {
        await readBinary(path);
        outcomes.answers += 1;
      } catch (error) {
        if (error instanceof InferyardError && ["INPUT_INVALID", "LIMIT_EXCEEDED"].includes(error.code)) outcomes.refusals += 1;
        else unexpected.push(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
    expect(unexpected).toEqual([]);
    expect(outcomes.answers).toBeGreaterThan(mutated / 20);
    expect(outcomes.refusals).toBeGreaterThan(mutated / 20);
  });
});
