/**
 * LangChain.js and the Vercel AI SDK, unchanged, against `inferyard serve` with MiniLM: their vectors are the library's. Where npm's registry cannot be reached the tests say so and are skipped.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guideExample } from "../documentation/fixtures/guide-example.ts";
import { installNpm, installedModule, needsInstalled } from "../fixtures/installed.ts";
import { type ServerProcess, ServerProcesses, ready } from "../fixtures/processes/server-process.ts";
import { hasSharedData, sharedData, worst } from "../fixtures/shared-data.ts";

/** The newest that run on Node.js 20: later ones ask for 22. */
const packages = {
  langchain: ["@langchain/openai@1.4.6", "@langchain/core@1.4.0"],
  vercel: ["ai@6.0.322", "@ai-sdk/openai-compatible@2.0.87", "zod@4.6.7"],
};
const folder = mkdtempSync(join(tmpdir(), "inferyard-embedding-clients-"));
needsInstalled(() => installNpm(folder, Object.values(packages).flat()));

const reference = hasSharedData ? `${sharedData}all-MiniLM-L6-v2` : "builtin";
const where = hasSharedData ? "MiniLM" : "the built-in model (../shared/data is not beside this checkout)";
/** Lengths of their own, so that batches are padded. */
const texts = [
  "a cat sits on the mat",
  "ein Satz",
  "The quick brown fox jumps over the lazy dog. ".repeat(6),
  ...Array.from({ length: 40 }, (_value, index) => `the text number ${index} `.repeat(1 + (index % 7))),
];

const servers = new ServerProcesses();
let server: ServerProcess;
let vectors: readonly Float32Array[];
let tokens = 0;
beforeAll(async () => {
  server = await servers.serve([], {
    models: { minilm: reference },
    keys: [{ name: "app", sha256: createHash("sha256").update("the-key").digest("hex"), role: "reader" }],
  });
  await ready(server);
  const runtime = await createRuntime();
  const result = await runtime.embed(texts, { model: reference });
  await runtime.dispose();
  vectors = result.embeddings;
  tokens = result.tokens.reduce((sum, count) => sum + count, 0);
});
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** What batches of other lengths do to a vector in fp32 is below this. */
const tolerance = 1e-5;

function areTheLibrarys(found: readonly (readonly number[])[]): void {
  expect(found.length).toBe(vectors.length);
  for (const [index, vector] of vectors.entries())
    expect(worst(Float32Array.from(found[index]!), vector), texts[index]).toBeLessThan(tolerance);
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> => promise.then(undefined, (error: unknown) => error);

/** The part of each client that is used here. */
interface LangChainModule {
  readonly OpenAIEmbeddings: new (options: {
    model: string;
    apiKey: string;
    dimensions?: number;
    batchSize?: number;
    maxRetries: number;
    configuration: { baseURL: string };
  }) => {
    embedQuery(text: string): Promise<number[]>;
    embedDocuments(texts: readonly string[]): Promise<number[][]>;
  };
}

describe(`LangChain.js (${packages.langchain[0]}) on ${where}`, () => {
  const connect = async (
    options: { model?: string; apiKey?: string; dimensions?: number; batchSize?: number } = {},
  ): Promise<InstanceType<LangChainModule["OpenAIEmbeddings"]>> => {
    const { OpenAIEmbeddings } = await installedModule<LangChainModule>(folder, "@langchain/openai");
    const configuration = { baseURL: `${server.url}/v1` };
    return new OpenAIEmbeddings({ model: "minilm", apiKey: "the-key", maxRetries: 0, ...options, configuration });
  };

  it("embeds a question, and documents in one request or several", async () => {
    areTheLibrarys(await (await connect()).embedDocuments(texts));
    areTheLibrarys(await (await connect({ batchSize: 7 })).embedDocuments(texts));
    const question = await (await connect()).embedQuery(texts[0]!);
    expect(worst(Float32Array.from(question), vectors[0]!)).toBeLessThan(tolerance);
  });

  it("asks for fewer dimensions", async () => {
    const [short] = await (await connect({ dimensions: 64 })).embedDocuments([texts[0]!]);
    const first = vectors[0]!.subarray(0, 64);
    const length = Math.hypot(...first);
    expect(
      worst(
        Float32Array.from(short!),
        first.map((value) => value / length),
      ),
    ).toBeLessThan(tolerance);
  });

  it("throws the errors of the openai client it carries", async () => {
    expect(await failureOf((await connect({ model: "nothing" })).embedQuery("a"))).toMatchObject({ status: 404 });
    expect(await failureOf((await connect({ apiKey: "another-key" })).embedQuery("a"))).toMatchObject({ status: 401 });
  });
});

interface VercelProvider {
  embeddingModel(name: string): object;
}
interface VercelCompatible {
  createOpenAICompatible(options: { name: string; baseURL: string; apiKey: string }): VercelProvider;
}
interface VercelCore {
  embed(options: object): Promise<{ embedding: number[]; usage: { tokens: number } }>;
  embedMany(options: object): Promise<{ embeddings: number[][]; usage: { tokens: number } }>;
  cosineSimilarity(one: number[], other: number[]): number;
}

describe(`Vercel AI SDK (${packages.vercel.slice(0, 2).join(", ")}) on ${where}`, () => {
  const connect = async (name = "minilm", apiKey = "the-key"): Promise<VercelCore & { readonly model: object }> => {
    const core = await installedModule<VercelCore>(folder, "ai");
    const compatible = await installedModule<VercelCompatible>(folder, "@ai-sdk/openai-compatible");
    const provider = compatible.createOpenAICompatible({ name: "inferyard", baseURL: `${server.url}/v1`, apiKey });
    return { ...core, model: provider.embeddingModel(name) };
  };

  it("embedMany gives vectors and counts tokens", async () => {
    const { embedMany, model } = await connect();
    const { embeddings, usage } = await embedMany({ model, values: texts });
    areTheLibrarys(embeddings);
    expect(usage.tokens).toBe(tokens);
  });

  it("embed gives one, and takes dimensions and a user", async () => {
    const { embed, cosineSimilarity, model } = await connect();
    const { embedding } = await embed({ model, value: texts[0] });
    expect(worst(Float32Array.from(embedding), vectors[0]!)).toBeLessThan(tolerance);
    const providerOptions = { openaiCompatible: { dimensions: 64, user: "me" } };
    const short = await embed({ model, value: texts[0], providerOptions });
    expect(short.embedding.length).toBe(64);
    expect(cosineSimilarity(short.embedding, embedding.slice(0, 64))).toBeCloseTo(1, 5);
  });

  it("throws its own errors, with the server's words", async () => {
    const other = await connect("nothing");
    expect(await failureOf(other.embed({ model: other.model, value: "a", maxRetries: 0 }))).toMatchObject({
      name: "AI_APICallError",
      statusCode: 404,
      message: expect.stringContaining("there is no model"),
      isRetryable: false,
    });
    const stranger = await connect("minilm", "another-key");
    expect(await failureOf(stranger.embed({ model: stranger.model, value: "a", maxRetries: 0 }))).toMatchObject({
      statusCode: 401,
    });
  });
});

describe("the guide's examples", () => {
  it.each(["LangChain.js", "Vercel AI SDK"])("%s", async (heading) => {
    const { url } = await servers.serve([]); // without keys, and with the built-in model
    const [printed, shown] = await guideExample(heading, { url, folder });
    expect(printed).toEqual(shown);
  });
});
