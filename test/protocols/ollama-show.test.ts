/** What Ollama's /api/show says of a GGUF file. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "../../src/index.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { handlerOf } from "../server/fixtures/handler-of.ts";

const [skip, title] = needsData("Ollama's /api/show of a GGUF file");

describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
  });
  afterAll(() => runtime.dispose());

  it("names its architecture and the length of its context", async () => {
    const request = new Request("http://localhost/api/show", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m" }),
    });
    const response = await handlerOf(runtime, { models: { m: `${sharedData}tinyllm/tinyllm.gguf` } })(request);
    expect(await response.json()).toMatchObject({
      details: { format: "gguf", family: "llama", families: ["llama"] },
      model_info: { "general.architecture": "llama", "llama.context_length": 128, "llama.embedding_length": 64 },
    });
  });
});
