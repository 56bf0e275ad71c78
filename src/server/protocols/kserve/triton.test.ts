import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { type Handler, createHandler } from "../../handler.ts";

let runtime: Runtime;
let handler: Handler;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
  handler = createHandler(runtime);
});
afterAll(() => runtime.dispose());

async function ask(path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await handler(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const texts = ["a cat", "a dog purrs"];

describe("POST /v1/models/{model}:predict", () => {
  it("gives a vector for each text, written as a string or as an object", async () => {
    const { embeddings } = await runtime.embed(texts);
    const predictions = embeddings.map((vector) => [...vector]);
    for (const instances of [texts, texts.map((text) => ({ text }))])
      expect(await ask("/v1/models/builtin:predict", { instances, parameters: null })).toEqual({
        status: 200,
        body: { predictions },
      });
  });

  it("takes the values of a model's own inputs, one row for each instance", async () => {
    const row = { input_ids: [5, 6, 7], attention_mask: [1, 1, 1] };
    const { status, body } = await ask("/v1/models/builtin:predict", { instances: [row, row] });
    const tensor = (...values: bigint[]) => ({ dataType: "int64" as const, shape: [1, 3], data: BigInt64Array.from(values) });
    const direct = await runtime.run("builtin", { input_ids: tensor(5n, 6n, 7n), attention_mask: tensor(1n, 1n, 1n) });
    const [output] = Object.values(direct.outputs);
    const values = Array.from(output!.data as Float32Array);
    expect(status).toBe(200);
    const predictions = body["predictions"] as number[][];
    expect(predictions.map((one) => one.flat(2))).toEqual([values, values]);
    const ragged = await ask("/v1/models/builtin:predict", { instances: [row, { ...row, input_ids: [5] }] });
    expect([ragged.status, ragged.body["error"]]).toEqual([400, expect.stringMatching(/input "input_ids" has 4 elements/)]);
  });

  it.each([
    [{ instances: [] }, 400, /instances/],
    [{ instances: [1] }, 400, /instances\.0 is neither a text/],
    [{ instances: [{ nothing: 1 }] }, 400, /no input "nothing"/],
    [{ instances: texts, parameters: { a: 1 } }, 400, /"a" is not supported/],
    [{ instances: texts, signature_name: "x" }, 400, /signature_name/],
    [{ inputs: texts }, 400, /instances|inputs/],
  ])("refuses %j with a text", async (body, status, message) => {
    const answer = await ask("/v1/models/builtin:predict", body);
    expect(answer.status).toBe(status);
    expect(answer.body["error"]).toMatch(message);
  });

  it("does not know models that are not there", async () => {
    expect(await ask("/v1/models/nothing:predict", { instances: texts })).toMatchObject({
      status: 404,
      body: { code: "MODEL_NOT_FOUND" },
    });
  });
});

describe("Triton's extensions", () => {
  it("give the configuration of a model", async () => {
    expect((await ask("/v2/models/builtin/config")).body).toMatchObject({
      name: "builtin",
      max_batch_size: 0,
      input: [{ name: "text", data_type: "TYPE_STRING", dims: [-1] }],
      output: [{ name: "embedding", data_type: "TYPE_FP32", dims: [-1, -1] }],
    });
    expect((await ask("/v2/models/builtin/versions/2/config")).status).toBe(404);
  });

  it("count calls of every protocol, failures apart", async () => {
    handler = createHandler(runtime);
    const before = await ask("/v2/models/builtin/stats");
    expect(before.body).toEqual({
      model_stats: [
        {
          name: "builtin",
          version: "1",
          last_inference: 0,
          inference_count: 0,
          execution_count: 0,
          inference_stats: {
            success: { count: 0, ns: 0 },
            fail: { count: 0, ns: 0 },
            queue: { count: 0, ns: 0 },
            compute_infer: { count: 0, ns: 0 },
          },
        },
      ],
    });
    await ask("/v1/models/builtin:predict", { instances: texts });
    const failed = { inputs: [{ name: "nothing", datatype: "FP32", shape: [1], data: [1] }] };
    expect((await ask("/v2/models/builtin/infer", failed)).status).toBe(400);
    const { body } = await ask("/v2/models/stats");
    const some = { ns: expect.any(Number) };
    expect(body["model_stats"]).toMatchObject([
      {
        name: "builtin",
        inference_count: 1,
        execution_count: 1,
        inference_stats: { success: { count: 1, ...some }, fail: { count: 1, ...some }, compute_infer: { count: 1, ...some } },
      },
    ]);
  });

  it("has errors that are texts on every route under /v2", async () => {
    for (const path of ["/v2/nothing", "/v2/models/nothing/config", "/v2/models/nothing/stats", "/v2/models/a/b/c"])
      expect((await ask(path)).body["error"]).toEqual(expect.any(String));
  });
});
