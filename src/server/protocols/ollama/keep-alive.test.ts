import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chatTemplates, writeChatModel } from "../../../../test/fixtures/models/chat-models.ts";
import { needsData } from "../../../../test/fixtures/shared-data.ts";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { type Handler, createHandler } from "../../handler.ts";
import { keepAliveMs } from "./keep-alive.ts";

let runtime: Runtime;
let handler: Handler;
const folder = mkdtempSync(join(tmpdir(), "inferyard-keep-alive-"));

beforeAll(async () => {
  runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
  handler = createHandler(runtime, { models: { chat: folder } });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly said: string | null;
}

/** `from`: this machine, an administrator, by default. */
async function ask(path: string, body: object, from = "127.0.0.1"): Promise<Answer> {
  const headers = { "content-type": "application/json", host: "localhost" };
  const request = new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const response = await handler(request, { remoteAddress: from, listenAddress: "0.0.0.0" });
  return {
    status: response.status,
    body: (await response.json()) as Answer["body"],
    said: response.headers.get("x-inferyard-keep-alive"),
  };
}

const elsewhere = "10.1.2.3";
const inMemory = (): readonly (number | null)[] => runtime.memory().models.map(({ expiresAt }) => expiresAt);
const short = { model: "chat", stream: false, options: { num_predict: 1 } };

describe.skipIf(needsData("")[0])(needsData("keep_alive of a model that writes text")[1], () => {
  beforeAll(() => void writeChatModel(folder, chatTemplates.tagged));
  beforeEach(() => runtime.unloadIdle());

  it.each([
    ["/api/generate", { prompt: "a" }],
    ["/api/chat", { messages: [{ role: "user", content: "a" }] }],
  ])("POST %s sets how long the model stays", async (path, content) => {
    await ask(path, { ...short, ...content, keep_alive: -1 });
    expect(inMemory()).toEqual([null]);
    await ask(path, { ...short, ...content, keep_alive: "2h" });
    expect(inMemory()[0]).toBeGreaterThan(Date.now() + 7_000_000);
    await ask(path, { ...short, ...content, keep_alive: null });
    expect(inMemory()[0]).toBeGreaterThan(Date.now() + 7_000_000);
    await ask(path, { ...short, ...content, keep_alive: 0 });
    await expect.poll(inMemory).toEqual([]);
  });

  it.each([
    ["/api/generate", 0],
    ["/api/generate", "0s"],
    ["/api/chat", "0"],
  ])("POST %s without a prompt and keep_alive %j unloads, and has when it answers", async (path, keepAlive) => {
    expect((await ask(path, { model: "chat" })).body).toMatchObject({ done: true, done_reason: "load" });
    await runtime.load(folder).then((handle) => handle.dispose()); // as a model of tensors too
    expect(inMemory()).toHaveLength(2);
    expect((await ask(path, { model: "chat:latest", keep_alive: keepAlive })).body).toMatchObject({ done_reason: "unload" });
    expect(inMemory()).toEqual([]);
    await ask(path, { model: "chat", keep_alive: keepAlive });
    expect(inMemory()).toEqual([]);
  });

  it("is refused, or ignored with a word, for a client that may not unload models", async () => {
    await ask("/api/generate", { model: "chat" });
    const before = inMemory();
    for (const keepAlive of [0, -1, "5m"]) {
      const refused = await ask("/api/generate", { model: "chat", keep_alive: keepAlive }, elsewhere);
      expect([refused.status, String(refused.body["error"])]).toEqual([
        403,
        expect.stringMatching(/keep_alive without a prompt/),
      ]);
      const done = await ask("/api/generate", { ...short, prompt: "a", keep_alive: keepAlive }, elsewhere);
      expect([done.status, done.said]).toEqual([200, expect.stringMatching(/^ignored: .*administrators/)]);
    }
    expect(inMemory()).toHaveLength(1);
    expect(Math.abs((inMemory()[0] ?? 0) - (before[0] ?? 0))).toBeLessThan(60_000);
    expect((await ask("/api/generate", { model: "chat" }, elsewhere)).body).toMatchObject({ done_reason: "load" });
  });
});

describe("keep_alive of other requests", () => {
  it("says so where it is ignored", async () => {
    expect((await ask("/api/embed", { input: "a", keep_alive: 0 }, elsewhere)).said).toMatch(/^ignored/);
    expect((await ask("/api/embed", { input: "a", keep_alive: "1h" })).said).toBeNull();
    expect((await ask("/api/embed", { input: "a" }, elsewhere)).said).toBeNull();
  });

  it("is checked before the model runs", async () => {
    await runtime.unloadIdle();
    for (const path of ["/api/embed", "/api/generate"])
      expect((await ask(path, { input: "a", keep_alive: "soon" }, elsewhere)).status).toBe(400);
    expect(inMemory()).toEqual([]);
  });

  it.each([
    [5, 5000],
    [0, 0],
    [-1, Number.POSITIVE_INFINITY],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1.5s", 1500],
    ["300ms", 300],
    ["-1s", Number.POSITIVE_INFINITY],
    ["0", 0],
    ["0s", 0],
    ["-0", 0],
    [1e300, Number.POSITIVE_INFINITY],
    ["999999999h", Number.POSITIVE_INFINITY],
  ])("reads %j as %j ms", (written, ms) => expect(keepAliveMs(written)).toBe(ms));

  it.each(["", "5", "m", "5 m", "1h30", "soon"])("refuses %j", (written) => expect(keepAliveMs(written)).toBeUndefined());
});
