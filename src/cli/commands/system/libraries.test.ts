import { mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, commandLine } from "../../../../test/fixtures/processes/command-streams.ts";
import type { AcceleratorInfo } from "../../../libraries/accelerators/index.ts";
import type { BuildFlags, LibraryInventory } from "../../../libraries/inventory/index.ts";
import { run } from "../../main.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "inferyard-libraries-")));
  await mkdir(join(folder, "lib"));
  await writeFile(join(folder, "lib", "libllama.so"), "no library");
});
afterAll(async () => await rm(folder, { recursive: true }));

/** What a person would see who types `inferyard libraries` and these words. */
const libraries = (...words: readonly string[]): Promise<CommandResult> =>
  commandLine(run)(["libraries", ...words], { directory: folder, environment: { LLAMA_CPP_DIR: folder } });

describe("inferyard libraries", () => {
  it("lists what fits this machine and where it looked; --all the rest, with reasons", async () => {
    const few = await libraries();
    expect(few).toMatchObject({ code: 0, stderr: "" });
    expect(few.stdout).toMatch(/^not shown, for they do not fit this machine: \d+ files?; --all says why$/m);
    expect(few.stdout).toMatch(new RegExp(`^ {2}LLAMA_CPP_DIR +1 path +${folder}/lib$`, "m"));
    expect(few.stdout).not.toContain("CUDA_HOME");
    const { stdout } = await libraries("--all");
    expect(stdout).toMatch(new RegExp(`^ {2}not known +- +LLAMA_CPP_DIR +${folder}/lib/libllama.so$`, "m"));
    expect(stdout).toContain("CUDA_HOME");
    expect(stdout).not.toContain("not shown");
  });

  it("has all of it with --json, and writes flags for builds", async () => {
    const out = join(folder, "flags.json");
    const { code, stdout, stderr } = await libraries("--json", "--emit", out);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `flags written to ${out}\n` });
    const { libraries: found, locations } = JSON.parse(stdout) as LibraryInventory;
    expect(found.find(({ path }) => path.startsWith(folder))).toMatchObject({ fits: false, foundBy: ["LLAMA_CPP_DIR"] });
    expect(locations).toContainEqual({
      rule: "LLAMA_CPP_DIR",
      path: join(folder, "lib"),
      outcome: "found",
      libraries: 1,
      notes: [],
    });
    const flags = JSON.parse(await readFile(out, "utf8")) as BuildFlags;
    expect(flags).toMatchObject({
      hasBitnet: false,
      hasOnnxRuntime: expect.any(Boolean) as boolean,
      paths: expect.any(Object) as object,
    });
    expect((await readdir(folder)).toSorted()).toEqual(["flags.json", "lib"]);
  });

  it("tells with --run which accelerators computed", async () => {
    const { accelerators } = JSON.parse((await libraries("--accelerators", "--run", "--json")).stdout) as {
      accelerators: AcceleratorInfo[];
    };
    expect(accelerators).toHaveLength(14);
    expect(accelerators.find(({ name }) => name === "cpu")?.reason).toBe("native:cpu computed on it");
  });

  it("refuses --run alone, a folder that is not there, and a Python that is not there", async () => {
    expect(await libraries("--run")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--run requires --accelerators") as string,
    });
    expect(await libraries("--emit", join("none", "flags.json"))).toMatchObject({ code: 1, stdout: "" });
    expect(await libraries("--python", "none")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no file or folder none") as string,
    });
  });
});
