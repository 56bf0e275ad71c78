/** Unknown fields, and null, at every depth of a request: over the routes of a router as protocols make them. */
import { describe, expect, it } from "vitest";
import { z } from "@hono/zod-openapi";
import { ClientTurns } from "../../serving/client-turns.ts";
import { requestMiddleware } from "../middleware.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { listField, members, memberRecord, oneOfFields, requestObject, textField } from "../field-schemas.ts";
import { createRouter } from "../routes/router.ts";
import { post } from "../routes/route.ts";
import { ignorableIssue } from "./schema-run.ts";

const part = requestObject({ type: z.string(), text: z.string().optional() });
const tool = requestObject({ name: z.string(), parameters: members().optional() });
const schema = requestObject({
  model: z.string().optional(),
  messages: listField(
    requestObject({
      role: z.string(),
      content: oneOfFields<unknown>("a text or parts", [textField, { schema: listField(part), fits: Array.isArray }]),
      name: z.string().optional(),
    }),
  ).optional(),
  tools: listField(tool)
    .check((context) => {
      for (const [index, each] of context.value.entries())
        if (each.name === "search") context.issues.push(ignorableIssue([index], "search is not run here"));
      context.value = context.value.filter(({ name }) => name !== "search");
    })
    .optional(),
  byName: memberRecord(requestObject({ size: z.int().optional() })).optional(),
  either: z.union([z.string(), requestObject({ on: z.boolean().optional() })]).optional(),
  options: oneOfFields("an object", [{ schema: requestObject({ depth: z.int().optional() }), fits: isObject }]).optional(),
});

async function ask(
  body: unknown,
  { strictFields = false, isStrictTable }: { strictFields?: boolean; isStrictTable?: boolean } = {},
) {
  const errors = { schema: z.unknown(), body: ({ message }: { message: string }) => ({ message }) };
  const route = post({ path: "/ask", schema, answer: (request, context) => context.json(request) });
  const table = { errors, routes: [route], ...(isStrictTable === undefined ? {} : { strictFields: isStrictTable }) };
  const routes = createRouter([table], errors, requestMiddleware({ strictFields }, new ClientTurns()));
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await routes.fetch(new Request("http://localhost/ask", init));
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown> & { readonly message: string },
    ignored: response.headers.get("x-inferyard-ignored"),
  };
}

const cases: readonly (readonly [given: object, read: object, ignored: string])[] = [
  [{ model: "m", speed: "fast" }, { model: "m" }, "/speed"],
  [
    {
      messages: [
        { role: "user", content: "a", cache: 1 },
        { role: "user", content: [{ type: "text", text: "b", x: {} }] },
      ],
    },
    {
      messages: [
        { role: "user", content: "a" },
        { role: "user", content: [{ type: "text", text: "b" }] },
      ],
    },
    "/messages/0/cache,/messages/1/content/0/x",
  ],
  [{ byName: { a: { size: 1, colour: 2 } } }, { byName: { a: { size: 1 } } }, "/byName/a/colour"],
  [{ either: { on: true, off: false } }, { either: { on: true } }, "/either/off"],
  [{ options: { depth: 1, width: 2 } }, { options: { depth: 1 } }, "/options/width"],
  [{ tools: [{ name: "search" }, { name: "f", strict: true }] }, { tools: [{ name: "f" }] }, "/tools/1/strict,/tools/0"],
  [{ ["__proto__x"]: 1 }, {}, "/__proto__x"],
];

describe("fields that a route does not know", () => {
  it.each(cases)("%j: are left out and named", async (given, read, ignored) => {
    expect(await ask(given)).toEqual({ status: 200, body: read, ignored });
  });

  it.each(cases)("%j: are refused by name where fields are strict", async (given) => {
    for (const policy of [{ strictFields: true }, { isStrictTable: true as const }]) {
      const { status, body, ignored } = await ask(given, policy);
      expect([status, ignored]).toEqual([400, null]);
      expect(body.message).toMatch(/unknown field|search is not run here/);
    }
  });

  it("do not hide faults, and are not told with them", async () => {
    const { status, body } = await ask({ speed: 1, messages: [{ role: 3, content: "a", x: 1 }] });
    expect(status).toBe(400);
    expect(body.message).toBe("the request is invalid: messages.0.role: must be a string, and is 3");
  });

  it("null is absent at every depth, and stays in what the client's own values hold", async () => {
    const given = {
      model: null,
      unknown: null,
      messages: [
        { role: "user", content: "a", name: null, more: null },
        { role: "user", content: [{ type: "text", text: null }] },
      ],
      tools: [{ name: "f", parameters: { properties: { a: { default: null, enum: [null] } } } }],
      byName: { a: { size: null } },
      either: { on: null },
      options: null,
    };
    expect(await ask(given)).toEqual({
      status: 200,
      body: {
        messages: [
          { role: "user", content: "a" },
          { role: "user", content: [{ type: "text" }] },
        ],
        tools: given.tools,
        byName: { a: {} },
        either: {},
      },
      ignored: null,
    });
  });

  it("of very many elements are named within a bound", async () => {
    const messages = Array.from({ length: 20_000 }, () => ({ role: "user", content: "a", x: 1, y: 2 }));
    const { status, ignored, body } = await ask({ messages });
    expect([status, (body["messages"] as unknown[]).length]).toEqual([200, 20_000]);
    expect(ignored?.length).toBeLessThan(2100);
    const named = ignored?.split(",") ?? [];
    expect(named.length - 1 + Number(named.at(-1))).toBe(40_000);
  });
});
