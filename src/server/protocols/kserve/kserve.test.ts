import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import type { DataType, Tensor } from "../../../contract/tensor.ts";
import { type Handler, createHandler } from "../../handler.ts";
import { tensorFromBytes, tensorToBytes } from "./binary-data.ts";
import { toDatatype } from "./datatypes.ts";
import { tensorFromJson, tensorToJson } from "./json-data.ts";

let runtime: Runtime;
let handler: Handler;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
  handler = createHandler(runtime);
});
afterAll(() => runtime.dispose());

const get = (path: string): Promise<Response> => handler(new Request(`http://localhost${path}`));

function post(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Response> {
  return handler(new Request(`http://localhost${path}`, { method: "POST", body, headers }));
}

const infer = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  post("/v2/models/builtin/infer", typeof body === "string" ? body : JSON.stringify(body), headers);

const text = (data: readonly unknown[], shape: readonly number[] = [data.length]): object => ({
  inputs: [{ name: "text", datatype: "BYTES", shape, data }],
});

/** A JSON head with bytes behind it. */
function withBytes(head: object, bytes: Uint8Array): [Uint8Array<ArrayBuffer>, Record<string, string>] {
  const json = new TextEncoder().encode(JSON.stringify(head));
  return [
    new Uint8Array([...json, ...bytes]),
    { "content-type": "application/octet-stream", "inference-header-content-length": String(json.byteLength) },
  ];
}

describe("the server", () => {
  it("says what it is, that it lives, and whether it is ready", async () => {
    for (const path of ["/v2", "/v2/"])
      expect(await (await get(path)).json()).toMatchObject({
        name: "inferyard",
        extensions: ["binary_tensor_data", "model_configuration", "model_repository", "statistics"],
      });
    await handler.readiness.warmUp();
    expect(await (await get("/v2/health/live")).json()).toEqual({ live: true });
    expect(await (await get("/v2/health/ready")).json()).toEqual({ ready: true });
    expect(await (await get("/v2/models/builtin/ready")).json()).toEqual({ name: "builtin", ready: true });
    const draining = createHandler(runtime);
    draining.service.drain();
    const unready = await draining(new Request("http://localhost/v2/health/ready"));
    expect([unready.status, await unready.json()]).toEqual([503, { ready: false }]);
  });

  it("says what a model takes and gives, with and without its version", async () => {
    expect((await post("/v2/repository/models/builtin/load", "")).status).toBe(200); // what it takes as tensors is known then
    const metadata = (await (await get("/v2/models/builtin")).json()) as Record<string, unknown>;
    expect(metadata).toMatchObject({
      name: "builtin",
      versions: ["1"],
      inputs: [{ name: "text", datatype: "BYTES", shape: [-1] }],
      outputs: [{ name: "embedding", datatype: "FP32", shape: [-1, -1] }],
      properties: { raw_inputs: expect.stringContaining("INT64") },
    });
    expect(await (await get("/v2/models/builtin/versions/1")).json()).toEqual(metadata);
    const wrong = await get("/v2/models/builtin/versions/2");
    expect([wrong.status, await wrong.json()]).toMatchObject([
      404,
      { error: expect.stringContaining("version"), code: "MODEL_NOT_FOUND" },
    ]);
  });

  it("loads and unloads by hand, says so in the index, and lets only administrators do it", async () => {
    const states = async (): Promise<unknown> => (await post("/v2/repository/index", "")).json();
    expect((await post("/v2/repository/models/builtin/load", "")).status).toBe(200);
    expect((await get("/v2/models/builtin/ready")).status).toBe(200);
    expect(await states()).toEqual([{ name: "builtin", version: "1", state: "READY", reason: "" }]);
    expect((await post("/v2/repository/models/builtin/unload", '{"parameters":{"unload_dependents":false}}')).status).toBe(200);
    expect(await states()).toMatchObject([{ state: "UNAVAILABLE" }]);
    expect(await (await post("/v2/repository/index", '{"ready":true}')).json()).toEqual([]);
    expect((await get("/v2/models/builtin/ready")).status).toBe(503);
    // An administrator may name any reference; of one that is not there nobody says that it is loading.
    for (const path of ["nothing%20here", "nothing/versions/1"]) expect((await get(`/v2/models/${path}/ready`)).status).toBe(404);
    const config = await post("/v2/repository/models/builtin/load", '{"parameters":{"config":"{}"}}');
    expect([config.status, await config.json()]).toMatchObject([400, { error: expect.stringContaining('"config"') }]);
    const stranger = { remoteAddress: "10.0.0.7" };
    for (const verb of ["load", "unload"]) {
      const request = new Request(`http://localhost/v2/repository/models/builtin/${verb}`, { method: "POST" });
      const refused = await handler(request, stranger);
      expect([refused.status, await refused.json()]).toMatchObject([403, { error: expect.any(String), code: "FORBIDDEN" }]);
    }
  });
});

describe("POST /v2/models/builtin/infer", () => {
  it("gives the library's vectors for texts as JSON", async () => {
    const response = await infer({ id: "7", ...text(["a cat", "a dog"]) });
    const { embeddings, dimensions, target } = await runtime.embed(["a cat", "a dog"]);
    expect(response.headers.get("x-inferyard-target")).toBe(target);
    expect(await response.json()).toEqual({
      model_name: "builtin",
      model_version: "1",
      id: "7",
      outputs: [
        { name: "embedding", datatype: "FP32", shape: [2, dimensions], data: embeddings.flatMap((vector) => [...vector]) },
      ],
    });
  });

  it("gives and takes bytes: texts behind their lengths in, little-endian numbers out", async () => {
    const texts = ["a cat", "zwölf 🐈", ""];
    const block = tensorToBytes({ dataType: "string", shape: [3], data: texts });
    const inputs = [{ name: "text", datatype: "BYTES", shape: [3, 1], parameters: { binary_data_size: block.byteLength } }];
    const [body, headers] = withBytes({ inputs, outputs: [{ name: "embedding", parameters: { binary_data: true } }] }, block);
    const response = await post("/v2/models/builtin/versions/1/infer", body, headers);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const head = Number(response.headers.get("inference-header-content-length"));
    const { outputs } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, head))) as { outputs: object[] };
    expect(outputs).toEqual([
      { name: "embedding", datatype: "FP32", shape: [3, 256], parameters: { binary_data_size: 3 * 256 * 4 } },
    ]);
    const { embeddings } = await runtime.embed(texts);
    const given = new Float32Array(bytes.slice(head).buffer);
    expect([...given]).toEqual(embeddings.flatMap((vector) => [...vector]));
  });

  it("takes a model's raw tensors, in both forms, to the same end", async () => {
    const loaded = await runtime.load("builtin");
    const { inputs, outputs } = loaded;
    const [first] = inputs;
    await loaded.dispose();
    expect(inputs.map(({ name, dataType }) => [name, dataType])).toEqual([
      ["input_ids", "int64"],
      ["attention_mask", "int64"],
    ]);
    const tensors = inputs.map(({ name }) => ({
      name,
      datatype: "INT64",
      shape: [1, 3],
      data: name === first!.name ? [[5, 6, 7]] : [[1, 1, 1]],
    }));
    const asJson = (await (await infer({ inputs: tensors })).json()) as { outputs: { name: string; data: number[] }[] };
    expect(asJson.outputs.map(({ name }) => name)).toEqual(outputs.map(({ name }) => name));
    const int64 = (values: bigint[]): Uint8Array => new Uint8Array(BigInt64Array.from(values).buffer);
    const head = {
      parameters: { binary_data_output: true },
      inputs: tensors.map(({ data: _data, ...rest }) => ({ ...rest, parameters: { binary_data_size: 24 } })),
    };
    const [body, headers] = withBytes(head, new Uint8Array([...int64([5n, 6n, 7n]), ...int64([1n, 1n, 1n])]));
    const response = await post("/v2/models/builtin/infer", body, headers);
    const start = Number(response.headers.get("inference-header-content-length"));
    const bytes = (await response.arrayBuffer()).slice(start);
    expect([...new Float32Array(bytes)]).toEqual(asJson.outputs[0]!.data);
  });

  it.each<[string, unknown, string]>([
    ["no JSON", "{", "not JSON"],
    ["no inputs", { inputs: [] }, "inputs"],
    ["an unknown type", { inputs: [{ name: "text", datatype: "TEXT", shape: [1], data: ["a"] }] }, "datatype"],
    ["data that does not fill the shape", text(["a"], [2]), "needs 2"],
    ["a shape nobody could fill", text(["a"], [4_000_000_000, 4_000_000_000]), "needs 16000000000000000000"],
    ["a negative shape", text(["a"], [-1]), "shape"],
    ["a text that is none", text([3]), "no string"],
    ["texts as pairs", text(["a", "b"], [1, 2]), "[n]"],
    ["an output that is not there", { ...text(["a"]), outputs: [{ name: "logits" }] }, 'no output "logits"'],
    [
      "an input beside the text",
      { inputs: [...(text(["a"]) as { inputs: object[] }).inputs, { name: "x", datatype: "FP32", shape: [1], data: [1] }] },
      "cannot be combined",
    ],
    ["an input twice", { inputs: [1, 2].flatMap(() => (text(["a"]) as { inputs: object[] }).inputs) }, "given twice"],
    ["a parameter that is not served", { ...text(["a"]), parameters: { sequence_id: 3 } }, "sequence_id"],
    [
      "an output parameter that is not served",
      { ...text(["a"]), outputs: [{ name: "embedding", parameters: { classification: 2 } }] },
      "classification",
    ],
    [
      "shared memory",
      { inputs: [{ name: "text", datatype: "BYTES", shape: [1], parameters: { shared_memory_region: "r" } }] },
      "shared_memory_region",
    ],
    ["no data", { inputs: [{ name: "text", datatype: "BYTES", shape: [1] }] }, "no data"],
    [
      "more bytes than there are",
      { inputs: [{ name: "text", datatype: "BYTES", shape: [1], parameters: { binary_data_size: 9 } }] },
      "0 bytes are left",
    ],
    ["a raw input that is not there", { inputs: [{ name: "pixels", datatype: "FP32", shape: [1], data: [1] }] }, "pixels"],
    ["whole numbers that are none", { inputs: [{ name: "input_ids", datatype: "INT64", shape: [1, 1], data: [1.5] }] }, "INT64"],
    ["half precision as JSON", { inputs: [{ name: "x", datatype: "FP16", shape: [1], data: [1] }] }, "binary"],
  ])("%s is refused, and what is wrong is named", async (_what, body, words) => {
    const response = await infer(body);
    const answer = (await response.json()) as { error: string; code: string };
    expect([response.status, answer.code]).toEqual([400, "INPUT_INVALID"]);
    expect(answer.error).toContain(words);
  });

  it.each([
    ["a length of the head that is none", "abc", "Inference-Header-Content-Length"],
    ["a head longer than the body", "1000000", "Inference-Header-Content-Length"],
    ["bytes that belong to no input", undefined, "belong to no input"],
  ])("%s is refused", async (_what, length, words) => {
    const [body, headers] = withBytes(text(["a"]), new Uint8Array(5));
    const response = await post("/v2/models/builtin/infer", body, {
      ...headers,
      ...(length === undefined ? {} : { "inference-header-content-length": length }),
    });
    expect([response.status, ((await response.json()) as { error: string }).error]).toMatchObject([
      400,
      expect.stringContaining(words),
    ]);
  });

  it("is refused in this protocol's own form before it comes to a route, too", async () => {
    const small = createHandler(runtime, { maxBodyBytes: 10 });
    const large = await small(
      new Request("http://localhost/v2/models/builtin/infer", { method: "POST", body: JSON.stringify(text(["a"])) }),
    );
    expect([large.status, await large.json()]).toMatchObject([413, { error: expect.any(String), code: "LIMIT_EXCEEDED" }]);
    const deep = await infer(`{"inputs":${"[".repeat(1000)}`);
    expect([deep.status, await deep.json()]).toMatchObject([413, { error: expect.any(String), code: "LIMIT_EXCEEDED" }]);
    const many = await createHandler(runtime, { maxTexts: 1 })(
      new Request("http://localhost/v2/models/builtin/infer", { method: "POST", body: JSON.stringify(text(["a", "b"])) }),
    );
    expect(many.status).toBe(413);
  });
});

describe("tensors", () => {
  const shapes = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 });
  const elements: readonly [DataType, fc.Arbitrary<unknown>, (values: unknown[]) => Tensor["data"]][] = [
    ["bool", fc.boolean(), (values) => Uint8Array.from(values as boolean[], Number)],
    ["int8", fc.integer({ min: -128, max: 127 }), (values) => Int8Array.from(values as number[])],
    ["uint32", fc.nat(), (values) => Uint32Array.from(values as number[])],
    ["int64", fc.maxSafeInteger(), (values) => BigInt64Array.from(values as number[], BigInt)],
    ["float32", fc.float({ noNaN: true, noDefaultInfinity: true }), (values) => Float32Array.from(values as number[])],
    ["float64", fc.double({ noNaN: true, noDefaultInfinity: true }), (values) => Float64Array.from(values as number[])],
    ["string", fc.string({ unit: "grapheme" }), (values) => values as string[]],
  ];

  it.each(elements)("of %s come back as they were, as JSON and as bytes", (dataType, element, made) => {
    const tensors = shapes.chain((shape) => {
      const count = shape.reduce((product, size) => product * size, 1);
      return fc
        .array(element, { minLength: count, maxLength: count })
        .map((values): Tensor => ({ dataType, shape, data: made(values) }));
    });
    fc.assert(
      fc.property(tensors, (tensor) => {
        const datatype = toDatatype(dataType);
        expect(tensorFromBytes("x", datatype, tensor.shape, tensorToBytes(tensor))).toEqual(tensor);
        const json = JSON.parse(JSON.stringify(tensorToJson("x", tensor))) as unknown[];
        const back = tensorFromJson("x", datatype, tensor.shape, json);
        expect([...back.data].map((value) => (value === 0 ? 0 : value))).toEqual(
          [...tensor.data].map((value) => (value === 0 ? 0 : value)),
        );
      }),
    );
  });

  it("of texts that end too soon, or are not UTF-8, are refused", () => {
    const one = Uint8Array.of(2, 0, 0, 0, 0x61, 0x62);
    expect(tensorFromBytes("x", "BYTES", [1], one).data).toEqual(["ab"]);
    for (const cut of [1, 3, 5]) expect(() => tensorFromBytes("x", "BYTES", [1], one.subarray(0, cut))).toThrow(/ends within/);
    expect(() => tensorFromBytes("x", "BYTES", [2], one)).toThrow(/needs 2/);
    expect(() => tensorFromBytes("x", "BYTES", [1], Uint8Array.of(1, 0, 0, 0, 0xff))).toThrow(/UTF-8/);
  });

  it("that JSON cannot carry are refused with the way that can", () => {
    const half: Tensor = { dataType: "float16", shape: [1], data: Uint16Array.of(1) };
    const large: Tensor = { dataType: "int64", shape: [1], data: BigInt64Array.of(2n ** 60n) };
    const infinite: Tensor = { dataType: "float32", shape: [1], data: Float32Array.of(Infinity) };
    for (const tensor of [half, large, infinite]) expect(() => tensorToJson("x", tensor)).toThrow(/JSON/);
  });
});
