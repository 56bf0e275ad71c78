/** What readers are told of the machine: nothing. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import type { Runtime } from "../../api/runtime.ts";
import { createHandler } from "../handler.ts";
import { getDefaultModel } from "../serving/model-names.ts";
import { getModelCapabilities } from "../protocols/model-capabilities.ts";
import { publicName } from "./scrub.ts";

const folder = fileURLToPath(new URL("../../../builtin", import.meta.url));

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

describe("a default model that is a path", () => {
  it("is known to clients by its last part, which they may use as its name", async () => {
    const handler = createHandler(runtime, { defaultModel: `${folder}/.` });
    await handler.readiness.warmUp();
    const ask = async (path: string, body?: object): Promise<string> => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const response = await handler(new Request(`http://localhost${path}`, body === undefined ? {} : init));
      expect([path, response.status]).toEqual([path, 200]);
      return response.text();
    };
    const answers = [
      await ask("/api/embed", { input: "a" }),
      await ask("/api/embed", { input: "a", model: "default" }),
      await ask("/v1/models"),
      await ask("/api/models"),
      await ask("/info"),
      await ask("/v2/models/default"),
      await ask("/v2/repository/index", {}),
      await ask("/health/ready"),
      await ask("/metrics"),
    ];
    for (const answer of answers) expect(answer).not.toContain(folder.slice(0, folder.lastIndexOf("/")));
    expect(JSON.parse(answers[0]!)).toMatchObject({ model: "default" }); // builtin is another model's name
    expect(answers[2]).toContain('"id":"default"');
  });

  it.each([
    ["/models/mine", "mine"],
    ["./mine/", "mine"],
    ["C:\\models\\mine.onnx", "mine.onnx"],
    ["a/b/mine", "mine"],
    ["file:///models/mine", "mine"],
    ["owner/name", "owner/name"],
    ["hf:owner/name", "hf:owner/name"],
    ["https://host/a/b/model.onnx", "https://host/a/b/model.onnx"],
    ["builtin", "builtin"],
  ])("%s is %s", (reference, name) => expect(publicName(reference)).toBe(name));

  it("is called default where its name is another model's", () => {
    expect(getDefaultModel({ defaultModel: "/m/mine", models: { mine: "builtin" } })).toMatchObject({ name: "default" });
    expect(getDefaultModel({ defaultModel: "/m/mine@onnx:cpu" })).toEqual({
      name: "mine",
      written: "/m/mine",
      target: "onnx:cpu",
    });
    expect(getDefaultModel({ defaultModel: "a/b/c", models: { "a/b/c": "builtin" } })).toMatchObject({ name: "a/b/c" });
  });
});

describe("reasons of candidates and of engines", () => {
  const reason = "/opt/private/lib.so: cannot open shared object file";
  const secretive = new Proxy(runtimeOf(), {
    get: (_target, name) => {
      const real: unknown = Reflect.get(runtime, name, runtime);
      if (name === "backends") return async () => [{ backend: "onnx", availability: { present: false, reason } }];
      if (name !== "explain" && name !== "loaded") return typeof real === "function" ? (real.bind(runtime) as unknown) : real;
      return async () => {
        const isLoaded = name === "loaded";
        const decision = isLoaded
          ? await runtime.use("builtin", {}, async (handle) => handle.decision)
          : await runtime.explain("builtin");
        const candidate = { target: "onnx:cuda", verdict: "failed", stage: "load", reason, remedy: "rm '/opt/private/x y'" };
        const changed = { ...decision, candidates: [candidate, ...decision.candidates] };
        return isLoaded ? [changed] : changed;
      };
    },
  });

  it.each(["/api/explain", "/api/models/builtin/decision", "/api/backends"])(
    "%s: admins read all, readers no path",
    async (path) => {
      const handler = createHandler(secretive);
      const request = (): Request => new Request(`http://localhost${path}`);
      const admin = await (await handler(request())).text();
      const reader = await (await handler(request(), { remoteAddress: "10.0.0.7" })).text();
      expect(admin).toContain("/opt/private/lib.so");
      expect(reader).toContain("lib.so: cannot open");
      expect(reader).not.toContain("/opt/private");
    },
  );
});

/** The runtime is made later: what stands in for it asks for it then. */
function runtimeOf(): Runtime {
  return {} as Runtime;
}

it("a late-interaction model reranks", async () => {
  const manifest = await runtime.manifest("builtin");
  const late = { query: {}, document: {}, skippedWords: [], skippedIn: [], hasModules: false, meanScore: false };
  const text = { ...manifest.text!, lateInteraction: late };
  expect(getModelCapabilities({ ...manifest, tasks: [] })).not.toContain("rerank");
  expect(getModelCapabilities({ ...manifest, tasks: [], text })).toContain("rerank");
});
