import { request } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientTurns } from "../../serving/client-turns.ts";
import type { Env } from "../context.ts";
import { publicError } from "../public-error.ts";
import { bodyBudgetBytes, requestBodies } from "./read-bodies.ts";
import type { ServerSettings } from "../../server-settings.ts";

type App = Hono<Env>;

/** What each route reads of a body, whatever its content type says. */
function appWith(settings: ServerSettings): App {
  const app = new Hono<Env>();
  app.onError((error, context) => {
    const { status, code, message } = publicError(error);
    return context.json({ code, message }, status as 400);
  });
  app.use(async (context, next) => {
    context.set("client", context.req.header("x-client") ?? "");
    await next();
  });
  app.use(requestBodies(settings, new ClientTurns()));
  app.post("/text", async (context) => context.text(String((await context.req.text()).length)));
  app.post("/json", async (context) => context.json(await context.req.json<object>()));
  app.post("/bytes", async (context) => context.text(String((await context.req.arrayBuffer()).byteLength)));
  app.post("/unread", (context) => context.text("unread"));
  app.post("/both", async (context) => {
    const bytes = await context.get("body").bytes();
    return context.text(`${(await context.get("body").text()).length} ${bytes.byteLength}`);
  });
  return app;
}

const small = appWith({ maxBodyBytes: 100, maxJsonBytes: 50 });
let port = 0;
let server: ReturnType<typeof serve>;
beforeAll(
  () => new Promise<void>((resolve) => (server = serve({ fetch: small.fetch, port: 0 }, (at) => ((port = at.port), resolve())))),
);
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

/** Sends a body over a socket: in one piece with its length, or in pieces without. */
function send(path: string, body: string, pieces: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = pieces ? { "transfer-encoding": "chunked" } : { "content-length": Buffer.byteLength(body) };
    const sending = request({ port, host: "127.0.0.1", method: "POST", path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => resolve(text));
    });
    sending.once("error", reject);
    if (pieces) sending.write(body.slice(0, 10));
    sending.end(pieces ? body.slice(10) : body);
  });
}

async function answer(
  app: App,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<[number, string]> {
  const response = await app.request(path, { method: "POST", body, headers });
  return [response.status, await response.text()];
}

const json = { "content-type": "application/json" };

describe("the largest body", () => {
  it.each([false, true])("is taken, and one byte more is refused: of JSON, and of anything (in pieces: %s)", async (pieces) => {
    expect(await send("/text", "a".repeat(50), pieces)).toBe("50");
    expect(await send("/text", "a".repeat(51), pieces)).toContain("the JSON body is larger than 50 bytes");
    expect(await send("/bytes", "a".repeat(100), pieces)).toBe("100");
    expect(await send("/bytes", "a".repeat(101), pieces)).toContain("the body is larger than 100 bytes");
  });

  it("holds for a request that no socket has seen, and is not passed by a length that is none", async () => {
    expect(await answer(small, "/bytes", "a".repeat(101))).toEqual([413, expect.stringContaining("LIMIT_EXCEEDED")]);
    expect((await answer(small, "/bytes", "a", { "content-length": "many" }))[0]).toBe(413);
    expect((await answer(small, "/bytes", "a".repeat(101), { "content-length": "1" }))[0]).toBe(413);
  });

  it("is not read where no route reads it", async () => {
    expect(await answer(small, "/unread", "a".repeat(1000))).toEqual([200, "unread"]);
  });
});

describe("a body", () => {
  const bounded = appWith({ maxJsonDepth: 3, maxJsonValues: 10 });

  it.each([
    {},
    { "content-type": "text/plain" },
    json,
    { "content-type": "application/vnd.a+json" },
    { "content-type": "text/JSON" },
  ])("is bounded JSON or is not parsed, whatever its type says: %j", async (headers) => {
    expect(await answer(bounded, "/json", "[[[1]]]", headers)).toEqual([200, "[[[1]]]"]);
    expect(await answer(bounded, "/json", "[[[[1]]]]", headers)).toEqual([413, expect.stringContaining("nests deeper than 3")]);
    const many = JSON.stringify(Array.from({ length: 10 }, () => 1));
    expect(await answer(bounded, "/json", many, headers)).toEqual([413, expect.stringContaining("more than 10 values")]);
  });

  it("in very many pieces is taken, and refused where they are very small", async () => {
    const inPieces = async (count: number, piece: string): Promise<Response> => {
      const parts = Array.from({ length: count }, () => new TextEncoder().encode(piece));
      const body = ReadableStream.from(parts) as ReadableStream<Uint8Array<ArrayBuffer>>;
      return appWith({}).request("/bytes", { method: "POST", body, duplex: "half" });
    };
    expect(await (await inPieces(4096, "a")).text()).toBe("4096");
    expect(await (await inPieces(20_000, "a".repeat(64))).text()).toBe("1280000");
    const refused = await inPieces(20_000, "a");
    expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining("chunks that are too small")]);
  });

  it("of many pieces is whole, whatever their lengths", async () => {
    const pieces = Array.from({ length: 400 }, (_value, index) => "abcdefghi".repeat((index * 7919) % 1500));
    const whole = JSON.stringify(pieces.join(""));
    const bytes = new TextEncoder().encode(whole);
    for (const length of [1000, 65_536, 100_001, 3_000_000]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += length) controller.enqueue(bytes.slice(at, at + length));
          controller.close();
        },
      });
      const response = await appWith({}).request("/json", { method: "POST", body, duplex: "half" });
      expect((await response.text()) === whole).toBe(true);
    }
  });

  it("is read once for all who ask, as text and as bytes", async () => {
    expect(await answer(bounded, "/both", "zwölf")).toEqual([200, "5 6"]);
    expect(await answer(bounded, "/both", "zwölf", json)).toEqual([200, "5 6"]);
  });

  it("that is not UTF-8 is refused as text, at its byte, and taken as bytes", async () => {
    const bytes = Uint8Array.from([0x22, 0x61, 0xff, 0x22]);
    expect(await answer(bounded, "/json", bytes)).toEqual([400, expect.stringContaining("0xff at byte 2")]);
    expect(await answer(bounded, "/bytes", bytes)).toEqual([200, "4"]);
  });

  it.each([
    ["utf-8", 200],
    ['"UTF-8"', 200],
    ["us-ascii", 200],
    ["utf-16le", 415],
    ["iso-8859-1", 415],
  ])("of the charset %s is answered with %i", async (charset, status) => {
    expect((await answer(bounded, "/json", "[]", { "content-type": `application/json; charset=${charset}` }))[0]).toBe(status);
  });

  it.each([
    ["gzip", gzipSync("[]"), 200],
    ["X-GZIP", gzipSync("[]"), 200],
    ["deflate", deflateSync("[]"), 200],
    ["identity", Buffer.from("[]"), 200],
    ["", Buffer.from("[]"), 200],
    ["br", brotliCompressSync("[]"), 415],
    ["gzip, identity", gzipSync("[]"), 415],
    ["gzip", Buffer.from("[]"), 400],
    ["deflate", gzipSync("[]").subarray(0, 12), 400],
    ["gzip", Buffer.alloc(0), 400],
  ])("of the content-encoding %j is decompressed, or refused: %#", async (encoding, body, status) => {
    for (const [path, read] of [
      ["/json", "[]"],
      ["/bytes", "2"],
    ] as const) {
      const [found, text] = await answer(bounded, path, new Uint8Array(body), { ...json, "content-encoding": encoding });
      expect([found, text === read]).toEqual([status, status === 200]);
    }
  });

  it.each([gzipSync, deflateSync])(
    "that is compressed has the limits of what it decompresses to, and is read no further (%#)",
    async (compress) => {
      const headers = { "content-encoding": "gzip" };
      const fits = compress("a".repeat(100));
      expect(await answer(small, "/bytes", new Uint8Array(fits), headers)).toEqual([200, "100"]);
      const bomb = compress(Buffer.alloc(64 * 2 ** 20)); // 64 kB
      expect(await answer(appWith({ maxBodyBytes: 2 ** 20 }), "/bytes", new Uint8Array(bomb), headers)).toEqual([
        413,
        expect.stringContaining("1048576 bytes"),
      ]);
    },
  );
});

/** A body whose pieces are sent by hand. */
function halfSent(): { readonly body: ReadableStream<Uint8Array>; send(bytes: number): void; end(): void } {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (own) => void (controller = own) });
  const end = (): void => {
    try {
      controller.close();
    } catch {
      // it was refused, and is cancelled
    }
  };
  return { body, send: (bytes) => controller.enqueue(new Uint8Array(bytes).fill(0x61)), end };
}

const post = (
  app: App,
  client: string,
  body: ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): Promise<Response> => {
  const options = { method: "POST", body, headers: { ...headers, "x-client": client }, duplex: "half" };
  return Promise.resolve(app.request("/bytes", options as RequestInit));
};
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe("bodies in flight", () => {
  it("hold what has arrived, and no more than the budget: what comes beyond it is refused at once", async () => {
    const app = appWith({ maxInFlightBodyBytes: 1000 });
    const mine = [0, 1, 2, 3].map(() => halfSent());
    const answers = mine.map(({ body }) => post(app, "a", body));
    await turn();
    for (const { send } of mine) send(200);
    await turn();
    const others = halfSent();
    const other = post(app, "b", others.body);
    others.send(200);
    others.end();
    expect(await (await other).text()).toBe("200");
    for (const { end } of mine) end();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 429, 429]);
    const again = halfSent();
    again.send(500);
    again.end();
    expect((await post(app, "a", again.body)).status).toBe(200); // all of it came back
  });

  it("hold nothing for what is only announced", async () => {
    const app = appWith({ maxInFlightBodyBytes: 1000 });
    const announced = Array.from({ length: 20 }, () => halfSent());
    const waiting = announced.map(({ body }) => post(app, "a", body, { "content-length": "400" }));
    await turn();
    expect((await answer(app, "/bytes", "a".repeat(400)))[0]).toBe(200);
    for (const { end } of announced) end();
    await Promise.all(waiting);
  });

  it("count the values that JSON becomes", async () => {
    const app = appWith({ maxInFlightBodyBytes: 10_000 });
    expect((await answer(app, "/json", `[${"0,".repeat(100)}0]`))[0]).toBe(200);
    expect(await answer(app, "/json", `[${"0,".repeat(1000)}0]`)).toEqual([413, expect.stringContaining("LIMIT_EXCEEDED")]);
  });

  it("have a budget by default that holds the largest body of each of two clients", () => {
    expect(bodyBudgetBytes({ maxBodyBytes: 2 ** 40 })).toBe(2 ** 41);
    expect(bodyBudgetBytes({})).toBeGreaterThanOrEqual(2 * 32 * 2 ** 20);
    expect(bodyBudgetBytes({ maxInFlightBodyBytes: 7 })).toBe(7);
  });
});
