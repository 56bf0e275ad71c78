/**
 * Compiled programs of the backend xla on disk, with a PJRT plugin for CPUs: what the next process reads, what happens to damaged files, and what
 * `inferyard compile` keeps. 300 mutated files with TEST_SLOW=1, else a sample.
 */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openClient } from "../../src/backends/xla/open-client.ts";
import { type ProgramFolder, openProgramFolder } from "../../src/backends/xla/program-cache/program-folder.ts";
import { decodeProgram, encodeProgram } from "../../src/backends/xla/program-cache/program-file.ts";
import { compilationTarget } from "../../src/backends/xla/program-cache/program-key.ts";
import { ProgramLoader } from "../../src/backends/xla/program-cache/program-loader.ts";
import type { StableHloProgram } from "../../src/engine/codegen/stablehlo/index.ts";
import { inferyardProcess } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount, onRequest } from "../fixtures/slow.ts";
import { needsPlugin, pjrtPlugin } from "./fixtures/pjrt-plugins.ts";

const [noData, dataTitle] = needsData("compiled programs of XLA on disk");
const [skip, title, path] = needsPlugin(dataTitle, noData ? { reason: "no shared data" } : await pjrtPlugin());
const home = mkdtempSync(join(tmpdir(), "inferyard-programs-"));
afterAll(() => rmSync(home, { recursive: true }));

const two = { dataType: "float32", shape: [2] } as const;
const adding: StableHloProgram = {
  text: `func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "func.return"(%0) : (tensor<2xf32>) -> ()
}`,
  arguments: ["a", "b"].map((name) => ({ kind: "input", name, type: two })),
  results: [{ name: "sum", type: two }],
};

/** A generator of whole numbers below a bound (Lehmer, Park and Miller 1988). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

describe.skipIf(skip)(title, () => {
  it(`are right whatever happened to ${amount(300, 24)} files`, async () => {
    const opened = await openClient(path, { type: "cpu", index: 0 }, { threads: 2 });
    const { client } = opened;
    const folder = await openProgramFolder({ path: join(home, "mutated") });
    const target = await compilationTarget(path, opened, 2);
    const sumWith = (into: ProgramFolder): { readonly sum: unknown; readonly counts: object } => {
      const loader = new ProgramLoader({ client, target, folder: into, device: "cpu", model: "adding" });
      const given = [
        [1, 2],
        [10, 20],
      ].map((values) => client.upload({ type: two, data: Float32Array.from(values) }));
      const program = loader.load(adding);
      const [sum] = program.run(given);
      const data = [...(sum!.read().data as Float32Array)];
      for (const each of [...given, sum!, program]) each.dispose();
      const { compiled, cached } = loader.counts;
      return { sum: data, counts: { compiled, cached } };
    };
    expect(sumWith(folder)).toEqual({ sum: [11, 22], counts: { compiled: 1, cached: 0 } });
    expect(sumWith(folder)).toEqual({ sum: [11, 22], counts: { compiled: 0, cached: 1 } });
    const [{ path: file, key } = { path: "", key: "" }] = folder.files();
    const whole = readFileSync(file);
    const stored = decodeProgram(whole, key)!;
    const below = random(36);
    const mutations: readonly (() => Uint8Array)[] = [
      () => {
        const changed = Buffer.from(whole);
        for (let count = 1 + below(8); count > 0; count -= 1) changed[below(changed.length)]! ^= 1 + below(255);
        return changed;
      },
      () => whole.subarray(0, below(whole.length)),
      () => Buffer.concat([whole, Buffer.alloc(1 + below(100))]),
      () => Buffer.concat([whole.subarray(0, below(whole.length)), Buffer.alloc(below(5000), 0xff)]),
      // A whole file of another program, and one whose executable the plugin refuses.
      () => encodeProgram({ ...stored, key: stored.key.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) }),
      () => encodeProgram({ ...stored, executable: stored.executable.subarray(0, 1 + below(stored.executable.length - 1)) }),
    ];
    for (let index = 0; index < amount(300, 24); index += 1) {
      writeFileSync(file, mutations[index % mutations.length]!(), { mode: 0o600 });
      expect(sumWith(folder), `mutation ${index}`).toEqual({ sum: [11, 22], counts: { compiled: 1, cached: 0 } });
    }
    expect(sumWith(folder)).toEqual({ sum: [11, 22], counts: { compiled: 0, cached: 1 } });
    // No folder: each start compiles, and the evidence says why.
    writeFileSync(join(home, "a file"), "");
    const none = await openProgramFolder({ path: join(home, "a file") });
    expect(sumWith(none)).toEqual({ sum: [11, 22], counts: { compiled: 1, cached: 0 } });
    const loader = new ProgramLoader({ client, target, folder: none, device: "cpu", model: "adding" });
    expect(loader.describe()).toEqual([
      "no program compiled yet: XLA compiles one when a shape is needed",
      expect.stringMatching(/^compiled programs are not kept on disk: .*is no folder$/),
    ]);
    client.dispose();
  });

  const environment = { ...process.env, INFERYARD_HOME: join(home, "data"), PJRT_PLUGIN_LIBRARY_PATH: path };
  const inferyard = (...args: string[]): ReturnType<typeof inferyardProcess> => inferyardProcess(args, { environment });
  interface Report {
    readonly steps: readonly {
      readonly shape: string;
      readonly compiled: number;
      readonly cached: number;
      readonly programs: readonly object[];
    }[];
  }
  const compile = async (...args: string[]): Promise<Report> => {
    const { code, stdout, stderr } = await inferyard("compile", ...args, "--json");
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout) as Report;
  };
  const countsOf = ({ steps }: Report): unknown => steps.map(({ shape, compiled, cached }) => [shape, compiled, cached]);
  const bert = `${sharedData}tiny-random-bert`;

  it("are compiled once, by two processes at once at most twice, and give the same bits", async () => {
    const embed = async (): Promise<unknown> => {
      const { code, stdout } = await inferyard(
        "embed",
        "--model",
        `${sharedData}all-MiniLM-L6-v2`,
        "--target",
        "xla:cpu",
        "--json",
        "hello",
      );
      expect(code).toBe(0);
      return (JSON.parse(stdout) as { readonly embeddings: unknown }).embeddings;
    };
    const model = `${sharedData}all-MiniLM-L6-v2`;
    const both = await Promise.all([compile(model, "--shapes", "1x16"), compile(model, "--shapes", "1x16")]);
    for (const { steps } of both) expect(steps[0]!.compiled + steps[0]!.cached).toBe(1);
    const files = readdirSync(join(home, "data", "xla-programs"));
    expect(files).toHaveLength(1);
    const before = await embed();
    expect(await embed()).toEqual(before);
    expect(countsOf(await compile(model, "--shapes", "1x9"))).toEqual([
      ["load", 0, 1],
      ["1x9", 0, 0],
    ]);
    // Compiled anew the bits are the same.
    rmSync(join(home, "data", "xla-programs"), { recursive: true });
    expect(await embed()).toEqual(before);
  });

  it("are those of the shapes that were asked for, listed and removed", async () => {
    expect(countsOf(await compile(bert, "--shapes", "3x20,4x32"))).toEqual([
      ["load", 1, 0],
      ["3x20", 1, 0],
      ["4x32", 0, 0],
    ]);
    const { stdout } = await inferyard("compile", "--list", "--json");
    const { programs } = JSON.parse(stdout) as {
      readonly programs: readonly { readonly key: string; readonly model: string; readonly inputs: string[] }[];
    };
    const own = programs.filter((each) => each.model.includes("tiny-random-bert"));
    expect(own.map(({ inputs }) => inputs.join()).toSorted()).toEqual([
      expect.stringContaining("[1,16]"),
      expect.stringContaining("[4,32]"),
    ]);
    const [first] = own;
    expect((await inferyard("compile", "--remove", first!.key.slice(0, 12))).stdout).toMatch(/^1 program removed/);
    expect((await inferyard("compile", "--remove", bert)).stdout).toMatch(/^1 program removed/);
    expect((await inferyard("compile", "--remove", bert)).stderr).toContain("no compiled program");
    expect((await inferyard("compile", "--remove", "all")).code).toBe(0);
    expect((await inferyard("compile", "--list")).stdout).toMatch(/^no compiled programs in /);
  });

  const [skipLanguage, languageTitle] = onRequest("are those that a language model decodes with");
  it.skipIf(skipLanguage)(languageTitle, async () => {
    const model = `${sharedData}tiny-random-gpt2`;
    const [load, context] = (await compile(model, "--sequences", "3")).steps;
    expect([load!.compiled > 0, context!.shape]).toEqual([true, "context 64"]);
    const again = await compile(model, "--sequences", "4");
    expect(again.steps.map(({ compiled }) => compiled)).toEqual([0, 0]);
    cpSync(model, join(home, "copy"), { recursive: true });
    expect((await compile(join(home, "copy"))).steps[0]!.compiled).toBe(0); // another path of the same graph
  });

  it("are refused for shapes that a model does not have, and for engines that keep none", async () => {
    const refusals = [
      [["tiny-random-gpt2", "--shapes", "1x16"], "this one decodes tokens"],
      [["tiny-random-gpt2", "--context", "9999"], "the context of this model has 64 tokens"],
      [["tiny-random-bert", "--context", "64"], "--context is for language models"],
      [["tiny-random-bert", "--shapes", "4"], "the shape 4 has no length"],
      [["tiny-random-bart"], "XLA compiles a program for each shape"],
      [["tiny-random-bert", "--target", "native"], "native keeps no compiled programs on disk"],
    ] as const;
    for (const [[model, ...flags], message] of refusals) {
      const { code, stderr } = await inferyard("compile", `${sharedData}${model}`, ...flags);
      expect([code === 0, stderr]).toEqual([false, expect.stringContaining(message)]);
    }
  });
});
