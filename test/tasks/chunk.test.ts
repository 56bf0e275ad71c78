/** Chunking as a user meets it: the built package and its command line, real models. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chunk, type Runtime, createRuntime } from "inferyard";
import { type CommandResult, inferyard, useDirectory } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-chunk-"));
let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await runtime.dispose();
});

const subjects = [
  "Cats sleep most of the day. A kitten plays with its tail. Every cat likes warm places.",
  "The central bank raised its interest rate. Inflation had climbed for months. Investors sold government bonds.",
].join(" ");

describe("runtime.chunk", () => {
  it("loads no model where only a tokenizer is needed", async () => {
    await runtime.unloadIdle(); // of other tests
    const result = await runtime.chunk(["one two three", ""], { targetTokens: 2 });
    expect(result.results.map(({ chunks }) => chunks.map(({ text }) => text))).toEqual([["one two ", "three"], []]);
    expect(result).not.toHaveProperty("target");
    expect(await runtime.loaded()).toEqual([]);
  });

  it("semantic: finds where builtin sees the subject change, and says where it ran", async () => {
    const { results, target, decision } = await runtime.chunk(subjects, { strategy: "semantic", percentile: 80 });
    expect(results[0]?.chunks.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^The central bank/));
    expect(target).toBe("native:cpu");
    expect(decision?.selected?.target).toBe("native:cpu");
  });

  it("takes a handle, and refuses an option it does not know", async () => {
    const model = await runtime.load("builtin");
    expect((await runtime.chunk("one two", { model })).results[0]?.chunks).toHaveLength(1);
    await model.dispose();
    await expect(runtime.chunk("x", { target: "onnx:cuda" })).rejects.toThrow('"target" has no effect with the strategy fixed');
    await expect(runtime.chunk("x", { targetToken: 5 } as object)).rejects.toThrow('chunk has no option "targetToken"');
  });

  it("stops when the caller gives up", async () => {
    const signal = AbortSignal.timeout(20);
    await expect(runtime.chunk("some words. ".repeat(300_000), { signal })).rejects.toMatchObject({ code: "ABORTED" });
  });

  const [skip, name] = needsData("counts with the tokenizer of the model that is named");
  it.skipIf(skip)(name, async () => {
    const text = "antidisestablishmentarianism ".repeat(30);
    const { results } = await runtime.chunk(text, { model: `${sharedData}all-MiniLM-L6-v2`, targetTokens: 20 });
    const chunks = results[0]?.chunks ?? [];
    expect(chunks.map((chunk) => chunk.text).join("")).toBe(text);
    expect(Math.max(...chunks.map(({ tokens }) => tokens))).toBeLessThanOrEqual(20);
    expect(Math.max(...chunks.map(({ tokens }) => tokens))).toBeGreaterThan(10);
  });
});

describe("inferyard chunk", () => {
  useDirectory(folder);
  const run = (args: readonly string[], stdin = ""): Promise<CommandResult> => inferyard(["chunk", ...args], { stdin });
  const chunksOf = (stdout: string): Chunk[][] =>
    (JSON.parse(stdout) as { results: { chunks: Chunk[] }[] }).results.map(({ chunks }) => chunks);

  it("reads whole files to the byte, and says positions in bytes", async () => {
    const text = "\uFEFFé one two\r\nthree\n\nfour";
    writeFileSync(join(folder, "a.txt"), text);
    const { stdout: output } = await run(["a.txt", "--target-tokens", "3", "--offsets", "bytes", "--json"]);
    const bytes = Buffer.from(text);
    const [chunks = []] = chunksOf(output);
    expect(chunks.length).toBeGreaterThan(1);
    for (const { start, end, text: piece } of chunks) expect(bytes.subarray(start, end).toString()).toBe(piece);
    expect(chunks.at(-1)?.end).toBe(bytes.length);
    expect(JSON.parse(output)).toMatchObject({ model: "builtin", target: null, decision: null });
  });

  it("reads stdin as one document, and a .jsonl as one a line", async () => {
    expect(chunksOf((await run(["--json"], "one\ntwo\n")).stdout).map(([first]) => first?.text)).toEqual(["one\ntwo\n"]);
    writeFileSync(join(folder, "a.jsonl"), '"one"\n{"text":"two"}\n');
    expect(chunksOf((await run(["--input", "a.jsonl", "--json"])).stdout).map(([first]) => first?.text)).toEqual(["one", "two"]);
  });

  it("refuses a file that is not there, one that is not UTF-8, and flags that mean nothing", async () => {
    writeFileSync(join(folder, "bad"), Buffer.of(0xff, 0x61));
    for (const [args, message] of [
      [["nothing.md"], "nothing.md cannot be read"],
      [["bad"], "bad is not UTF-8"],
      [["a text", "--target", "onnx:cuda"], "--target has no effect with the strategy fixed"],
      [["a text", "--structure", "markdown"], "structure has no effect with the strategy fixed"],
    ] as const) {
      const { code, stderr } = await run(args);
      expect([code, stderr.includes(message)], stderr).toEqual([2, true]);
    }
  });

  it("says when chunks were left out", async () => {
    expect((await run(["one two three", "--target-tokens", "1", "--max-chunks", "2"])).stderr).toContain(
      "1 document cut after 2 chunks",
    );
  });
});
