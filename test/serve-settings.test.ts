/** Every setting of the server, from the file or a flag, seen from outside. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { ServerProcesses, embed, ready } from "./fixtures/server-process.ts";
import { needsData, sharedData } from "./shared-data.ts";

const servers = new ServerProcesses();
const serve = servers.serve.bind(servers);
afterEach(() => servers.killAll());
afterAll(() => servers.remove());

const digestOf = (key: string): string => createHash("sha256").update(key).digest("hex");
const texts = (count: number, request = 0): object => ({
  input: Array.from({ length: count }, (_value, index) => `the text number ${index} of request ${request}`),
});

async function codeOf(response: Response): Promise<[number, string]> {
  return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
}

describe("serve", () => {
  it("address, allowAnonymous: others can reach it, and are readers", async () => {
    const server = await serve(["--allow-anonymous"], { address: "0.0.0.0" });
    const local = { ...server, url: `http://127.0.0.1:${server.port}` };
    expect((await embed(local, { input: "a" })).status).toBe(200);
    const forwarded = await embed(local, { input: "a", model: "./nothing" }, { "x-forwarded-for": "10.0.0.7" });
    expect(((await forwarded.json()) as { error: { message: string } }).error.message).toContain("there is no model");
  });

  it("keys, keysFile: both are keys, and without one there is no answer", async () => {
    writeFileSync(join(servers.folder, "keys.yaml"), `- { name: filed, sha256: ${digestOf("two")}, role: admin }\n`);
    const keys = [{ name: "set", sha256: digestOf("one"), role: "reader", requestsPerMinute: 2 }];
    const server = await serve(["--keys-file", "keys.yaml"], { keys });
    const statusOf = async (key: string): Promise<number> => (await embed(server, { input: "a" }, { "api-key": key })).status;
    expect(await codeOf(await embed(server, { input: "a" }))).toEqual([401, "UNAUTHORIZED"]);
    expect([await statusOf("one"), await statusOf("two"), await statusOf("three")]).toEqual([200, 200, 401]);
    expect([await statusOf("one"), await statusOf("one")]).toEqual([200, 429]);
  });

  it("cors: the pages that are named may read answers", async () => {
    const server = await serve(["--cors", "https://a.example,https://b.example"]);
    const of = async (origin: string): Promise<[number, string | null]> => {
      const response = await embed(server, { input: "a" }, { origin });
      return [response.status, response.headers.get("access-control-allow-origin")];
    };
    expect(await of("https://b.example")).toEqual([200, "https://b.example"]);
    expect(await of("https://c.example")).toEqual([403, null]);
  });

  it.each([
    [["--trust-proxy"], [200, 200, 429]],
    [[], [200, 429, 429]],
  ])("trustProxy, requestsPerMinute: who a client is (%j)", async (flags, wanted) => {
    const server = await serve(flags, { requestsPerMinute: 1 });
    const statuses = [];
    for (const address of ["9.9.9.9", "8.8.8.8", "9.9.9.9"])
      statuses.push((await embed(server, { input: "a" }, { "x-forwarded-for": address })).status);
    expect(statuses).toEqual(wanted);
  });

  it("maxBodyBytes, maxJsonDepth, maxTexts: what is too much", async () => {
    const server = await serve(["--max-texts", "3"], { maxBodyBytes: 300, maxJsonDepth: 3 });
    const limited = [{ input: "a".repeat(300) }, { input: "a", x: [[[1]]] }, texts(4)];
    for (const body of limited) expect(await codeOf(await embed(server, body))).toEqual([413, "LIMIT_EXCEEDED"]);
    expect((await embed(server, texts(3))).status).toBe(200);
  });

  it("maxConcurrentRequests, maxQueue: who comes when all places are taken is sent away, and told when to come again", async () => {
    const server = await serve(["--max-concurrent-requests", "1", "--max-queue", "1"]);
    await ready(server);
    const responses = await Promise.all(Array.from({ length: 12 }, (_value, request) => embed(server, texts(4000, request))));
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(responses.filter(({ status }) => status === 200).length).toBe(12 - refused.length);
    expect(Number(refused[0]!.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("requestTimeout: an answer that would come too late", async () => {
    const server = await serve(["--request-timeout", "1ms"]);
    expect(await codeOf(await embed(server, texts(4000)))).toEqual([504, "REQUEST_TIMEOUT"]);
  });

  it("models: limits of one model, and of no other", async () => {
    const limited = { reference: "builtin", maxConcurrentRequests: 1, maxQueue: 1, requestTimeout: "1m" };
    const server = await serve(["--request-timeout", "1ms"], { models: { limited } });
    const asked = Array.from({ length: 12 }, (_value, request) => embed(server, { model: "limited", ...texts(4000, request) }));
    const answers = await Promise.all(
      (await Promise.all(asked)).map(async (response) => [response.status, await response.text()]),
    );
    const refused = answers.filter(([status]) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]![1]).toContain("for this model");
    expect(answers.filter(([status]) => status === 200).length).toBe(12 - refused.length); // in its own time, and not in 1 ms
  });

  it("resultCacheBytes: an answer is given again", async () => {
    for (const [flags, wanted] of [
      [["--result-cache-bytes", "100000"], true],
      [[], false],
    ] as const) {
      const server = await serve(flags);
      const answers = [await embed(server, { input: "a cat" }), await embed(server, { input: "a cat" })];
      const [first, second] = answers.map((response) => response.headers.get("server-timing")!.includes("cached"));
      expect([first, second]).toEqual([false, wanted]);
      expect(await answers[1]!.json()).toEqual(await answers[0]!.json());
    }
  });

  it("headersTimeout, bodyTimeout: senders that are too slow", async () => {
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

  it.each([
    ["info", 2],
    ["warn", 1],
    ["silent", 0],
  ])("logLevel %s: so many lines, all of them JSON", async (level, count) => {
    const server = await serve([], { logLevel: level });
    await ready(server);
    await embed(server, { input: "a private text" });
    await embed(server, { input: 3 });
    server.child.kill("SIGTERM");
    const { stderr } = await server.ended;
    const lines = stderr
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { msg: string });
    expect(lines.filter(({ msg }) => msg === "request").length).toBe(count);
    expect(stderr).not.toContain("private");
  });
});

const [skip, title] = needsData("serve with models of its own");
describe.skipIf(skip)(title, () => {
  const model = `${sharedData}tiny-random-bert`;

  it("models, preload: names for clients, loaded when the server is ready; their folder stays unknown", async () => {
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
it.skipIf(noCertificate !== undefined)(`tlsCert, tlsKey: HTTPS${noCertificate ?? ""}`, async () => {
  const server = await serve(["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
  expect(server.url).toMatch(/^https:/);
  const status = await new Promise((resolve, reject) => {
    const sent = request(`${server.url}/health/live`, { rejectUnauthorized: false }, (response) => resolve(response.statusCode));
    sent.once("error", reject).end();
  });
  expect(status).toBe(200);
  await expect(fetch(`http://127.0.0.1:${server.port}/health/live`)).rejects.toThrow(/fetch failed/);
});
