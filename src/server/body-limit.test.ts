import { request } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limitBytes } from "./body-limit.ts";
import { type Env, publicError } from "./context.ts";

const app = new Hono<Env>();
app.onError((error, context) => context.text(publicError(error).code, 413));
app.use(limitBytes(100));
app.post("/", async (context) => context.text(String((await context.req.text()).length)));

let port = 0;
let server: ReturnType<typeof serve>;
beforeAll(
  () => new Promise<void>((resolve) => (server = serve({ fetch: app.fetch, port: 0 }, (at) => ((port = at.port), resolve())))),
);
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

/** Sends a body over a socket: in one piece with its length, or in pieces without. */
function send(body: string, pieces: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = pieces ? { "transfer-encoding": "chunked" } : { "content-length": Buffer.byteLength(body) };
    const sending = request({ port, host: "127.0.0.1", method: "POST", path: "/", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => resolve(text));
    });
    sending.once("error", reject);
    if (pieces) sending.write(body.slice(0, 10));
    sending.end(pieces ? body.slice(10) : body);
  });
}

describe("the largest body", () => {
  it.each([false, true])("is taken, and one byte more is refused (in pieces: %s)", async (pieces) => {
    expect(await send("a".repeat(100), pieces)).toBe("100");
    expect(await send("a".repeat(101), pieces)).toBe("LIMIT_EXCEEDED");
  });

  it("holds for a request that no socket has seen", async () => {
    const answer = await app.request("/", { method: "POST", body: "a".repeat(101) });
    expect([answer.status, await answer.text()]).toEqual([413, "LIMIT_EXCEEDED"]);
  });

  it("is not passed by a length that is none", async () => {
    const headers = { "content-length": "many" };
    expect((await app.request("/", { method: "POST", body: "a", headers })).status).toBe(413);
  });
});
