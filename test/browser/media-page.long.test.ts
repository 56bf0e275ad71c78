/** The example page with a picture and with a microphone, in Chromium with a device that plays a file. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { type Browser, type Page, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage } from "../../examples/browser/build.mjs";
import { type SiteServer, serve } from "../../examples/browser/serve.mjs";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const reason =
  executablePath === undefined
    ? " (skipped: no Chromium here; apt-get install chromium)"
    : hasSharedData
      ? ""
      : " (skipped: ../shared/data is not beside this checkout)";

/** A script of the page that keeps what its microphone gives, and the tracks that it opens. */
const keepSound = `
  const opened = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    const stream = await opened(wanted);
    globalThis.tracks = stream.getTracks();
    return stream;
  };
  globalThis.AudioWorkletNode = class extends AudioWorkletNode {
    constructor(context, name) {
      super(context, name);
      globalThis.heard = { rate: context.sampleRate, chunks: [] };
      const { port } = this;
      const add = port.addEventListener.bind(port);
      const remove = port.removeEventListener.bind(port);
      let wrapped;
      port.addEventListener = (type, listener) => add(type, (wrapped = (event) => (heard.chunks.push(event.data.slice()), listener(event))));
      port.removeEventListener = (type) => remove(type, wrapped);
    }
  };
`;

describe.skipIf(reason !== "")(`the example page${reason}`, () => {
  let folder: string;
  let browser: Browser;
  let site: SiteServer;
  let page: Page;
  const faults: string[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inferyard-media-page-"));
    await buildPage(join(folder, "site"));
    site = await serve(join(folder, "site"), { models: sharedData });
    const device = [
      "--use-fake-device-for-media-stream",
      "--use-fake-ui-for-media-stream",
      `--use-file-for-fake-audio-capture=${sharedData}tiny-random-whisper/chirp-2s.wav`,
    ];
    const args = process.getuid?.() === 0 ? ["--no-sandbox", ...device] : device;
    browser = await chromium.launch({ executablePath: executablePath!, args });
    page = await browser.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(site.url);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it("classifies a picture as Node.js does", async () => {
    const picture = `${sharedData}tiny-random-vit/small.png`;
    await using runtime = await createRuntime({ target: "native", machineCode: "off" });
    const { results } = await runtime.classifyImage(picture, { model: `${sharedData}tiny-random-vit`, topK: 5 });
    await page.setInputFiles("#picture", picture);
    await page.click("#classify");
    await page.locator("#picture-state", { hasText: / ms$/ }).waitFor({ timeout: 120_000 });
    expect(await page.locator("#labels tr").allTextContents()).toEqual(
      results[0]!.map(({ label, score }) => label + score.toFixed(4)),
    );
  });

  it("transcribes the microphone until it is stopped, and gives the device back", async () => {
    const listening = await browser.newPage();
    listening.on("pageerror", (error) => faults.push(error.message));
    await listening.addInitScript(keepSound);
    await listening.goto(site.url);
    await listening.fill("#speech-model", "./models/tiny-random-whisper/");
    await listening.click("#listen");
    await listening.locator("#speech-state", { hasText: /^(?:[2-9]|\d\d+)\.\d s heard$/ }).waitFor({ timeout: 120_000 });
    expect(await listening.textContent("#listen")).toBe("Stop");
    await listening.click("#listen");
    await listening.locator("#speech-state", { hasText: / s heard · [a-z]+ · \w+:cpu$/ }).waitFor({ timeout: 120_000 });
    expect(await listening.locator("#said em").count()).toBe(0); // nothing provisional is left
    expect(await listening.textContent("#listen")).toBe("Listen");
    expect(await listening.evaluate<string[]>("tracks.map(({ readyState }) => readyState)")).toEqual(["ended"]);
    expect(await listening.locator("#failure").isVisible()).toBe(false);
    expect(faults).toEqual([]);
    const said = (await listening.textContent("#said"))!;
    const { rate, samples } = await listening.evaluate<{ rate: number; samples: number[] }>(
      "({ rate: heard.rate, samples: heard.chunks.flatMap((chunk) => [...chunk]) })",
    );
    await listening.close();
    // The same samples give the same text in Node.js.
    await using runtime = await createRuntime({ target: "native", threads: 1 });
    const chunks = (async function* () {
      for (let at = 0; at < samples.length; at += 4800) yield Float32Array.from(samples.slice(at, at + 4800));
    })();
    const request = { model: `${sharedData}tiny-random-whisper`, temperature: 0 };
    const { text, duration } = await runtime.transcribe({ sampleRate: rate, chunks }, request);
    expect(duration).toBeGreaterThan(2);
    expect(samples.some((sample) => Math.abs(sample) > 0.1)).toBe(true); // the file of the device, and no silence
    expect([said.length > 0, said.trim()]).toEqual([true, text]);
  });

  it("says why a microphone is not there", async () => {
    const refusing = await browser.newPage();
    await refusing.addInitScript(
      "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('Permission denied', 'NotAllowedError'); }",
    );
    await refusing.goto(site.url);
    await refusing.click("#listen");
    await refusing.locator("#message", { hasText: "Permission denied" }).waitFor();
    expect(await refusing.textContent("#listen")).toBe("Listen");
    await refusing.close();
  });
});
