import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";
import { drawBars, writeBarReader } from "./fixtures/bar-reader.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-reading-"));
const model = writeBarReader(join(folder, "bars"));
const path = join(folder, "page.png");
let page: Uint8Array;
let runtime: Runtime;

beforeAll(async () => {
  page = await drawBars(600, 500, [
    { left: 40, top: 40, bars: 3 },
    { left: 330, top: 44, bars: 2 },
    { left: 40, top: 100, bars: 4 },
    { left: 330, top: 104, bars: 5 },
  ]);
  writeFileSync(path, page);
  runtime = await createRuntime({ host: "inline", threads: 1 });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const texts = ({ lines }: Awaited<ReturnType<Runtime["read"]>>) => lines.map(({ text }) => text);

describe("runtime.read", () => {
  it.each(["native:cpu", "onnx:cpu", "wasm:cpu"])("reads a page on %s", async (target) => {
    const result = await runtime.read(page, { model, target });
    expect(texts(result)).toEqual(["aaa", "aa", "aaaa", "aaaaa"]);
    expect(result).toMatchObject({ model, target, width: 600, height: 500 });
    const [first] = result.lines;
    expect(first!.score).toBeGreaterThan(0.8);
    const [[left, top], , [right, bottom]] = first!.box;
    expect([left < 40, top < 40, right > 120, bottom > 64]).toEqual([true, true, true, true]);
  });

  it("takes a path, a Blob, a data URL and decoded samples, and a model that is loaded already", async () => {
    const handle = await runtime.load(model, { target: "onnx:cpu" });
    const url = `data:image/png;base64,${Buffer.from(page).toString("base64")}`;
    for (const picture of [path, url, new Blob([Buffer.from(page)])])
      expect(texts(await runtime.read(picture, { model: handle }))).toEqual(["aaa", "aa", "aaaa", "aaaaa"]);
    const white = { width: 40, height: 40, channels: 1, data: new Uint8Array(1600).fill(255) } as const;
    expect(texts(await runtime.read(white, { model: handle }))).toEqual([]);
    await handle.dispose();
  });

  it("reads columns, leaves uncertain lines out, and gives words, if asked", async () => {
    const columns = await runtime.read(page, { model, order: "columns", words: true });
    expect(texts(columns)).toEqual(["aaa", "aaaa", "aa", "aaaaa"]);
    expect(columns.lines[0]!.words).toMatchObject([{ text: "aaa" }]);
    expect(texts(await runtime.read(page, { model, minScore: 1 }))).toEqual([]);
  });

  it("takes the dictionary of a file beside a recognizer without one, and refuses a folder with none", async () => {
    const bare = writeBarReader(join(folder, "bare"), { dictionary: "" });
    await expect(runtime.read(page, { model: bare })).rejects.toMatchObject({ code: "MODEL_INVALID" });
    writeFileSync(join(bare, "keys.txt"), "x\ny\n");
    expect(texts(await runtime.read(page, { model: bare }))).toEqual(["xxx", "xx", "xxxx", "xxxxx"]);
    writeFileSync(join(bare, "dict.txt"), "z\n");
    await expect(runtime.read(page, { model: bare })).rejects.toThrow("several dictionaries");
  });

  it("refuses other models, unknown options and damaged pictures", async () => {
    await expect(runtime.read(page, { model: "builtin" })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    await expect(runtime.read(page, { model, columns: 2 } as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.read(page.subarray(0, 60), { model })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.read("https://example.com/page.png", { model })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.embed("a", { model })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
  });
});

const trOcr = `${sharedData}tiny-random-trocr`;

describe.skipIf(needsData("")[0])(needsData("reading one line with TrOCR")[1], () => {
  const goldens = JSON.parse(needsData("")[0] ? "{}" : readFileSync(`${trOcr}/goldens.json`, "utf8")) as {
    readonly max_new_tokens: number;
    readonly items: readonly {
      readonly image: string;
      readonly generated_text: string;
      readonly width: number;
      readonly height: number;
    }[];
  };

  // onnx and wasm are one implementation beside the session, and pages are read on all three.
  const targets = ["onnx:cpu", "native:cpu", "wasm:cpu"];
  const expectGoldens = async (target: string): Promise<void> => {
    for (const { image, generated_text: text, width, height } of goldens.items) {
      const read = await runtime.read(join(trOcr, image), { model: trOcr, target, maxNewTokens: goldens.max_new_tokens });
      expect(read).toMatchObject({ lines: [{ text, box: [[0, 0], [width, 0], [width, height], [0, height]] }], target }); // prettier-ignore
    }
  };
  for (const [skips, title, rows] of sampled("gives the texts of its goldens on %s", targets, (target) => target !== "wasm:cpu"))
    it.skipIf(skips).each(rows)(title, async (target) => await expectGoldens(target));

  it("takes fewer tokens, leaves uncertain lines out, and refuses options of pages", async () => {
    const read = (options: object) => runtime.read(join(trOcr, "small.png"), { model: trOcr, target: "onnx:cpu", ...options });
    const [short, long] = [await read({ maxNewTokens: 2 }), await read({ maxNewTokens: 12 })];
    expect(long.lines[0]!.text.startsWith(short.lines[0]!.text)).toBe(true);
    expect(long.lines[0]!.text.length).toBeGreaterThan(short.lines[0]!.text.length);
    expect((await read({ maxNewTokens: 2, minScore: 0.9 })).lines).toEqual([]);
    await expect(read({ order: "columns" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(read({ words: true })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.read(page, { model, maxNewTokens: 2 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("inferyard read", () => {
  it("prints the text, that of several pages separated by a form feed", async () => {
    const { code, stdout, stderr } = await inferyard(["read", path, path, "--model", model, "--order", "columns"]);
    const [first, ...others] = stdout.split("\f");
    expect([code, first?.trim(), others.length]).toEqual([0, "aaa\naaaa\naa\naaaaa", 1]);
    expect(stderr).toMatch(/bars · \w+:cpu · 2 pages, 8 lines in .* · --format json for boxes and scores/);
  });

  it("prints JSON, a line for each of several pages", async () => {
    const one = await inferyard(["read", path, "--model", model, "--format", "json", "--words", "--quiet"]);
    expect(JSON.parse(one.stdout)).toMatchObject({ width: 600, lines: [{ text: "aaa", words: [{ text: "aaa" }] }, {}, {}, {}] });
    const two = await inferyard(["read", path, path, "--model", model, "--json", "--min-score", "1"]);
    const lines = two.stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { file: path, lines: [] },
      { file: path, lines: [] },
    ]);
  });

  it("prints hOCR", async () => {
    const { stdout } = await inferyard(["read", path, "--model", model, "--format", "hocr"]);
    expect(stdout).toContain('<span class="ocrx_word" id="word_1_1_1"');
    expect(stdout).toContain("bbox 0 0 600 500");
  });
});

describe("POST /api/read", () => {
  let handler: Handler;
  beforeAll(() => {
    handler = createHandler(runtime, { models: { bars: model } }); // one for all: making it builds the schemas of all routes
  });
  const request = async (body: NonNullable<RequestInit["body"]>, headers: Record<string, string> = {}) => {
    const response = await handler(new Request("http://localhost/api/read", { method: "POST", body, headers }));
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const json = (value: object) => request(JSON.stringify(value), { "content-type": "application/json" });
  const form = (fields: Readonly<Record<string, string | Blob>>) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return request(data);
  };
  const url = () => `data:image/png;base64,${Buffer.from(page).toString("base64")}`;

  it("reads pictures in data URLs", async () => {
    const { status, body } = await json({
      model: "bars",
      images: [{ url: url() }, { url: url() }],
      order: "columns",
      words: true,
    });
    expect(status).toBe(200);
    const result = {
      text: "aaa\naaaa\naa\naaaaa",
      width: 600,
      height: 500,
      lines: [{ text: "aaa", words: [{ text: "aaa" }] }, {}, {}, {}],
    };
    expect(body).toMatchObject({ model: "bars", results: [result, result] });
  });

  it("reads the files of a form, with options as texts", async () => {
    const file = new File([Buffer.from(page)], "page.png");
    const read = await form({ model: "bars", file, order: "columns" });
    expect(read).toMatchObject({ status: 200, body: { results: [{ text: "aaa\naaaa\naa\naaaaa" }] } });
    expect(await form({ model: "bars", file, min_score: "1", words: "true" })).toMatchObject({
      body: { results: [{ text: "" }] },
    });
  });

  it("refuses what is no picture, no form, an address, and a path of the server", async () => {
    const invalid = { status: 400, body: { error: { code: "INPUT_INVALID" } } };
    expect(await json({ model: "bars", images: [] })).toMatchObject(invalid);
    expect(await json({ model: "bars", images: [{ url: "https://example.com/a.png" }] })).toMatchObject(invalid);
    expect(await json({ model: "bars", images: [{ url: path }] })).toMatchObject(invalid);
    expect(await json({ model: "bars", images: [{ url: "data:image/png;base64,!" }] })).toMatchObject({ status: 400 });
    expect(await form({ model: "bars" })).toMatchObject(invalid);
    expect(await form({ model: "bars", picture: new File([Buffer.from(page)], "a.png") })).toMatchObject(invalid);
    expect(await form({ model: "bars", file: new File([Buffer.from(page)], "a.png"), words: "maybe" })).toMatchObject(invalid);
    expect(await request("--x", { "content-type": "multipart/form-data; boundary=x" })).toMatchObject(invalid);
    expect(await request(Buffer.from(page), { "content-type": "image/png" })).toMatchObject({ status: 415 });
  });
});
