/** Fields by schema, with a trained model of names and one whose answers are known beforehand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ExtractRequest, type ExtractedValue, type Runtime, createRuntime } from "inferyard";
import { writeTableModel } from "../fixtures/models/answering-model.ts";
import { writeSpanModel } from "../fixtures/models/span-model.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const model = `${sharedData}minilm-l3-ner`;
const folder = mkdtempSync(join(tmpdir(), "inferyard-extract-"));
afterAll(() => rmSync(folder, { recursive: true }));
const questionModel = join(folder, "answers");

const [skip, name] = needsData("fields of real sentences");

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  beforeAll(async () => {
    const logits = { madrid: 8, tuesday: 7, "[CLS]": 3 };
    writeTableModel(questionModel, {
      tokenizerFolder: `${sharedData}all-MiniLM-L6-v2`,
      maxTokens: 64,
      start: logits,
      end: logits,
    });
    runtime = await createRuntime({ target: "onnx:cpu", host: "inline", threads: 1 });
  });
  afterAll(async () => {
    await runtime.dispose();
  });

  const text = "Angela Merkel visited Paris. Siemens AG is in Munich 🍕, said José Mourinho on Tuesday.";
  const schema = {
    person: { entity: "PER" },
    people: { entity: "PER", many: true },
    places: { entity: ["LOC"], many: true },
    day: { question: "On which day?" },
  } as const;

  it("names as recognize finds them, answers as answer finds them, both runs told", async () => {
    const result = await runtime.extract(text, { model, questionModel, schema });
    const [fields] = result.results;
    expect(Object.keys(fields ?? {})).toEqual(["person", "people", "places", "day"]);
    const { results } = await runtime.recognize(text, { model, aggregation: "first" });
    const named = (kind: string) =>
      results[0]!
        .filter(({ entityGroup }) => entityGroup === kind)
        .map(({ start, end, score }) => ({ value: text.slice(start, end), start, end, score, label: kind }));
    expect(named("PER").length).toBeGreaterThan(1);
    expect(fields?.["people"]).toEqual(named("PER"));
    expect(fields?.["places"]).toEqual(named("LOC"));
    expect(fields?.["person"]).toEqual(named("PER").toSorted((a, b) => b.score - a.score)[0]);
    const answered = await runtime.answer("On which day?", text, { model: questionModel });
    const { answer: value, ...place } = answered.results[0]![0]!;
    expect(fields?.["day"]).toEqual({ value, ...place });
    expect(value).toBe("Tuesday");
    expect([result.model, result.target, result.decision.selected?.target]).toEqual([model, "onnx:cpu", "onnx:cpu"]);
    expect([result.questionRun?.model, result.questionRun?.decision.selected?.target]).toEqual([questionModel, "onnx:cpu"]);
    expect(result.milliseconds).toBeGreaterThan(0);
  });

  it("positions in every unit", async () => {
    const places = async (offsets: "utf16" | "codepoints" | "bytes"): Promise<ExtractedValue[]> => {
      const { results } = await runtime.extract(text, { model, questionModel, schema, offsets });
      return Object.values(results[0]!).flatMap((field) => field ?? []);
    };
    for (const { value, start, end } of await places("utf16")) expect(text.slice(start, end)).toBe(value);
    for (const { value, start, end } of await places("codepoints"))
      expect(Array.from(text).slice(start, end).join("")).toBe(value);
    for (const { value, start, end } of await places("bytes"))
      expect(Buffer.from(text).subarray(start, end).toString()).toBe(value);
  });

  it("what is not found is null, or an empty list; minScore decides what counts as found", async () => {
    const { results } = await runtime.extract(["nothing here", ""], { model, questionModel, schema });
    for (const fields of results) expect(fields).toEqual({ person: null, people: [], places: [], day: null });
    const sure = await runtime.extract(text, { model, questionModel, schema, minScore: 1 });
    expect(sure.results[0]).toEqual({ person: null, people: [], places: [], day: null });
    const some = await runtime.extract(text, { model, schema: { people: schema.people }, minScore: 0.9 });
    for (const { score } of some.results[0]!["people"] as ExtractedValue[]) expect(score).toBeGreaterThanOrEqual(0.9);
  });

  it("one model alone, of either kind, and its decision", async () => {
    const names = await runtime.extract([text, text], { model, schema: { person: schema.person } });
    expect(names.results).toHaveLength(2);
    expect(names.questionRun).toBeUndefined();
    const answers = await runtime.extract(text, { questionModel, schema: { day: schema.day, city: { question: "Where?" } } });
    expect(answers.model).toBe(questionModel);
    expect(answers.results[0]?.["day"]).toMatchObject({ value: "Tuesday" });
    expect((await runtime.extract([], { model, schema: { person: schema.person } })).results).toEqual([]);
  });

  it("a model that is told what to look for finds any label, whole names, and says what it is not told", async () => {
    const spans = join(folder, "spans");
    const groups = [
      ["person", "maria", "schmidt"],
      ["city", "paris", "london"],
    ];
    writeSpanModel(spans, { tokenizerFolder: `${sharedData}all-MiniLM-L6-v2`, groups, maxWidth: 4, maxWords: 20, maxTokens: 64 });
    const request = { model: spans, schema: { who: { entity: "person" }, where: { entity: ["city"], many: true } } } as const;
    const { results } = await runtime.extract("🍕 Maria Schmidt left Paris and some days later saw London.", {
      ...request,
      offsets: "codepoints",
    });
    expect(results[0]).toMatchObject({
      who: { value: "Maria Schmidt", start: 2, end: 15, label: "person" },
      where: [{ value: "Paris" }, { value: "London" }],
    });
    await expect(runtime.extract("a", { ...request, aggregation: "first" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("handles, and what is loaded for one call is given back", async () => {
    const handle = await runtime.load(model);
    expect((await runtime.extract(text, { model: handle, schema: { person: schema.person } })).model).toBe(model);
    await handle.dispose();
    await runtime.unload(model);
    await runtime.unload(questionModel);
  });

  it.each<[string, Partial<ExtractRequest>, string, string]>([
    ["a question without its model", { model }, 'the field "day"', "`questionModel`"],
    ["a name without its model", { questionModel }, 'the field "person"', "`model`"],
    ["a label the model does not have", { model, schema: { a: { entity: "DATE" } } }, 'no label "DATE"', "it has PER, ORG, LOC"],
    ["a label that says there is none", { model, schema: { a: { entity: "O" } } }, 'no label "O"', "it has PER, ORG, LOC"],
    ["a needless model", { model, questionModel, schema: { a: { entity: "PER" } } }, "`questionModel` was given", "leave"],
    ["no schema", { model, schema: undefined as never }, "the schema must be", "for example"],
    ["an unknown option", { model, questionModel, minscore: 1 } as never, '"minscore"', "minScore"],
    ["an aggregation of tokens", { model, questionModel, aggregation: "none" as never }, 'aggregation is "none"', "first"],
    ["an unknown unit", { model, questionModel, offsets: "lines" as never }, 'offsets is "lines"', "utf16"],
  ])("%s is refused", async (_what, request, words, remedy) => {
    await expect(runtime.extract(text, { schema, ...request })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(words) as string,
      remedy: expect.stringContaining(remedy) as string,
    });
  });
});
