import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { ClientTurns } from "../../serving/client-turns.ts";
import type { Env } from "../context.ts";
import { publicError } from "../public-error.ts";
import { readForm } from "./form-body.ts";
import { requestBodies } from "./read-bodies.ts";

const app = new Hono<Env>();
app.onError((error, context) => context.text(publicError(error).message, publicError(error).status as 400));
app.use(async (context, next) => {
  context.set("client", "");
  await next();
});
app.use(requestBodies({}, new ClientTurns()));
app.post("/", async (context) => {
  const { texts, files } = await readForm(context);
  return context.json({ texts, files: files.map(({ field, name, bytes }) => [field, name, bytes.byteLength]) });
});

async function send(body: string, boundary = "----Limit7MA4YWxk"): Promise<readonly [number, string]> {
  const response = await app.request("/", {
    method: "POST",
    body,
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
  });
  return [response.status, await response.text()];
}
const part = (name: string, value = "", more = ""): string =>
  `------Limit7MA4YWxk\r\n${more}content-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

describe("a form", () => {
  it("has its texts and files, with a boundary in quotes too", async () => {
    const file = '------Limit7MA4YWxk\r\ncontent-disposition: form-data; name="f"; filename="a.txt"\r\n\r\nabc\r\n';
    const whole = `${part("t", "one")}${part("t", "two\r\n--not the boundary")}${file}------Limit7MA4YWxk--\r\n`;
    const read = [200, JSON.stringify({ texts: { t: ["one", "two\r\n--not the boundary"] }, files: [["f", "a.txt", 3]] })];
    expect(await send(whole)).toEqual(read);
    expect(await send(whole, '"----Limit7MA4YWxk"')).toEqual(read);
  });

  it("has at most 1,024 parts", async () => {
    const of = (count: number): string =>
      `${Array.from({ length: count }, (_, index) => part(`p${index}`)).join("")}------Limit7MA4YWxk--\r\n`;
    expect((await send(of(1024)))[0]).toBe(200);
    expect(await send(of(1025))).toEqual([413, "the form has more than 1024 parts, which is the limit"]);
  });

  it("has short headers, and begins soon", async () => {
    const long = [413, "the header of a part of the form is longer than 16384 bytes"];
    expect(await send(`${part("a", "", `x: ${"y".repeat(20_000)}\r\n`)}------Limit7MA4YWxk--\r\n`)).toEqual(long);
    expect(await send(`${"\r\n".repeat(10_000)}${part("a")}------Limit7MA4YWxk--\r\n`)).toEqual(long);
    expect(await send("------Limit7MA4YWxk\r\n".repeat(100_000))).toEqual(long);
  });

  it("that is damaged is refused", async () => {
    expect((await send("------Limit7MA4YWxk\r\n"))[0]).toBe(400);
    expect((await send(part("a", "cut off").slice(0, -5)))[0]).toBe(400);
  });
});
