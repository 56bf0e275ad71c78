/**
 * Pictures and sounds from the clients of OpenAI, Cohere, Ollama and Anthropic, unchanged, against `inferyard serve` in a process of its own. Where a registry
 * cannot be reached the tests say so and are skipped.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installNpm, installedModule, needsInstalled } from "../fixtures/installed.ts";
import { type ServerProcess, ServerProcesses } from "../fixtures/processes/server-process.ts";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";
import { clientPackage, npmClients } from "./fixtures/client-packages.ts";

/** The parts of the clients that are used here: they are no dependencies, so their types are not there. */
interface OpenAiModule {
  readonly default: new (options: object) => {
    readonly embeddings: { create(request: object): Promise<{ data: { embedding: number[] }[] }> };
    readonly audio: {
      readonly transcriptions: {
        create(request: object): Promise<AsyncIterable<{ type: string; text?: string }> & { text: string; duration: number }>;
      };
    };
    readonly chat: { readonly completions: { create(request: object): Promise<unknown> } };
    readonly responses: { create(request: object): Promise<unknown> };
  };
  readonly toFile: (bytes: Uint8Array, name: string) => Promise<unknown>;
}
interface CohereModule {
  readonly CohereClientV2: new (options: object) => {
    embed(request: object): Promise<{ embeddings: { float: number[][] }; meta: { billedUnits: { images?: number } } }>;
  };
}
interface OllamaModule {
  readonly Ollama: new (options: { host: string }) => {
    chat(request: object): Promise<unknown>;
    generate(request: object): Promise<unknown>;
    embed(request: object): Promise<{ embeddings: number[][] }>;
  };
}
interface AnthropicModule {
  readonly default: new (options: object) => { readonly messages: { create(request: object): Promise<unknown> } };
}

const names = ["openai", "cohere-ai", "ollama", "@anthropic-ai/sdk"];
const packages = names.map((name) => clientPackage(npmClients, name)).join(", ");
const reason = hasSharedData ? "" : " (skipped: ../shared/data is not beside this checkout)";
describe.skipIf(reason !== "")(`npm: ${packages}, with pictures and sounds${reason}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-media-clients-"));
  needsInstalled(() => installNpm(folder, npmClients));
  const servers = new ServerProcesses();
  const [clip, ctc, qwen] = ["tiny-random-clip", "tiny-random-wav2vec2-ctc", "tiny-random-qwen2"].map(
    (name) => sharedData + name,
  ) as [string, string, string];
  let server: ServerProcess;
  let url: string;
  /** The vectors of "a cat" and of the picture. */
  let vectors: number[][];
  let text: string;
  const sound = hasSharedData ? new Uint8Array(readFileSync(`${ctc}/chirp-1s.wav`)) : new Uint8Array();
  beforeAll(async () => {
    server = await servers.serve([], { models: { clip, ctc, qwen } });
    const picture = readFileSync(`${clip}/wide.png`);
    url = `data:image/png;base64,${picture.toString("base64")}`;
    await using runtime = await createRuntime({ host: "inline" });
    vectors = (await runtime.embed(["a cat", { image: picture }], { model: clip })).embeddings.map((vector) => [...vector]);
    ({ text } = await runtime.transcribe(sound, { model: ctc }));
  });
  afterAll(() => {
    servers.killAll();
    servers.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  function expectNear(found: readonly number[][], expected: readonly number[][]): void {
    expect(found.map((vector) => vector.length)).toEqual(expected.map((vector) => vector.length));
    for (const [index, vector] of found.entries())
      expect(Math.max(...vector.map((value, column) => Math.abs(value - expected[index]![column]!)))).toBeLessThan(1e-5);
  }

  it("openai: embeddings of parts, transcriptions of a file, and refused parts of conversations", async () => {
    const { default: OpenAI, toFile } = await installedModule<OpenAiModule>(folder, "openai");
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
    const input = [
      { type: "text", text: "a cat" },
      { type: "image_url", image_url: { url } },
    ];
    const { data } = await client.embeddings.create({ model: "clip", input }); // asks for base64, and decodes it
    expectNear(
      data.map(({ embedding }) => embedding),
      vectors,
    );
    const file = await toFile(sound, "chirp.wav");
    expect((await client.audio.transcriptions.create({ model: "ctc", file })).text).toBe(text);
    const verbose = await client.audio.transcriptions.create({ model: "ctc", file, response_format: "verbose_json" });
    expect(verbose).toMatchObject({ text, duration: 1 });
    const events: { type: string; text?: string }[] = [];
    for await (const event of await client.audio.transcriptions.create({ model: "ctc", file, stream: true })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "transcript.text.done", text });
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url } },
        ],
      },
    ];
    await expect(client.chat.completions.create({ model: "qwen", messages })).rejects.toMatchObject({
      status: 400,
      param: "messages.0.content.1",
    });
    const items = [{ role: "user", content: [{ type: "input_image", image_url: url }] }];
    await expect(client.responses.create({ model: "qwen", input: items })).rejects.toMatchObject({
      status: 400,
      param: "input.0.content.0",
    });
  });

  it("cohere-ai: embeddings of images and of inputs", async () => {
    const { CohereClientV2 } = await installedModule<CohereModule>(folder, "cohere-ai");
    const client = new CohereClientV2({ environment: server.url, token: "none" });
    const images = await client.embed({ model: "clip", images: [url], inputType: "image", embeddingTypes: ["float"] });
    expectNear(images.embeddings.float, [vectors[1]!]);
    expect(images.meta.billedUnits.images).toBe(1);
    const inputs = [{ content: [{ type: "text", text: "a cat" }] }, { content: [{ type: "image_url", imageUrl: { url } }] }];
    const mixed = await client.embed({ model: "clip", inputs, inputType: "search_document", embeddingTypes: ["float"] });
    expectNear(mixed.embeddings.float, vectors);
  });

  it("ollama: embeddings of texts on a model of pictures, and refused images", async () => {
    const { Ollama } = await installedModule<OllamaModule>(folder, "ollama");
    const client = new Ollama({ host: server.url });
    expectNear((await client.embed({ model: "clip", input: "a cat" })).embeddings, [vectors[0]!]);
    const images = [url.slice(url.indexOf(",") + 1)];
    await expect(client.chat({ model: "qwen", messages: [{ role: "user", content: "hi", images }] })).rejects.toThrow(
      "messages.0.images",
    );
    await expect(client.generate({ model: "qwen", prompt: "hi", images })).rejects.toThrow("images");
  });

  it("@anthropic-ai/sdk: a refused image block", async () => {
    const { default: Anthropic } = await installedModule<AnthropicModule>(folder, "@anthropic-ai/sdk");
    const client = new Anthropic({ baseURL: server.url, apiKey: "none", maxRetries: 0 });
    const source = { type: "base64", media_type: "image/png", data: url.slice(url.indexOf(",") + 1) };
    const messages = [{ role: "user", content: [{ type: "image", source }] }];
    await expect(client.messages.create({ model: "qwen", max_tokens: 4, messages })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("messages.0.content.0") as string,
    });
  });
});
