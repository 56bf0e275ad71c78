/** Requests that once took seconds, gigabytes or the server: each is answered with a bounded refusal. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import type { Runtime } from "../../api/runtime.ts";
import { type Handler, createHandler } from "../handler.ts";

let runtime: Runtime;
let handler: Handler;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
  handler = createHandler(runtime);
});
afterAll(() => runtime.dispose());

const json = { "content-type": "application/json" };
const reader = { remoteAddress: "10.0.0.7" };

async function answer(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = json) {
  const response = await handler(new Request(`http://localhost${path}`, { method: "POST", headers, body }), reader);
  return { status: response.status, text: await response.text() };
}

const list = (item: string, count: number): string => `[${`${item},`.repeat(count)}${item}]`;
const numbered = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_value, index) => item(index)).join(",");
const input = (name: string): string => `{"name":"${name}","datatype":"BYTES","shape":[1],"data":["a"]}`;
const infer = "/v2/models/builtin/infer";

describe("a request is refused in bounded words, whatever it holds", () => {
  const long = "n".repeat(100_000);
  it.each<[string, string, string, number]>([
    ["objects for texts", "/v1/embeddings", `{"input":${list("{}", 100_000)}}`, 413],
    ["a body that is too large", "/v1/embeddings", `{"input":${list("{}", 3_000_000)}}`, 413],
    ["more objects than any request has", "/v1/embeddings", `{"input":${list("{}", 300_000)}}`, 413],
    ["more token ids than a text has", "/v1/embeddings", `{"input":${list("0", 1_000_000)}}`, 413],
    ["more lists of token ids than texts", "/v1/embeddings", `{"input":${list("[0]", 100_000)}}`, 413],
    ["numbers for documents", "/v2/rerank", `{"query":"a","documents":${list("0", 100_000)}}`, 413],
    ["numbers for few documents", "/v2/rerank", `{"query":"a","documents":${list("0", 1000)}}`, 400],
    ["a field read many times", "/v2/rerank", `{"query":"a","documents":[{"a":"b"}],"rank_fields":${list('"a"', 60)}}`, 400],
    ["lists for pairs", "/predict", `{"inputs":${list("[]", 100_000)}}`, 413],
    ["lists for few pairs", "/predict", `{"inputs":${list("[]", 1000)}}`, 422],
    ["unknown fields", "/api/embed", `{"input":"a",${numbered(100_000, (index) => `"k${index}":0`)}}`, 400],
    ["a prototype", "/api/embed", `{"input":"a","__proto__":${list("0", 100_000)}}`, 400],
    ["many inputs", infer, `{"inputs":[${numbered(10_000, (index) => input(`t${index}`))}]}`, 413],
    ["an output again and again", infer, `{"inputs":[${input("text")}],"outputs":${list('{"name":"embedding"}', 50_000)}}`, 413],
    ["an output twice", infer, `{"inputs":[${input("text")}],"outputs":${list('{"name":"embedding"}', 1)}}`, 400],
    [
      "data that nests beside many numbers",
      infer,
      `{"inputs":[{"name":"x","datatype":"INT32","shape":[4],"data":[${"[".repeat(58)}1${"]".repeat(58)},${list("0", 1_000_000).slice(1)}}]}`,
      400,
    ],
    ["a query for many documents", "/v2/rerank", `{"query":"${long}","documents":${list('"a"', 1000)}}`, 413],
    ["a query for many texts", "/rerank", `{"query":"${long}","texts":${list('"a"', 1000)}}`, 413],
    ["a query for many prompts", "/api/rerank", `{"query":"${long}","prompts":${list('"a"', 1000)}}`, 413],
    ["a text for many labels", "/api/classify", `{"texts":["${long}"],"labels":${list('"a"', 1000)}}`, 413],
    [
      "a template that repeats its label",
      "/api/classify",
      `{"texts":["a"],"labels":${list(`"${"n".repeat(2000)}"`, 9)},"hypothesis_template":"${"{}".repeat(1000)}"}`,
      413,
    ],
    [
      "labels for many texts",
      "/api/recognize",
      `{"labels":${list(`"${"n".repeat(2000)}"`, 9)},"texts":${list('"a"', 1000)}}`,
      413,
    ],
    ["a long model", "/v1/embeddings", `{"input":"a","model":"${long}"}`, 413],
    ["a model that is not there", "/v1/embeddings", `{"input":"a","model":"${"n".repeat(500)}"}`, 404],
    ["a long target", "/api/explain", `{"target":"${long}"}`, 413],
    ["a long tensor name", infer, `{"inputs":[${input(long)}]}`, 413],
    ["a long parameter", infer, `{"parameters":{"${long}":1},"inputs":[${input("text")}]}`, 400],
    ["a long value", infer, `{"inputs":[{"name":"x","datatype":"INT32","shape":[1],"data":["${long}"]}]}`, 400],
    ["a deep parameter", "/v2/repository/index", "[".repeat(1_000_000), 413],
  ])("%s", async (_what, path, body, status) => {
    const { status: given, text } = await answer(path, body);
    expect(given).toBe(status);
    expect(text.length).toBeLessThan(2500);
  });

  it.each([
    ["an address", `/v2/models/${"n".repeat(10_000)}/infer`, json],
    ["a query", `/api/explain?target=${"n".repeat(10_000)}`, json],
    ["a target", "/api/embed", { ...json, "x-inferyard-target": "n".repeat(2000) }],
    ["a model", "/embed", { ...json, "x-inferyard-model": "n".repeat(2000) }],
  ])("%s in the head that is too long", async (_what, path, headers) => {
    const { status, text } = await answer(path, "{}", headers);
    expect([status, text.length < 2500]).toEqual([413, true]);
  });
});

describe("the JSON before binary tensors", () => {
  it.each([
    [`{"inputs":${"[".repeat(100)}`, "nests deeper"],
    [`{"inputs":${list("[]", 300_000)}}`, "more than 262144"],
    [`{"inputs":"${"a".repeat(5_000_000)}"}`, "larger than 4194304 bytes"],
  ])("is bounded as any JSON", async (head, words) => {
    const headers = { "inference-header-content-length": String(head.length) };
    for (const type of [{}, json, { "content-type": "application/octet-stream" }]) {
      const { status, text } = await answer(infer, head, { ...headers, ...type });
      expect([status, text]).toEqual([413, expect.stringContaining(words)]);
    }
  });

  it("announces no more texts than a request has", async () => {
    const count = 100_000;
    const head = `{"inputs":[{"name":"text","datatype":"BYTES","shape":[${count}],"parameters":{"binary_data_size":${4 * count}}}]}`;
    const body = Buffer.concat([Buffer.from(head), Buffer.alloc(4 * count)]);
    const { status, text } = await answer(infer, body, { "inference-header-content-length": String(head.length) });
    expect([status, text]).toEqual([413, expect.stringContaining("100000 texts")]);
  });
});

it("a body in another form is refused in the words of each protocol, with 415", async () => {
  for (const path of ["/v1/embeddings", "/v2/rerank", "/embed", "/api/embed", infer]) {
    for (const headers of [{ ...json, "content-encoding": "br" }, { "content-type": "application/json; charset=utf-16" }]) {
      const { status, text } = await answer(path, "{}", headers);
      expect([status, text.toUpperCase()]).toEqual([415, expect.stringContaining("MEDIA_TYPE_UNSUPPORTED")]);
    }
    const { text } = await answer(path, Uint8Array.of(0x22, 0xff), json);
    expect(text).toContain("0xff at byte 1");
  }
  expect((await answer("/v1/embeddings", "input=a", { "content-type": "text/plain" })).status).toBe(415);
});
