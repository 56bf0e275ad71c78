import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, commandLine } from "../../../../test/fixtures/processes/command-streams.ts";
import { compile, machoLibrary, needsPrograms } from "../../../../test/libraries/fixtures/native-libraries.ts";
import type { LibraryAnalysis } from "../../../libraries/analysis/index.ts";
import { run } from "../../main.ts";

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inferyard-analyze-"));
  await writeFile(join(directory, "libx.dylib"), machoLibrary(0x0100000c));
});
afterAll(async () => await rm(directory, { recursive: true }));

/** What a person would see who types `inferyard analyze-library` and these words. */
const analyze = (...words: readonly string[]): Promise<CommandResult> =>
  commandLine(run)(["analyze-library", ...words], { directory, environment: {} });

describe("inferyard analyze-library", () => {
  it("says what a library of another system is, and that it does not fit", async () => {
    const { code, stdout, stderr } = await analyze("./libx.dylib");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^\.\/libx\.dylib {3}Mach-O arm64 shared object {3}name @rpath\/libx\.dyl {3}build id 41424344… {3}1 kB {3}read only, not loaded\n/,
    );
    expect(stdout).toMatch(/^ {2}class {4}none of the libraries that are recognized$/m);
    expect(stdout).toMatch(/^ {2}verdict {2}CPU-only: no CUDA function/m);
    expect(stdout).toMatch(/^ {2}needs {4}not looked for: \/usr\/lib\/libSystem\.B\.d$/m);
  });

  it.each([
    ["a missing file", ["./none.so"], 2, /there is no file \.\/none\.so \[INPUT_INVALID\]/],
    ["no file", [], 2, /missing required argument 'path'/],
    [
      "a name of a requirement that is none",
      ["./libx.dylib", "--require", "cudda"],
      2,
      /no library or accelerator is called cudda/,
    ],
  ])("ends with %s", async (_name, words, code, reason) => {
    const outcome = await analyze(...words);
    expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code, stdout: "" });
    expect(outcome.stderr).toMatch(reason);
  });
});

const [skip, name] = needsPrograms("inferyard analyze-library of what gcc builds", "gcc");

describe.skipIf(skip)(name, () => {
  beforeAll(() => {
    const source = "int bitnet_eval(void) { return 1; } int _ZN6bitnet3runEPKc(void) { return 1; } int other(void) { return 1; }";
    compile(directory, "libbitnet.so", source, "-shared", "-fPIC");
  });

  it("lists symbols with --symbols, those of C++ demangled, and has all of it with --json", async () => {
    const { stdout } = await analyze("libbitnet.so", "--symbols");
    expect(stdout).toMatch(/^bitnet symbols\n {2}exported {2}bitnet::run\(char const\*\)\n {2}exported {2}bitnet_eval$/m);
    const analysis = JSON.parse((await analyze("libbitnet.so", "--json")).stdout) as LibraryAnalysis;
    expect(analysis).toMatchObject({ path: "libbitnet.so", classes: [{ name: "bitnet", confidence: "likely" }] });
    expect(analysis.symbolCounts.exported).toBe(3);
  });

  it("fails with the sentence where a requirement does not hold", async () => {
    expect((await analyze("libbitnet.so", "--require", "bitnet", "--forbid", "cuda,llama")).code).toBe(0);
    const required = await analyze("libbitnet.so", "--require", "bitnet,cuda");
    expect(required.code).toBe(1);
    expect(required.stdout).toMatch(/^ {2}verdict/m);
    expect(required.stderr).toContain("libbitnet.so is required to have cuda, and does not [VERIFICATION_FAILED]");
    const forbidden = await analyze("libbitnet.so", "--forbid", "bitnet", "--json");
    expect(forbidden.code).toBe(1);
    expect(forbidden.stderr).toContain("libbitnet.so must not have bitnet, and does: it is bitnet.cpp, exports 1 of 2 functions");
  });
});
