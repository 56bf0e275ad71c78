/** Time grows linearly in the size of every field of every route: the routes and fields are those of the OpenAPI document. */
import fc from "fast-check";
import { createRuntime, type Runtime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { amount } from "../fixtures/slow.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | false;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly example?: unknown;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The place of what grows, in a request that is right otherwise. */
const hole = "@grows@";

/** JSON of about so many bytes. */
const growths: Readonly<Record<string, (bytes: number) => string>> = {
  words: (bytes) => `"${"n ".repeat(bytes / 2)}"`,
  "one word": (bytes) => `"${"n".repeat(bytes)}"`,
  escapes: (bytes) => `"${'\\"'.repeat(bytes / 2)}"`,
  texts: (bytes) => listOf('"n"', bytes),
  ids: (bytes) => listOf("1", bytes),
  "lists of ids": (bytes) => listOf("[1]", bytes),
  objects: (bytes) => listOf("{}", bytes),
  lists: (bytes) => listOf("[]", bytes),
  pairs: (bytes) => listOf('["n","n"]', bytes),
  documents: (bytes) => listOf('{"text":"n"}', bytes),
  tensors: (bytes) => numbered(bytes / 60, (index) => `{"name":"t${index}","datatype":"BYTES","shape":[1],"data":["n"]}`, "[]"),
  members: (bytes) => numbered(bytes / 10, (index) => `"k${index}":0`, "{}"),
  "numeric members": (bytes) => numbered(bytes / 10, (index) => `"${index * 4096}":0`, "{}"),
  "one member again and again": (bytes) => `{${'"k":0,'.repeat(bytes / 6)}"k":0}`,
  nesting: (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2),
  digits: (bytes) => "1".repeat(bytes),
};

function listOf(item: string, bytes: number): string {
  return `[${`${item},`.repeat(bytes / (item.length + 1))}${item}]`;
}

function numbered(count: number, item: (index: number) => string, [open, close]: string): string {
  return `${open}${Array.from({ length: count }, (_value, index) => item(index)).join(",")}${close}`;
}

/** Requests whose right values the document does not say. */
const samples: Readonly<Record<string, unknown>> = {
  "/infer": { inputs: [{ name: "text", datatype: "BYTES", shape: [1], data: ["a"] }], outputs: [{ name: "embedding" }] },
  "/api/chunk": { input: "a text", config: { target_tokens: 10 } },
};

let runtime: Runtime;
let handler: Handler;
let document: OpenApi;
beforeAll(async () => {
  runtime = await createRuntime();
  handler = createHandler(runtime);
  document = (await (await handler(new Request("http://localhost/openapi.json"))).json()) as OpenApi;
});
afterAll(() => runtime.dispose());

function resolved(schema: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : resolved(document.components.schemas[name]!);
}

/** A value that fits. */
function sampleOf(given: Schema): unknown {
  const { example, anyOf, enum: values, const: only, type, properties = {}, required = [], items, prefixItems } = resolved(given);
  if (example !== undefined) return example;
  if (only !== undefined) return only;
  if (values !== undefined) return values[0];
  if (anyOf !== undefined) return sampleOf(anyOf[0]!);
  if (prefixItems !== undefined) return prefixItems.map(sampleOf);
  const kind = typeof type === "string" ? type : type?.[0];
  if (kind === "array") return [sampleOf(items || {})];
  if (kind === "object") return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name]!)]));
  return kind === "integer" || kind === "number" ? 1 : kind === "boolean" ? true : "a";
}

/** The request with a hole in the place of each of its fields, of each element, and of a field that nobody knows. */
function* holesIn(given: Schema, sample: unknown): Generator {
  yield hole;
  const { anyOf = [], properties, items } = resolved(given);
  for (const option of anyOf) yield* holesIn(option, sampleOf(option));
  if (properties !== undefined) {
    const whole = typeof sample === "object" && sample !== null ? sample : {};
    yield { ...whole, unknown: hole };
    for (const [name, field] of Object.entries(properties)) {
      const value = name in whole ? (whole as Record<string, unknown>)[name] : sampleOf(field);
      for (const inner of holesIn(field, value)) yield { ...whole, [name]: inner };
    }
  }
  if (items) {
    const [first = sampleOf(items)] = Array.isArray(sample) ? (sample as unknown[]) : [];
    for (const inner of holesIn(items, first)) yield [inner];
  }
}

interface Growing {
  readonly what: string;
  /** `growth` in its place. */
  readonly request: (growth: string) => Request;
}

function* growingOf(path: string, method: string, { requestBody, parameters = [] }: Operation): Generator<Growing> {
  const filled = path.replace("{version}", "1").replaceAll(/\{\w+\}/g, "builtin");
  const schema = requestBody?.content["application/json"]?.schema;
  const bodies = new Set<string>();
  if (schema !== undefined) {
    const known = Object.entries(samples).find(([end]) => path.endsWith(end))?.[1];
    for (const body of holesIn(schema, known ?? sampleOf(schema))) bodies.add(JSON.stringify(body));
  }
  for (const body of bodies) {
    const headers = { "content-type": "application/json" };
    yield {
      what: body,
      request: (growth) =>
        new Request(`http://localhost${filled}`, { method, headers, body: body.replace(`"${hole}"`, () => growth) }),
    };
  }
  const sample =
    schema === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(sampleOf(schema)) };
  for (const { name, in: place } of parameters) {
    yield {
      what: `${place} ${name}`,
      request: (growth) => {
        const value = encodeURIComponent(growth);
        const inPath =
          place === "path"
            ? path
                .replace(`{${name}}`, value)
                .replace("{version}", "1")
                .replaceAll(/\{\w+\}/g, "builtin")
            : filled;
        const headers = { ...sample.headers, ...(place === "header" ? { [name]: value } : {}) };
        const query = place === "query" ? `?${name}=${value}` : "";
        return new Request(`http://localhost${inPath}${query}`, { method, ...sample, headers });
      },
    };
  }
}

/** Time of this process for one answer, in milliseconds; the least of several tries, since others use the machine too. */
async function timeOf(request: () => Request, tries: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const before = process.cpuUsage();
    const response = await handler(request());
    await response.arrayBuffer();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
    expect(response.status).not.toBe(500);
  }
  return least;
}

/** Less is over before its growth can be told. */
const shortMs = 40;
/** Four times the size takes four times as long where time is linear, and sixteen times where it is quadratic. */
const factor = 4;
const largestRatio = 9;

it.each([4000, 200_000])("from %i bytes to four times as many", { timeout: 1_800_000 }, async (bytes) => {
  const endless = new Set(["/api/events"]);
  const growing = Object.entries(document.paths)
    .filter(([path]) => !endless.has(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        [...growingOf(path, method.toUpperCase(), operation)].map((one) => ({ ...one, what: `${method} ${path} ${one.what}` })),
      ),
    );
  expect(growing.length).toBeGreaterThan(150);
  const cases = growing.flatMap((field) => Object.entries(growths).map(([kind, growth]) => ({ field, kind, growth })));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...cases), async ({ field, kind, growth }) => {
      const [small, large] = [growth(bytes), growth(factor * bytes)];
      for (const tries of [1, 3, 9]) {
        const after = await timeOf(() => field.request(large), tries);
        if (after < shortMs) return;
        const before = await timeOf(() => field.request(small), tries);
        const ratio = after / Math.max(before, shortMs / factor ** 2);
        if (ratio < largestRatio) return;
        if (tries === 9)
          throw new Error(`${kind} in ${field.what}: ${before} ms at ${bytes} bytes, ${after} ms at ${factor} times as many`);
      }
    }),
    { numRuns: amount(600, 100), endOnFailure: true },
  );
});
