/** `inferyard backends install`, `list --installed` and `remove`, as they are typed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, inferyard, inferyardProcess, ownEnvironment } from "../fixtures/processes/command-line.ts";
import { wheelBytes } from "../fixtures/zip-bytes.ts";
import { compile, needsPrograms } from "../libraries/fixtures/native-libraries.ts";

const [skips, name] = needsPrograms("plugins on the command line", "gcc");

describe.skipIf(skips || process.platform !== "linux")(name, () => {
  let folder = "";
  let environment: NodeJS.ProcessEnv;
  const backends = (...args: string[]): Promise<CommandResult> =>
    inferyard(["backends", ...args], { directory: folder, environment });
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-plugins-command-"));
    environment = { ...ownEnvironment, INFERYARD_HOME: join(folder, "home"), PIP_CONFIG_FILE: "/dev/null", PATH: "" };
    delete environment["PJRT_PLUGIN_LIBRARY_PATH"];
    const source = 'const char *text = "cpu_device_count"; const void *GetPjrtApi(void) { return text; }';
    const content = readFileSync(compile(folder, "plugin.so", source, "-shared", "-fPIC"));
    writeFileSync(join(folder, "p.whl"), wheelBytes("some-plugin", "1.2", [{ name: "p/plugin.so", content }]));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("are installed, listed, found and removed", async () => {
    expect((await backends("list", "--installed")).stdout).toContain("inferyard backends install xla");
    const { code, stdout, stderr } = await backends("install", "xla", "--from", "p.whl");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("xla cpu   some-plugin 1.2");
    const listed = JSON.parse((await backends("list", "--installed", "--json")).stdout) as { path: string }[];
    expect(listed).toEqual([
      {
        backend: "xla",
        accelerator: "cpu",
        version: "1.2",
        path: expect.stringMatching(/\/home\/plugins\/xla\/cpu\/[0-9a-f]{16}\/plugin\.so$/) as string,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        bytes: readFileSync(listed[0]!.path).length,
      },
    ]);
    const found = await inferyardProcess(["backends", "--verbose"], { directory: folder, environment });
    expect(found.stdout).toMatch(/xla:cpu +present +xla unknown, found .*plugin\.so/);
    expect(found.stdout).toMatch(/found 1 +\S+plugin\.so +installed by inferyard backends install/);
    expect(JSON.parse((await backends("remove", "xla", "--json")).stdout)).toMatchObject({ removed: [{ version: "1.2" }] });
    expect((await backends("list", "--installed", "--json")).stdout.trim()).toBe("[]");
  });

  it.each<[string, string[], string]>([
    ["another action", ["uninstall", "xla"], "backends has no action uninstall"],
    ["no backend", ["install"], "install requires the name of a backend"],
    ["another backend", ["install", "wasm"], "nothing of the backend wasm is installed by this command"],
    [
      "an accelerator of another backend",
      ["install", "onnx", "--accelerator", "cuda12"],
      "nothing of onnx is installed for cuda12",
    ],
    ["a folder without packages", ["install", "onnx", "--from", "."], "there is no onnxruntime-"],
    ["a flag of another action", ["install", "xla", "--run"], "--run has no effect on install"],
    ["a flag of install", ["--from", "p.whl"], "--from has no effect on list"],
    ["two lists", ["--installed", "--run"], "--run has no effect on --installed"],
    ["a backend for the list", ["list", "xla"], "list takes no backend"],
    ["nothing to remove", ["remove", "xla"], "no plugin is installed"],
    ["a file that is not there", ["install", "xla", "--from", "none.whl"], "there is no file or folder none.whl"],
    ["no network", ["install", "xla", "--offline"], "downloads are disabled"],
  ])("are refused with a sentence: %s", async (_what, args, message) => {
    const { code, stderr, stdout } = await backends(...args);
    expect({ isRefused: code !== 0, stdout }).toEqual({ isRefused: true, stdout: "" });
    expect(stderr).toContain(message);
  });
});
