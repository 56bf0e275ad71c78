import { describe, expect, it } from "vitest";
import { emptyLibrary } from "../../../test/libraries/fixtures/native-libraries.ts";
import type { BinaryFile } from "../binaries/index.ts";
import { checkFit } from "./fit.ts";
import type { AnalysisHost } from "./host.ts";
import type { LibraryAnalysis, NeededLibrary } from "./library-analysis.ts";

const host: AnalysisHost = { platform: "linux", architecture: "x86-64", byteOrder: "little", libc: "glibc" };
type Needs = Pick<LibraryAnalysis, "needs" | "indirectNeeds" | "versions" | "missingVersions">;
const noNeeds: Needs = { needs: [], indirectNeeds: [], versions: [], missingVersions: [] };

const problems = (file: Partial<BinaryFile>, here: Partial<AnalysisHost> = {}, needs: Partial<Needs> = {}): readonly string[] => {
  const fit = checkFit({ ...emptyLibrary, ...file }, { ...host, ...here }, { ...noNeeds, ...needs });
  expect(fit.fits).toBe(fit.problems.length === 0);
  return fit.problems;
};

describe("a library fits a machine", () => {
  it("of its system, architecture, byte order and C library", () => {
    expect(problems({})).toEqual([]);
    expect(problems({ libc: "glibc" })).toEqual([]);
    expect(problems({ libc: "musl" }, { libc: undefined })).toEqual([]);
    expect(problems({ format: "mach-o" }, { platform: "darwin" })).toEqual([]);
    expect(problems({ format: "pe" }, { platform: "win32" })).toEqual([]);
  });

  it.each<[Partial<BinaryFile>, Partial<AnalysisHost>, string]>([
    [{ format: "mach-o" }, {}, "it is for macOS, and this is linux"],
    [{ format: "pe" }, {}, "it is for Windows, and this is linux"],
    [{}, { platform: "win32" }, "it is for Linux and other Unix systems, and this is win32"],
    [{ architecture: "arm64" }, {}, "it is for arm64, and this is x86-64"],
    [{ byteOrder: "big" }, {}, "it is big-endian, and this machine is little-endian"],
    [{ libc: "musl" }, {}, "it is for musl, and this program uses glibc"],
    [{ kind: "executable" }, {}, "it is an executable, which a program cannot load"],
    [{ format: "archive", kind: "archive" }, {}, "it is an archive, which a program cannot load"],
    [{ format: "coff", kind: "object" }, {}, "it is an object, which a program cannot load"],
  ])("not with %o on %o", (file, here, problem) => {
    expect(problems(file, here)).toEqual([problem]);
  });

  it("not without what it needs, with a sentence on each", () => {
    const found: NeededLibrary = { name: "libc.so.6", path: "/lib/libc.so.6", foundBy: "loader cache", status: "found" };
    const missing: NeededLibrary = { name: "libx.so", path: undefined, foundBy: undefined, status: "missing" };
    const beside: NeededLibrary = { name: "libggml.so", path: "/a/libggml.so", foundBy: "beside the file", status: "found" };
    const needs = [found, missing, beside];
    const indirectNeeds = [
      { ...missing, name: "liby.so", neededBy: "libggml.so" },
      { ...found, neededBy: "libggml.so" },
    ];
    const versions = [
      { library: "libc.so.6", version: "GLIBC_2.99", isProvided: false },
      { library: "libc.so.6", version: "GLIBC_2.2.5", isProvided: true },
      { library: "libz.so.1", version: "Z_1", isProvided: undefined },
    ];
    expect(problems({}, {}, { needs, indirectNeeds, versions })).toEqual([
      "needs libx.so, which is not on this machine",
      "needs libggml.so, which needs liby.so, which is not on this machine",
      "needs libggml.so, which lies beside it, where the loader does not look: set LD_LIBRARY_PATH",
      "needs GLIBC_2.99 of libc.so.6, which this machine's does not have",
    ]);
  });
});
