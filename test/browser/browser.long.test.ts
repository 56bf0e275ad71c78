import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRuntime } from "inferyard";
import type { Decision, EmbedRequest, PullProgress, RuntimeConfig, RuntimeEvent } from "inferyard";
import { type Browser, type BrowserContext, type Page, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage } from "../../examples/browser/build.mjs";
import { type SiteServer, serve } from "../../examples/browser/serve.mjs";
import { writeDenseModel } from "../fixtures/models/dense-model.ts";
import { hasSharedData, miniLmGoldens, sharedData, worst } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const name = executablePath === undefined ? "in a browser (skipped: no Chromium here; apt-get install chromium)" : "in a browser";
const needsModel: [boolean, string] = [
  !hasSharedData,
  hasSharedData ? "" : " (skipped: ../shared/data is not beside this checkout)",
];

/** What a page gives back: plain data. */
interface Answer {
  readonly vectors: number[][];
  readonly target: string;
  readonly decision: Decision;
  readonly modelName: string;
  readonly progress: PullProgress[];
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly remedy?: string;
  readonly data: { readonly decision?: Decision };
}

interface Question {
  readonly texts?: readonly string[];
  readonly request?: EmbedRequest;
  readonly config?: RuntimeConfig & { readonly assets?: string; readonly worker?: string };
  /** Aborts the load as soon as this many bytes of one file are here. */
  readonly abortAfter?: number;
}

describe.skipIf(executablePath === undefined)(name, () => {
  let folder: string;
  let browser: Browser;
  let site: SiteServer;
  let bundle: Awaited<ReturnType<typeof buildPage>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inferyard-browser-"));
    bundle = await buildPage(join(folder, "site"), fileURLToPath(new URL("browser-page.mjs", import.meta.url)));
    site = await serve(join(folder, "site"));
    browser = await chromium.launch({ executablePath: executablePath!, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  /** A page of a user who was never here before, unless `context` is given. */
  async function open(context?: BrowserContext, url: string = site.url): Promise<Page> {
    const page = await (context ?? (await browser.newContext())).newPage();
    await page.goto(url);
    await page.waitForFunction(() => "inferyard" in globalThis);
    return page;
  }

  it("holds nothing of Node.js in the bundle, and stays small", async () => {
    const texts = await Promise.all(Object.keys(bundle.outputs).map((file) => readFile(file, "utf8")));
    const native =
      /onnxruntime-node|\b(?:from|import|import\(|require\()\s*["'`](?:node:|fs|module|os|path|url|worker_threads)\b|\.node\b["'`]/g;
    expect(texts.flatMap((text) => text.match(native) ?? [])).toEqual([]);
    expect(Object.values(bundle.outputs).flatMap(({ imports }) => imports.filter(({ external }) => external))).toEqual([]);
    expect(Object.keys(bundle.inputs).filter((file) => /onnxruntime-node|^dist\/(?!browser\/)/.test(file))).toEqual([]);
    const bytes = Object.entries(bundle.outputs).map(([file, output]) => [file.split("/").at(-1), output.bytes] as const);
    console.log(`bundle: ${bytes.map(([file, size]) => `${file} ${Math.round(size / 1000)} kB`).join(", ")}`);
    expect(firstLoad(bundle)).toBeLessThan(273_000); // 4 kB of it place replicas on devices and end the process that replicas were made from, half a kB of it finds models of two graphs, 2 kB of it name the tasks on pictures and sound, 12 kB of it replace libraries and 2 kB count and choose compiled programs, which a page does not: the runtime holds all
    expect(bytes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(2_340_000); // with the parts of the engine that keep plans and divide work (60 kB), with every task, windows of speech that are decoded together (10 kB), decoders of sound and what reads pictures (350 kB together), our own engine, the known answers of its interpreter (110 kB), transformers that it builds, its kernels' checks, the text of language models, constraints with a parser of expressions, chat templates and forms of calls (350 kB together); a page fetches those it asks for
  });

  it("embeds with builtin to the very bits of Node.js, and says what ran, where and why", async () => {
    const texts = ["hello world", "A cat sits on the mat.", "Ein Satz auf Deutsch.", ""];
    const runtime = await createRuntime({ target: "native" });
    const inNode = await runtime.embed(texts);
    await runtime.dispose();
    const { vectors, target, decision } = await answer(await open(), { texts });
    expect(target).toBe("native:cpu");
    expect(vectors).toEqual(inNode.embeddings.map((vector) => [...vector]));
    expect(decision.model).toEqual(inNode.decision.model);
    expect(decision.selected).toEqual(inNode.decision.selected);
    expect(decision.candidates).toContainEqual(
      expect.objectContaining({ target: "onnx:cpu", verdict: "refused", reason: "a browser runs no native engines" }),
    );
  });

  it.skipIf(needsModel[0])(
    `gives the vectors of Node.js for all-MiniLM-L6-v2 on wasm, and keeps it for the time without a network${needsModel[1]}`,
    async () => {
      // The others are of full length, and take as long as all of these together.
      const goldens = miniLmGoldens().filter(({ inputIds }, index) => inputIds.length < 256 && index % amount(1, 3) === 0);
      expect(goldens.length).toBeGreaterThan(amount(40, 12));
      const texts = goldens.map(({ text }) => text);
      const runtime = await createRuntime();
      const inNode = await runtime.embed(texts, { model: `${sharedData}all-MiniLM-L6-v2` });
      await runtime.dispose();
      const models = await serve(folder, { models: sharedData });
      const model = `${models.url}models/all-MiniLM-L6-v2/`;
      const context = await browser.newContext();
      const page = await open(context);
      const first = await answer(page, { texts, request: { model, target: "wasm" } });
      await models.close();
      expect(first.target).toBe("wasm:cpu");
      for (const [index, vector] of first.vectors.entries()) {
        expect(worst(Float32Array.from(vector), inNode.embeddings[index]!), goldens[index]!.text).toBeLessThan(1e-5);
        expect(worst(Float32Array.from(vector), goldens[index]!.normalized), goldens[index]!.text).toBeLessThan(1e-5);
      }
      expect(inNode.target).toBe("onnx:cpu");
      expect(first.decision.model).toEqual({ ...inNode.decision.model, reference: model });
      expect(first.decision.selected!.host).toBe("worker");
      expect(first.progress.length).toBeGreaterThan(2);
      expect(first.progress.at(-1)).toMatchObject({ stage: "done", bytes: first.progress.at(-1)!.totalBytes });

      const secondVisit = await open(context);
      const again = await answer(secondVisit, {
        texts: texts.slice(0, 8),
        request: { model, target: "wasm" },
        config: { threads: 2 },
      });
      const threads = Math.min(
        2,
        await secondVisit.evaluate(
          () => (globalThis as unknown as { navigator: { hardwareConcurrency: number } }).navigator.hardwareConcurrency,
        ),
      );
      expect(again.decision.selected!.evidence.at(-1)).toBe(`onnxruntime-web's own env.wasm.numThreads: ${threads}`);
      expect(again.progress).toEqual([]);
      for (const [index, vector] of again.vectors.entries())
        expect(worst(Float32Array.from(vector), Float32Array.from(first.vectors[index]!))).toBeLessThan(1e-6);
      expect(await refusal(await open(), { request: { model } })).toMatchObject({ code: "DOWNLOAD_FAILED" });
    },
  );

  it.skipIf(needsModel[0])(`runs MiniLM on our own engine, to the very bits of Node.js${needsModel[1]}`, async () => {
    const texts = ["hello world", "A cat sits on the mat.", "Ein längerer Satz auf Deutsch, mit mehr als nur ein paar Wörtern."];
    const runtime = await createRuntime({ target: "native", threads: 1, machineCode: "off" });
    const inNode = await runtime.embed(texts, { model: `${sharedData}all-MiniLM-L6-v2` });
    await runtime.dispose();
    const models = await serve(folder, { models: sharedData });
    const request = { model: `${models.url}models/all-MiniLM-L6-v2/` };
    const inPage = await answer(await open(), { texts, request });
    await models.close();
    expect([inPage.target, inNode.target]).toEqual(["native:cpu", "native:cpu"]);
    expect(inPage.vectors).toEqual(inNode.embeddings.map((vector) => [...vector]));
    expect(inPage.decision.selected!.host).toBe("worker");
  });

  it.skipIf(needsModel[0])(`writes the text of Node.js with a GGUF model on our own engine${needsModel[1]}`, async () => {
    const options = { maxNewTokens: 24, temperature: 0 } as const;
    const prompt = "Once upon a time";
    await using runtime = await createRuntime({ target: "native" });
    const inNode = await runtime.generate(prompt, { model: `${sharedData}tinyllm/tinyllm.gguf`, ...options });
    const models = await serve(folder, { models: sharedData });
    const page = await open();
    const inPage = await page.evaluate(
      async ([model, text, settings]) => {
        const { inferyard } = globalThis as unknown as { inferyard: { createRuntime: typeof createRuntime } };
        const own = await inferyard.createRuntime();
        const { results, target } = await own.generate(text, { model, ...settings });
        const answer = { tokens: results[0]!.tokens, text: results[0]!.text, target };
        await own.dispose();
        return answer;
      },
      [`${models.url}models/tinyllm/tinyllm.gguf`, prompt, options] as const,
    );
    await models.close();
    expect(inPage).toEqual({ tokens: inNode.results[0]!.tokens, text: inNode.results[0]!.text, target: "native:cpu" });
  });

  it.skipIf(needsModel[0])(`classifies a picture as Node.js does, with the browser's own decoder${needsModel[1]}`, async () => {
    const picture = await readFile(`${sharedData}tiny-random-vit/small.png`);
    await using runtime = await createRuntime({ target: "native", machineCode: "off" });
    const inNode = await runtime.classifyImage(picture, { model: `${sharedData}tiny-random-vit` });
    const models = await serve(folder, { models: sharedData });
    const page = await open();
    const inPage = await page.evaluate(
      async ([model, bytes]) => {
        const { inferyard } = globalThis as unknown as { inferyard: { createRuntime: typeof createRuntime } };
        const own = await inferyard.createRuntime({ target: "native" });
        const { results, target } = await own.classifyImage(Uint8Array.from(bytes), { model });
        await own.dispose();
        return { results, target };
      },
      [`${models.url}models/tiny-random-vit/`, [...picture]] as const,
    );
    await models.close();
    expect(inPage).toEqual({ results: inNode.results, target: "native:cpu" });
  });

  it.skipIf(needsModel[0])(`fetches and applies the modules after pooling${needsModel[1]}`, async () => {
    const models = join(folder, "models");
    await writeDenseModel(join(models, "dense"));
    const texts = ["the cat sat on the mat", "a dog"];
    const runtime = await createRuntime();
    const inNode = await runtime.embed(texts, { model: join(models, "dense") });
    await runtime.dispose();
    const server = await serve(folder, { models });
    const { vectors } = await answer(await open(), { texts, request: { model: `${server.url}models/dense/` } });
    await server.close();
    for (const [index, vector] of vectors.entries())
      expect(worst(Float32Array.from(vector), inNode.embeddings[index]!)).toBeLessThan(1e-5);
  });

  it.skipIf(needsModel[0])(`computes with one thread in a page that is not isolated, and says so${needsModel[1]}`, async () => {
    const plain = await serve(join(folder, "site"), { models: sharedData, isolated: false });
    const { decision } = await answer(await open(undefined, plain.url), {
      request: { model: "./models/all-MiniLM-L6-v2/", variant: "int8", target: "wasm" },
    });
    await plain.close();
    expect(decision.model.variant).toBe("int8");
    expect(decision.selected!.evidence.at(-1)).toMatch(/numThreads: 1; this page is not cross-origin isolated/);
  });

  it("takes a file from the server again when it has changed, and only then", async () => {
    const models = await modelServer(folder);
    const context = await browser.newContext();
    const request = { model: models.url };
    expect((await answer(await open(context), { request })).modelName).toBe("builtin");
    const asked = models.requests.splice(0);
    expect(asked.filter((line) => line === "GET /model.safetensors")).toHaveLength(1);
    expect((await answer(await open(context), { request })).modelName).toBe("builtin");
    expect(models.requests.splice(0).filter((line) => line.startsWith("GET"))).toEqual([]);
    const file = join(models.folder, "inferyard.json");
    await writeFile(file, (await readFile(file, "utf8")).replace('"name": "builtin"', '"name": "renamed"'));
    expect((await answer(await open(context), { request })).modelName).toBe("renamed");
    expect(models.requests.filter((line) => line.startsWith("GET"))).toEqual(["GET /inferyard.json"]);
    await models.close();
  });

  it("keeps nothing of a download that was cut, cancelled or is not what its manifest says", async () => {
    const models = await modelServer(folder);
    const context = await browser.newContext();
    const request = { model: models.url };
    models.fault = (response, content) => {
      response.write(content.subarray(0, content.length / 2));
      setTimeout(() => response.destroy(), 50);
    };
    expect(await refusal(await open(context), { request })).toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining("model.safetensors could not be fetched"),
    });
    models.fault = (response, content) => response.end(Buffer.from(content).fill(1, 100, 200));
    expect(await refusal(await open(context), { request })).toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining("its sha256 is"),
    });
    models.fault = (response, content) => void response.write(content.subarray(0, content.length / 2)); // and never more
    expect(await refusal(await open(context), { request, abortAfter: 100_000 })).toMatchObject({ code: "ABORTED" });
    delete models.fault;
    expect((await answer(await open(context), { request })).target).toBe("native:cpu");
    await models.close();
  });

  it("takes a model by its name on the Hugging Face hub, for which a stand-in answers here", async () => {
    const context = await browser.newContext();
    const builtin = fileURLToPath(new URL("../../builtin", import.meta.url));
    const asked: string[] = [];
    await context.route("https://huggingface.co/**", async (route) => {
      const url = route.request().url();
      asked.push(url);
      const path = join(builtin, url.slice("https://huggingface.co/owner/name/resolve/v1".length));
      const headers = { "access-control-allow-origin": "*" };
      await (existsSync(path) ? route.fulfill({ path, headers }) : route.fulfill({ status: 404, headers }));
    });
    const { decision, target } = await answer(await open(context), { request: { model: "hf:owner/name@v1" } });
    expect(target).toBe("native:cpu");
    expect(decision.model.reference).toBe("hf:owner/name@v1");
    expect(asked).toContain("https://huggingface.co/owner/name/resolve/v1/model.safetensors");
  });

  it("runs a tiny computation on every engine when asked for it", async () => {
    const reports = await (
      await open()
    ).evaluate(async () => {
      const { inferyard } = globalThis as unknown as { inferyard: { createRuntime: typeof createRuntime } };
      return await (await inferyard.createRuntime()).backends({ run: true });
    });
    const said = reports.map(({ backend, availability }) => [backend, availability.present && availability.devices[0]?.state]);
    expect(said).toEqual([
      ["onnx", false],
      ["native", "available"],
      ["wasm", "available"],
    ]);
  });

  it("refuses what a browser cannot have, each with a reason", async () => {
    const page = await open();
    expect(await refusal(page, { request: { model: "all-MiniLM-L6-v2" } })).toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(await refusal(page, { request: { model: "./models/none/" } })).toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(await refusal(page, { config: { offline: true } })).toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(await refusal(page, { request: { model: "./model.aimod" } })).toMatchObject({ code: "MODEL_UNSUPPORTED" });
    expect(await refusal(page, { request: { variant: "fp16" } })).toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(await refusal(page, { request: { target: "onnx:cpu" } })).toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      message: expect.stringContaining("a browser runs no native engines"),
    });
    expect(await refusal(page, { config: { host: "process" } })).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("a browser has no processes"),
    });
    expect(await refusal(page, { config: { assets: "/elsewhere" } })).toMatchObject({ code: "MODEL_NOT_FOUND" });
  });

  it.skipIf(needsModel[0])(`says which file is missing when the worker or the engine cannot start${needsModel[1]}`, async () => {
    const models = await serve(folder, { models: sharedData });
    const context = await browser.newContext();
    const page = await open(context);
    const request = { model: `${models.url}models/all-MiniLM-L6-v2/`, variant: "int8", target: "wasm" };
    expect(await refusal(page, { request, config: { worker: "/nowhere/inferyard-worker.js" } })).toMatchObject({
      message: expect.stringContaining("inferyard-worker.js"),
    });
    expect(await refusal(page, { request, config: { assets: "/nowhere/" } })).toMatchObject({
      message: expect.stringContaining("nowhere/ort-wasm-simd-threaded"),
    });
    await models.close();
  });

  it("shows on the example page what ran, where and why, and an error with its remedy", async () => {
    const examples = join(folder, "example");
    await buildPage(examples);
    const example = await serve(examples);
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(example.url);
    await page.click("#run");
    await page.waitForSelector("#decision:not([hidden])");
    expect(await page.textContent("#summary")).toMatch(/^builtin · 256 dimensions · native:cpu · 6 texts in [\d.]+ ms$/);
    expect(await page.textContent("#candidates")).toContain("a browser runs no native engines");
    await page.fill("#model", "builtni");
    await page.click("#run");
    await page.waitForSelector("#failure:not([hidden])");
    expect(await page.textContent("#failure")).toMatch(/MODEL_NOT_FOUND.*give "builtin"/s);
    expect(faults).toEqual([]);
    await example.close();
  });

  /** A server of a copy of `builtin`, whose weights can be made to come wrongly. */
  async function modelServer(root: string): Promise<{
    url: string;
    folder: string;
    requests: string[];
    fault?: (response: ServerResponse, content: Buffer) => void;
    close(): Promise<void>;
  }> {
    const copy = await mkdtemp(join(root, "model-"));
    await cp(fileURLToPath(new URL("../../builtin", import.meta.url)), copy, { recursive: true });
    const requests: string[] = [];
    const server = createServer(async ({ method = "", url = "" }, response) => {
      requests.push(`${method} ${url}`);
      const content = await readFile(join(copy, url)).catch(() => undefined);
      const page = { "access-control-allow-origin": "*", "content-type": "text/html; charset=utf-8" };
      const headers = {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "etag",
        "cache-control": "no-store",
      };
      // As servers of single-page applications do: their page, for everything that is not there.
      if (content === undefined) return response.writeHead(200, page).end("<!doctype html>");
      response.writeHead(200, {
        ...headers,
        etag: `"${content.length}-${content.subarray(0, 60).toString("hex")}"`,
        "content-length": content.length,
      });
      if (method === "HEAD") return response.end();
      return made.fault !== undefined && url.endsWith(".safetensors") ? made.fault(response, content) : response.end(content);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const made: Awaited<ReturnType<typeof modelServer>> = {
      url: `http://localhost:${(server.address() as AddressInfo).port}`,
      folder: copy,
      requests,
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
    return made;
  }
});

/** Bytes that are fetched before anything of a model is: the page's script and what that imports at once. */
function firstLoad({ outputs }: Awaited<ReturnType<typeof buildPage>>): number {
  const wanted = new Set(Object.keys(outputs).filter((file) => file.endsWith("/page.js")));
  for (const file of wanted)
    for (const { path, kind } of outputs[file]!.imports) if (kind === "import-statement") wanted.add(path);
  return [...wanted].reduce((sum, file) => sum + outputs[file]!.bytes, 0);
}

async function answer(page: Page, question: Question): Promise<Answer> {
  const result = await ask(page, question);
  if ("code" in result) throw new Error(`${result.code}: ${result.message} ${JSON.stringify(result.data)}`);
  return result;
}

async function refusal(page: Page, question: Question): Promise<Refusal> {
  const result = await ask(page, question);
  if ("code" in result) return result;
  throw new Error(`it ran on ${result.target}`);
}

/** Runs in the page, and gives back plain data. */
function ask(page: Page, question: Question): Promise<Answer | Refusal> {
  return page.evaluate(async ({ texts = ["hello"], request = {}, config = {}, abortAfter }: Question) => {
    const { inferyard } = globalThis as unknown as { inferyard: { createRuntime: typeof createRuntime } };
    const progress: Answer["progress"] = [];
    const canceller = new AbortController();
    const onEvent = (event: RuntimeEvent): void => {
      if (event.type !== "download") return;
      progress.push(event.progress);
      if (abortAfter !== undefined && event.progress.bytes >= abortAfter) canceller.abort();
    };
    try {
      const runtime = await inferyard.createRuntime({ ...config, onEvent });
      const { model = "builtin", variant, target } = request;
      const options = {
        signal: canceller.signal,
        ...(variant === undefined ? {} : { variant }),
        ...(target === undefined ? {} : { target }),
      };
      const handle = await runtime.load(String(model), options);
      const { embeddings, decision, target: ran } = await runtime.embed(texts, { model: handle });
      const modelName = handle.manifest.name;
      await runtime.dispose();
      return { vectors: embeddings.map((vector) => [...vector]), target: ran, decision, modelName, progress };
    } catch (error) {
      if (error instanceof Error && "code" in error && "toJSON" in error && typeof error.toJSON === "function")
        return error.toJSON() as Refusal;
      throw error;
    }
  }, question);
}
