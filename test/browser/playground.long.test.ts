/** The playground, in Chromium: Mirage's programs against values that NumPy computed in float64, and what it shows for programs that fail. */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type Page, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage } from "../../examples/browser/build.mjs";
import { type SiteServer, serve } from "../../examples/browser/serve.mjs";
import { runsAll, sampled } from "../fixtures/slow.ts";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const reason = executablePath === undefined ? " (skipped: no Chromium here; apt-get install chromium)" : "";
const goldens = JSON.parse(
  readFileSync(new URL("../programs/fixtures/mirage-goldens.json", import.meta.url), "utf8"),
) as Readonly<Record<string, { readonly values: readonly number[] }>>;

describe.skipIf(executablePath === undefined)(`the playground${reason}`, () => {
  let folder: string;
  let browser: Browser;
  let site: SiteServer;
  let page: Page;
  const faults: string[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inferyard-playground-"));
    await buildPage(join(folder, "site"));
    site = await serve(join(folder, "site"));
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    browser = await chromium.launch({ executablePath: executablePath ?? "", args });
    page = await browser.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(`${site.url}playground.html`);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const compile = async (): Promise<void> => {
    await page.click("#compile");
    await page.locator("#compile:not([disabled])").waitFor({ timeout: 120_000 });
  };
  const cells = async (table: string): Promise<readonly string[]> => await page.locator(`${table} td`).allTextContents();

  it("has Mirage's seven programs", async () => {
    expect(await page.locator("#pick option").allTextContents()).toEqual(Object.keys(goldens));
  });

  const isOfSample = (_: unknown, index: number): boolean => index === 0 || index === 4;
  it.for(sampled("Mirage's programs", Object.entries(goldens), isOfSample).flatMap(([skip, , rows]) => (skip ? [] : rows)))(
    `compiles %s, and its values are NumPy's${runsAll ? "" : " (a sample: TEST_SLOW=1 runs all seven)"}`,
    async ([name, { values }]) => {
      await page.selectOption("#pick", name);
      await compile();
      const [output, type, first = ""] = await cells("#outputs");
      expect([output, type]).toEqual(["y", expect.stringMatching(/^float32\[\d+(?:, \d+)+\]$/)]);
      const largest = Math.max(...values.map(Math.abs));
      const shown = first.split(" ").map(Number);
      expect(shown).toHaveLength(8);
      for (const [index, value] of shown.entries())
        expect(Math.abs(value - (values[index] ?? 0))).toBeLessThan(1e-5 * largest + 1e-6);
      expect(await cells("#candidates")).toEqual(["native:wasm", "selected", expect.stringContaining("WebAssembly")]);
    },
  );

  it("falls back from backends that no page has, with the reason", async () => {
    await page.fill("#backends", "cuda, mkl, native");
    await page.fill("#source", '({ input, add }) => ({ y: add(input("x", ["rows", 2]), 1) })');
    await compile();
    const shown = await cells("#candidates");
    expect(shown.slice(0, 3)).toEqual(["cuda", "refused", "the backend cuda is not compiled in: this build has native"]);
    expect(shown.slice(6, 8)).toEqual(["native", "selected"]);
  });

  it.each([
    ["({ input }) => ({ y: input(", "SyntaxError"],
    ['({ input, matmul }) => ({ y: matmul(input("x", [2, 3]), input("z", [2, 3])) })', "MODEL_UNSUPPORTED"],
    ['({ input }) => ({ y: input("x", [2], "int64") })', "Error"],
  ])("says what is wrong with %s", async (source, code) => {
    await page.fill("#backends", "native");
    await page.fill("#source", source);
    await compile();
    expect(await page.locator("#failure code").textContent()).toBe(code);
    expect(await page.locator("#message").textContent()).not.toBe("");
    expect(await page.locator("#result").isVisible()).toBe(false);
  });

  it("names an unknown backend, and throws nothing past the page", async () => {
    await page.fill("#backends", "CUDA");
    await page.selectOption("#pick", "lora");
    await compile();
    expect(await page.locator("#message").textContent()).toContain('there is no backend "CUDA"');
    expect(faults).toEqual([]);
  });
});
