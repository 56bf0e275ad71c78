import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands } from "./command-table.ts";
import { run } from "./main.ts";
import type { Terminal } from "./terminal.ts";
import { version } from "../version.ts";

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inferyard-cli-"));
});
afterAll(() => rm(directory, { recursive: true }));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a person would see who types the words, at a keyboard, in an empty folder. */
async function type(words: readonly string[], over: Partial<Terminal> = {}): Promise<Outcome> {
  const written = { stdout: "", stderr: "" };
  const into = (name: keyof typeof written): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
  const code = await run(words, {
    stdout: into("stdout"),
    stderr: into("stderr"),
    stdin: Object.assign(Readable.from([]), { isTTY: true }),
    environment: {},
    directory,
    signal: new AbortController().signal,
    ...over,
  });
  return { code, ...written };
}

it("reads names of backends and devices in any case", async () => {
  const { code, stdout } = await type(["explain", "--gpu", "OFF", "--priority", "NATIVE", "--exclude", "Onnx:CUDA"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/native:cpu +would run/)]);
});

it("tells variables of other runtimes, which are not read: where models run to every command, where libraries are to explain and doctor", async () => {
  const environment = { TERMITE_GPU: "off", ONNXRUNTIME_ROOT: "/opt/onnxruntime" };
  const gpu = "inferyard: TERMITE_GPU is a variable of Termite, which is not read; set INFERYARD_GPU=off\n";
  const root =
    /inferyard: ONNXRUNTIME_ROOT is a variable of .* which is not read; the backend onnx runs the library of the npm package/;
  const explained = await type(["explain"], { environment });
  expect([explained.code, explained.stderr]).toEqual([0, expect.stringContaining(gpu)]);
  expect(explained.stderr).toMatch(root);
  const shown = await type(["show", "builtin"], { environment });
  expect([shown.code, shown.stderr]).toEqual([0, gpu]);
  expect((await type(["explain", "--quiet"], { environment })).stderr).toBe("");
});

it("tells settings of models that are not there", async () => {
  await writeFile(join(directory, "named.yaml"), "models: { ./bultin-model: { exclude: onnx }, builtin: { exclude: wasm } }\n");
  const { code, stderr } = await type(["explain", "--config", join(directory, "named.yaml")]);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(
      /^inferyard: \.\/bultin-model has settings in "models", which concern no model on this machine: there is no file or folder .*\n$/,
    ),
  ]);
});

it("takes every accelerator as --gpu, and says why it is not here", async () => {
  const { code, stdout } = await type(["explain", "--gpu", "DML"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/onnx:directml +refused .*\n/)]);
});

describe("the help text", () => {
  it("lists every command under the heading of its purpose, in one column without its usage", async () => {
    const { code, stdout } = await type(["--help"]);
    expect(code).toBe(0);
    const headings = [...new Set(commands.map(({ heading }) => heading))];
    const found = stdout.split("\n").filter((line) => /^\S.*:$/.test(line) && line !== "Options:");
    expect(found).toEqual(headings);
    for (const { name, heading } of commands) {
      const section = stdout.split(`\n${heading}\n`)[1]?.split("\n\n")[0];
      expect(section).toMatch(new RegExp(`^ {2}${name} {2,}\\S`, "m"));
    }
    expect(stdout).not.toMatch(/^ {2}[\w-]+ \[options\]/m);
  });
});

describe("exit codes", () => {
  it.each([
    ["an unknown command", ["embedd"], /unknown command 'embedd'/],
    ["an unknown option", ["embed", "--modle", "x"], /unknown option '--modle'/],
    ["an option without its value", ["embed", "--model"], /argument missing/],
    ["neither true nor false", ["embed", "x", "--memory-arena", "maybe"], /Allowed choices are true, false/],
    ["a choice that is none", ["embed", "x", "--policy", "cheapest"], /Allowed choices are priority, manifest, fastest/],
    ["a number that is none", ["embed", "x", "--threads", "0"], /whole number above 0/],
    ["a target that is none", ["embed", "x", "--target", "not a target"], /"not a target" is not a target \[INPUT_INVALID\]/],
    [
      "a backend that is none",
      ["embed", "x", "--priority", "wsam"],
      /priority names the backend "wsam", .*\n  did you mean "wasm"\?/,
    ],
    ["an exclusion of nothing", ["explain", "--exclude", "bogus"], /exclude names the backend "bogus", and there is none/],
    ["an unknown name where settings are shown alone", ["config", "--exclude", "bogus"], /exclude names the backend "bogus"/],
    ["an unknown kernel", ["config", "--kernels", "nope"], /the kernel nope cannot be used: there is no kernel with this id/],
    ["an order of nothing", ["explain", "--priority", ","], /priority is an empty list/],
    ["two forms of output", ["embed", "x", "--json", "--jsonl"], /--json and --jsonl exclude each other/],
    ["no text at all", ["embed"], /there is no text \[INPUT_INVALID\]/],
    ["a missing argument", ["distill"], /missing required argument 'model'/],
    ["no command", [], /Usage: inferyard/],
  ])("2 for %s, and the reason on stderr", async (_name, words, reason) => {
    const { code, stdout, stderr } = await type(words);
    expect(code).toBe(2);
    expect(stderr).toMatch(reason);
    expect(words.includes("--json") ? "" : stdout).toBe("");
  });

  it("an unknown command or option names the nearest right one", async () => {
    expect((await type(["embedd"])).stderr).toContain("Did you mean embed?");
    expect((await type(["embed", "--modle", "x"])).stderr).toContain("Did you mean --model?");
  });

  it.each([[["--help"]], [["embed", "--help"]], [["help", "distill"]], [["--version"]], [["version"]], [["config"]]])(
    "0 for %j, on stdout",
    async (words) => {
      const { code, stdout, stderr } = await type(words);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).not.toBe("");
    },
  );

  it("1 for what was asked rightly and failed: a model that is not there", async () => {
    const { code, stdout, stderr } = await type(["embed", "x", "--model", "./no-such-model"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^inferyard: there is no file or folder \.\/no-such-model \[MODEL_NOT_FOUND\]\n {2}\S/);
  });

  it("130 once Ctrl-C was pressed, with no error on top", async () => {
    const words = ["embed", "x", "--model", "./no-such-model", "--json"];
    expect(await type(words, { signal: AbortSignal.abort() })).toEqual({ code: 130, stdout: "", stderr: "" });
  });
});

describe("errors", () => {
  it("are an object on stdout with --json, beside the words on stderr", async () => {
    const { code, stdout, stderr } = await type(["embed", "x", "--json", "--target", "a b"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: "INPUT_INVALID", message: '"a b" is not a target', retryable: false, data: { target: "a b" } },
    });
    expect(stderr).toContain("[INPUT_INVALID]");
  });

  it("have a stack trace with --debug only", async () => {
    const words = ["embed", "x", "--target", "a b"];
    expect((await type(words)).stderr).not.toMatch(/^\s+at /m);
    expect((await type([...words, "--debug"])).stderr).toMatch(/^\s+at .*target\.ts/m);
  });

  it("end with something to do", async () => {
    const { stderr } = await type(["embed", "x", "--target", "a b"]);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      "  write backend[:device[:index]], for example onnx, onnx:cpu or onnx:cuda:1",
    );
  });
});

describe("settings", () => {
  it("an unknown key in inferyard.yaml stops every command, and names the nearest", async () => {
    const file = join(directory, "bad.yaml");
    await writeFile(file, "polcy: priority\n");
    for (const words of [["config"], ["embed", "x"], ["explain"]]) {
      const { code, stderr } = await type([...words, "--config", file]);
      expect(code).toBe(2);
      expect(stderr).toContain('unknown key "polcy" (did you mean "policy"?) [CONFIG_INVALID]');
    }
  });

  it("`config` shows each value and where it comes from", async () => {
    const file = join(directory, "good.yaml");
    await writeFile(file, "policy: manifest\n");
    const words = ["config", "--config", file, "--threads", "2", "--prefer", "onnx:cuda,wasm"];
    const environment = { INFERYARD_MODEL: "./m" };
    const { stdout } = await type([...words, "--json"], { environment });
    expect(JSON.parse(stdout)).toMatchObject({
      policy: { value: "manifest", from: file },
      threads: { value: 2, from: "--threads" },
      prefer: { value: ["onnx:cuda", "wasm"], from: "--prefer" },
      model: { value: "./m", from: "INFERYARD_MODEL" },
      keepAlive: { value: "5m", from: "default" },
      variant: { value: null, from: null },
    });
    const table = (await type(words, { environment })).stdout;
    expect(table).toMatch(/^ {2}threads +2 +--threads$/m);
    expect(table).toMatch(/^ {2}variant +- +not set$/m);
  });

  it.each(["before", "after"])("flags that every command has work %s the command", async (place) => {
    const words = place === "before" ? ["--json", "version"] : ["version", "--json"];
    expect(JSON.parse((await type(words)).stdout)).toMatchObject({ inferyard: version, node: process.version });
  });
});
