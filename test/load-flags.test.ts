/**
 * The flags that decide which engine runs, and how, on every command that has them: with each the outcome of the command differs from that
 * without it. Models are handed to backends that record what they are asked and refuse, so that the next candidate is tried and no engine runs.
 * What a setting does then, test/every-setting.test.ts sees.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { createRuntime as CreateRuntime } from "../src/api/create-runtime.ts";
import { InferyardError } from "../src/errors.ts";
import { commands } from "../src/cli/command-table.ts";
import { buildProgram, run } from "../src/cli/main.ts";
import { scriptedBackend } from "../src/testing/scripted-backend.ts";
import { commandLine, discard } from "./fixtures/command-streams.ts";
import { needsData, sharedData } from "./shared-data.ts";

/** What commands did: the loads that they tried, in order, and the settings of their runtimes. */
const asked: { loads: unknown[]; settings: Record<string, unknown>[] } = { loads: [], settings: [] };

vi.mock("../src/presets/standard.ts", () => ({
  standardBackends: () =>
    ["onnx", "native"].map((name) =>
      scriptedBackend(name, {
        // The second backend obeys no setting, so that it is refused where one is set.
        capabilities: { formats: { onnx: "any", safetensors: "any" }, ...(name === "onnx" ? {} : { options: [] }) },
        onLoad: (_files, { type }, { signal: _signal, ...options }) => {
          asked.loads.push([`${name}:${type}`, options]);
          throw new InferyardError("LOAD_FAILED", "this backend only records");
        },
      }),
    ),
}));

vi.mock("../src/api/create-runtime.ts", async (importOriginal) => {
  const original = await importOriginal<{ createRuntime: typeof CreateRuntime }>();
  const createRuntime: typeof CreateRuntime = (config) => {
    asked.settings.push({ ...config });
    return original.createRuntime(config);
  };
  return { ...original, createRuntime };
});

const folder = mkdtempSync(join(tmpdir(), "inferyard-load-flags-"));
const hub = createServer((_request, response) => response.writeHead(404).end("{}"));
beforeAll(async () => {
  writeFileSync(join(folder, "schema.json"), '{ "city": { "entity": "LOC" } }');
  await new Promise<void>((resolve) => hub.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("HF_ENDPOINT", `http://127.0.0.1:${(hub.address() as AddressInfo).port}`);
  vi.stubEnv("INFERYARD_HOME", join(folder, "home"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  hub.close();
  rmSync(folder, { recursive: true });
});

const bert = `${sharedData}tiny-random-bert`;
const ner = `${sharedData}minilm-l3-ner`;
const pair = `${sharedData}tiny-random-cross-encoder`;
const splade = `${sharedData}tiny-random-splade`;

/** A command line of each command with these flags, with the model that it is given. */
const commandLines: Readonly<Record<string, (model: string) => readonly string[]>> = {
  embed: (of) => ["--model", of, "a text"],
  classify: (of) => ["--model", of, "a text"],
  rerank: (of) => ["--model", of, "--query", "what", "a text"],
  recognize: (of) => ["--model", of, "a text"],
  "fill-mask": (of) => ["--model", of, "a [MASK] text"],
  answer: (of) => ["--model", of, "--question", "what", "a text"],
  similarity: (of) => ["--model", of, "a text", "another"],
  extract: (of) => ["--model", of, "--schema", join(folder, "schema.json"), "a text"],
  chunk: (of) => ["--model", of, "--strategy", "semantic", "A text. Another text. And a third one."],
  run: (of) => [of, "--input", "x=[1]"],
  serve: (of) => ["--port", "0", "--model", of],
  explain: (of) => [of],
  show: (of) => [of],
  verify: (of) => [of],
  bench: (of) => [of, "--here", '{"target":"onnx:cpu","count":1}'],
  tune: (of) => [of, "--here", '{"target":"onnx:cpu","count":1}'],
  distill: (of) => [of, "--out", join(folder, "distilled")],
  config: () => [],
};

/** Models that the manifest of these commands must fit. */
const modelOf: Readonly<Record<string, string>> = {
  classify: pair,
  rerank: pair,
  recognize: ner,
  extract: ner,
  "fill-mask": splade,
};

const flags: Readonly<Record<string, readonly string[]>> = {
  "--variant": ["no-such-variant"],
  "--target": ["native"],
  "--prefer": ["native"],
  "--exclude": ["onnx"],
  "--gpu": ["cuda"],
  "--policy": ["manifest"],
  "--priority": ["native,onnx"],
  "--threads": ["1"],
  "--graph-optimization": ["basic"],
  "--cpu-nodes": ["allow"],
  "--memory-pattern": ["false"],
  "--memory-arena": ["false"],
  "--host": ["process"], // which takes memory of its own, more than `needed` leaves
  "--max-memory": ["1KB"],
  "--replicas": ["3"],
};

/** What a flag needs beside it to have an effect. */
const needed: Readonly<Record<string, readonly string[]>> = { "--host": ["--max-memory", "10MB"] };

const line = commandLine(run);

/** What a command printed and asked for, without times, ids and paths of temporary files. */
async function outcome(args: readonly string[], seesSettings: boolean): Promise<unknown> {
  [asked.loads, asked.settings] = [[], []];
  const { code, stdout, stderr } = await line(args, { directory: folder, environment: { INFERYARD_HOST: "inline" } });
  const changing = /^\{"level".*$|"(?:id|at|milliseconds)":[^,}]+|\d+(?:\.\d+)? m?s\b|\d+\.\d GB|127\.0\.0\.1:\d+/gm;
  const plain = (text: string): string => text.replaceAll(changing, "");
  const [{ replicas } = {}] = asked.settings;
  return { code, stdout: plain(stdout), stderr: plain(stderr), loads: asked.loads, ...(seesSettings ? { replicas } : {}) };
}

const program = await buildProgram({ stdout: discard(), stderr: discard() } as never, commands);

const [skip, title] = needsData("the flags of loading");
describe.skipIf(skip)(title, () => {
  const withFlags = program.commands.filter(({ options }) => options.some(({ long }) => long === "--threads"));

  it("are those of the commands listed here", () => {
    expect(withFlags.map((command) => command.name()).sort()).toEqual(Object.keys(commandLines).sort());
  });

  describe.each(withFlags.map((command) => [command.name(), command] as const))("of %s", (name, command) => {
    const args = [name, ...(commandLines[name]?.(modelOf[name] ?? bert) ?? []), ...(name === "serve" ? [] : ["--json"])];
    const given = command.options.flatMap(({ long }) => (typeof long === "string" && long in flags ? [long] : []));

    it("change what it does", { timeout: 120_000 }, async () => {
      const [first] = given;
      const seesFirst = first === "--replicas";
      const plain = [...args, ...(needed[first ?? ""] ?? [])];
      expect(await outcome(plain, seesFirst), "the same twice").toEqual(await outcome(plain, seesFirst));
      for (const flag of given) {
        const seesSettings = flag === "--replicas";
        const base = [...args, ...(needed[flag] ?? [])];
        const without = await outcome(base, seesSettings);
        expect(await outcome([...base, flag, ...(flags[flag] ?? [])], seesSettings), flag).not.toEqual(without);
      }
    });

    const downloads = command.options.some(({ long }) => long === "--offline");
    it.runIf(downloads)("disable downloads", async () => {
      const remote = [name, ...(commandLines[name]?.("hf:owner/model") ?? []), ...(name === "serve" ? [] : ["--json"])];
      expect(await outcome([...remote, "--offline"], false)).not.toEqual(await outcome(remote, false));
    });
  });
});
