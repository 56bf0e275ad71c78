import { describe, expect, it, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { InferyardError } from "../../contract/errors.ts";
import {
  anyList,
  arrayAlternative,
  conversation,
  isNumberField,
  isText,
  listField,
  members,
  nullAsAbsent,
  oneOfFields,
  requestObject,
  textField,
  texts,
  tokenIds,
} from "./field-schemas.ts";
import { issueMessage } from "../../models/validation/issue-message.ts";
import { requestLimits } from "./request-limits.ts";
import { invalidRequest } from "./validation.ts";

const input = oneOfFields<string | string[] | number[] | number[][]>(
  "a string, or an array of strings, of ids, or of arrays of ids",
  [
    textField,
    arrayAlternative(texts(3, 1), isText),
    arrayAlternative(tokenIds(1), isNumberField),
    arrayAlternative(listField(tokenIds(1), { min: 1, max: 3 }), Array.isArray),
  ],
);
const body = z.strictObject({ input });

function faultsOf(schema: z.ZodType, value: unknown): [code: string, message: string, count: number] {
  const result = schema.safeParse(value, { error: issueMessage });
  if (result.success) return ["none", "", 0];
  const { code, message } = invalidRequest(result.error.issues);
  return [code, message, result.error.issues.length];
}

describe("a field of several shapes", () => {
  it.each([["a"], [["a", "b", "c"]], [[1, 2]], [[[1], [2, 3]]]])("takes %j as it is", (value) => {
    const result = body.safeParse({ input: value });
    expect(result.data?.input).toBe(value);
  });

  it.each<[unknown, string, string]>([
    [{}, "INPUT_INVALID", "input: must be a string, or an array of strings, of ids, or of arrays of ids, and is an object"],
    [undefined, "INPUT_INVALID", "and is missing"],
    [null, "INPUT_INVALID", "and is null"],
    [[], "INPUT_INVALID", "input: must have at least 1 element, and is an empty array"],
    [["a", 3], "INPUT_INVALID", "input.1: must be a string, and is 3"],
    [[1, -1], "INPUT_INVALID", "input.1: must be at least 0, and is -1"],
    [[1, 1.5], "INPUT_INVALID", "input.1: must be a whole number, and is 1.5"],
    [[[1], []], "INPUT_INVALID", "input.1: must have at least 1 element"],
    [[[1], [2, "a"]], "INPUT_INVALID", 'input.1.1: must be a number, and is "a"'],
    [["a", "b", "c", "d"], "LIMIT_EXCEEDED", "input: has 4 elements, and the limit is 3"],
    [[[1], [1], [1], ["a"]], "LIMIT_EXCEEDED", "input: has 4 elements, and the limit is 3"],
  ])("refuses %j with one fault, of the shape it has", (value, code, words) => {
    expect(faultsOf(body, { input: value })).toEqual([code, expect.stringContaining(words), 1]);
  });

  it("reads no element of what is too long, and none behind the first fault", () => {
    const seen = vi.fn<(item: unknown) => void>();
    const fits = (item: unknown): item is string => {
      seen(item);
      return typeof item === "string";
    };
    const list = listField(z.string(), { max: 10, fits });
    expect(
      faultsOf(
        list,
        Array.from({ length: 11 }, () => 3),
      )[0],
    ).toBe("LIMIT_EXCEEDED");
    expect(seen).not.toHaveBeenCalled();
    expect(faultsOf(list, ["a", 3, 3, 3])[0]).toBe("INPUT_INVALID");
    expect(seen).toHaveBeenCalledTimes(2);
  });

  it("copies neither arrays nor objects, and takes no more members than it may", () => {
    const [list, object] = [[[[1]], 2], { a: 1, b: [2] }];
    expect(anyList().safeParse(list).data).toBe(list);
    expect(members(2).safeParse(object).data).toBe(object);
    expect(faultsOf(members(1), object)).toEqual(["LIMIT_EXCEEDED", expect.stringContaining("more than 1 members"), 1]);
    for (const value of [null, [], "a"]) expect(members(1).safeParse(value).success).toBe(false);
    for (const value of [null, {}, "a"]) expect(anyList().safeParse(value).success).toBe(false);
  });
});

describe("invalidRequest", () => {
  it("names a few faults and counts the others, in bounded words", () => {
    const value = Object.fromEntries(Array.from({ length: 10_000 }, (_value, index) => [`${"x".repeat(100)}${index}`, 0]));
    const strict = z.strictObject({ a: z.string(), b: z.string(), c: z.string(), d: z.string() });
    const result = strict.safeParse(value, { error: issueMessage });
    const error = invalidRequest(result.error?.issues ?? []);
    expect(error).toBeInstanceOf(InferyardError);
    expect(error.message).toContain("a: must be a string, and is missing");
    expect(error.message).toMatch(/; and 2 more$/);
    const keys = z.strictObject({}).safeParse(value, { error: issueMessage });
    expect(invalidRequest(keys.error?.issues ?? []).message.length).toBeLessThan(400);
  });
});

describe("members that are null", () => {
  const schema = requestObject({
    query: z.string(),
    top_n: z.int().optional(),
    parameters: requestObject({ a: z.int().optional() }).optional(),
  });

  it.each([
    [{ query: "a", top_n: null, max_chunks_per_doc: null, parameters: null }, { query: "a" }],
    [
      { query: "a", parameters: { a: null, b: null } },
      { query: "a", parameters: {} },
    ],
    [
      { query: "a", parameters: {} },
      { query: "a", parameters: {} },
    ],
  ])("count as absent, known or not: %j", (value, read) => {
    const before = structuredClone(value);
    expect(schema.parse(value)).toStrictEqual(read);
    expect(value).toEqual(before); // the body may be read again
  });

  it("are refused where the member is required, as unknown members are that are not null", () => {
    expect(faultsOf(schema, { query: null })[1]).toContain("query: must be a string, and is null");
    expect(faultsOf(schema, { query: "a", other: 0 })[1]).toContain("other");
    expect(faultsOf(schema, { query: "a", parameters: { b: 1 } })[1]).toContain("b");
  });

  it("count as absent where unknown members are dropped, too", () => {
    expect(nullAsAbsent(z.object({ ready: z.boolean().optional() })).parse({ ready: null, more: null })).toStrictEqual({});
  });

  it("stand in the OpenAPI document as their schema alone", () => {
    const json = z.toJSONSchema(schema, { io: "output" });
    expect(json).toMatchObject({ type: "object", required: ["query"], properties: { top_n: { type: "integer" } } });
  });
});

describe("conversations", () => {
  const schema = conversation(z.looseObject({ role: z.string() }));
  const part = { type: "text", text: "a" };

  it("have so many messages, with their parts", () => {
    const within = [{ role: "user", content: Array.from({ length: requestLimits.messages - 1 }, () => part) }];
    expect(schema.safeParse(within).success).toBe(true);
    const many = Array.from({ length: requestLimits.messages / 2 }, () => ({ role: "user", content: [part] }));
    expect(schema.safeParse(many).success).toBe(true);
    expect(faultsOf(schema, [...many, { role: "user" }])[1]).toContain("has more than 32768 elements, with those in them");
    expect(
      faultsOf(
        schema,
        Array.from({ length: requestLimits.messages + 1 }, () => ({ role: "user" })),
      )[1],
    ).toContain("has 32769 elements");
  });
});
