/** The server's page for people, in a real browser. */
import { existsSync } from "node:fs";
import { createRuntime, type Runtime } from "inferyard";
import { type Browser, chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Listening, createHandler, listen } from "inferyard/server";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const name =
  executablePath === undefined ? "the dashboard (skipped: no Chromium here; apt-get install chromium)" : "the dashboard";

describe.skipIf(executablePath === undefined)(name, () => {
  let browser: Browser;
  let runtime: Runtime;
  let server: Listening;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath!, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  });
  afterAll(() => browser?.close());
  // Its own for each test: the page shows which models are loaded.
  beforeEach(async () => {
    runtime = await createRuntime();
    server = await listen(createHandler(runtime), { port: 0 });
  });
  afterEach(async () => {
    await server?.close();
    await runtime?.dispose();
  });

  it("shows models, decisions and an answer, fetches nothing from elsewhere, and takes no text for markup", async () => {
    const page = await browser.newPage();
    const faults: string[] = [];
    const asked: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (line) => line.type() === "error" && faults.push(line.text()));
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`${server.url}/dashboard`);
    await page.locator("#state", { hasText: "up" }).waitFor();
    expect(await page.textContent("#models-empty")).toContain("no model is loaded");
    await page.fill("#text", "<img src=x onerror=alert(1)>");
    await page.click("#try button");
    await page.locator("#answer", { hasText: "native:cpu" }).waitFor();
    expect(await page.textContent("#answer")).toContain("256 numbers");
    await page.locator("#models td").first().waitFor();
    await page.locator("#counts", { hasText: "1 in the last minute" }).waitFor();
    expect(await page.textContent("#models")).toContain("builtin");
    expect(await page.textContent("#decisions")).toContain("native:cpu");
    expect(await page.locator("#decisions").isVisible()).toBe(false); // folded away
    expect(await page.locator("#chat-empty").isVisible()).toBe(true);
    expect(await page.locator("#chat-model option").count()).toBe(0); // an embedder holds no conversations
    expect(await page.textContent("#requests-now")).toMatch(/^[\d.]+ per second$/);
    expect(await page.textContent("#counts")).toMatch(/1 in the last minute, 0 failed/);
    expect(await page.locator("img").count()).toBe(0);
    expect(faults).toEqual([]);
    expect(asked.filter((url) => !url.startsWith(server.url) && !url.startsWith("data:"))).toEqual([]);
    if (process.env["SCREENSHOT"] !== undefined) await page.screenshot({ path: process.env["SCREENSHOT"], fullPage: true });
    await page.close();
  });

  it.each([
    ["light", "with a model", true],
    ["dark", "without one", false],
  ] as const)("fits windows from a telephone to a wide screen, %s, %s", async (colorScheme, _what, isLoaded) => {
    if (isLoaded) await runtime.embed("a cat");
    const page = await browser.newPage({ colorScheme });
    for (const width of [400, 900, 1600]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${server.url}/dashboard`);
      await page.locator(isLoaded ? "#models td" : "#models-empty", { hasText: isLoaded ? "builtin" : "no model" }).waitFor();
      expect(
        await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth"),
        `${width}`,
      ).toBeLessThanOrEqual(0);
      const [chat, models] = [
        await page.locator("#talking").boundingBox(),
        await page.locator(isLoaded ? "#models" : "#models-empty").boundingBox(),
      ];
      const isBeside = chat!.x > width / 2 && chat!.y < models!.y;
      expect([width, isBeside]).toEqual([width, width === 1600]);
      const folder = process.env["SCREENSHOTS"];
      if (folder !== undefined)
        await page.screenshot({ path: `${folder}/dashboard-${width}-${colorScheme}.png`, fullPage: true });
    }
    await page.close();
  });

  it.skipIf(!hasSharedData)(
    "chats with a model: an answer that grows, the next message behind it, an error, and a new chat",
    async () => {
      const names = { chatty: `${sharedData}tiny-random-qwen2` };
      const chatting = await listen(createHandler(runtime, { models: names }), { port: 0 });
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      const asked: { messages: unknown[] }[] = [];
      page.on(
        "request",
        (request) => request.url().endsWith("completions") && asked.push(request.postDataJSON() as { messages: unknown[] }),
      );
      await page.goto(`${chatting.url}/dashboard`);
      await page.locator("#chat-model option", { hasText: "chatty" }).waitFor({ state: "attached" });
      expect(await page.inputValue("#chat-model")).toBe("chatty"); // the embedder before it is not offered
      expect(await page.locator("#model option").allTextContents()).toEqual(["builtin"]);
      await page.fill("#longest", "3");
      for (const message of ["<img>", "o"]) {
        await page.fill("#message", message);
        await page.press("#message", "Enter");
        await page.locator("#speed", { hasText: "per second" }).waitFor();
        await page.locator("#stop").waitFor({ state: "hidden" });
      }
      await page.locator("#models td", { hasText: /^chatty$/ }).waitFor(); // by its name, not by its path
      expect(asked.map(({ messages }) => messages.length)).toEqual([1, 3]);
      expect(await page.textContent("#talk .user")).toBe("<img>");
      expect((await page.textContent("#talk .assistant"))!.length).toBeGreaterThan(0);
      expect(await page.locator("img").count()).toBe(0);
      await page.fill("#message", "word ".repeat(100));
      await page.press("#message", "Enter");
      await page.locator("#talk .fault", { hasText: "the model's context is 64" }).waitFor();
      await page.click("#anew");
      expect(await page.textContent("#talk")).toBe("");
      expect(faults).toEqual([]);
      await page.close();
      await chatting.close();
    },
  );
});
