import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { parseSchema } from "./extract-schema.ts";
import { extractParts, mergeFields } from "./extract.ts";

function refusal(work: () => unknown): InferyardError {
  try {
    work();
  } catch (error) {
    if (error instanceof InferyardError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("a schema", () => {
  it("becomes fields with their defaults", () => {
    expect(
      parseSchema({ person: { entity: "PER" }, place: { entity: ["LOC", "ORG"], many: true }, why: { question: "Why?" } }),
    ).toEqual({
      entities: [
        { name: "person", labels: ["PER"], many: false },
        { name: "place", labels: ["LOC", "ORG"], many: true },
      ],
      answers: [{ name: "why", question: "Why?" }],
    });
  });

  it.each([
    [undefined, "at least one field"],
    [[], "at least one field"],
    [{}, "at least one field"],
    [{ a: null }, 'the field "a" needs either'],
    [{ a: { entity: "PER", question: "Who?" } }, 'the field "a" needs either'],
    [{ a: { entity: [] } }, 'the field "a" has an `entity`'],
    [{ a: { entity: 3 } }, 'the field "a" has an `entity`'],
    [{ a: { question: " " } }, 'the field "a" has a `question`'],
    [{ a: { question: "Who?", many: true } }, 'the field "a" has no option "many"'],
    [{ a: { entity: "PER", mnay: true } }, 'the field "a" has no option "mnay"'],
    [{ a: { entity: "PER", many: "yes" } }, "many of the field"],
  ])("%j is refused with its field", (schema, words) => {
    const error = refusal(() => parseSchema(schema));
    expect(error.code).toBe("INPUT_INVALID");
    expect(error.message).toContain(words);
    expect(error.remedy).toBeTruthy();
  });
});

describe("models", () => {
  const both = { person: { entity: "PER" }, why: { question: "Why?" } } as const;

  it("names come first, and each part has its own model", () => {
    const parts = extractParts({ schema: both }, { model: "a", questionModel: "b" });
    expect(parts.map(({ model }) => model)).toEqual(["a", "b"]);
    expect(extractParts({ schema: { why: both.why } }, { model: undefined, questionModel: "b" })[0].model).toBe("b");
  });

  it.each([
    [{ schema: both }, { model: "a", questionModel: undefined }, 'the field "why"', "`questionModel`"],
    [{ schema: both }, { model: undefined, questionModel: "b" }, 'the field "person"', "`model`"],
    [{ schema: { why: both.why } }, { model: "a", questionModel: undefined }, 'the field "why"', "`questionModel`"],
    [{ schema: { why: both.why } }, { model: "a", questionModel: "b" }, "`model` was given", "leave `model` out"],
    [{ schema: both, minScore: 1.5 }, { model: "a", questionModel: "b" }, "minScore is 1.5", "minScore"],
    [{ schema: both, minScore: Number.NaN }, { model: "a", questionModel: "b" }, "minScore is NaN", "minScore"],
  ])("%j with %j is refused", (options, models, words, remedy) => {
    const error = refusal(() => extractParts<string>(options, models));
    expect(error.message).toContain(words);
    expect(error.remedy).toContain(remedy);
  });
});

it("results stand in the order of the schema, whatever the fields are called", () => {
  const schema = JSON.parse('{"__proto__":{"question":"a"},"x":{"entity":"b"},"y":{"question":"c"}}') as Record<
    string,
    { question: string }
  >;
  const value = { value: "v", start: 0, end: 1, score: 1 };
  const [fields] = mergeFields(
    schema,
    [{ results: [{ x: [value] }] }, { results: [Object.fromEntries([["__proto__", value]])] }],
    1,
  );
  expect(JSON.stringify(fields)).toBe(`{"__proto__":${JSON.stringify(value)},"x":[${JSON.stringify(value)}],"y":null}`);
});
