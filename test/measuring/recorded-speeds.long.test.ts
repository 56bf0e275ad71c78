/** Measuring as people use it: the built program measures real targets, keeps what it found, and decides on it. */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Decision } from "inferyard";
import { type CommandResult, inferyard, inferyardProcess, useDirectory } from "../fixtures/processes/command-line.ts";
import { writePooledBert } from "../fixtures/models/pooled-bert.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-measured-"));
const home = join(folder, "home");
/** A model so small that a measurement of it takes no time. */
const small = join(folder, "small");
afterAll(() => rmSync(folder, { recursive: true }));
useDirectory(folder);
beforeAll(() => void vi.stubEnv("INFERYARD_HOME", home)); // records of measurements are looked for there by this process
afterAll(() => vi.unstubAllEnvs());

/** `bench` measures in processes that start as its own was started. */
function command(...args: string[]): Promise<CommandResult> {
  return (args[0] === "bench" ? inferyardProcess : inferyard)(args, { environment: process.env });
}

async function json<Answer>(...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await command(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Answer;
}

interface Bench {
  readonly kind: string;
  readonly targets: readonly BenchTarget[];
  readonly recorded: readonly string[];
}

interface BenchTarget {
  readonly target: string;
  readonly verdict: string;
  readonly reason?: string;
  readonly figures?: { readonly latencyMs: number };
}

/** The targets that were measured, the fastest first. */
function measuredTargets({ targets }: Bench): readonly string[] {
  const measured = targets.filter(({ verdict }) => verdict === "pass");
  return measured.toSorted((a, b) => a.figures!.latencyMs - b.figures!.latencyMs).map(({ target }) => target);
}

/** Two targets are enough to be put in order. */
const fastest = ["--policy", "fastest", "--exclude", "wasm"];
const explain = (...args: string[]): Promise<Decision> => json("explain", small, ...fastest, ...args);
const openOnes = ({ candidates }: Decision): (string | undefined)[][] =>
  candidates.filter(({ verdict }) => verdict !== "refused").map(({ target, note }) => [target, note]);

const [skip, name] = needsData("a model measured on onnx:cpu and native:cpu");
describe.skipIf(skip)(name, () => {
  let bench: Bench;
  let record: { readonly path: string; readonly text: string };

  beforeAll(async () => {
    writePooledBert(small);
    bench = await json("bench", small, "--targets", "native,onnx:cpu", "--rounds", "1", "--count", "8", "--record");
    record = { path: recordFile(), text: readFileSync(recordFile(), "utf8") };
  });
  afterEach(() => writeFileSync(record.path, record.text));

  it("nothing is measured: the order of backends, and each candidate says so", async () => {
    rmSync(record.path);
    expect(openOnes(await explain())).toEqual([
      ["onnx:cpu", "not measured"],
      ["native:cpu", "not measured"],
    ]);
  });

  it("bench --record keeps what it measured, and the policy fastest picks the winner", async () => {
    const [first, second] = measuredTargets(bench);
    expect([first, second].toSorted()).toEqual(["native:cpu", "onnx:cpu"]);
    expect(bench.kind).toBe("embedding");
    expect(bench.recorded).toHaveLength(1);
    const decision = await explain("--priority", second!.split(":")[0]!); // measured beats the order of backends
    expect(openOnes(decision)).toEqual([
      [first, expect.stringMatching(/^measured \d{4}-\d\d-\d\d: [\d.]+ ms for one text$/)],
      [second, expect.stringMatching(/^measured /)],
    ]);
    const embedded = await json<{ decision: Decision }>("embed", "hello", "--model", small, ...fastest);
    expect(embedded.decision.selected?.target).toBe(first);
    expect(embedded.decision.candidates.find(({ verdict }) => verdict === "selected")?.note).toMatch(/^measured /);
  });

  it("what was measured decides, not what is fast: figures that say otherwise turn the order round", async () => {
    rewrite(({ target, figures }) => (figures.latencyMs = target === "native:cpu" ? 1 : 50));
    expect(openOnes(await explain()).map(([target]) => target)).toEqual(["native:cpu", "onnx:cpu"]);
    expect((await json<Decision>("explain", small)).candidates.some(({ note }) => note !== undefined)).toBe(false); // another policy
  });

  it("other threads are another measurement", async () => {
    expect(openOnes(await explain("--threads", "1"))[0]).toEqual([
      "onnx:cpu",
      expect.stringContaining("is ignored: it was taken with"),
    ]);
  });

  it("the record of another machine is ignored, and both the decision and the table say why", async () => {
    rewrite(({ machine }) => (machine.processor = "Cray-1"));
    const why = /is ignored: it was taken on another machine \(Cray-1, and this is .+\)$/;
    expect(openOnes(await explain())).toEqual([
      ["onnx:cpu", expect.stringMatching(why)],
      ["native:cpu", expect.stringMatching(why)],
    ]);
    const { stdout } = await command("explain", small, ...fastest);
    expect(stdout).toMatch(/onnx:cpu +would run +onnxruntime-node [\d.]+, fp32; a measurement of .* another machine \(Cray-1/);
  });

  it("a damaged record is a reason and nothing worse", async () => {
    writeFileSync(recordFile(), "{");
    const [[target, note] = []] = openOnes(await explain());
    expect(target).toBe("onnx:cpu");
    expect(note).toMatch(/^not measured: .* is damaged/);
  });

  it("a language model is measured by generations; a target that was asked for and cannot run it is skipped, and exit code 1", async () => {
    const args = ["bench", `${sharedData}tiny-random-gpt2`, "--targets", "onnx:cuda:7,onnx:cpu", "--rounds", "1", "--json"];
    const { code, stdout, stderr } = await command(...args);
    const { kind, targets } = JSON.parse(stdout) as Bench;
    expect([kind, ...targets.map(({ target, verdict }) => [target, verdict])]).toEqual([
      "language",
      ["onnx:cpu", "pass"],
      ["onnx:cuda:7", "skipped"],
    ]);
    expect(targets[0]?.figures).toMatchObject({
      unit: "generations",
      promptTokensPerSecond: expect.any(Number),
      decodeTokensPerSecond: expect.any(Number),
    });
    expect(targets[1]?.reason).toContain("no such device");
    expect(code).toBe(1);
    expect(stderr).toContain("onnx:cuda:7  ");
  });

  it.each([
    ["--memory-pattern", "memoryPattern"],
    ["--memory-arena", "memoryArena"],
  ])("native and wasm do not obey %s, so they are refused where it is set", async (flag, setting) => {
    const { candidates } = await json<Decision>("explain", small, flag, "false");
    for (const backend of ["native", "wasm"])
      expect(candidates.find(({ target }) => target === `${backend}:cpu`)).toMatchObject({
        verdict: "refused",
        reason: `${backend} has no setting "${setting}", and you set it`,
      });
    expect(candidates.find(({ target }) => target === "onnx:cpu")?.verdict).toBe("would-run");
  });
});

interface Kept {
  readonly target: string;
  readonly machine: { processor: string };
  readonly figures: { latencyMs: number };
}

function recordFile(): string {
  const [name = "none"] = readdirSync(join(home, "measurements"));
  return join(home, "measurements", name);
}

function rewrite(change: (kept: Kept) => void): void {
  const file = JSON.parse(readFileSync(recordFile(), "utf8")) as { measurements: Kept[] };
  for (const kept of file.measurements) change(kept);
  writeFileSync(recordFile(), JSON.stringify(file));
}

const [skipRaw, rawName] = needsData("a model without a tokenizer");
describe.skipIf(skipRaw)(rawName, () => {
  it("is measured by runs on tensors made from what it says of its inputs", async () => {
    const file = join(folder, "model.onnx");
    cpSync(`${sharedData}tiny-random-bert/onnx/model.onnx`, file); // alone, so without its tokenizer
    const { code, stdout } = await command("bench", file, "--targets", "onnx:cpu", "--rounds", "1", "--count", "4");
    expect(code).toBe(0);
    expect(stdout).toMatch(/target +load +one run +rounds from - to +runs\/s \(bulk\) +memory\n +onnx:cpu /);
  });
});
