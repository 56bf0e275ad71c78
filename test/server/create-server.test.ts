/** A server of a program, with settings of inferyard.yaml. What the command adds is test/server/serve.test.ts. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, createServer } from "inferyard/server";
import { afterAll, afterEach, describe, expect, it } from "vitest";

const directory = mkdtempSync(join(tmpdir(), "inferyard-create-server-"));
afterAll(() => rmSync(directory, { recursive: true }));

const running: RunningServer[] = [];
afterEach(() => Promise.all(running.splice(0).map((server) => server.close())));

const lines: string[] = [];
const log = { write: (line: string) => lines.push(line) };
const environment = { INFERYARD_HOME: join(directory, "home"), TERMITE_GPU: "cuda" };

async function start(settings: Parameters<typeof createServer>[0] = {}): Promise<RunningServer> {
  const { server: section, ...others } = settings;
  const server = { port: 0, drainTimeout: "0ms", ...section };
  const started = await createServer({ host: "inline", ...others, server }, { directory, log, environment });
  running.push(started);
  return started;
}

const post = (url: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });

describe("a server of a program", () => {
  it("serves the default model, logs as the command does, and ends with its runtime", async () => {
    lines.length = 0;
    const server = await start();
    await server.ready;
    const response = await post(`${server.url}/api/embed`, { input: "a cat" });
    expect([response.status, response.headers.get("x-inferyard-target")]).toEqual([200, "native:cpu"]);
    expect(await server.close()).toBe(0);
    running.length = 0;
    await expect(server.runtime.embed("a cat")).rejects.toMatchObject({ code: "DISPOSED" });
    await expect(fetch(`${server.url}/health/live`)).rejects.toThrow("fetch failed");
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).toEqual(expect.arrayContaining(["memory budget", "default model", "request"]));
    expect(messages.join()).toContain("TERMITE_GPU is a variable of Termite, which is not read");
  });

  it("obeys settings of the runtime, and files that the section server names", async () => {
    const key = "the-key";
    const keys = [{ name: "a", sha256: createHash("sha256").update(key).digest("hex"), role: "reader" }];
    writeFileSync(join(directory, "keys.yaml"), JSON.stringify(keys));
    const models = { small: "builtin" };
    const server = await start({ target: "wasm", server: { keysFile: "keys.yaml", models, maxTexts: 1, logLevel: "silent" } });
    const statusOf = async (input: string[], headers?: Record<string, string>): Promise<number> =>
      (await post(`${server.url}/api/embed`, { model: "small", input }, headers)).status;
    const authorization = { authorization: `Bearer ${key}` };
    expect(await statusOf(["a"])).toBe(401);
    expect(await statusOf(["a", "b"], authorization)).toBe(413);
    expect(await statusOf(["a"], authorization)).not.toBe(401);
    await server.ready.catch(() => {}); // builtin runs on no other target
  });

  it("tells by `ready` that a model cannot be loaded, and serves meanwhile", async () => {
    const server = await start({ model: "./nothing" });
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    await expect(server.ready).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
  });

  it.each([
    [{ server: { maxQeue: 1 } }, 'server: unknown key "maxQeue" (did you mean "maxQueue"?)'],
    [{ threads: 0, server: { port: -1 } }, "threads: "],
    [{ server: { tlsCert: "cert.pem" } }, "tlsCert is set without the other half"],
    [{ server: { address: "0.0.0.0" } }, "0.0.0.0 can be reached by other machines, and no keys are set"],
    [
      { server: { models: { a: { reference: "m", strategy: "eager" }, b: { reference: "m", strategy: "pinned" } } } },
      "server.models: b",
    ],
  ])("refuses %j", async (settings, message) => {
    await expect(start(settings as Parameters<typeof createServer>[0])).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(message),
    });
  });
});
