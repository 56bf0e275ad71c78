/** Threads that read long texts: what they read equals what the calling thread reads, and what takes too much ends alone. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { createRuntime as createRuntimeOfSource } from "../../src/index.ts";
import type { TextSettings } from "../../src/models/manifest.ts";
import { TextThreadPool } from "../../src/tasks/text-threads/pool.ts";
import { ServerProcesses, embed, ready } from "../fixtures/processes/server-process.ts";

const program = new URL("fixtures/greedy-thread.mjs", import.meta.url);
const settings = { tokenizerPath: "none" } as TextSettings;
const pool = (timeout: string): TextThreadPool => new TextThreadPool({ maxCharacters: 1000, timeout }, program, 64);

describe("a pool of threads", () => {
  it("ends the thread of a call that takes too long, and serves others meanwhile and after", async () => {
    const threads = pool("1500ms");
    const refused = threads.tokenize(settings, "time");
    refused.catch(() => {}); // expected below
    const others = Array.from({ length: 20 }, (_value, index) => threads.tokenize(settings, `text ${index}`));
    expect(await Promise.all(others)).toEqual(others.map((_other, index) => `text ${index}`));
    await expect(refused).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: "reading a text of 4 characters took longer than 1500 ms",
    });
    const many = await Promise.allSettled(["time", "time", "a"].map((text) => threads.tokenize(settings, text)));
    expect(many.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(await threads.decode(settings, [1, 2, 3], {})).toBe("3");
    await threads.dispose();
  });

  it("ends the thread of a call that takes too much memory", async () => {
    const threads = pool("60s");
    await expect(threads.tokenize(settings, "memory")).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringContaining("64 MiB of memory"),
    });
    expect(await threads.tokenize(settings, "after")).toBe("after");
    await threads.dispose();
  });

  it("tells of a thread that ended by itself, and of a pool that has", async () => {
    const threads = pool("60s");
    await expect(threads.tokenize(settings, "end")).rejects.toMatchObject({ code: "HOST_DIED" });
    const running = threads.tokenize(settings, "time");
    running.catch(() => {}); // expected below
    await threads.dispose();
    await expect(running).rejects.toMatchObject({ code: "DISPOSED" });
    await expect(threads.tokenize(settings, "a")).rejects.toMatchObject({ code: "DISPOSED" });
  });
});

const built = async (): Promise<{ createRuntime: typeof createRuntimeOfSource }> =>
  (await import(new URL("../../dist/index.js", import.meta.url).href)) as { createRuntime: typeof createRuntimeOfSource };

describe("a runtime with threads for texts", () => {
  const text = "Le café à Zürich 🍕 日本語 🏳️‍🌈.\n\n".repeat(300);
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inferyard-threads-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("gives what one without gives: tokens with places, text of tokens, chunks, vectors", async () => {
    const { createRuntime } = await built();
    await using plain = await createRuntime();
    await using threaded = await createRuntime({ textThreads: { maxCharacters: 200_000, timeout: "60s" } });
    const read = async (runtime: typeof plain) => {
      await using model = await runtime.load("builtin");
      const tokenizer = await runtime.tokenizer(model);
      const options = { maxTokens: Number.POSITIVE_INFINITY, prompt: "a ", stride: 0 };
      const encoding = await (tokenizer.encodeOnThread?.(text, options) ?? tokenizer.encode(text, options));
      const ids = [...encoding.ids];
      return {
        threads: tokenizer.encodeOnThread !== undefined,
        encoding: [ids, [...encoding.offsets], encoding.wordIds, encoding.tokens, encoding.promptTokens, encoding.wholeLength],
        decoded: await (tokenizer.decodeOnThread?.(ids) ?? tokenizer.decode(ids)),
        chunks: (await runtime.chunk(text, { strategy: "markdown", targetTokens: 100, overlapTokens: 10 })).results,
        vectors: (await runtime.embed([text, "short"], { truncate: "cut" })).embeddings,
      };
    };
    const [there, here] = [await read(threaded), await read(plain)];
    expect([there.threads, here.threads]).toEqual([true, false]);
    expect({ ...there, threads: false }).toEqual(here);
  });

  it("refuses longer texts by name, wherever they go", async () => {
    const { createRuntime } = await built();
    await using runtime = await createRuntime({ textThreads: { maxCharacters: 100, timeout: "60s" } });
    const refused = { code: "LIMIT_EXCEEDED", message: "a text of 101 characters is longer than the limit of 100" };
    const long = "a".repeat(101);
    await expect(runtime.embed(long)).rejects.toMatchObject(refused);
    await expect(runtime.rerank("a", [long])).rejects.toMatchObject(refused);
    await expect(runtime.chunk(long)).rejects.toMatchObject(refused);
    expect((await runtime.embed("a".repeat(100))).embeddings).toHaveLength(1);
  });

  it("keeps a server answering while long texts are read", async () => {
    const servers = new ServerProcesses();
    const server = await servers.serve(["--text-timeout", "2m"]);
    await ready(server);
    await embed(server, { input: "a" });
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const long = "\u0301a ".repeat(80_000);
    const done: string[] = [];
    const works = [post("/tokenize", { inputs: long }), post("/api/chunk", { input: long })].map(async (work) => {
      const response = await work;
      await response.arrayBuffer();
      done.push(`long ${response.status}`);
    });
    // Each of these is answered after one turn of the server's event loop or a few.
    let answered = 0;
    const health = (async () => {
      while (done.length === 0) {
        await (await fetch(`${server.url}/health/live`)).arrayBuffer();
        answered++;
      }
    })();
    await Promise.all([...works, health]);
    expect(done).toEqual(["long 200", "long 200"]);
    expect(answered).toBeGreaterThan(5);
    servers.killAll();
    servers.remove();
  });
});
