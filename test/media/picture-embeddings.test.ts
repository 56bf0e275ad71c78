/** Pictures in the requests for embeddings of OpenAI's and Cohere's APIs, on a model with texts and pictures in one space; no socket. */
import { readFileSync } from "node:fs";
import { createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("pictures in requests for embeddings");
describe.skipIf(skip)(title, () => {
  const clip = `${sharedData}tiny-random-clip`;
  let handler: Handler;
  let runtime: Awaited<ReturnType<typeof createRuntime>>;
  let base64: string;
  let url: string;
  /** The vectors of the text "a cat" and of the picture. */
  let own: number[][];
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
    handler = createHandler(runtime, { models: { builtin: "builtin", clip } });
    const bytes = readFileSync(`${clip}/wide.png`);
    base64 = bytes.toString("base64");
    url = `data:image/png;base64,${base64}`;
    const { embeddings } = await runtime.embed(["a cat", { image: bytes }], { model: clip });
    own = embeddings.map((vector) => [...vector]);
  });
  afterAll(() => runtime.dispose());

  interface Answer {
    readonly status: number;
    readonly body: {
      readonly data: readonly { readonly embedding: number[] }[];
      readonly embeddings: { readonly float: number[][] };
      readonly texts: string[];
      readonly meta: { readonly billed_units: object };
      readonly usage: object;
      readonly message: string;
      readonly error: { readonly message: string; readonly param: string };
    };
  }

  async function ask(path: string, body: object): Promise<Answer> {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "clip", ...body }),
    };
    const response = await handler(new Request(`http://localhost${path}`, init));
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  }

  function expectNear(vectors: readonly number[][], expected: readonly number[][]): void {
    expect(vectors.length).toBe(expected.length);
    for (const [index, vector] of vectors.entries())
      for (const [column, value] of vector.entries()) expect(value).toBeCloseTo(expected[index]![column]!, 5);
  }

  it("OpenAI's route takes texts, and parts as OpenAI's, Jina's and Termite's clients write them", async () => {
    const plain = await ask("/v1/embeddings", { input: ["a cat"] });
    expectNear(
      plain.body.data.map(({ embedding }) => embedding),
      [own[0]!],
    );
    const input = [
      { type: "text", text: "a cat" },
      { type: "image_url", image_url: { url, detail: "auto" } },
      { type: "image_url", image_url: url },
      { type: "media", data: base64, mime_type: "image/png" },
      { text: "a cat" },
      { image: url },
      { image: base64 },
    ];
    const { status, body } = await ask("/v1/embeddings", { input });
    expect(status).toBe(200);
    const [text, picture] = own as [number[], number[]];
    expectNear(
      body.data.map(({ embedding }) => embedding),
      [text, picture, picture, picture, text, picture, picture],
    );
    const infinity = await ask("/embeddings", { input: [url], modality: "image", dimensions: 4, normalized: false });
    expect(infinity.body.data[0]!.embedding.length).toBe(4);
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
    const vllm = await ask("/v1/embeddings", { messages, encoding_format: "float" });
    expectNear(
      vllm.body.data.map(({ embedding }) => embedding),
      [picture],
    );
  });

  it("Cohere's route takes pictures in images, and as content of inputs", async () => {
    const images = await ask("/v2/embed", { images: [url], input_type: "image", embedding_types: ["float"] });
    expectNear(images.body.embeddings.float, [own[1]!]);
    expect(images.body).toMatchObject({ texts: [], meta: { billed_units: { input_tokens: 0, images: 1 } } });
    const inputs = [{ content: [{ type: "text", text: "a cat" }] }, { content: [{ type: "image_url", image_url: { url } }] }];
    const mixed = await ask("/v2/embed", { inputs, input_type: "search_document" });
    expectNear(mixed.body.embeddings.float, own);
    expect(mixed.body.texts).toEqual(["a cat"]);
  });

  const part = (address: string): object => ({ input: ["a cat", { type: "image_url", image_url: { url: address } }].slice(1) });
  it.each([
    ["http", part("http://169.254.169.254/latest/meta-data/"), "input.0.image_url.url"],
    ["a name of the network", part("https://example.com/cat.png"), "input.0.image_url.url"],
    ["file", part("file:///etc/passwd"), "input.0.image_url.url"],
    ["gopher", part("gopher://127.0.0.1:6379/_INFO"), "input.0.image_url.url"],
    ["a path", { input: [{ image: "../secret.png" }] }, "input.0.image"],
    ["an address in image", { input: [{ image: "http://localhost:1/" }] }, "input.0.image"],
    ["another media type", part("data:text/html;base64,PGI+"), "text/html"],
    ["no base64", part("data:image/png;base64,???"), "input.0.image_url.url"],
    ["a text among pictures", { input: ["a cat"], modality: "image" }, "input.0"],
    ["a part of another type", { input: [{ type: "input_audio", input_audio: { data: "" } }] }, "input"],
    ["input beside messages", { input: "a", messages: [{ role: "user", content: "a" }] }, "messages"],
    ["no input", {}, "input"],
    ["an option of texts", { input: [{ text: "a" }], truncate: "windows" }, "truncate"],
  ])("OpenAI's route refuses %s by its name", async (_what, fields, named) => {
    const { status, body } = await ask("/v1/embeddings", fields);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(named)]);
  });

  it("a text that the model does not read whole is refused where the client says so, and cut elsewhere", async () => {
    const input = ["word ".repeat(400), { text: "b" }].slice(0, 1);
    expect((await ask("/v1/embeddings", { input })).status).toBe(400);
    expect((await ask("/v1/embeddings", { input, truncate: "END" })).status).toBe(200);
  });

  it.each([
    [{ texts: ["a"], images: ["data:image/png;base64,AA=="] }, /both texts and images/],
    [{ texts: ["a"], input_type: "image" }, /input_type "image"/],
    [{ images: ["https://example.com/cat.png"] }, /images\.0/],
    [
      {
        inputs: [
          {
            content: [
              { type: "text", text: "a" },
              { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
            ],
          },
        ],
      },
      /inputs\.0 has 2 parts/,
    ],
    [{ inputs: [{ content: [{ type: "video" }] }] }, /inputs/],
    [{ inputs: [{ content: [{ type: "text", text: "a" }] }], max_tokens: 3 }, /max_tokens/],
  ])("Cohere's route refuses %j", async (fields, message) => {
    const { status, body } = await ask("/v2/embed", fields);
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
  });

  it("a model of texts alone refuses pictures, and says why", async () => {
    const { status, body } = await ask("/v1/embeddings", { model: "builtin", input: [{ image: url }] });
    expect([status, body.error.message]).toEqual([422, expect.stringContaining("pictures")]);
  });
});
