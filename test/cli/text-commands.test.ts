/** inferyard fill-mask, answer, similarity and extract as a person types them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeTableModel } from "../fixtures/models/answering-model.ts";
import { inferyard, useDirectory } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

interface Json {
  readonly model: string;
  readonly target: string;
  readonly results: readonly unknown[];
  readonly decision: { readonly selected: { readonly target: string } };
  readonly [beside: string]: unknown;
}

async function json(...words: readonly string[]): Promise<Json> {
  const { code, stdout, stderr } = await inferyard([...words, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const said = JSON.parse(stdout) as Json;
  expect(said.decision.selected.target).toBe(said.target);
  return said;
}

const folder = mkdtempSync(join(tmpdir(), "inferyard-commands-"));
afterAll(() => rmSync(folder, { recursive: true }));
useDirectory(folder);

describe("inferyard similarity", () => {
  it("a matrix of texts and texts", async () => {
    const { code, stdout, stderr } = await inferyard(["similarity", "a cat", "stocks", "--to", "a kitten", "the market"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^builtin · native:cpu · cosine\n {2}text +a kitten +the market\n {2}a cat +0\.\d{4} +-?0\.\d{4}\n/);
    expect(stderr).toMatch(/^2 texts with 2 texts in /);
  });

  it("one list is compared with itself, texts of a file with those of another", async () => {
    const own = await json("similarity", "a cat", "stocks");
    expect(own).toMatchObject({
      model: "builtin",
      metric: "cosine",
      results: [
        [expect.closeTo(1, 5), expect.any(Number)],
        [expect.any(Number), expect.closeTo(1, 5)],
      ],
    });
    const [texts, others] = [join(folder, "a.txt"), join(folder, "b.jsonl")];
    writeFileSync(texts, "a cat\n");
    writeFileSync(others, '"a kitten"\n{"text":"the market"}\n');
    const files = await json("similarity", "--input", texts, "--with", others, "--metric", "euclidean");
    expect(files).toMatchObject({ metric: "euclidean", results: [[expect.any(Number), expect.any(Number)]] });
    expect((files.results[0] as number[]).every((score) => score < 0)).toBe(true);
  });

  it("of a wide matrix the most alike are shown, a text itself left out", async () => {
    const texts = ["a cat", "a kitten", "stocks", "the market", "trains", "a train", "rain"];
    const { stdout } = await inferyard(["similarity", ...texts]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(2 + 3 * texts.length);
    expect(lines[1]).toMatch(/^ {2}text +score +most alike$/);
    expect(lines[2]).toMatch(/^ {2}a cat +0\.\d{4} {2}a kitten$/);
  });

  it("refuses two answers to one question", async () => {
    expect(await inferyard(["similarity", "a", "--to", "b", "--with", "c.txt"])).toMatchObject({ code: 2, stdout: "" });
    expect((await inferyard(["similarity", "--with", "-"], { stdin: "a\n" })).stderr).toContain("stdin cannot be both");
    expect(await inferyard(["similarity", "a", "--metric", "cosinus"])).toMatchObject({ code: 2 });
  });
});

const [skip, name] = needsData("commands on real models");
describe.skipIf(skip)(name, () => {
  const splade = `${sharedData}tiny-random-splade`;
  const ner = `${sharedData}minilm-l3-ner`;
  const answering = join(folder, "answering");
  beforeAll(() => {
    const logits = { madrid: 8, "[CLS]": 3 };
    writeTableModel(answering, { tokenizerFolder: `${sharedData}all-MiniLM-L6-v2`, maxTokens: 32, start: logits, end: logits });
  });

  it("fill-mask: tokens with their texts, and the field names of transformers", async () => {
    const { stdout, code } = await inferyard(["fill-mask", "--model", splade, "the [MASK] of France", "--top-k", "2"]);
    expect(code).toBe(0);
    expect(stdout.split("\n")[1]).toMatch(/^ {2}token +score +text$/);
    expect(stdout.trimEnd().split("\n")).toHaveLength(4);
    const { results } = await json("fill-mask", "--model", splade, "the [MASK]", "[MASK] [MASK]", "--top-k", "1");
    const fill = {
      score: expect.any(Number),
      token: expect.any(Number),
      token_str: expect.any(String),
      sequence: expect.any(String),
    };
    expect(results).toEqual([[fill], [[fill], [fill]]]);
  });

  it("fill-mask: a target of several tokens is told", async () => {
    const words = ["fill-mask", "--model", splade, "the [MASK]", "--targets", "time,girl"];
    expect((await inferyard(words)).stdout).toContain('"time" is more than one token: its first, "ti", was considered');
    expect((await json(...words))["targets"]).toEqual([
      { target: "time", token: 252, token_str: "ti", whole: false },
      { target: "girl", token: 390, token_str: "girl", whole: true },
    ]);
    expect(await inferyard(["fill-mask", "--model", splade, "no mask"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("text 0 has no mask token; that of this model is [MASK]") as string,
    });
  });

  it("answer: the piece, its place and its score; no answer is told where it may be one", async () => {
    const words = ["answer", "--model", answering, "--question", "Where?", "🍕 She lives in Madrid.", "Nobody knows."];
    const { stdout } = await inferyard([...words, "--no-answer"]);
    expect(stdout).toMatch(
      / {2}🍕 She lives in Madrid\. +Madrid +16-22 +0\.9\d{3}\n {2}Nobody knows\. +\(no answer\) +0\.\d{4}\n$/,
    );
    const { results } = await json(...words, "--offsets", "bytes");
    expect(results[0]).toEqual([{ score: expect.any(Number), start: 18, end: 24, answer: "Madrid" }]);
    expect((await json(...words, "--top-k", "2")).results[0]).toHaveLength(2);
    expect(await inferyard(["answer", "--model", answering, "a text"])).toMatchObject({ code: 2 });
  });

  it("nothing of a text steers the terminal", async () => {
    const text = "pi\u202Ezza\u001B[2J Madrid [MASK]";
    const runs = await Promise.all([
      inferyard(["answer", "--model", answering, "--question", "Where?", text]),
      inferyard(["fill-mask", "--model", splade, text, "--targets", "ti\u001B[2Jme"]),
      inferyard(["similarity", text, "--to", text]),
      inferyard(["extract", "--model", ner, "--schema", '{"a\\u001b":{"entity":"LOC"}}', text]),
    ]);
    for (const { code, stdout } of runs) {
      expect(code).toBe(0);
      for (const character of ["\u001B", "\u202E"]) expect(stdout).not.toContain(character);
    }
  });

  it("extract: fields from a file or inline, both models told", async () => {
    const schema = { person: { entity: "PER" }, places: { entity: "LOC", many: true }, city: { question: "Where?" } };
    const file = join(folder, "schema.json");
    writeFileSync(file, JSON.stringify(schema));
    const models = ["--model", ner, "--question-model", answering];
    const text = "José Mourinho lives in Madrid.";
    const { stdout } = await inferyard(["extract", ...models, "--schema", file, text, "nothing"]);
    expect(stdout).toMatch(/ {2}José Mourinho lives in Madrid\. +person +José Mourinho +0-13 +0\.\d{4}\n/);
    expect(stdout).toMatch(/ {2}nothing +city +\(not found\)\n/);
    const said = await json("extract", ...models, "--schema", JSON.stringify(schema), text);
    expect(said).toMatchObject({ model: ner, question: { model: answering, target: expect.stringContaining(":") as string } });
    expect(said.results[0]).toMatchObject({
      person: { value: "José Mourinho", start: 0, end: 13, label: "PER" },
      places: [{ value: "Madrid", label: "LOC" }],
      city: { value: "Madrid", start: 23, end: 29 },
    });
    const { city } = schema;
    const alone = await json("extract", "--question-model", answering, "--schema", JSON.stringify({ city }), text);
    expect(alone.model).toBe(answering);
  });

  it.each([
    [["--schema", '{"a":{"entity":"PER"}}'], "--model"],
    [["--schema", '{"a":{"question":"Who?"}}'], "--question-model"],
    [["--schema", '{"a"'], "is not JSON"],
    [["--schema", "no-such-file.json"], "no-such-file.json cannot be read"],
    [["--schema", "{}"], "at least one field"],
    [["--schema", '{"a":{"entity":"DOG"}}', "--model", ner], "it has PER, ORG, LOC"],
  ])("extract %j is refused", async (words, told) => {
    const { code, stdout, stderr } = await inferyard(["extract", ...words, "a text"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(told);
  });
});
