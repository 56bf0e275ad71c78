/** Requests of every route that clients without a key may use, with JSON bodies, on the built-in model. */
import { mutateJsonText, parsed, type Json } from "../mutations/mutate-json.ts";
import { openServer } from "../server-handler.ts";
import type { FuzzTarget } from "../target.ts";

/** Bodies by route. Routes of the OpenAPI document that are not here get an empty object. */
const bodies: Readonly<Record<string, readonly Json[]>> = {
  "POST /api/embed": [
    { input: "a cat" },
    { input: ["a", "b"], dimensions: 3, truncate: true, prompt: "query", encoding: "float" },
  ],
  "POST /api/explain": [{ model: "builtin" }, { model: "builtin", target: "native:cpu", prefer: ["native"] }],
  "POST /api/chunk": [
    { text: "One. Two! Three?", config: { target_tokens: 2 } },
    { text: "a b c", max_chunks: 2 },
  ],
  "POST /api/classify": [{ texts: ["a"], labels: ["x", "y"] }, { texts: ["a"] }],
  "POST /api/rerank": [{ query: "a", prompts: ["b", "c"] }],
  "POST /api/recognize": [{ texts: ["Ada lives in London"], labels: ["person"] }],
  "POST /v1/embeddings": [
    { input: "a", model: "builtin" },
    { input: ["a", "b"], encoding_format: "base64", dimensions: 2, user: "u" },
    { input: [1, 2, 3] },
    { input: [[1], [2, 3]] },
  ],
  "POST /v1/rerank": [{ query: "a", documents: ["b", { text: "c" }], top_n: 1, return_documents: true }],
  "POST /v2/rerank": [{ query: "a", documents: ["b", "c"], top_n: 1, model: "builtin" }],
  "POST /embed": [{ inputs: "a" }, { inputs: ["a", "b"], normalize: true, truncate: true, truncation_direction: "Right" }],
  "POST /embed_all": [{ inputs: "a" }],
  "POST /embed_sparse": [{ inputs: ["a"] }],
  "POST /rerank": [{ query: "a", texts: ["b", "c"], raw_scores: false, return_text: true, truncate: true }],
  "POST /predict": [{ inputs: "a" }, { inputs: [["a", "b"]] }],
  "POST /similarity": [{ inputs: { source_sentence: "a", sentences: ["b", "c"] } }],
  "POST /tokenize": [{ inputs: "a b", add_special_tokens: true }, { inputs: ["a", "b"] }],
  "POST /decode": [{ ids: [1, 2, 3], skip_special_tokens: true }, { ids: [[1], [2]] }],
  "POST /v2/models/builtin/infer": [{ inputs: [{ name: "text", shape: [1], datatype: "BYTES", data: ["a"] }] }],
  "POST /v2/repository/index": [{}, { ready: true }],
  "POST /v1/chat/completions": [{ messages: [{ role: "user", content: "a" }] }],
};

/** Paths that the OpenAPI document does not list, and malformed ones. */
const undocumented = [
  "/",
  "/dashboard",
  "/openapi.json",
  "/v2/models/builtin/versions/1",
  "/api/models?a=%zz",
  "/v2/models/%zz",
  "/v2/models/a%2f..%2fb",
];

/** The routes of the OpenAPI document, with "builtin" for every parameter. */
async function documentedRoutes(): Promise<readonly { readonly method: string; readonly path: string }[]> {
  const server = await openServer();
  try {
    const response = await server.handler(new Request("http://localhost/openapi.json"));
    const { paths } = (await response.json()) as { readonly paths: Readonly<Record<string, object>> };
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, "builtin") })),
    );
  } finally {
    await server.close();
  }
}

export const http: FuzzTarget = {
  codes: [],
  seeds: async () => {
    const routes = await documentedRoutes();
    const seeds = routes.flatMap(({ method, path }) =>
      method === "GET"
        ? [{ method, path, headers: {}, body: null }]
        : (bodies[`${method} ${path}`] ?? [{}]).map((body) => ({ method, path, headers: {}, body })),
    );
    return [
      ...seeds,
      ...undocumented.map((path) => ({ method: "GET", path, headers: {}, body: null })),
      {
        method: "POST",
        path: "/api/embed",
        headers: { "x-inferyard-target": "native:cpu", "x-inferyard-priority": "high" },
        body: { input: "a" },
      },
      {
        method: "POST",
        path: "/embed",
        headers: { accept: "application/octet-stream", "x-request-id": "a" },
        body: { inputs: "a" },
      },
      {
        method: "POST",
        path: "/embed",
        headers: { "content-encoding": "gzip", "content-type": "application/json; charset=utf-8" },
        body: "{",
      },
    ].map((request) => Buffer.from(JSON.stringify(request)));
  },
  mutate: mutateJsonText,
  maxBytes: 32_768,
  dictionary: [
    ...Object.keys(bodies).map((route) => route.split(" ").slice(1).join("")),

    "builtin",
    "builtin:int8",
    "builtin@native:cpu",
    "model",
    "input",
    "inputs",
    "texts",
    "text",
    "query",
    "documents",
    "labels",

    "x-inferyard-target",
    "x-inferyard-variant",
    "x-inferyard-priority",
    "x-inferyard-timeout",
    "authorization",
    "accept",
    "traceparent",

    "prefer=native,wasm",
    "exclude=native",
    "require=native:cpu",
    "wasm:cpu:9999",
    "native:cpu:0",
    "dimensions",
    "image_url",
    "base64",
  ],
  open: async () => {
    const server = await openServer();
    return {
      run: async (input) => {
        const request = requestOf(parsed(input));
        if (request !== undefined) await server.ask(request);
      },
      close: server.close,
    };
  },
};

const methods: ReadonlySet<unknown> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

/** Undefined where `Request` itself refuses the parts. A body that is a text is sent as it stands, any other as JSON. */
function requestOf(json: Json | undefined): Request | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const { method, path, headers, body = null } = json;
  if (!methods.has(method) || typeof path !== "string") return undefined;
  try {
    const own = Object.entries(headers ?? {}).filter((header): header is [string, string] => typeof header[1] === "string");
    const hasBody = method !== "GET" && method !== "HEAD" && body !== null;
    return new Request(new URL(path, "http://localhost").href, {
      method: String(method),
      headers: new Headers([["content-type", "application/json"], ...own]),
      ...(hasBody ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
    });
  } catch {
    return undefined;
  }
}
