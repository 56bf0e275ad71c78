/** The server on real sockets: clients that do not read, do not write, or open more than their share. */
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../api/create-runtime.ts";
import type { Runtime } from "../api/runtime.ts";
import { type Handler, type HandlerOptions, createHandler } from "./handler.ts";
import { type ListenOptions, type Listening, listen } from "./listen.ts";
import { RuntimeEvents } from "./observability/runtime-events.ts";
import type { RequestRecord } from "./observability/request-records.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

const listeners: Listening[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  turn += 1;
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const listening of listeners.splice(0)) await listening.close();
});

const mebi = 2 ** 20;
/** More than the kernel takes of an answer whose reader sleeps. */
const big = new Uint8Array(24 * mebi).fill(97);

interface Server {
  readonly port: number;
  readonly url: string;
  readonly listening: Listening;
  readonly records: RequestRecord[];
  /** Requests for /big whose answer was made, and how many of them were under way at once at most. */
  readonly made: { count: number; maxAtOnce: number };
  /** All requests whose head has been read. */
  readonly received: { count: number };
  /** Signals of the requests for /late, which are answered by `answerLate`, and /never, which are not. */
  readonly aborts: Map<string, AbortSignal>;
  answerLate(): void;
}

/** The real handler, with a route /big?size=BYTES in front of it, whose answers cost no time to compute. */
async function serve(options: ListenOptions = {}, handlerOptions: HandlerOptions = {}): Promise<Server> {
  const records: RequestRecord[] = [];
  const log = {
    request: (record: RequestRecord) => void records.push(record),
    event: () => {},
    budget: () => {},
    startup: () => {},
    ignoredVariables: () => {},
    notes: () => {},
  };
  const real = createHandler(runtime, { drainTimeout: 0, log, ...handlerOptions });
  const made = { count: 0, maxAtOnce: 0 };
  const received = { count: 0 };
  const aborts = new Map<string, AbortSignal>();
  let answerLate = (): void => {};
  const late = new Promise<void>((resolve) => (answerLate = resolve));
  let running = 0;
  const answer = async (...[request, connection]: Parameters<Handler>): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    received.count += 1;
    if (pathname === "/late" || pathname === "/never") {
      aborts.set(pathname, request.signal);
      await (pathname === "/late" ? late : once(request.signal, "abort"));
      return new Response("late");
    }
    if (pathname !== "/big" || connection?.refusal !== undefined) return real(request, connection);
    running += 1;
    made.count += 1;
    made.maxAtOnce = Math.max(made.maxAtOnce, running);
    await sleep(1);
    running -= 1;
    return new Response(big.subarray(0, Number(searchParams.get("size") ?? big.length)));
  };
  const { service, readiness, watchConnections } = real;
  const listening = await listen(Object.assign(answer, { service, readiness, watchConnections }), { port: 0, ...options });
  listeners.push(listening);
  return {
    port: Number(new URL(listening.url).port),
    url: listening.url,
    listening,
    records,
    made,
    received,
    aborts,
    answerLate,
  };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

/** A client that reads nothing until it is resumed. */
function silent({ port }: Server, text: string, localAddress = "127.0.0.1"): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  socket.pause();
  socket.write(text);
  sockets.push(socket);
  return socket;
}

/** All that comes until the connection is closed. */
async function answerOf(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk))).resume();
  await new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())));
  return text;
}

async function metric({ url }: Server, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { connection: "close" } })).text();
  return Number(new RegExp(`^inferyard_${name} (\\S+)$`, "m").exec(text)![1]);
}

/** Of the test that runs: what an earlier one still waits for ends with it. */
let turn = 0;
async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const own = turn;
  while (!(await condition())) {
    if (own !== turn) throw new Error("the test is over");
    await sleep(50); // each look at the metrics is a request of some milliseconds
  }
}

const embedded = async ({ url }: Server): Promise<Response> =>
  fetch(`${url}/api/embed`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: '{"input":"a"}',
  });

describe("answers that nobody reads", () => {
  it("are dropped with their connection after stallTimeout; a slow reader that goes on gets its whole answer", async () => {
    const server = await serve({ stallTimeout: "1s" });
    const slow = silent(server, get("/big"));
    const stalled = Array.from({ length: 3 }, () => silent(server, get("/big")));
    await until(async () => (await metric(server, "unread_response_bytes")) > 3 * 16 * mebi);
    let bytes = 0;
    slow.on("readable", () => {
      const chunk = slow.read(mebi / 2) as Buffer | null;
      bytes += (chunk ?? (slow.read() as Buffer | null))?.length ?? 0;
    });
    for (let step = 0; bytes < big.length; step += 1) {
      const chunk = slow.read() as Buffer | null;
      bytes += chunk?.length ?? 0;
      await sleep(20);
    }
    expect(bytes).toBeGreaterThan(big.length); // with its head
    await until(async () => (await metric(server, "readers_disconnected_total")) === stalled.length);
    expect(await metric(server, "unread_response_bytes")).toBe(0);
  });

  it("have a budget: at half of it requests get 503 with Retry-After, health and metrics are answered, and slow readers make room", async () => {
    const server = await serve({ maxUnreadBytes: 32 * mebi, stallTimeout: "3s" });
    silent(server, get("/big"));
    await until(async () => (await metric(server, "unread_response_bytes")) >= 16 * mebi);
    const refused = await embedded(server);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ error: { code: "OVERLOADED", retryable: true } });
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    await until(async () => (await embedded(server)).status === 200);
    expect(await metric(server, "readers_disconnected_total")).toBe(1);
  });

  it("never hold more than the budget: an answer without room becomes a refusal", async () => {
    const server = await serve({ maxUnreadBytes: 32 * mebi });
    const readers = Array.from({ length: 8 }, () => silent(server, get("/big")));
    await until(() => server.made.count + server.records.length === readers.length);
    expect(await metric(server, "unread_response_bytes")).toBeLessThanOrEqual(40 * mebi); // half of the budget and one answer
    const statuses = await Promise.all(
      readers.map(async (socket) => {
        socket.resume();
        const [chunk] = (await once(socket, "data")) as [Buffer];
        return String(chunk.subarray(0, 12));
      }),
    );
    const refused = statuses.filter((status) => status === "HTTP/1.1 503").length;
    expect([statuses.length, refused >= 6]).toEqual([8, true]);
  });

  it("of events are bounded: a reader that stops is let go, and a HEAD request leaves no stream behind", async () => {
    const events = new RuntimeEvents();
    const server = await serve({ stallTimeout: "500ms" }, { events });
    for (let index = 0; index < 100; index += 1) {
      expect((await fetch(`${server.url}/api/events`, { method: "HEAD" })).status).toBe(200);
    }
    silent(server, get("/api/events"));
    await until(async () => (await metric(server, "connections_open")) >= 1);
    const event = { type: "loading", reference: "r".repeat(10_000), target: "native:cpu", bytes: 1 } as const;
    let highest = 0;
    while ((await metric(server, "readers_disconnected_total")) === 0) {
      for (let index = 0; index < 4; index += 1) events.emit(event);
      highest = Math.max(highest, await metric(server, "unread_response_bytes"));
    }
    expect(highest).toBeLessThan(mebi);
  });
});

describe("requests sent ahead on one connection", () => {
  it("run one after the other, each when the answer before was taken", async () => {
    const server = await serve();
    const answers = await answerOf(
      silent(server, get("/big?size=100000").repeat(20) + "GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"),
    );
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(21);
    expect(server.made).toEqual({ count: 20, maxAtOnce: 1 });
  });

  it("are computed only as far as they are read", async () => {
    const server = await serve();
    silent(server, get("/big").repeat(10));
    await until(async () => (await metric(server, "unread_response_bytes")) > mebi);
    await sleep(100);
    expect(server.made.count).toBe(1);
  });

  it("are answered in their order, 120 of them", async () => {
    const server = await serve();
    const last = "GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    const answers = await answerOf(
      silent(server, Array.from({ length: 119 }, (_, at) => get(`/big?size=${1000 + at}`)).join("") + last),
    );
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(120);
    const lengths = [...answers.matchAll(/content-length: (1\d\d\d)/gi)].map(([, length]) => Number(length));
    expect(lengths).toEqual(Array.from({ length: 119 }, (_, at) => 1000 + at));
  });

  it("beyond a limit are refused with an answer, behind the answers to those before", async () => {
    const server = await serve();
    const answers = await answerOf(silent(server, get("/big?size=1000").repeat(600)));
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(256);
    const refusal = answers.slice(answers.lastIndexOf("HTTP/1.1"));
    expect(refusal).toMatch(/^HTTP\/1\.1 503[^]*retry-after: 1[^]*OVERLOADED/i);
    expect(refusal).toMatch(/connection: close/i);
    await until(async () => (await metric(server, "connections_open")) === 1);
  });

  it("end the connection when they are thousands", async () => {
    const server = await serve();
    await answerOf(silent(server, get("/big").repeat(10_000)));
    expect(server.made.count).toBeLessThan(2);
    await until(async () => (await metric(server, "connections_open")) === 1);
    await server.listening.close(); // none of them is waited for
  });
});

describe("connections", () => {
  it("beyond maxConnections get 503 or are closed; health is answered, and those that are idle make room", async () => {
    const server = await serve({ maxConnections: 4 });
    const busy = Array.from({ length: 3 }, () => silent(server, get("/big")));
    await until(() => server.made.count === busy.length);
    const idle = silent(server, get("/health/live"));
    await once(idle, "readable");
    expect((await embedded(server)).status).toBe(503); // nothing is idle for long enough yet
    await until(async () => (await fetch(`${server.url}/health/live`)).status === 200);
    const closed = once(idle.resume(), "close");
    await until(async () => (await embedded(server).catch(() => undefined))?.status === 200);
    await closed;
    expect(await metric(server, "connections_refused_total")).toBeGreaterThan(0);
    const many = Array.from({ length: 200 }, () => silent(server, ""));
    for (const socket of many) socket.resume();
    await until(() => many.filter(({ closed }) => closed).length > 190);
  });

  it("of one client leave room for others", async () => {
    const server = await serve({ maxConnectionsPerClient: 2 });
    const first = [silent(server, get("/big")), silent(server, get("/big"))];
    await until(() => server.made.count === first.length);
    const third = await answerOf(silent(server, get("/api/status")));
    expect(third).toContain("HTTP/1.1 503");
    expect(third).toContain("maxConnectionsPerClient is 2");
    expect(third.toLowerCase()).toContain("connection: close");
    const other = silent(server, get("/api/status"), "127.0.0.2").resume();
    expect(String((await once(other, "data"))[0])).toContain("HTTP/1.1 200");
  });

  it("of proxies are not counted by address", async () => {
    const server = await serve({ maxConnectionsPerClient: 1 }, { trustProxy: true });
    const both = [silent(server, get("/api/status")), silent(server, get("/api/status"))];
    for (const socket of both) expect(String((await once(socket.resume(), "data"))[0])).toContain("HTTP/1.1 200");
  });
});

describe("times", () => {
  it.each([
    { bodyTimeout: "3s" },
    { headersTimeout: "90s" },
    { headersTimeout: "0.5ms" },
    { bodyTimeout: "1.5ms" },
    { bodyTimeout: 0 },
    { headersTimeout: 0 },
    { stallTimeout: 0 },
    { headersTimeout: "10000h" },
    { bodyTimeout: "10000h" },
    { stallTimeout: "10000h" },
  ])("%j alone is a setting the server starts with", async (options) => {
    const { url } = await serve(options);
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
  });

  it("of requests longer than a timer of Node.js can be are no times of 1 ms", async () => {
    const server = await serve({}, { requestTimeout: "10000h", drainTimeout: "10000h" });
    expect((await embedded(server)).status).toBe(200);
    await server.listening.close();
  });
});

it("a client that leaves within its body is no defect of the server", async () => {
  const server = await serve();
  const head = "POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
  for (const rest of ["content-length: 100\r\n\r\n{", "transfer-encoding: chunked\r\n\r\n5\r\n{"]) {
    const before = server.records.length;
    const requests = server.received.count;
    const socket = silent(server, head + rest);
    await until(() => server.received.count > requests);
    socket.destroy();
    await until(() => server.records.length > before);
    expect(server.records.at(-1)).toMatchObject({ status: 499, fault: { code: "ABORTED" } });
  }
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('inferyard_errors_total{code="ABORTED"} 2');
  expect(metrics).not.toContain("DEFECT");
});

/** One server for all that is sent below: each request after the first also shows that it still answers. */
let shared: Server | undefined;
async function sharedServer(): Promise<Server> {
  shared ??= await serve();
  const place = listeners.indexOf(shared.listening);
  if (place >= 0) listeners.splice(place, 1); // it outlives its first test
  return shared;
}
afterAll(() => shared?.listening.close());

it.each([
  [
    "an upgrade",
    "GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n",
    /^HTTP\/1\.1 200/,
  ],
  ["CONNECT", "CONNECT a:80 HTTP/1.1\r\nhost: a:80\r\n\r\n", /^$/],
  [
    "Expect: 100-continue",
    'POST /api/embed HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 13\r\nconnection: close\r\n\r\n{"input":"a"}',
    /^HTTP\/1\.1 100 [^]*HTTP\/1\.1 200/,
  ],
  [
    "another Expect",
    "POST /api/embed HTTP/1.1\r\nhost: localhost\r\nexpect: 200-ok\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    /^HTTP\/1\.1 417/,
  ],
  [
    "two lengths",
    "POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 400/,
  ],
  ["an unknown coding", "POST /api/embed HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip\r\n\r\n", /^HTTP\/1\.1 400/],
  [
    "chunked that is not last",
    "POST /api/embed HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked, identity\r\n\r\n",
    /^HTTP\/1\.1 400/,
  ],
  ["an absolute address", "GET http://a/health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 200/],
  ["no host", "GET /health/live HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 400/],
  ["HEAD", "HEAD /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 200 [^]*\r\n\r\n$/],
  ["OPTIONS", "OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 4\d\d/],
  ["20 KB of headers", `GET /health/live HTTP/1.1\r\nhost: a\r\nx: ${"a".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431/],
  ["a URL of 20 KB", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, /^HTTP\/1\.1 431/],
  ["no HTTP", "\u0016\u0003\u0001\0\0", /^HTTP\/1\.1 400/],
])("answers or closes at once: %s", async (_what, text, wanted) => {
  const server = await sharedServer();
  expect(await answerOf(silent(server, text))).toMatch(wanted);
  expect((await embedded(server)).status).toBe(200);
});

describe("a client that ends its side of the connection after its request", () => {
  const post = (body: string, version = "1.1"): string =>
    `POST /api/embed HTTP/${version}\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const halfClosed = (server: Server, text: string): Socket => {
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    sockets.push(socket);
    socket.end(text);
    return socket;
  };

  it("gets its answer, at once or after interim answers, and then the connection closes", async () => {
    const server = await serve();
    expect(await answerOf(halfClosed(server, get("/big?size=3")))).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*aaa$/);
    // On a busy machine interim answers precede this one too.
    expect(await answerOf(halfClosed(server, post('{"input":"a","dimensions":3}')))).toMatch(
      /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)*HTTP\/1\.1 200 OK\r\n[^]*"embeddings":\[\[/,
    );
    const waiting = halfClosed(server, get("/late"));
    waiting.once("data", server.answerLate);
    const late = await answerOf(waiting);
    expect(late).toMatch(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)+HTTP\/1\.1 200 OK\r\n[^]*late$/);
  });

  it("is found to have left if it has, and its request is aborted", async () => {
    const server = await serve();
    const socket = silent(server, get("/never"));
    await until(() => server.aborts.has("/never"));
    socket.destroy();
    const signal = server.aborts.get("/never")!;
    await until(() => signal.aborted);
    expect(signal.aborted).toBe(true);
  });
});
