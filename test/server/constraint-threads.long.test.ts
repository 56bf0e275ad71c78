/** A server whose threads are in a constraint that is never compiled answers everybody else. Of sources, since the program of the threads is one that hangs on request. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Runtime } from "../../src/api/runtime.ts";
import { native } from "../../src/backends/native/index.ts";
import { nodePlatform } from "../../src/composition/node/platform.ts";
import { type Handler, createHandler } from "../../src/server/handler.ts";
import { GrammarThreads } from "../../src/tasks/generation/constraints/threads/grammar-threads.ts";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { needsData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("a server whose threads compile for ever");
const program = new URL("../generation/fixtures/mortal-grammar-thread.mjs", import.meta.url);
const settings = { timeout: "10m", timePerMinute: "10m", cacheBytes: 1e8 };

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "constraint-threads-"));
  let runtime: Runtime;
  let handler: Handler;

  beforeAll(() => {
    writeChatModel(folder, chatTemplates.tagged);
    const host = new GrammarThreads(settings, { program });
    runtime = new Runtime([native()], { host: "inline", threads: 1 }, nodePlatform(), { constraints: { host } });
    handler = createHandler(runtime, { models: { chat: folder }, trustProxy: true });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  async function post(path: string, body: object, client: string, signal?: AbortSignal): Promise<Response> {
    const headers = { "content-type": "application/json", "x-forwarded-for": client };
    const request = { method: "POST", headers, body: JSON.stringify(body), ...(signal === undefined ? {} : { signal }) };
    return handler(new Request(`http://localhost${path}`, request));
  }
  const generate = (pattern: string, client: string, signal?: AbortSignal): Promise<Response> =>
    post("/v1/completions", { model: "chat", prompt: "a", guided_regex: pattern }, client, signal);

  it("answers health, texts and constraints of others, and of the client once it has left", async () => {
    expect((await generate("warm", "10.0.0.1")).status).toBe(200);
    const leaving = new AbortController();
    let settled = 0;
    const hanging = ["hang a", "hang b", "hang c"].map((pattern) =>
      generate(pattern, "10.0.0.66", leaving.signal).finally(() => (settled += 1)),
    );
    expect((await handler(new Request("http://localhost/health/live"))).status).toBe(200);
    expect((await post("/api/embed", { model: "builtin", input: "a" }, "10.0.0.1")).status).toBe(200);
    for (const client of ["10.0.0.1", "10.0.0.2"]) {
      const response = await generate("yes|no", client);
      const { choices } = (await response.json()) as { choices: { text: string }[] };
      expect(["yes", "no"]).toContain(choices[0]!.text);
    }
    expect(settled).toBe(0);
    leaving.abort();
    await Promise.all(hanging);
    expect((await generate("late", "10.0.0.66")).status).toBe(200);
  });
});
