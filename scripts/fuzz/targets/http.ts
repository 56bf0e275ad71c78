/** Requests of every route that clients without a key may use, with JSON bodies, on the built-in model. */
import { mutateJsonText, parsed, type Json } from "../mutate-json.ts";
import { openServer } from "../server-handler.ts";
import type { FuzzTarget } from "../target.ts";

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
  "POST /v2/models/builtin/generate": [{ text_input: "a" }],
  "POST /v2/repository/index": [{}, { ready: true }],
  "POST /v1/chat/completions": [{ messages: [{ role: "user", content: "a" }] }],
};

const gets = [
  "/",
  "/info",
  "/health",
  "/health/live",
  "/health/ready",
  "/metrics",
  "/v1/models",
  "/v1/models/builtin",
  "/v2",
  "/openapi.json",
  "/v2/health/live",
  "/v2/health/ready",
  "/v2/models/builtin",
  "/v2/models/builtin/ready",
  "/v2/models/builtin/versions/1",
  "/v2/models/builtin/config",
  "/v2/models/builtin/stats",
  "/api/models",
  "/api/models/builtin",
  "/api/backends",
  "/api/status",
  "/api/models/builtin/decision",
  "/api/events",
  "/api/models?a=%zz",
  "/dashboard",
  "/v2/models/%zz",
  "/v2/models/a%2f..%2fb",
];

export const http: FuzzTarget = {
  codes: [],
  seeds: () =>
    [
      ...Object.entries(bodies).flatMap(([route, values]) => values.map((body) => ({ ...parts(route), headers: {}, body }))),
      ...gets.map((path) => ({ method: "GET", path, headers: {}, body: null })),
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
    ].map((request) => Buffer.from(JSON.stringify(request))),
  mutate: mutateJsonText,
  maxBytes: 32_768,
  dictionary: [
    ...Object.keys(bodies).map((route) => parts(route).path),

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

function parts(route: string): { method: string; path: string } {
  const [method = "", path = ""] = route.split(" ");
  return { method, path };
}

const methods: ReadonlySet<unknown> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

/** Undefined where `Request` itself refuses the parts. A body that is a text is sent as it stands, any other as JSON. */
function requestOf(json: Json | undefined): Request | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const { method, path, headers, body = null } = json;
  if (!methods.has(method) || typeof path !== "string") return undefined;
  try {
    const own = Object.entries(headers ?? {}).map(([name, value]): [string, string] => [name, String(value)]);
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
