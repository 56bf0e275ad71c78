/**
 * Clients nobody here wrote, unchanged, against `inferyard serve` in a process of its own. Where a
 * registry cannot be reached the tests say so and are skipped.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { guideExample } from "../documentation/fixtures/guide-example.ts";
import { installNpm, installPython, installedModule, needsInstalled, pythonOf } from "../fixtures/installed.ts";
import { clientPackage, npmClients, pythonClients } from "./fixtures/client-packages.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "inferyard-clients-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const python = pythonOf(folder);

/** The server's address, while the tests of this file run. */
const server: { url: string; end: () => Promise<void> } = { url: "", end: async () => {} };
beforeAll(async () => {
  const child = spawn(process.execPath, ["bin/inferyard.js", "serve", "--port", "0", "--token-ids", "own"], {
    cwd: repository,
    env: { ...process.env, INFERYARD_HOME: join(folder, "home") }, // files and batches
    stdio: "pipe",
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  server.url = await new Promise<string>((resolve, reject) => {
    const written: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        written.push(String(chunk));
        const [, url] = /listening on (http:\S+)/.exec(written.join("")) ?? [];
        if (url !== undefined) resolve(url);
      });
    child.once("exit", () => reject(new Error(`the server ended: ${written.join("")}`)));
  });
  server.end = async () => {
    child.kill("SIGINT");
    await ended;
  };
});
afterAll(() => server.end());

const texts = ["a cat sits on the mat", "ein Satz"];

/** What the library says of the same texts, and the ids of their tokens. */
async function expected(): Promise<{ vectors: number[][]; tokens: number; ids: number[][] }> {
  const runtime = await createRuntime();
  const { embeddings, tokens } = await runtime.embed(texts);
  const handle = await runtime.load("builtin");
  const tokenizer = await runtime.tokenizer(handle);
  const ids = texts.map((text) => [...tokenizer.encode(text).ids]);
  await handle.dispose();
  await runtime.dispose();
  return { vectors: embeddings.map((vector) => [...vector]), tokens: tokens.reduce((sum, count) => sum + count, 0), ids };
}

/** The part of the client that is used here: it is no dependency, so its types are not there. */
interface OpenAiModule {
  readonly default: new (options: { baseURL: string; apiKey: string; maxRetries: number }) => {
    readonly embeddings: {
      create(request: object): Promise<{
        data: { embedding: number[] }[];
        usage: { prompt_tokens: number; total_tokens: number };
      }>;
    };
    readonly models: { list(): AsyncIterable<{ id: string }>; retrieve(id: string): Promise<{ id: string }> };
    readonly chat: { readonly completions: { create(request: object): Promise<unknown> } };
    readonly files: {
      create(request: object): Promise<{ id: string }>;
      list(query?: object): AsyncIterable<{ id: string }>;
      retrieve(id: string): Promise<{ bytes: number; status: string }>;
      content(id: string): Promise<Response>;
      delete(id: string): Promise<{ deleted: boolean }>;
    };
    readonly batches: {
      create(request: object): Promise<OpenAiBatch>;
      retrieve(id: string): Promise<OpenAiBatch>;
      list(query?: object): AsyncIterable<OpenAiBatch>;
      cancel(id: string): Promise<OpenAiBatch>;
    };
  };
  readonly toFile: (content: Buffer, name: string) => Promise<unknown>;
  readonly BadRequestError: new () => Error;
  readonly NotFoundError: new () => Error;
  readonly UnprocessableEntityError: new () => Error;
}

interface OpenAiBatch {
  readonly id: string;
  readonly status: string;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly request_counts: object;
}

describe(`npm: ${clientPackage(npmClients, "openai")}`, () => {
  needsInstalled(() => installNpm(folder, npmClients));
  const load = (): Promise<OpenAiModule> => installedModule(folder, "openai");
  const connect = async (): Promise<InstanceType<OpenAiModule["default"]>> =>
    new (await load()).default({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });

  it("embeds: base64 by itself, numbers when asked, tokens, fewer dimensions, and counts", async () => {
    const client = await connect();
    const { vectors, tokens, ids } = await expected();
    for (const request of [{ input: texts }, { input: texts, encoding_format: "float" }, { input: ids }]) {
      const { data, usage } = await client.embeddings.create({ model: "builtin", ...request });
      expect(data.map(({ embedding }) => [...embedding])).toEqual(vectors);
      expect(usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    }
    const one = await client.embeddings.create({ model: "builtin", input: texts[0], dimensions: 5, user: "me" });
    expect([one.data.length, one.data[0]!.embedding.length]).toEqual([1, 5]);
  });

  it("runs the guide's example", async () => {
    const [printed, shown] = await guideExample("openai, npm", { url: server.url, folder });
    expect(printed).toEqual(shown);
  });

  it("lists models and asks for one", async () => {
    const client = await connect();
    const names: string[] = [];
    for await (const { id } of client.models.list()) names.push(id);
    expect(names[0]).toBe("builtin");
    expect(await client.models.retrieve("builtin")).toMatchObject({ id: "builtin", object: "model" });
  });

  it("uploads files, runs batches of their requests, and reads the results", async () => {
    const client = await connect();
    const line = (id: string, body: object): string =>
      `${JSON.stringify({ custom_id: id, method: "POST", url: "/v1/embeddings", body })}\n`;
    const content = line("good", { model: "builtin", input: texts }) + line("bad", { model: "none", input: "a" });
    const file = await client.files.create({
      file: await (await load()).toFile(Buffer.from(content), "in.jsonl"),
      purpose: "batch",
    });
    expect(await client.files.retrieve(file.id)).toMatchObject({ bytes: Buffer.byteLength(content), status: "processed" });
    expect(await (await client.files.content(file.id)).text()).toBe(content);
    const made = { input_file_id: file.id, endpoint: "/v1/embeddings", completion_window: "24h" };
    const { id } = await client.batches.create(made);
    const batch = await vi.waitFor(
      async () => {
        const current = await client.batches.retrieve(id);
        expect(current.status).toBe("completed");
        return current;
      },
      { timeout: 30_000, interval: 100 },
    );
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    const results = await (await client.files.content(batch.output_file_id ?? "")).text();
    const { response } = JSON.parse(results) as { response: { body: { data: { embedding: number[] }[] } } };
    expect(response.body.data.map(({ embedding }) => Float32Array.from(embedding))).toEqual(
      (await expected()).vectors.map((vector) => Float32Array.from(vector)),
    );
    expect(await (await client.files.content(batch.error_file_id ?? "")).text()).toContain("model_not_found");
    const listed: string[] = [];
    for await (const each of client.batches.list({ limit: 1 })) listed.push(each.id);
    expect(listed).toEqual([id]);
    const second = await client.batches.create(made);
    expect(["cancelling", "cancelled", "completed"]).toContain(
      (await client.batches.cancel(second.id).catch(() => client.batches.retrieve(second.id))).status,
    );
    const files: string[] = [];
    for await (const each of client.files.list({ limit: 1 })) files.push(each.id);
    expect(files).toContain(file.id);
    expect(await client.files.delete(file.id)).toMatchObject({ deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toThrow((await load()).NotFoundError);
  });

  it("throws its own classes of error", async () => {
    const client = await connect();
    const { BadRequestError, NotFoundError, UnprocessableEntityError } = await load();
    const failed = (promise: Promise<unknown>): Promise<unknown> => promise.then(undefined, (error: unknown) => error);
    const missing = await failed(client.embeddings.create({ model: "text-embedding-3-small", input: "a" }));
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model", type: "invalid_request_error" });
    const wrong = await failed(client.embeddings.create({ model: "builtin", input: [] }));
    expect(wrong).toBeInstanceOf(BadRequestError);
    expect(wrong).toMatchObject({ status: 400, param: "input" });
    const chat = await failed(client.chat.completions.create({ model: "builtin", messages: [{ role: "user", content: "hi" }] }));
    expect(chat).toBeInstanceOf(UnprocessableEntityError);
    expect(chat).toMatchObject({ status: 422, code: "model_unsupported" });
  });
});

describe(`PyPI: ${["openai", "cohere"].map((name) => clientPackage(pythonClients, name)).join(", ")}`, () => {
  needsInstalled(() => installPython(folder, pythonClients));
  const run = (program: string): unknown =>
    JSON.parse(
      execFileSync(python, ["-c", program], {
        encoding: "utf8",
        timeout: 120_000,
        env: { ...process.env, URL: server.url, INPUT: JSON.stringify(texts), NO_PROXY: "127.0.0.1" },
      }),
    );
  const openai = [
    "import json, os, openai",
    'client = openai.OpenAI(base_url=os.environ["URL"] + "/v1", api_key="none", max_retries=0)',
    'texts = json.loads(os.environ["INPUT"])',
  ];
  const cohere = [
    "import json, os, cohere",
    'arguments = dict(model="builtin", query="a pet", documents=["a car", "a cat", "a house"])',
  ];
  const print = (expression: string): string => `print(json.dumps(${expression}))`;

  it.each(["openai, PyPI", "cohere, PyPI"])("%s: runs the guide's example", async (heading) => {
    const [printed, shown] = await guideExample(heading, { url: server.url, folder, python });
    expect(printed).toEqual(shown);
  });

  it("openai embeds, and its errors are its own", async () => {
    const { vectors, tokens, ids } = await expected();
    const program = [
      ...openai,
      `ids = ${JSON.stringify(ids)}`,
      'answers = [client.embeddings.create(model="builtin", input=i) for i in (texts, ids)]',
      'answers.append(client.embeddings.create(model="builtin", input=texts, encoding_format="float"))',
      "errors = []",
      'for model, input in (("nothing", "a"), ("builtin", [])):',
      "    try:",
      "        client.embeddings.create(model=model, input=input)",
      "    except openai.APIStatusError as error:",
      "        errors.append([type(error).__name__, error.code, error.param])",
      print(
        "dict(vectors=[[d.embedding for d in a.data] for a in answers], used=[a.usage.total_tokens for a in answers], errors=errors, models=[m.id for m in client.models.list()])",
      ),
    ].join("\n");
    const answer = run(program) as { vectors: number[][][]; used: number[]; errors: string[][]; models: string[] };
    expect(answer.vectors.map((rows) => rows.map((row) => row.map(Math.fround)))).toEqual([vectors, vectors, vectors]);
    expect(answer.used).toEqual([tokens, tokens, tokens]);
    expect(answer.errors).toEqual([
      ["NotFoundError", "model_not_found", "model"],
      ["BadRequestError", "input_invalid", "input"],
    ]);
    expect(answer.models).toContain("builtin");
  });

  it("cohere reranks as the library does, in both versions of its API, and its errors are its own", async () => {
    const runtime = await createRuntime();
    const { results } = await runtime.rerank("a pet", ["a car", "a cat", "a house"], { topN: 2 });
    await runtime.dispose();
    const program = [
      ...cohere,
      'clients = [cohere.ClientV2(api_key="none", base_url=os.environ["URL"]), cohere.Client(api_key="none", base_url=os.environ["URL"])]',
      "answers = [client.rerank(top_n=2, **arguments) for client in clients]",
      "try:",
      '    clients[0].rerank(**{**arguments, "model": "nothing"})',
      "except cohere.NotFoundError as error:",
      '    code = error.body["code"]',
      print(
        "dict(ranks=[[[r.index, r.relevance_score] for r in a.results] for a in answers], text=answers[1].results[0].document.text, tokens=answers[0].meta.tokens.input_tokens, code=code)",
      ),
    ].join("\n");
    const answer = run(program) as { ranks: [number, number][][]; text: string; tokens: number; code: string };
    const ranked = results.map(({ index, score }) => [index, score]);
    expect(answer.ranks).toEqual([ranked, ranked]);
    expect(answer.text).toBe(results[0]!.text);
    expect(answer.tokens).toBeGreaterThan(0);
    expect(answer.code).toBe("MODEL_NOT_FOUND");
  });
});
