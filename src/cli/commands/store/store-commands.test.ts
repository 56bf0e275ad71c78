/** pull, list, show, remove, prune and check as a person types them, against a stand-in of the hub. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type HubStandIn, startHub } from "../../../../test/fixtures/models/hub-stand-in.ts";
import { smallModel } from "../../../../test/fixtures/models/small-model.ts";
import { run } from "../../main.ts";

let hub: HubStandIn;
let home = "";

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "inferyard-store-cli-"));
  hub = await startHub({ models: { "owner/small-model": smallModel() } });
  const environment = { INFERYARD_HOME: home, HF_ENDPOINT: hub.url, HF_HOME: join(home, "hf"), HF_HUB_OFFLINE: "", HF_TOKEN: "" };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await hub.close();
  await rm(home, { recursive: true });
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function type(
  words: string,
  { watched = false, environment = {} }: { watched?: boolean; environment?: Record<string, string> } = {},
): Promise<Outcome> {
  const written = { stdout: "", stderr: "" };
  const into = (name: keyof typeof written): Writable & { isTTY: boolean } =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          written[name] += String(chunk);
          done();
        },
      }),
      { isTTY: watched },
    );
  const code = await run(words.split(" "), {
    stdout: into("stdout"),
    stderr: into("stderr"),
    stdin: Object.assign(Readable.from([]), { isTTY: true }),
    environment: { ...process.env, ...environment },
    directory: home,
    signal: new AbortController().signal,
  });
  return { code, ...written };
}

describe("pull", () => {
  it("prints what is there and what it cost, and nothing on stderr where nobody watches", async () => {
    const first = await type("pull hf:owner/small-model");
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(
      /^owner\/small-model {3}fp32, 4 files, 801 kB {3}801 kB fetched in \S+ m?s\n {2}try it: inferyard explain hf:owner\/small-model\n$/,
    );
    expect((await type("pull hf:owner/small-model")).stdout).toContain("nothing to fetch");
    const json = JSON.parse((await type("pull hf:owner/small-model --variant int8 --json")).stdout) as unknown;
    expect(json).toMatchObject({
      name: "owner/small-model",
      variant: "int8",
      variants: ["fp32", "int8"],
      commit: "c".repeat(40),
    });
  });

  it("shows a watching person how far, how fast and how long still, and clears that away", async () => {
    hub.options = { ...hub.options, bytesPerSecond: 6e5 };
    const { stderr } = await type("pull hf:owner/small-model", { watched: true });
    expect(stderr).toMatch(/small-model {2}█+░+ \d+ % {2}\d+ kB of 801 kB {2}\d+ kB\/s {2}\d+ s left/);
    expect(stderr.endsWith("\r\u001B[K")).toBe(true);
  });

  it("is refused offline, whoever says so, and the setting variant chooses", async () => {
    for (const environment of [{ HF_HUB_OFFLINE: "1" }, { INFERYARD_OFFLINE: "1" }]) {
      expect(await type("pull hf:owner/small-model", { environment })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("it is offline") as string,
      });
    }
    expect((await type("pull hf:owner/small-model --offline")).code).toBe(1);
    expect(hub.seen).toHaveLength(0);
    expect((await type("pull hf:owner/small-model", { environment: { INFERYARD_VARIANT: "int8" } })).stdout).toContain(
      "int8, 4 files",
    );
    expect((await type("pull hf:owner/small-model:int8 --variant fp32")).code).toBe(2);
  });
});

describe("the store", () => {
  it("list: size, task, variants, last use; and how to begin", async () => {
    expect((await type("list")).stdout).toContain("inferyard pull hf:");
    await type("pull hf:owner/small-model");
    await type("pull hf:owner/small-model:int8");
    const { stdout } = await type("list");
    expect(stdout).toMatch(
      /^ {2}owner\/small-model {2}1\.0 MB {2}feature-extraction {2}onnx \(fp32, int8\) {2}20\d\d-\d\d-\d\d \d\d:\d\d$/m,
    );
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(`1 model, 1.0 MB in ${home}`);
    const json = JSON.parse((await type("list --json")).stdout) as { models: unknown[] };
    expect(json.models).toMatchObject([{ name: "owner/small-model", formats: ["onnx"], tasks: ["feature-extraction"] }]);
  });

  it("show: variants with their tensors, files, and the decision a load would make", async () => {
    await type("pull hf:owner/small-model");
    const { code, stdout } = await type("show small-model");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^small-model {3}feature-extraction {3}mit\n/);
    expect(stdout).toMatch(/^ {2}from +hf:owner\/small-model, commit c{12}$/m);
    expect(stdout).toMatch(/^ {2}fp32 +onnx +fp32 +801 kB +1$/m);
    expect(stdout).toMatch(/^ {2}onnx\/model\.onnx +801 kB +[0-9a-f]{16}$/m);
    expect(stdout).toMatch(/^ {2}onnx:cpu +would run/m);
    expect(JSON.parse((await type("show small-model --json")).stdout)).toMatchObject({
      manifest: { name: "small-model" },
      weights: [{ format: "onnx", tensors: 1 }],
      decision: { selected: null },
      stored: { name: "owner/small-model" },
    });
    expect(JSON.parse((await type("show builtin --json")).stdout)).toMatchObject({ manifest: { name: "builtin" }, stored: null });
  });

  it("explain and inspect fetch nothing, and name the command that does", async () => {
    for (const words of ["explain hf:owner/small-model", "inspect hf:owner/small-model", "show hf:owner/small-model"]) {
      expect(await type(words)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("\n  fetch it with: inferyard pull hf:owner/small-model\n") as string,
      });
    }
    expect(hub.seen).toHaveLength(0);
  });

  it("check: 1 with the file and the pull that mends it, 0 once it is mended", async () => {
    await type("pull hf:owner/small-model");
    expect((await type("check")).stdout).toMatch(/^1 model, 4 files, 801 kB: every file is as it was pulled$/m);
    const [tree = ""] = readdirSync(join(home, "trees"));
    const path = join(home, "trees", tree, "config.json");
    await chmod(path, 0o644);
    writeFileSync(path, "{}");
    const { code, stdout, stderr } = await type("check small-model");
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /owner\/small-model {2}config\.json {2}it has 2 bytes, and had \d+ when it was pulled\n +inferyard pull hf:owner\/small-model$/m,
    );
    expect(stderr).toContain("1 file of the store is damaged [MODEL_INVALID]\n  inferyard pull hf:owner/small-model");
    await type("pull hf:owner/small-model");
    expect((await type("check")).code).toBe(0);
  });

  it("list and check: a record that is damaged, beside the models that are not", async () => {
    await type("pull hf:owner/small-model");
    writeFileSync(join(home, "models/other%2Fmodel.json"), "{");
    const listed = await type("list");
    expect([listed.code, listed.stdout.includes("owner/small-model")]).toEqual([0, true]);
    expect(listed.stderr).toContain("the record of other/model is damaged: it is not JSON");
    expect(JSON.parse((await type("list --json")).stdout)).toMatchObject({
      models: [{ name: "owner/small-model" }],
      damaged: [{ name: "other/model", remedy: "inferyard pull hf:other/model" }],
    });
    const checked = await type("check");
    expect([checked.code, checked.stderr.includes("inferyard pull hf:other/model")]).toEqual([1, true]);
  });

  it("remove and prune say what they freed; a name that is none gets a suggestion", async () => {
    await type("pull hf:owner/small-model");
    expect(await type("remove smal-model")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('did you mean "small-model"?') as string,
    });
    expect((await type("remove small-model")).stdout).toBe("owner/small-model removed, 801 kB freed\n");
    expect(existsSync(join(home, "downloads"))).toBe(true);
    await writeFile(join(home, "downloads/sha256-x.partial"), Buffer.alloc(3000));
    expect((await type("prune")).stdout).toBe("1 unfinished download removed, 3 kB freed\n");
    expect((await type("prune --json")).stdout).toBe(
      '{"blobs":0,"trees":0,"downloads":0,"locks":0,"freedBytes":0,"pullRunning":false}\n',
    );
  });
});
