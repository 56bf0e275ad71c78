import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Runtime } from "../../api/runtime.ts";
import { type ConnectionInfo, type HandlerOptions, createHandler } from "../handler.ts";
import type { ApiKey } from "../server-settings.ts";
import { handlerOf } from "../../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

const key = (name: string, role: ApiKey["role"], rest: Partial<ApiKey> = {}): ApiKey => ({
  name,
  sha256: createHash("sha256").update(`secret-of-${name}`).digest("hex"),
  role,
  ...rest,
});
const keys = [key("ann", "reader"), key("bob", "admin")];

interface Asked {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly connection?: ConnectionInfo;
  readonly method?: string;
  readonly path?: string;
}

type Ask = (asked?: Asked) => Promise<Response>;

function asking(options: HandlerOptions, on: Runtime = runtime): Ask {
  const handler = Object.keys(options).length === 0 ? handlerOf(on) : createHandler(on, options);
  return ({ body = { input: "a" }, headers = {}, connection, method = "POST", path = "/api/embed" } = {}) => {
    const written = typeof body === "string" ? body : JSON.stringify(body);
    const sent = method === "POST" ? { body: written } : {};
    const all = { "content-type": "application/json", host: "localhost", ...headers };
    return handler(new Request(`http://localhost${path}`, { method, headers: all, ...sent }), connection);
  };
}

const codeOf = async (response: Response): Promise<string> => ((await response.json()) as { error: { code: string } }).error.code;

describe("keys", () => {
  it.each([
    ["authorization", "Bearer secret-of-ann"],
    ["authorization", "bearer secret-of-ann "],
    ["x-api-key", "secret-of-ann"],
    ["api-key", "secret-of-ann"],
  ])("are taken from the header %s: %s", async (name, value) => {
    const ask = asking({ keys });
    expect((await ask({ headers: { [name]: value } })).status).toBe(200);
  });

  it.each([
    ["none", {}],
    ["another", { authorization: "Bearer secret-of-eve" }],
    ["the digest itself", { authorization: `Bearer ${keys[0]!.sha256}` }],
    ["one under another scheme", { authorization: "Basic secret-of-ann" }],
  ])("%s gets UNAUTHORIZED and is told how to present one", async (_what, headers) => {
    const response = await asking({ keys })({ headers });
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await codeOf(response)).toBe("UNAUTHORIZED");
  });

  it("are asked for at every route but the probes and the document", async () => {
    const ask = asking({ keys });
    // Readiness has a deadline for its first probe, which a busy machine may miss.
    await vi.waitFor(async () => expect((await ask({ path: "/health/ready", method: "GET" })).status).toBe(200), 30_000);
    const statuses = ["/health/live", "/health/ready", "/openapi.json", "/api/version", "/nowhere"].map(
      async (path) => (await ask({ path, method: "GET" })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 401, 401]);
  });

  it("say what their holder may do: a path is for administrators", async () => {
    const ask = asking({ keys });
    const asks = (name: string): Promise<Response> =>
      ask({ body: { input: "a", model: "./nothing-here" }, headers: { "x-api-key": `secret-of-${name}` } });
    const [reader, admin] = [await asks("ann"), await asks("bob")];
    expect(await reader.json()).toMatchObject({ error: { message: 'there is no model "./nothing-here" here' } });
    expect(await admin.json()).toMatchObject({ error: { message: "there is no file or folder ./nothing-here" } });
  });

  it("without a right digest, or with a name twice, are refused at the start", () => {
    expect(() => asking({ keys: [{ name: "x", sha256: "abc", role: "reader" }] })).toThrow(/sha256/);
    expect(() => asking({ keys: [key("x", "reader"), key("x", "admin")] })).toThrow(/two keys/);
    const twice = [key("x", "reader"), { ...key("y", "admin"), sha256: key("x", "reader").sha256.toUpperCase() }];
    expect(() => asking({ keys: twice })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(/"x" and "y"/) }),
    );
  });

  it.each([
    ["nothing", ""],
    ["a line that is empty", "\n"],
  ])("of %s are no keys, in settings and in requests", async (_what, empty) => {
    const sha256 = createHash("sha256").update(empty).digest("hex");
    for (const digest of [sha256, sha256.toUpperCase()]) {
      expect(() => asking({ keys: [{ name: "x", sha256: digest, role: "admin" }] })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("empty key") }),
      );
    }
    const ask = asking({ keys });
    for (const name of ["x-api-key", "api-key"]) expect((await ask({ headers: { [name]: "" } })).status).toBe(401);
    for (const value of ["Bearer", "Bearer "]) expect((await ask({ headers: { authorization: value } })).status).toBe(401);
  });
});

describe("without keys", () => {
  const local = { remoteAddress: "127.0.0.1", listenAddress: "127.0.0.1", httpVersion: "1.1" };
  it.each<[string, ConnectionInfo | undefined, Record<string, string>, boolean]>([
    ["this program", undefined, {}, true],
    ["this machine", local, {}, true],
    ["this machine by six", { remoteAddress: "::1" }, { host: "[::1]:8080" }, true],
    ["this machine, mapped", { remoteAddress: "::ffff:127.0.0.1" }, { host: "localhost:8080" }, true],
    ["another machine", { remoteAddress: "10.0.0.7" }, {}, false],
    ["another that writes localhost", { remoteAddress: "10.0.0.7" }, { host: "127.0.0.1:8080" }, false],
    ["a socket that is closed", { remoteAddress: "" }, {}, false],
    ["a name that was turned to us", { remoteAddress: "127.0.0.1" }, { host: "evil.example:8080" }, false],
    ["a name that looks like us", { remoteAddress: "127.0.0.1" }, { host: "127.0.0.1.evil.example" }, false],
    ["nginx without settings", { ...local, httpVersion: "1.0" }, { host: "127.0.0.1:8080" }, false],
    ...`x-forwarded-for x-forwarded-host forwarded via x-real-ip cf-connecting-ip cf-ray true-client-ip x-client-ip x-original-url
      x-original-forwarded-for x-envoy-external-address x-azure-clientip`
      .split(/\s+/)
      .map((name): [string, ConnectionInfo, Record<string, string>, boolean] => [
        `a proxy of this machine with ${name}`,
        local,
        { [name]: "127.0.0.1" },
        false,
      ]),
  ])("%s is an administrator or not", async (_who, connection, headers, admin) => {
    const given = { path: "/api/status", method: "GET", headers, ...(connection === undefined ? {} : { connection }) };
    expect((await asking({})(given)).status).toBe(admin ? 200 : 403);
  });
});

describe("pages", () => {
  it("of other origins may not use it, unless they are named", async () => {
    const ask = asking({ cors: ["https://app.example"] });
    const strange = await ask({ headers: { origin: "https://evil.example" } });
    expect([strange.status, await codeOf(strange)]).toEqual([403, "FORBIDDEN"]);
    expect(strange.headers.get("access-control-allow-origin")).toBeNull();
    const named = await ask({ headers: { origin: "https://app.example" } });
    expect([named.status, named.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example"]);
    const own = await ask({ headers: { origin: "http://localhost" } });
    expect(own.status).toBe(200);
  });

  it.each([
    ["cross-site", 403],
    ["same-site", 403],
    ["same-origin", 200],
    ["none", 200],
  ])("are told apart by Sec-Fetch-Site where they send no origin: %s", async (site, status) => {
    const headers = { "sec-fetch-site": site };
    const answers = [{ method: "GET", path: "/api/version", headers }, { headers }].map(asking({}));
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([status, status]);
    // A link to the dashboard, and probes, say nothing that is not for everybody.
    for (const path of ["/dashboard", "/health/live"]) {
      expect((await asking({})({ method: "GET", path, headers })).status).toBe(200);
    }
    const named = await asking({ cors: ["https://app.example"] })({ headers: { ...headers, origin: "https://app.example" } });
    const anybody = await asking({ cors: ["*"] })({ method: "GET", path: "/api/version", headers });
    expect([named.status, anybody.status]).toEqual([200, 200]);
  });

  it.each<[string, Partial<HandlerOptions>, ConnectionInfo, number]>([
    ["localhost:8080", {}, { listenAddress: "127.0.0.1" }, 200],
    ["LOCALHOST", {}, { listenAddress: "127.0.0.1" }, 200],
    ["127.0.0.1:8080", {}, { listenAddress: "localhost" }, 200],
    ["[::1]:8080", {}, { listenAddress: "::1" }, 200],
    ["app.localhost:8080", {}, { listenAddress: "127.0.0.1" }, 200],
    ["evil.example:8080", {}, { listenAddress: "127.0.0.1" }, 403],
    ["127.0.0.1.evil.example", {}, { listenAddress: "127.0.0.1" }, 403],
    ["localhost.evil.example", {}, { listenAddress: "127.0.0.1" }, 403],
    [":8080", {}, { listenAddress: "127.0.0.1" }, 403],
    ["evil.example", {}, { listenAddress: "0.0.0.0" }, 200],
    ["evil.example", { keys }, { listenAddress: "127.0.0.1" }, 200],
    ["models.example:80", { allowedHosts: ["models.example"] }, { listenAddress: "127.0.0.1" }, 200],
    ["a.models.example", { allowedHosts: ["models.example"] }, { listenAddress: "127.0.0.1" }, 403],
    ["a.models.example", { allowedHosts: [".models.example"] }, { listenAddress: "127.0.0.1" }, 200],
    ["evil.example", { allowedHosts: ["models.example"] }, { listenAddress: "0.0.0.0", remoteAddress: "10.0.0.7" }, 403],
    ["localhost", { allowedHosts: ["models.example"] }, { listenAddress: "0.0.0.0", remoteAddress: "10.0.0.7" }, 403],
    ["localhost", { allowedHosts: ["models.example"] }, { listenAddress: "0.0.0.0" }, 200],
    ["10.0.0.1:8080", { allowedHosts: ["models.example"] }, { listenAddress: "10.0.0.1", remoteAddress: "10.0.0.7" }, 200],
    ["evil.example", { keys, allowedHosts: ["models.example"] }, { listenAddress: "10.0.0.1" }, 403],
  ])("cannot come to the server under a name that is not its own: Host %s, %j, %j", async (host, options, connection, status) => {
    const ask = asking(options);
    const headers = { host, "x-api-key": "secret-of-ann" };
    const given = { method: "GET", headers, connection: { remoteAddress: "127.0.0.1", ...connection } };
    const answer = await ask({ ...given, path: "/api/version" });
    expect(answer.status).toBe(status);
    expect(status === 403 ? await answer.text() : "allowedHosts").toContain("allowedHosts");
    expect((await ask({ ...given, path: "/health/live" })).status).toBe(200);
  });

  it("ask before they send, without a key", async () => {
    const ask = asking({ cors: ["*"], keys });
    const response = await ask({
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
  });
});

describe("limits", () => {
  it("of requests in a minute hold for each client by itself, and say when to come again", async () => {
    const ask = asking({ keys: [key("ann", "reader"), key("bob", "admin", { requestsPerMinute: 2 })], requestsPerMinute: 1 });
    const asks = (name: string): Promise<Response> => ask({ headers: { "x-api-key": `secret-of-${name}` } });
    const statuses = [];
    for (const name of ["ann", "ann", "bob", "bob", "bob"]) statuses.push((await asks(name)).status);
    expect(statuses).toEqual([200, 429, 200, 200, 429]);
    const refused = await asks("ann");
    expect([Number(refused.headers.get("retry-after")) > 0, await codeOf(refused)]).toEqual([true, "RATE_LIMITED"]);
  });

  it("of addresses: what a client says of itself is no address, unless a proxy is trusted, and then the last one", async () => {
    const statusesOf = async (ask: Ask): Promise<number[]> => {
      const statuses = [];
      for (const forwarded of ["1.1.1.1, 9.9.9.9", "2.2.2.2, 9.9.9.9", "1.1.1.1, 8.8.8.8"]) {
        const headers = { "x-forwarded-for": forwarded };
        statuses.push((await ask({ headers, connection: { remoteAddress: "10.0.0.7" } })).status);
      }
      return statuses;
    };
    expect(await statusesOf(asking({ requestsPerMinute: 1 }))).toEqual([200, 429, 429]);
    expect(await statusesOf(asking({ requestsPerMinute: 1, trustProxy: true }))).toEqual([200, 429, 200]);
  });

  it("of depth: a body that nests deeper is refused before it is parsed", async () => {
    const ask = asking({ maxJsonDepth: 3 });
    const deep = await ask({ body: `{"input":"a","x":${"[".repeat(100_000)}` });
    expect([deep.status, await codeOf(deep)]).toEqual([413, "LIMIT_EXCEEDED"]);
    expect((await ask({ body: { input: '[[[[{{{{"\\' } })).status).toBe(200);
  });
});

describe("what an answer carries", () => {
  it("is the client's own request id where a log can carry it, else a new one", async () => {
    const ask = asking({});
    const idOf = async (id: string): Promise<string | null> =>
      (await ask({ headers: { "x-request-id": id } })).headers.get("x-request-id");
    expect(await idOf("trace-01:a/b=")).toBe("trace-01:a/b=");
    for (const bad of ["a b", "a".repeat(129), '{"x":1}', "<script>"]) expect(await idOf(bad)).toMatch(/^[0-9a-f-]{36}$/);
    const refused = await ask({ body: "{" });
    expect(refused.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ["a defect", new TypeError("cannot read /root/private/models/x.onnx")],
    [
      "an engine's own words",
      new InferyardError("LOAD_FAILED", "open '/root/my private/models/x.onnx' failed at /srv/private/lib.so:12"),
    ],
    [
      "a stack in a message",
      new InferyardError("RUN_FAILED", "it broke\n    at run (/srv/private/dist/server.js:1:2)\n    at x:3:4"),
    ],
    ["a remedy", new InferyardError("DISK_FULL", "no room", { remedy: "make room in /root/private/cache" })],
    ["a dead child", new InferyardError("HOST_DIED", "the process died, saying: file:///root/private/x.js:3 bad_alloc")],
  ])("is nothing of the machine: %s", async (_what, fault) => {
    const faulty = Object.create(runtime, { use: { value: () => Promise.reject(fault) } }) as Runtime;
    const text = await (await asking({}, faulty)()).text();
    expect(text).not.toMatch(/private|\/root|\/srv|dist\/|\bat run\b/);
    expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String), code: expect.any(String) } });
  });
});
