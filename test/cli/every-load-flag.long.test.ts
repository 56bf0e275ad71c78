/**
 * The flags that decide which engine runs, and how, on every command that has them: with each the outcome of the command differs from that
 * without it. Models are handed to backends that record what they are asked and refuse, so that the next candidate is tried and no engine runs.
 * What a setting does then, test/cli/every-setting.test.ts sees.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { InferyardError } from "../../src/contract/errors.ts";
import { commands as commandTable } from "../../src/cli/command-table.ts";
import { buildProgram, run } from "../../src/cli/main.ts";
import type { Backend, LoadOptions } from "../../src/contract/backend.ts";
import { onnx } from "../../src/backends/onnx/index.ts";
import { scriptedBackend } from "../../src/testing/scripted-backend.ts";
import { writeTableModel } from "../fixtures/models/answering-model.ts";
import { commandLine, discard } from "../fixtures/processes/command-streams.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

/** What commands did: the loads that they tried, in order, the settings of their runtimes, runs of models, and processes that measure. */
const asked: { loads: unknown[]; settings: Record<string, unknown>[]; runs: number; children: unknown[] } = {
  loads: [],
  settings: [],
  runs: 0,
  children: [],
};
/** Whether models are computed, by an engine whose runs are counted. */
const computes = { on: false };

/** A process that measures, which ends at once. The more tokens a batch may have, the faster it says it is. */
vi.mock("node:child_process", async (importOriginal) => ({
  ...(await importOriginal<object>()),
  execFile: (_program: string, [, ...words]: string[], _options: object, done: (error: null, output: object) => void) => {
    asked.children.push(words);
    const tokens = Number(words[words.lastIndexOf("--batch-tokens") + 1]) || 512;
    const times = { loadMs: 1, latencyMs: 1000 / tokens, perSecond: tokens, tokensPerSecond: tokens, memoryBytes: 1 };
    const of = {
      model: { digest: `sha256:${"0".repeat(64)}`, variant: "fp32", path: "", bytes: 1, modifiedMs: 1 },
      settings: {},
    };
    done(null, {
      stdout: JSON.stringify({ ...times, ...of, unit: "texts", library: { name: "onnx", version: "1.0.0" }, threads: 2 }),
    });
  },
}));

vi.mock("../../src/composition/node/standard-backends.ts", () => ({
  standardBackends: ({ library }: { readonly library?: string } = {}) => {
    if (library !== undefined) asked.loads.push(["library", { library }]);
    return computes.on ? [counting(onnx())] : recording();
  },
}));

/** The backend in the calling thread, with its runs counted. */
function counting({ entry: _entry, ...backend }: Backend): Backend {
  return {
    ...backend,
    load: async (...given) => {
      const model = await backend.load(...given);
      const run: typeof model.run = (...inputs) => {
        asked.runs += 1;
        return model.run(...inputs);
      };
      return new Proxy(model, { get: (target, name) => (name === "run" ? run : bound(target, name)) });
    },
  };
}

function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" ? value.bind(target) : value;
}

function recording(): readonly Backend[] {
  const formats = { onnx: "any", safetensors: "any" } as const;
  return ["onnx", "native"].map((name) => {
    const onLoad = (type: string, options: object): never => {
      asked.loads.push([`${name}:${type}`, options]);
      throw new InferyardError("LOAD_FAILED", "this backend only records");
    };
    const backend = scriptedBackend(name, {
      // The second backend obeys no setting, so that it is refused where one is set.
      capabilities: { formats, languageFormats: formats, ...(name === "onnx" ? {} : { options: [] }) },
      onLoad: (_files, { type }, { signal: _signal, ...options }) => onLoad(type, options),
    });
    return {
      ...backend,
      loadLanguage: async (_files: unknown, { type }: { readonly type: string }, { signal: _signal, ...options }: LoadOptions) =>
        onLoad(type, options),
    };
  });
}

vi.mock("../../src/api/create-runtime.ts", async (importOriginal) => {
  const original = await importOriginal<{ createRuntime: (config: Record<string, unknown>) => unknown }>();
  const createRuntime: typeof original.createRuntime = (config) => {
    asked.settings.push(config);
    return original.createRuntime(config);
  };
  return { ...original, createRuntime };
});

const folder = mkdtempSync(join(tmpdir(), "inferyard-load-flags-"));
const hub = createServer((_request, response) => response.writeHead(404).end("{}"));
beforeAll(async () => {
  writeFileSync(join(folder, "schema.json"), '{ "city": { "entity": "LOC" } }');
  if (!skip) {
    const logits = { madrid: 8, "[CLS]": 3 };
    writeTableModel(answering, { tokenizerFolder: `${sharedData}all-MiniLM-L6-v2`, maxTokens: 32, start: logits, end: logits });
    const pooled = join(folder, "pooled");
    cpSync(bert, pooled, { recursive: true });
    cpSync(`${sharedData}all-MiniLM-L6-v2/1_Pooling`, join(pooled, "1_Pooling"), { recursive: true });
    const modules = ["Transformer", "Pooling"].map((type, idx) => ({
      idx,
      name: String(idx),
      path: idx === 0 ? "" : "1_Pooling",
      type: `sentence_transformers.models.${type}`,
    }));
    writeFileSync(join(pooled, "modules.json"), JSON.stringify(modules));
    const embedding = Buffer.from(new Float32Array(32).fill(0.1).buffer).toString("base64");
    writeFileSync(join(folder, "answers.json"), JSON.stringify({ items: [{ text: "a", embedding }] }));
  }
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
const answering = join(folder, "answering");
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
  generate: (of) => ["--model", of, "a text"],
  chat: (of) => [of, "a text"],
  rewrite: (of) => ["--model", of, "a text"],
  run: (of) => [of, "--input", "x=[1]"],
  serve: (of) => ["--port", "0", "--model", of],
  explain: (of) => [of],
  show: (of) => [of],
  verify: (of) => [of],
  crossval: (of) => ["--model", of, "--record", join(folder, "logits.safetensors")],
  receipt: (of) => ["--model", of, "--output", join(folder, "receipt.json")],
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
  generate: `${sharedData}tiny-random-gpt2`,
  crossval: `${sharedData}tiny-random-gpt2`,
  receipt: `${sharedData}tiny-random-gpt2`,
  chat: `${sharedData}tiny-random-qwen2`,
  rewrite: `${sharedData}tiny-random-t5`,
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
  "--context-length": ["64"],
  "--allow-smaller-context": ["true"],
  "--cache-precision": ["fp16"],
  "--kernels": ["Q4_K_Scalar"],
  "--adapters": ["adapter.gguf=0.5"],
  "--host": ["process"], // which takes memory of its own, more than `needed` leaves
  "--library": ["./libllama.so"],
  "--max-memory": ["1KB"],
  "--replicas": ["3"],
};

/** What a flag needs beside it to have an effect. */
const needed: Readonly<Record<string, readonly string[]>> = { "--host": ["--max-memory", "10MB"] };

const line = commandLine(run);

/** What a command printed and asked for, without times, ids and paths of temporary files. */
async function outcome(args: readonly string[], seesSettings: boolean): Promise<unknown> {
  [asked.loads, asked.settings, asked.children, asked.runs] = [[], [], [], 0];
  process.argv = ["node", "inferyard", ...args]; // what a process that measures is given
  const { code, stdout, stderr } = await line(args, {
    directory: folder,
    environment: { INFERYARD_HOST: "inline" },
    ...(args[0] === "verify" && args[1] === "hf:owner/model" ? { signal: AbortSignal.timeout(1000) } : {}),
  });
  const changing = /^\{"level".*$|"(?:id|at|milliseconds)":[^,}]+|\d+(?:\.\d+)? m?s\b|\d+\.\d GB|127\.0\.0\.1:\d+/gm;
  const plain = (text: string): string => text.replaceAll(changing, "");
  const [{ replicas } = {}] = asked.settings;
  return {
    code,
    stdout: plain(stdout),
    stderr: plain(stderr),
    loads: asked.loads,
    runs: asked.runs,
    children: asked.children,
    ...(seesSettings ? { replicas } : {}),
  };
}

const program = await buildProgram({ stdout: discard(), stderr: discard() } as never, commandTable);

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
      const usual = await outcome(args, false);
      expect(await outcome(args, false), "the same twice").toEqual(usual);
      for (const flag of given) {
        const seesSettings = flag === "--replicas";
        const base = [...args, ...(needed[flag] ?? [])];
        const without = seesSettings || base.length > args.length ? await outcome(base, seesSettings) : usual;
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

/** Flags of the commands that measure, each with its value and what stands beside it. */
const measuringFlags: Readonly<
  Record<string, Readonly<Record<string, readonly [on: readonly string[], value: readonly string[]]>>>
> = {
  bench: {
    "--targets": [[], ["native"]],
    "--record": [[], []],
    "--rounds": [[], ["2"]],
    "--count": [[], ["7"]],
    "--batch-tokens": [[], ["64"]],
    "--here": [[], ['{"target":"onnx:cpu","count":1}']],
  },
  tune: {
    "--only": [["--rounds", "2"], ["threads"]],
    "--write": [["--rounds", "2"], []],
    "--rounds": [[], ["2"]],
    "--count": [["--rounds", "2"], ["7"]],
    "--batch-tokens": [["--rounds", "2"], ["64"]], // refused: it is what is sought
    "--here": [["--rounds", "2"], ['{"target":"onnx:cpu","count":1}']],
  },
  verify: {
    "--answers": [[], ["none-such.json"]],
    "--tolerance": [["--answers", join(folder, "answers.json")], ["100"]],
  },
};

describe.skipIf(skip)("the flags of measuring", () => {
  const own = Object.keys(measuringFlags).flatMap((name) => {
    const options = program.commands.find((command) => command.name() === name)?.options ?? [];
    const names = options.flatMap(({ long }) => (typeof long === "string" ? [long] : []));
    const shared = new Set([...Object.keys(flags), "--offline", "--json", "--config", "--quiet", "--debug"]);
    return names.filter((flag) => !shared.has(flag)).map((flag) => [name, flag] as const);
  });

  it.each(own)("%s %s changes what it does", async (name, flag) => {
    const written = join(folder, "inferyard.yaml");
    const [on, value] = measuringFlags[name]?.[flag] ?? [[], []];
    computes.on = name === "verify";
    const model = join(folder, "pooled");
    const without = await outcome([name, model, ...on, "--json"], false);
    const given = await outcome([name, model, ...on, flag, ...value, "--json"], false);
    computes.on = false;
    const file = existsSync(written) ? readFileSync(written, "utf8") : undefined;
    rmSync(written, { force: true });
    expect({ given, file }).not.toEqual({ given: without, file: undefined });
  });
});

describe.skipIf(skip)("--batch-tokens", () => {
  const three = ["one", "one two three", "one two three four five"];
  const lines: Readonly<Record<string, readonly string[]>> = {
    embed: ["--model", bert, "--pooling", "mean", ...three],
    similarity: ["--model", bert, "--pooling", "mean", ...three],
    classify: ["--model", pair, ...three],
    rerank: ["--model", pair, "--query", "what", ...three],
    recognize: ["--model", ner, ...three],
    extract: ["--model", ner, "--schema", '{ "city": { "entity": "LOC" } }', ...three],
    "fill-mask": ["--model", splade, ...three.map((text) => `${text} [MASK]`)],
    answer: ["--model", answering, "--question", "what", ...three],
  };

  it("is a flag of these commands, and of those that measure", () => {
    const having = program.commands.filter(({ options }) => options.some(({ long }) => long === "--batch-tokens"));
    expect(having.map((command) => command.name()).sort()).toEqual([...Object.keys(lines), "bench", "tune"].sort());
  });

  it.each(Object.entries(lines))("%s runs the model once for each batch", async (name, args) => {
    computes.on = true;
    const runs = async (...more: string[]): Promise<unknown> => {
      const { code } = (await outcome([name, ...args, ...more, "--json"], false)) as { code: number };
      return [code, asked.runs];
    };
    const [, together] = (await runs()) as [number, number];
    expect(await runs("--batch-tokens", "1")).toEqual([0, together + 2]);
    computes.on = false;
  });
});
