import { describe, expect, it } from "vitest";
import * as z from "zod";
import { describeValue, issueMessage } from "./issue-message.ts";
import { schemaProblems } from "./schema-problems.ts";

const schema = z.strictObject({
  name: z.string().max(4),
  mode: z.enum(["cut", "error"]),
  share: z.number().min(0).lt(1),
  count: z.int().multipleOf(4),
  input: z.union([z.string(), z.array(z.int())]),
  texts: z.array(z.string()).min(1),
  even: z.number().refine((value) => value % 2 === 0, "must be even"),
  code: z.string().regex(/^[a-z]+$/),
});
const valid = { name: "a", mode: "cut", share: 0.5, count: 8, input: "a", texts: ["a"], even: 2, code: "a" };

describe("the message of an issue says what the value must be, and what it is", () => {
  it.each([
    ["name", undefined, "must be a string, and is missing"],
    ["name", "abcde", 'must have at most 4 characters, and is "abcde"'],
    ["mode", "cutt", 'must be one of "cut", "error", and is "cutt"'],
    ["share", 1, "must be less than 1, and is 1"],
    ["share", -1, "must be at least 0, and is -1"],
    ["count", 2.5, "must be a whole number, and is 2.5"],
    ["count", 6, "must be a multiple of 4, and is 6"],
    ["input", true, "must be a string, or be an array, and is true"],
    ["input", [1, "b"], "must be a string, or have an element 1 that must be a number, and is an array of 2"],
    ["texts", [], "must have at least 1 element, and is an empty array"],
    ["texts", {}, "must be an array, and is an object"],
    ["even", 3, "must be even"],
    ["code", "A1", 'must match /^[a-z]+$/, and is "A1"'],
  ])("%s: %j", (field, value, message) => {
    expect(schemaProblems(schema, { ...valid, [field]: value })).toEqual([`${field}: ${message}`]);
  });

  it("names unknown fields", () => {
    const result = schema.safeParse({ ...valid, other: 1 }, { error: issueMessage });
    expect(result.error?.issues.map(({ message }) => message)).toEqual(['unknown field "other"']);
  });

  it("repeats no long string, which may be a user's text", () => {
    expect(describeValue("a".repeat(50))).toBe("a string of 50 characters");
  });
});
