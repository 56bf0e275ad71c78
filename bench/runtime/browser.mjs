// What a model costs in a browser with all processors for threads, in a page that is cross-origin isolated and in one that is not, round by round in turn.
// Needs Chromium and `npm run build`: node bench/runtime/browser.mjs FOLDER [variant], FOLDER being a model such as all-MiniLM-L6-v2.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { buildPage } from "../../examples/browser/build.mjs";
import { serve } from "../../examples/browser/serve.mjs";

const rounds = 5;
const model = resolve(process.argv[2] ?? "all-MiniLM-L6-v2");
const variant = process.argv[3] ?? "fp32";
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const folder = await mkdtemp(join(tmpdir(), "inferyard-bench-"));
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
const sites = [];
try {
  await buildPage(folder, fileURLToPath(new URL("../../test/browser/browser-page.mjs", import.meta.url)));
  const pages = {};
  for (const [name, isolated] of [
    ["isolated", true],
    ["not isolated", false],
  ]) {
    const site = await serve(folder, { models: dirname(model), isolated });
    sites.push(site);
    const context = await browser.newContext();
    pages[name] = { open: () => context.newPage().then(async (page) => (await page.goto(site.url), page)), results: [] };
  }
  for (let round = 0; round <= rounds; round += 1) {
    for (const place of Object.values(pages)) {
      const page = await place.open();
      await page.waitForFunction(() => "inferyard" in globalThis);
      place.results.push(await page.evaluate(measure, { model: `/models/${basename(model)}/`, variant }));
      await page.close();
    }
  }
  for (const [name, { results }] of Object.entries(pages)) {
    const [first, ...others] = results;
    const of = (key) => Math.round(median(others.map((result) => result[key])));
    console.log(`${basename(model)} ${variant}, ${name}: ${first.threads === "1" ? "1 thread" : `${first.threads} threads`}`);
    console.log(`  first load, from a server on this machine   ${Math.round(first.load)} ms`);
    console.log(`  later loads, from the cache                 ${of("load")} ms`);
    console.log(`  one text of 16 tokens                       ${of("one")} ms`);
    console.log(`  64 texts of 16 tokens                       ${of("many")} ms`);
    console.log(`  longest the page was held meanwhile         ${of("held")} ms`);
  }
} finally {
  await browser.close();
  for (const site of sites) await site.close();
  await rm(folder, { recursive: true, force: true });
}

/** Runs in the page. */
async function measure({ model, variant }) {
  const text = "the quick brown fox jumps over the lazy dog and then it sleeps";
  const runtime = await globalThis.inferyard.createRuntime({ threads: navigator.hardwareConcurrency });
  const started = performance.now();
  const handle = await runtime.load(model, { variant });
  const load = performance.now() - started;
  const time = async (texts, times) => {
    const taken = [];
    for (let i = 0; i < times; i += 1) taken.push((await runtime.embed(texts, { model: handle })).milliseconds);
    return taken.toSorted((a, b) => a - b)[Math.floor(times / 2)];
  };
  await time([text], 3);
  const one = await time([text], 9);
  let held = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    held = Math.max(held, performance.now() - last);
    last = performance.now();
  }, 1);
  const many = await time(
    Array.from({ length: 64 }, (_value, index) => `${text} ${index}`),
    3,
  );
  clearInterval(watch);
  const threads = /numThreads: (\d+)/.exec(handle.decision.selected.evidence.join())[1];
  await runtime.dispose();
  return { load, one, many, held, threads };
}
