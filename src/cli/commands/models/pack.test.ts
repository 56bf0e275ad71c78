import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emptyGguf } from "../../../../test/fixtures/models/gguf-bytes.ts";
import { definePack } from "./pack.ts";

let root = "";
let folder = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "inferyard-pack-command-"));
  folder = join(root, "small");
  await mkdir(folder);
  await writeFile(join(folder, "model.gguf"), emptyGguf());
});
afterAll(() => rm(root, { recursive: true }));

async function type(...words: readonly string[]): Promise<string> {
  let stdout = "";
  const out = new Writable({
    write(chunk, _encoding, done) {
      stdout += String(chunk);
      done();
    },
  });
  const program = new Command().exitOverride();
  definePack(program.command("pack"), {
    stdout: out,
    stderr: out,
    stdin: Object.assign(Readable.from([]), { isTTY: true }),
    environment: {},
    directory: root,
    signal: new AbortController().signal,
  });
  // As the program gives it to every command.
  for (const command of program.commands) command.option("--json");
  await program.parseAsync([...words], { from: "user" });
  return stdout;
}

describe("inferyard pack", () => {
  it("writes the package and says what to do with it", async () => {
    const out = join(root, "out.aimod");
    const stdout = await type("pack", folder, "--out", out, "--name", "mine");
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/out\.aimod {3}mine, 2 files, 1 kB in 1 kB$/) as string,
      expect.stringMatching(/^ {2}sha256 [0-9a-f]{64}$/) as string,
      `  try it: inferyard explain ${out}`,
      "",
    ]);
    expect(await readdir(root)).toContain("out.aimod");
  });

  it("tells programs the same", async () => {
    const stdout = await type("pack", folder, "--out", join(root, "for-programs.aimod"), "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      name: "small",
      files: 2,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  it("does not write over a package", async () => {
    await writeFile(join(root, "there.aimod"), "mine");
    await expect(type("pack", folder, "--out", join(root, "there.aimod"))).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
  });
});
