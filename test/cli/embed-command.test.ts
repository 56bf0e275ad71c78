/** `inferyard embed` in its other forms: the built command line. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { type CommandResult, inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const run = (...args: string[]): Promise<CommandResult> => inferyard(["embed", ...args]);
const [skip, name] = needsData("with models");

describe("embed", () => {
  it("--precision prints whole numbers and their scales", async () => {
    const { embeddings, scales, precision, dimensions } = JSON.parse(
      (await run("a cat", "ein Satz", "--precision", "uint8", "--dimensions", "16", "--json")).stdout,
    ) as {
      embeddings: number[][];
      scales: { per: string; starts: number[]; steps: number[] };
      precision: string;
      dimensions: number;
    };
    const exact = await run("a cat", "ein Satz", "--dimensions", "16", "--json");
    const { embeddings: floats } = JSON.parse(exact.stdout) as { embeddings: number[][] };
    expect([precision, dimensions, scales.per]).toEqual(["uint8", 16, "text"]);
    for (const [text, numbers] of embeddings.entries()) {
      for (const [axis, number] of numbers.entries())
        expect(Math.abs(scales.starts[text]! + scales.steps[text]! * number - floats[text]![axis]!)).toBeLessThan(0.003);
    }
    const line = JSON.parse((await run("a cat", "--precision", "int8", "--dimensions", "8", "--jsonl")).stdout) as object;
    expect(line).toMatchObject({ index: 0, text: "a cat", embedding: expect.any(Array), start: 0, step: expect.any(Number) });
    const bits = await run("a cat", "--precision", "binary", "--dimensions", "12");
    expect([bits.code, bits.stderr]).toEqual([2, expect.stringContaining("packs 8 dimensions into a byte")]);
  });

  it("--truncate windows says in how many windows it read", async () => {
    const { stdout, stderr } = await run(
      "one two three four five six seven",
      "--max-tokens",
      "3",
      "--truncate",
      "windows",
      "--stride",
      "1",
    );
    expect(stdout).toContain("256 dimensions");
    expect(stderr).toMatch(/^1 text longer than the model reads, read in 3 windows$/m);
    expect((await run("a", "--stride", "1")).stderr).toContain('stride has no effect with truncate "cut"');
  });

  it("flags of sparse and of dense vectors do not go together", async () => {
    expect(await run("a", "--top-k", "3")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--top-k has no effect without --sparse"),
    });
    for (const flags of [["--npy", "x.npy"], ["--no-normalize"], ["--precision", "int8"], ["--jsonl"], ["--dimensions", "3"]])
      expect((await run("a", "--sparse", ...flags)).stderr).toContain(
        `${flags[0]!.replace("no-", "")} has no effect with --sparse`,
      );
  });
});

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
  afterAll(() => runtime.dispose());

  it("--sparse gives what embedSparse gives, with the tokens' text", async () => {
    const model = `${sharedData}tiny-random-splade`;
    const texts = ["the cat sat", "a dog"];
    const { embeddings } = await runtime.embedSparse(texts, { model, topK: 4 });
    const handle = await runtime.load(model);
    const tokenizer = await runtime.tokenizer(handle);
    const printed = JSON.parse((await run(...texts, "--model", model, "--sparse", "--top-k", "4", "--json")).stdout) as {
      model: string;
      target: string;
      results: { indices: number[]; values: number[]; tokens: string[] }[];
    };
    expect([printed.model, printed.target]).toEqual([model, "onnx:cpu"]);
    for (const [index, { indices, values }] of embeddings.entries()) {
      expect(printed.results[index]!.indices).toEqual([...indices]);
      expect(printed.results[index]!.tokens).toEqual(Array.from(indices, (id) => tokenizer.idToToken(id)));
      for (const [place, value] of values.entries()) expect(printed.results[index]!.values[place]).toBeCloseTo(value, 5);
    }
    const { stdout, stderr } = await run(...texts, "--model", model, "--sparse");
    expect(stdout).toContain(`${printed.results[0]!.tokens[0]} ${printed.results[0]!.values[0]!.toFixed(3)}`);
    expect(stderr).toContain("--json for all weights");
    await handle.dispose();
  });

  it("token vectors are a list for each token, of a late-interaction model without being asked", async () => {
    const model = `${sharedData}tiny-random-colbert`;
    const { embeddings, pooling } = await runtime.embed(["a cat"], { model });
    expect(pooling).toBe("none");
    const asked = await runtime.embed(["a cat"], { model, pooling: "none" });
    expect(embeddings).toEqual(asked.embeddings);
    const printed = JSON.parse((await run("a cat", "--model", model, "--json")).stdout) as { embeddings: number[][][] };
    expect(printed.embeddings[0]!.map((vector) => vector.length)).toEqual(Array(embeddings[0]!.length / 16).fill(16));
    expect(printed.embeddings[0]!.flat().map((value) => Math.fround(value))).toEqual([...embeddings[0]!]);
    expect((await run("a cat", "--model", model, "--npy", "x.npy")).stderr).toContain("--npy needs one vector per text");
    await expect(runtime.embed("a", { model, precision: "int8" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});
