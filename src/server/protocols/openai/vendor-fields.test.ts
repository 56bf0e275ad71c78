/** /v1/embeddings with the fields of Voyage, Mixedbread, Jina and NVIDIA. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { type Handler, createHandler } from "../../handler.ts";

let runtime: Runtime;
let handler: Handler;
let expected: Float32Array[];
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
  handler = createHandler(runtime);
  expected = [...(await runtime.embed(input)).embeddings];
});
afterAll(() => runtime.dispose());

const input = ["a cat", "a dog"];

interface Answer {
  readonly status: number;
  readonly body: {
    readonly data: readonly { readonly object: string; readonly embedding: never }[];
    readonly error: { readonly message: string };
  };
}

async function embed(fields: object): Promise<Answer> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ input, ...fields }) };
  const response = await handler(new Request("http://localhost/v1/embeddings", init));
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const vectorsOf = async (fields: object): Promise<readonly unknown[]> =>
  (await embed(fields)).body.data.map(({ embedding }) => embedding);
const codesOf = (vector: Float32Array, offset: number): number[] => [...vector].map((value) => Math.round(value * 127) + offset);
const bitsOf = (vector: Float32Array): number[] =>
  Array.from({ length: vector.length / 8 }, (_, byte) =>
    vector.slice(byte * 8, byte * 8 + 8).reduce((bits, value) => bits * 2 + (value > 0 ? 1 : 0), 0),
  );

describe("fields that are obeyed", () => {
  it("output_dtype of Voyage, as numbers and as the base64 of their bytes", async () => {
    expect(await vectorsOf({ output_dtype: "int8" })).toEqual(expected.map((vector) => codesOf(vector, 0)));
    expect(await vectorsOf({ output_dtype: "uint8" })).toEqual(expected.map((vector) => codesOf(vector, 128)));
    expect(await vectorsOf({ output_dtype: "ubinary" })).toEqual(expected.map(bitsOf));
    const [bytes] = (await vectorsOf({ output_dtype: "int8", encoding_format: "base64" })) as string[];
    expect([...new Int8Array(Buffer.from(bytes!, "base64"))]).toEqual(codesOf(expected[0]!, 0));
    const [floats] = (await vectorsOf({ output_dtype: "float", encoding_format: "base64" })) as string[];
    expect(Buffer.from(floats!, "base64").readFloatLE(4)).toBe(expected[0]![1]);
  });

  it("a list of formats, as Mixedbread's clients read them", async () => {
    const { body } = await embed({ encoding_format: ["float", "ubinary"] });
    expect(body.data[0]).toMatchObject({ object: "embedding_dict", embedding: { ubinary: bitsOf(expected[0]!) } });
    expect(Object.keys(body.data[0]!.embedding)).toEqual(["float", "ubinary"]);
    expect(await vectorsOf({ embedding_type: "ubinary" })).toEqual(expected.map(bitsOf));
  });

  it("output_dimension, normalized, and texts in objects", async () => {
    const short = await runtime.embed(input, { dimensions: 64 });
    expect(await vectorsOf({ output_dimension: 64 })).toEqual(short.embeddings.map((vector) => [...vector]));
    const raw = await runtime.embed(input, { normalize: false });
    expect(await vectorsOf({ normalized: false })).toEqual(raw.embeddings.map((vector) => [...vector]));
    expect(await vectorsOf({ input: input.map((text) => ({ text })) })).toEqual(expected.map((vector) => [...vector]));
  });

  it("what a text is for has no effect on a model without prompts", async () => {
    const plain = expected.map((vector) => [...vector]);
    for (const fields of [
      { input_type: "query" },
      { input_type: "passage" },
      { task: "retrieval.query" },
      { task: "text-matching" },
      { modality: "text" },
    ])
      expect(await vectorsOf(fields)).toEqual(plain);
  });

  it("truncation and truncate, in the words of each", async () => {
    const long = { input: "word ".repeat(3000) };
    for (const fields of [{ truncation: true }, { truncate: "END" }, { truncate: true }, { truncate: "cut" }])
      expect((await embed({ ...long, ...fields })).status).toBe(200);
    for (const fields of [{ truncation: false }, { truncate: "NONE" }, { truncate: false }, {}])
      expect(await embed({ ...long, ...fields })).toMatchObject({
        status: 400,
        body: { error: { code: "context_length_exceeded" } },
      });
  });
});

it.each([
  [{ late_chunking: true }, "late_chunking"],
  [{ return_multivector: true }, "return_multivector"],
  [{ modality: "video" }, "modality"],
  [{ modality: "image" }, "input.0"],
  [{ truncate: "START" }, "START"],
  [{ dimensions: 8, output_dimension: 8 }, "output_dimension"],
  [{ input_type: "query", task: "retrieval.query" }, "task"],
  [{ input_type: "poem" }, "input_type"],
  [{ encoding_format: "float16" }, "encoding_format"],
  [{ input: [{ image: "https://example.com/cat.png" }] }, "input"],
])("%j is refused by name", async (fields, field) => {
  const { status, body } = await embed(fields);
  expect(status).toBe(400);
  expect(body.error.message).toContain(field);
});
