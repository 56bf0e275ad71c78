/** The server's page for people, in a real browser. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRuntime, type Runtime } from "inferyard";
import { type Browser, type FileChooser, type Page, chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Listening, createHandler, listen } from "inferyard/server";
import { writeDetector } from "../fixtures/models/detector-model.ts";
import { writeVoiceDetector } from "../fixtures/models/sound-models.ts";
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

  it.skipIf(!hasSharedData)("takes a picture or a sound, dropped or chosen, and shows what the server finds in it", async () => {
    const colorScheme = process.env["COLOUR"] === "light" ? "light" : "dark";
    const folder = mkdtempSync(join(tmpdir(), "inferyard-dashboard-"));
    writeDetector(join(folder, "detr"), [{ logits: [0, 4, 0], box: [0.25, 0.5, 0.5, 1] }]);
    writeVoiceDetector(join(folder, "voice.onnx"));
    const ctc = `${sharedData}tiny-random-wav2vec2-ctc`;
    const models = {
      vit: `${sharedData}tiny-random-vit`,
      detr: join(folder, "detr"),
      line: `${sharedData}tiny-random-trocr`,
      ctc,
      voice: join(folder, "voice.onnx"),
    };
    const serving = await listen(createHandler(runtime, { models }), { port: 0 });
    const page = await browser.newPage({ colorScheme });
    const faults: string[] = [];
    const choosing = new Promise<FileChooser>((resolve) => page.on("filechooser", resolve));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (line) => line.type() === "error" && !line.text().includes("415") && faults.push(line.text()));
    await page.goto(`${serving.url}/dashboard`);
    await page.locator("#chat-empty").waitFor();
    const done = page.locator("#answer", { hasText: /ms on/ });

    // Dropped while the task is one on texts: a task is chosen that a model can do.
    await drop(page, `${models.vit}/wide.png`, "image/png");
    await done.waitFor();
    expect(await page.inputValue("#task")).toBe("classify_image");
    const { results } = await runtime.classifyImage(`${models.vit}/wide.png`, { model: models.vit });
    expect(await page.locator("#found tr").nth(1).allTextContents()).toEqual([
      `${results[0]![0]!.label}${(100 * results[0]![0]!.score).toFixed(1)} %`,
    ]);
    expect(await page.locator("#picture").getAttribute("aria-label")).toBe("wide.png");

    // Chosen with the keyboard alone.
    await page.selectOption("#task", "detect");
    await page.locator("#model").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("file");
    await page.keyboard.press("Enter");
    await (await choosing).setFiles(fileURLToPath(new URL("../fixtures/pictures/astronaut.jpg", import.meta.url)));
    await page.locator("#found td", { hasText: "dog" }).waitFor();
    expect(await page.locator("#found tr").nth(1).textContent()).toBe("dog96.5 %0, 080, 160");
    expect(await page.evaluate("[document.getElementById('picture').width, document.getElementById('picture').height]")).toEqual([
      160, 160,
    ]);
    if (process.env["SCREENSHOTS"] !== undefined) {
      await page.setViewportSize({ width: 1300, height: 900 });
      await page.screenshot({ path: `${process.env["SCREENSHOTS"]}/dashboard-picture-${colorScheme}.png`, fullPage: true });
    }

    await page.selectOption("#task", "read");
    await page.setInputFiles("#file", `${models.line}/same-size.png`);
    await page.locator("#transcript:not(:empty)").waitFor();

    await drop(page, `${ctc}/chirp-1s.wav`, "audio/wav");
    await page.locator("#found th", { hasText: "from" }).waitFor();
    expect(await page.inputValue("#task")).toBe("transcribe");
    const { text } = await runtime.transcribe(new Uint8Array(readFileSync(`${ctc}/chirp-1s.wav`)), { model: ctc });
    expect(await page.textContent("#transcript")).toBe(text);
    expect(await page.locator("#picture").isVisible()).toBe(false);
    await page.waitForFunction("document.getElementById('sound').duration === 1");

    await page.selectOption("#task", "detect_speech");
    await page.click("#run");
    await page.locator("#found tr, #found-empty:not(:empty)").first().waitFor();

    await drop(page, `${ctc}/README.md`, "text/markdown");
    await page.locator("#answer", { hasText: "README.md is neither a picture nor a sound" }).waitFor();
    await drop(page, `${ctc}/README.md`, "image/png");
    await page.locator("#answer", { hasText: "not a picture of a known format" }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(faults).toEqual([]);
    await page.close();
    await serving.close();
    rmSync(folder, { recursive: true });
  });
});

/** Drops a file onto the page. */
async function drop(page: Page, path: string, type: string): Promise<void> {
  const sent = { bytes: [...readFileSync(path)], name: path.split("/").at(-1)!, type };
  const transfer = await page.evaluateHandle(({ bytes, name: called, type: stated }) => {
    const { DataTransfer, File } = globalThis as unknown as {
      DataTransfer: new () => { readonly items: { add(file: unknown): void } };
      File: new (parts: Uint8Array[], name: string, options: object) => unknown;
    };
    const files = new DataTransfer();
    files.items.add(new File([Uint8Array.from(bytes)], called, { type: stated }));
    return files;
  }, sent);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}
