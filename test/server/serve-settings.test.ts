/** Every setting of the server, from the file or a flag, seen from outside. That every flag is its setting, test/cli/every-flag.test.ts sees. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { request } from "node:https";
import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { serverOptions } from "../../src/settings/server-options.ts";
import type { ServerSection } from "../../src/settings/generated-server-settings.ts";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { type ServerHere, ServersHere } from "../fixtures/processes/server-here.ts";
import { embed, ready } from "../fixtures/processes/server-process.ts";
import { runsAll, sampled } from "../fixtures/slow.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

interface ServeSurroundings {
  readonly others?: object;
  readonly environment?: Record<string, string>;
}

const servers = new ServersHere();
/** Models are in the calling thread, which saves each server a thread of its own. */
function serve(args: readonly string[], settings: object = {}, surroundings: ServeSurroundings = {}): Promise<ServerHere> {
  const { others, ...more } = surroundings;
  return servers.serve(args, settings, { ...more, others: { host: "inline", ...others } });
}
afterEach(() => servers.endAll());
afterAll(() => servers.remove());

/** One server for the tests that need no setting, and one for settings that do not conflict. */
const kept = new ServersHere();
let plain: ServerHere;
let set: ServerHere;
beforeAll(async () => {
  const inline = { others: { host: "inline" } };
  plain = await kept.serve([], {}, inline);
  const flags = {
    "--token-ids": "own",
    "--cors": "https://a.example,https://b.example",
    "--allowed-hosts": "models.example,b.example",
    "--result-cache-bytes": "100000",
    "--max-text-characters": "10000",
    "--max-response-bytes": "400000",
  };
  set = await kept.serve(Object.entries(flags).flat(), { longTexts: "error", strictFields: true }, inline);
});
afterAll(async () => {
  await kept.endAll();
  kept.remove();
});

const digestOf = (key: string): string => createHash("sha256").update(key).digest("hex");
const texts = (count: number, request = 0): object => ({
  input: Array.from({ length: count }, (_value, index) => `the text number ${index} of request ${request}`),
});
/** Where requests must be read while others are computed. */
const onThreads = { others: { host: "worker" } };

const metricsOf = async ({ url }: { readonly url: string }): Promise<string> => (await fetch(`${url}/metrics`)).text();

/** The answers to more requests at once than may run and wait, until one of them was refused: one takes long, and three come while it runs. */
async function crowd(server: ServerHere, more: object = {}): Promise<Response[]> {
  for (let round = 0; ; round += 1) {
    const held = { isOver: false };
    const holding = embed(server, { ...texts(4000, round), dimensions: 4, ...more }).finally(() => (held.isOver = true));
    while (!held.isOver && (await metricsOf(server)).includes("inferyard_requests_running 0\n"));
    const responses = await Promise.all([holding, ...["a", "b", "c"].map((input) => embed(server, { input, ...more }))]);
    if (responses.some(({ status }) => status === 429)) return responses;
  }
}

async function codeOf(response: Response): Promise<[number, string]> {
  return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
}

function json(body: object): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** Every setting whose effect a test of this file sees: its title names them. */
const tested = new Set<keyof ServerSection>();
function of(...names: (keyof ServerSection)[]): string {
  for (const name of names) tested.add(name);
  return names.join(", ");
}

describe("serve", () => {
  it(`${of("address", "allowAnonymous")}: others can reach it, and are readers`, async () => {
    const server = await serve(["--allow-anonymous"], { address: "0.0.0.0" });
    const local = { ...server, url: `http://127.0.0.1:${server.port}` };
    expect((await embed(local, { input: "a" })).status).toBe(200);
    const forwarded = await embed(local, { input: "a", model: "./nothing" }, { "x-forwarded-for": "10.0.0.7" });
    expect(((await forwarded.json()) as { error: { message: string } }).error.message).toContain("there is no model");
  });

  it(`${of("keys", "keysFile")}: both are keys, and without one there is no answer`, async () => {
    writeFileSync(join(servers.folder, "keys.yaml"), `- { name: filed, sha256: ${digestOf("two")}, role: admin }\n`);
    const keys = [{ name: "set", sha256: digestOf("one"), role: "reader", requestsPerMinute: 2 }];
    const server = await serve(["--keys-file", "keys.yaml"], { keys });
    const statusOf = async (key: string): Promise<number> => (await embed(server, { input: "a" }, { "api-key": key })).status;
    expect(await codeOf(await embed(server, { input: "a" }))).toEqual([401, "UNAUTHORIZED"]);
    expect([await statusOf("one"), await statusOf("two"), await statusOf("three")]).toEqual([200, 200, 401]);
    expect([await statusOf("one"), await statusOf("one")]).toEqual([200, 429]);
  });

  it(`${of("longTexts")}: texts that are too long on the routes of text-embeddings-inference`, async () => {
    const statusOf = async ({ url }: ServerHere): Promise<number> =>
      (await fetch(`${url}/embed`, json({ inputs: "word ".repeat(600) }))).status;
    expect([await statusOf(plain), await statusOf(set)]).toEqual([200, 413]);
  });

  it(`${of("strictFields")}: fields that a route of others' protocols does not know`, async () => {
    const answer = async ({ url }: ServerHere): Promise<[number, string | null]> => {
      const response = await fetch(`${url}/embed`, json({ inputs: "a", speed: "fast" }));
      return [response.status, response.headers.get("x-inferyard-ignored")];
    };
    expect([await answer(plain), await answer(set)]).toEqual([
      [200, "/speed"],
      [422, null],
    ]);
    expect(await (await fetch(`${plain.url}/metrics`)).text()).toContain('inferyard_ignored_fields_total{route="post_embed"} 1');
  });

  it(`${of("tokenIds")}: unframed token ids are refused, unless they are said to be the model's own`, async () => {
    const tokenizer = await (await fetch(`${plain.url}/tokenize`, json({ inputs: "a cat" }))).json();
    const ids = (tokenizer as { id: number }[][])[0]!.map(({ id }) => id);
    const body = json({ model: "builtin", input: [ids] });
    for (const [{ url }, status] of [
      [plain, 400],
      [set, 200],
    ] as const)
      expect((await fetch(`${url}/v1/embeddings`, body)).status).toBe(status);
  });

  it(`${of("cors")}: the pages that are named may read answers`, async () => {
    const of = async (origin: string): Promise<[number, string | null]> => {
      const response = await embed(set, { input: "a" }, { origin });
      return [response.status, response.headers.get("access-control-allow-origin")];
    };
    expect(await of("https://b.example")).toEqual([200, "https://b.example"]);
    expect(await of("https://c.example")).toEqual([403, null]);
  });

  it(`${of("allowedHosts")}: names under which it answers, for pages whose name was turned to this machine`, async () => {
    const statusesOf = async ({ port }: ServerHere): Promise<number[]> => {
      const statusOf = (host: string): Promise<number> =>
        new Promise((resolve, reject) => {
          const headers = { host: `${host}:${port}` };
          plainRequest({ port, host: "127.0.0.1", path: "/api/version", headers }, (response) =>
            resolve(response.statusCode ?? 0),
          )
            .once("error", reject)
            .end();
        });
      return Promise.all(["localhost", "127.0.0.1", "models.example", "evil.example"].map(statusOf));
    };
    expect(await statusesOf(plain)).toEqual([200, 200, 403, 403]);
    expect(await statusesOf(set)).toEqual([200, 200, 200, 403]);
  });

  it.each([
    [["--trust-proxy"], [200, 200, 429]],
    [[], [200, 429, 429]],
  ])(`${of("trustProxy", "requestsPerMinute")}: who a client is (%j)`, async (flags, wanted) => {
    const server = await serve(flags, { requestsPerMinute: 1 });
    const statuses = [];
    for (const address of ["9.9.9.9", "8.8.8.8", "9.9.9.9"])
      statuses.push((await embed(server, { input: "a" }, { "x-forwarded-for": address })).status);
    expect(statuses).toEqual(wanted);
  });

  it(`${of("maxBodyBytes", "maxJsonBytes", "maxJsonDepth", "maxJsonValues", "maxTexts")}: what is too much`, async () => {
    const server = await serve(["--max-texts", "3"], {
      maxBodyBytes: 700,
      maxJsonBytes: 300,
      maxJsonDepth: 4,
      maxJsonValues: 20,
    });
    const many = { input: Array.from({ length: 20 }, () => 1) };
    const limited = [{ input: "a".repeat(300) }, { input: "a", x: [[[[1]]]] }, texts(4), many];
    for (const body of limited) expect(await codeOf(await embed(server, body))).toEqual([413, "LIMIT_EXCEEDED"]);
    expect((await embed(server, texts(3))).status).toBe(200);
    const infer = (bytes: number): Promise<Response> => {
      const head = JSON.stringify({
        inputs: [{ name: "text", datatype: "BYTES", shape: [1], parameters: { binary_data_size: 4 + bytes } }],
      });
      const length = Uint8Array.from([bytes & 255, bytes >> 8, 0, 0]);
      const body = Buffer.concat([Buffer.from(head), length, Buffer.alloc(bytes, "a")]);
      const headers = { "inference-header-content-length": String(head.length) };
      return fetch(`${server.url}/v2/models/builtin/infer`, { method: "POST", body, headers });
    };
    expect([(await infer(400)).status, (await infer(700)).status]).toEqual([200, 413]); // bytes have their own limit
  });

  it(`${of("maxFilesBytes")}: what all files of clients hold together`, async () => {
    const server = await serve(["--max-files-bytes", "10"]);
    const upload = (content: string): Promise<Response> => {
      const form = new FormData();
      form.set("purpose", "batch");
      form.set("file", new File([content], "in.jsonl"));
      return fetch(`${server.url}/v1/files`, { method: "POST", body: form });
    };
    expect((await upload("123456")).status).toBe(200);
    expect(await codeOf(await upload("12345"))).toEqual([413, "limit_exceeded"]);
  });

  it(`${of("maxInFlightBodyBytes")}: what bodies may hold together`, async () => {
    const server = await serve(["--max-in-flight-body-bytes", "60000"]);
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    const head = "host: localhost\r\ncontent-type: application/json\r\ncontent-length: 25001\r\n\r\n";
    socket.write(`POST /api/embed HTTP/1.1\r\n${head}${" ".repeat(25_000)}`);
    const body = { input: "a".repeat(20_000) };
    const statusOf = async (): Promise<number> => (await embed(server, body)).status;
    await expect.poll(statusOf, { timeout: 5000 }).toBe(429); // once the other has arrived
    expect((await embed(server, { input: "a" })).status).toBe(200);
    socket.destroy();
    await expect.poll(statusOf, { timeout: 5000 }).toBe(200);
  });

  it(`${of("maxTextCharacters", "textTimeout")}: a text that is too long, and one that is not read in time`, async () => {
    expect(await codeOf(await embed(set, { input: "a ".repeat(5001) }))).toEqual([413, "LIMIT_EXCEEDED"]);
    expect((await embed(set, { input: "a ".repeat(5000) })).status).toBe(200);
    const hasty = await serve(["--text-timeout", "1ms"]);
    const body = JSON.stringify({ input: "a ".repeat(100_000) });
    const headers = { "content-type": "application/json" };
    const chunked = await fetch(`${hasty.url}/api/chunk`, { method: "POST", headers, body });
    expect(await codeOf(chunked)).toEqual([413, "LIMIT_EXCEEDED"]);
    // On a busy machine a short text may take a millisecond too.
    await expect.poll(async () => (await embed(hasty, { input: "a ".repeat(100) })).status, { timeout: 60_000 }).toBe(200);
  });

  it(`${of("maxConcurrentRequests", "maxQueue")}: who comes when all places are taken is sent away, and told when to come again`, async () => {
    const server = await serve(["--max-concurrent-requests", "1", "--max-queue", "1"], {}, onThreads);
    await ready(server);
    const responses = await crowd(server);
    const refused = responses.filter(({ status }) => status === 429);
    expect(responses.filter(({ status }) => status === 200).length).toBe(responses.length - refused.length);
    expect(Number(refused[0]!.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it(`${of("port")}: the one that is asked for, and no other that is taken`, async () => {
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const { port } = free.address() as AddressInfo;
    // Told before models are loaded: the one that is to be loaded first does not even exist.
    const models = { early: { reference: "/no/such/model", strategy: "eager" } };
    const taken = serve(["--port", String(port)], { models }).then(undefined, (error: Error) => error.message);
    expect(await taken).toContain("it is in use");
    await new Promise((resolve) => free.close(resolve));
    const server = await serve([], { port });
    expect(server.port).toBe(port);
    expect((await embed(server, { input: "a" })).status).toBe(200);
  });

  it(`${of("drainTimeout")}: a request that never ends is waited for so long, and no longer`, async () => {
    const server = await serve([], { drainTimeout: "300ms" });
    await ready(server);
    const socket = connect(server.port, "127.0.0.1");
    socket.write("POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{");
    await fetch(`${server.url}/health/live`); // by now the head has been read
    const cut = once(socket, "close");
    socket.on("error", () => {});
    server.stop();
    await cut;
    expect(await server.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("interrupted after drainTimeout") });
  }, 25_000); // where it is not heard, the default of 30 s passes

  it("a variable wins over the file, and a flag over both", async () => {
    const server = await serve(
      ["--max-texts", "3"],
      { maxTexts: 1, maxJsonDepth: 1 },
      { environment: { INFERYARD_SERVER_MAX_TEXTS: "2", INFERYARD_SERVER_MAX_JSON_DEPTH: "9" } },
    );
    expect([(await embed(server, texts(3))).status, (await embed(server, texts(4))).status]).toEqual([200, 413]);
  });

  it(`${of("requestTimeout")}: an answer that would come too late`, async () => {
    const server = await serve(["--request-timeout", "1ms"]);
    expect(await codeOf(await embed(server, texts(4000)))).toEqual([504, "REQUEST_TIMEOUT"]);
  });

  it(`${of("loadingWait")}: how long a request waits for a model that is not in memory`, async () => {
    const copy = join(servers.folder, "waited-for");
    cpSync(new URL("../../builtin", import.meta.url), copy, { recursive: true });
    const first = async (flags: string[]): Promise<Response> =>
      embed(await serve(flags, { models: { copy } }), { input: "a", model: "copy" });
    const refused = await first(["--loading-wait", "0"]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await codeOf(refused)).toEqual([503, "MODEL_LOADING"]);
    expect((await first(["--loading-wait", "60s"])).status).toBe(200);
    expect((await first([])).status).toBe(200);
  });

  it(`${of("models")}: limits of one model, and of no other`, async () => {
    const limited = { reference: "builtin", maxConcurrentRequests: 1, maxQueue: 1, requestTimeout: "1m" };
    const server = await serve(["--request-timeout", "1ms"], { models: { limited } }, onThreads);
    const responses = await crowd(server, { model: "limited" });
    const answers = await Promise.all(responses.map(async (response) => [response.status, await response.text()]));
    const refused = answers.filter(([status]) => status === 429);
    expect(refused[0]![1]).toContain("for this model");
    expect(answers.filter(([status]) => status === 200).length).toBe(answers.length - refused.length); // in its own time, and not in 1 ms
  });

  it(`${of("resultCacheBytes")}: an answer is given again`, async () => {
    for (const [server, wanted] of [
      [set, true],
      [plain, false],
    ] as const) {
      const answers = [await embed(server, { input: "a cat again" }), await embed(server, { input: "a cat again" })];
      const [first, second] = answers.map((response) => response.headers.get("server-timing")!.includes("cached"));
      expect([first, second]).toEqual([false, wanted]);
      const [given, again] = await Promise.all(
        answers.map(async (response) => ((await response.json()) as { embeddings: unknown }).embeddings),
      );
      expect(again).toEqual(given);
    }
  });

  it(`${of("loadsPerMinute")}: a reader that has models loaded again and again is sent away; others are not`, async () => {
    const server = await serve(["--loads-per-minute", "2", "--trust-proxy"]);
    await ready(server);
    const load = async (client: string): Promise<Response> => {
      await fetch(`${server.url}/api/models/builtin/unload`, { method: "POST" });
      return embed(server, { input: "a" }, { "x-forwarded-for": client });
    };
    for (const client of ["10.0.0.1", "10.0.0.1"]) expect((await load(client)).status).toBe(200);
    const refused = await load("10.0.0.1");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await codeOf(refused)).toEqual([429, "RATE_LIMITED"]);
    expect((await load("10.0.0.2")).status).toBe(200);
    expect((await embed(server, { input: "a" }, { "x-forwarded-for": "10.0.0.1" })).status).toBe(200); // it is in memory
  });

  it.each([["--max-loads"], ["--max-loads-per-client"]])(
    `${of("maxLoads", "maxLoadsPerClient")}: %s 1: models are loaded one after the other`,
    async (flag) => {
      const copies = ["one", "two"].map((name) => join(servers.folder, `${flag}-${name}`));
      for (const copy of copies) cpSync(new URL("../../builtin", import.meta.url), copy, { recursive: true });
      const models = Object.fromEntries(copies.map((copy, index) => [`copy${index}`, copy]));
      const server = await serve([flag, "1"], { models, logLevel: "debug" });
      await ready(server);
      const answers = await Promise.all(Object.keys(models).map((model) => embed(server, { input: "a", model })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      server.stop();
      const { stderr } = await server.ended;
      const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
      const steps = lines
        .map((line) => (JSON.parse(line) as { msg: string }).msg)
        .filter((step) => /^load(?:ing|ed)$/.test(step));
      expect(steps).toEqual(Array.from({ length: 3 }, () => ["loading", "loaded"]).flat());
    },
  );

  it("has a memory budget where none is set, and says how much it is", async () => {
    const budgetOf = async (others: object): Promise<number | undefined> => {
      const server = await serve([], {}, { others });
      const { memory } = (await (await fetch(`${server.url}/api/status`)).json()) as { memory: { limits: { memory: number } } };
      server.stop();
      const { stderr } = await server.ended;
      expect(stderr.includes(`"bytes":${memory.limits.memory},`)).toBe(!("maxMemory" in others));
      return memory.limits.memory;
    };
    const total = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
    const usual = await budgetOf({});
    expect(usual).toBeLessThanOrEqual(Math.ceil(0.8 * total));
    expect(usual).toBeGreaterThan(0);
    expect(await budgetOf({ maxMemory: "2GB" })).toBe(2e9);
  });

  it(`${of("headersTimeout", "bodyTimeout")}: senders that are too slow`, async () => {
    const server = await serve(["--headers-timeout", "300ms"], { bodyTimeout: "600ms" });
    const firstLine = async (text: string): Promise<string> => {
      const socket = connect(server.port, "127.0.0.1");
      socket.write(text);
      const [answer] = (await once(socket, "data")) as [Buffer];
      return String(answer).split("\r\n")[0]!;
    };
    expect(await firstLine("POST /api/embed HTTP/1.1\r\nhost:")).toContain("408");
    const head = "POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    expect(await firstLine(head)).toContain("408");
    expect((await embed(server, { input: "a" })).status).toBe(200);
  });

  /** A client that asks for more than the kernel takes of an answer, and reads nothing. */
  function silent({ port }: { readonly port: number }): Socket {
    const body = JSON.stringify(texts(4000));
    const socket = connect(port, "127.0.0.1");
    socket.pause().on("error", () => {});
    const head = `POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    socket.write(`${head}\r\n\r\n${body}`);
    return socket;
  }

  it(`${of("maxResponseBytes")}: one answer may take half of the memory for answers`, async () => {
    expect((await embed(set, texts(4))).status).toBe(200);
    expect(await codeOf(await embed(set, texts(100)))).toEqual([413, "LIMIT_EXCEEDED"]);
  });

  it.skipIf(!runsAll)(
    `${of("maxUnreadBytes")}: what clients have not read of their answers (src/server/listen.test.ts sees it each time)`,
    async () => {
      const server = await serve(["--max-unread-bytes", "1000000"], { stallTimeout: 0 });
      let refused: Response | undefined;
      while (refused === undefined) {
        const socket = silent(server);
        while (!/unread_response_bytes [1-9]/.test(await metricsOf(server))) await sleep(50);
        const response = await embed(server, { input: "a" });
        if (response.status !== 200) refused = response; // else the machine was so busy that the reader was called slow before
        socket.destroy();
      }
      expect(refused.headers.get("retry-after")).toBe("1");
      expect(await codeOf(refused)).toEqual([503, "OVERLOADED"]);
    },
  );

  it.skipIf(!runsAll)(
    `${of("stallTimeout")}: a client that reads nothing (src/server/listen.test.ts sees it each time)`,
    async () => {
      const server = await serve([], { stallTimeout: "200ms" });
      const socket = silent(server);
      await expect.poll(() => metricsOf(server), { timeout: 60_000 }).toContain("readers_disconnected_total 1\n");
      socket.destroy();
    },
  );

  it(`${of("maxConnections", "maxConnectionsPerClient")}: more connections than there may be`, async () => {
    for (const [flags, setting] of [
      [["--max-connections", "1"], "maxConnections is 1"],
      [["--max-connections-per-client", "1"], "maxConnectionsPerClient is 1"],
    ] as const) {
      const server = await serve(flags);
      const socket = connect(server.port, "127.0.0.1").on("error", () => {});
      await once(socket, "connect");
      socket.write("POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n");
      let message = "";
      while (message === "") {
        const response = await embed(server, { input: "a" }, { connection: "close" });
        if (response.status === 503) message = await response.text();
      }
      expect(message).toContain(setting);
      socket.destroy();
    }
  });

  it("a damaged record in the store costs no other model anything, and is told of once", async () => {
    const folder = join(servers.folder, "home", "models");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "other%2Fmodel.json"), "{");
    const server = await serve([]);
    for (let index = 0; index < 3; index += 1) {
      expect((await embed(server, { input: "a" })).status).toBe(200);
      expect((await fetch(`${server.url}/v1/models`)).status).toBe(200);
    }
    server.stop();
    const { stderr } = await server.ended;
    expect(stderr.match(/the record of other\/model is damaged/g)).toHaveLength(1);
    rmSync(folder, { recursive: true });
  });

  it("--body-timeout alone is the time of the head as well", async () => {
    const server = await serve(["--body-timeout", "3s"]);
    expect((await embed(server, { input: "a" })).status).toBe(200);
  });

  const levels: readonly (readonly [level: string, count: number])[] = [
    ["debug", 3],
    ["info", 3],
    ["warn", 2],
    ["error", 1],
    ["silent", 0],
  ];
  const logged = `${of("logLevel")}: %s: so many lines, all of them JSON`;
  for (const [skip, title, rows] of sampled(logged, levels, ([level]) => level === "debug" || level === "warn"))
    it.skipIf(skip).each(rows)(title, async (level, count) => {
      const server = await serve([], { logLevel: level });
      await ready(server);
      await embed(server, { input: "a private text" });
      await embed(server, { input: 3 });
      await fetch(`${server.url}/api/read`, { method: "POST" });
      server.stop();
      const { stderr } = await server.ended;
      const lines = stderr
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { msg: string; route?: string });
      const requests = lines.filter(({ msg }) => msg === "request").map(({ route }) => route);
      expect(requests.filter((route) => route !== "/health/ready").length).toBe(count);
      expect(requests.includes("/health/ready")).toBe(level === "debug");
      expect(lines.some(({ msg }) => msg === "loaded")).toBe(level === "debug" || level === "info");
      expect(stderr).not.toContain("private");
    });
});

const [skip, title] = needsData("serve with models of its own");
describe.skipIf(skip)(title, () => {
  const model = `${sharedData}tiny-random-bert`;

  it(`${of("models", "preload")}: names for clients, loaded when the server is ready; their folder stays unknown`, async () => {
    const server = await serve(["--preload", "early"], {
      models: { early: model, pinned: { reference: `${model}/`, strategy: "pinned" }, late: `${model}/.` },
    });
    await ready(server);
    const index = (await (await fetch(`${server.url}/v2/repository/index`, { method: "POST" })).json()) as {
      name: string;
      state: string;
    }[];
    const states = Object.fromEntries(index.map(({ name, state }) => [name, state]));
    expect(states).toEqual({ builtin: "READY", early: "READY", pinned: "READY", late: "UNAVAILABLE" });
    const answer = await embed(server, { input: "a", model: "early" });
    const words = await answer.text(); // the model says nothing of pooling, and is not embedded with
    expect([answer.status, JSON.parse(words)]).toMatchObject([422, { error: { code: "POOLING_UNKNOWN" } }]);
    expect(words).not.toContain(sharedData);
    expect(await (await fetch(`${server.url}/metrics`)).text()).not.toContain(sharedData);
  });

  describe("constraints", () => {
    /** A server, as a function that generates a token by a regular expression. */
    async function generating(settings: ServerSection): Promise<(pattern: string) => Promise<Response>> {
      const server = await serve([], { models: { llama: `${sharedData}tiny-random-llama` }, ...settings });
      return (pattern) =>
        fetch(`${server.url}/v1/completions`, json({ model: "llama", prompt: "a", max_tokens: 1, guided_regex: pattern }));
    }
    /** An expression that takes much more than a millisecond. */
    const large = (ending: string): string => `(a|b)*a(a|b){11}${ending}`;

    const limited = [
      ["maxConstraintStates", "states"],
      ["maxConstraintBytes", "bytes"],
      ["maxConstraintSteps", "steps"],
      ["constraintTimeout", "milliseconds"],
    ] as const;
    const refused = "%s: one that takes more is refused, with the number and the limit";
    for (const [isSkipped, name, rows] of sampled(refused, limited, ([setting]) => setting === "maxConstraintSteps"))
      it.skipIf(isSkipped).each(rows)(name, async (setting, unit) => {
        const generate = await generating({ [setting]: 1 });
        const response = await generate(large(""));
        const { error } = (await response.json()) as { error: { constraint: object } };
        expect(response.status).toBe(400);
        expect(error.constraint).toMatchObject({ unit, limit: 1, number: expect.any(Number) as number });
      });
    of("maxConstraintStates", "maxConstraintBytes", "maxConstraintSteps", "constraintTimeout");

    it(`${of("templateTimeout")}: a chat template that takes longer is refused, and not tried again for a while`, async () => {
      const folder = join(servers.folder, "templated");
      writeChatModel(folder, chatTemplates.tagged);
      const server = await serve(["--target", "native"], { models: { templated: folder }, templateTimeout: "1ms" });
      const ask = async (): Promise<unknown> => {
        const messages = [{ role: "user", content: "Hi" }];
        const request = json({ model: "templated", messages, max_tokens: 1 });
        const response = await fetch(`${server.url}/v1/chat/completions`, request);
        const { error } = (await response.json()) as { readonly error: object };
        return { status: response.status, ...error };
      };
      const message = (words: RegExp): unknown => expect.stringMatching(words);
      // The start of the thread takes longer.
      expect(await ask()).toMatchObject({ status: 422, message: message(/chat template takes longer than 1 ms/) });
      expect(await ask()).toMatchObject({ status: 422, message: message(/than 1 ms, and is not tried again before 2/) });
    });

    it(`${of("constraintTimePerMinute", "constraintCacheBytes")}: who has used up the time is told when to come again, and what is kept takes none`, async () => {
      const hasty = await generating({ constraintTimePerMinute: "1ms" });
      expect((await hasty(large(""))).status).toBe(200);
      const another = await hasty("b");
      expect([another.status, Number(another.headers.get("retry-after")) > 0]).toEqual([429, true]);
      expect((await hasty(large(""))).status).toBe(200);
      const forgetful = await generating({ constraintCacheBytes: 1, constraintTimePerMinute: "50ms" });
      const statuses = new Set<number>();
      for (let round = 0; round < 200 && !statuses.has(429); round += 1)
        for (const ending of ["x", "y"]) statuses.add((await forgetful(large(ending))).status);
      expect([...statuses]).toEqual([200, 429]);
    });
  });
});

function certificate(folder: string): string | undefined {
  try {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"];
    const out = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...out], { stdio: "ignore" });
    return undefined;
  } catch {
    return " (skipped: openssl is not on this machine)";
  }
}

const noCertificate = certificate(servers.folder);
it.skipIf(noCertificate !== undefined)(`${of("tlsCert", "tlsKey")}: HTTPS${noCertificate ?? ""}`, async () => {
  const server = await serve(["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
  expect(server.url).toMatch(/^https:/);
  const status = await new Promise((resolve, reject) => {
    const sent = request(`${server.url}/health/live`, { rejectUnauthorized: false }, (response) => resolve(response.statusCode));
    sent.once("error", reject).end();
  });
  expect(status).toBe(200);
  await expect(fetch(`http://127.0.0.1:${server.port}/health/live`)).rejects.toThrow(/fetch failed/);
});

it("every setting of the section server is seen by a test of this file", () => {
  expect([...tested].toSorted()).toEqual(Object.keys(serverOptions).toSorted());
});
