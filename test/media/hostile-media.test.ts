/** Pictures and sounds of strangers, through the library and the server: each is refused with a code and within the limits, or has a result. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, InferyardError, type ModelHandle, type Runtime } from "inferyard";
import { createHandler, type Handler } from "inferyard/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pictureSeeds, soundSeeds } from "../../scripts/fuzz/media-seeds.ts";
import { createMediaMutator } from "../../scripts/fuzz/mutations/mutate-media.ts";
import { Random } from "../../scripts/fuzz/random.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";
import { writeBarReader } from "../reading/fixtures/bar-reader.ts";
import { harmlessPictures, hostilePictures, png } from "./fixtures/hostile-pictures.ts";
import { hostileSounds } from "./fixtures/hostile-sounds.ts";

const [skip, name] = needsData("pictures and sounds of strangers");
const [classifier, speech] = [`${sharedData}tiny-random-vit`, `${sharedData}tiny-random-whisper`];
/** Codes with which a picture or a sound is refused. */
const refusals: ReadonlySet<string> = new Set(["INPUT_INVALID", "LIMIT_EXCEEDED", "MEDIA_TYPE_UNSUPPORTED"]);
/** Characters of an error message: what names parts of a file must be cut. */
const maxMessage = 1000;
const statusOf: Readonly<Record<string, number>> = { INPUT_INVALID: 400, LIMIT_EXCEEDED: 413, MEDIA_TYPE_UNSUPPORTED: 415 };
const [mutatedPictures, mutatedSounds] = [amount(1000, 100), amount(1000, 10)];

const folder = mkdtempSync(join(tmpdir(), "inferyard-hostile-"));
const reader = writeBarReader(join(folder, "bars"));
/** Models of the server. */
const models: Readonly<Record<string, string>> = { bars: reader, vit: classifier };
const good = png(64, 48, 48 * (64 * 3 + 1));
const dataUrl = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
let runtime: Runtime;
let handler: Handler;
let [vit, whisper]: ModelHandle[] = [];

beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1, offline: true });
  if (skip) return;
  [vit, whisper] = [
    await runtime.load(classifier, { target: "onnx" }),
    await runtime.load(speech, { kind: "language", target: "onnx" }),
  ];
  handler = createHandler(runtime, { models });
});
afterAll(async () => {
  await vit?.dispose();
  await whisper?.dispose();
  await runtime.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** The code of the error with which a call is refused, or "accepted". Any other error is thrown on. */
async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "accepted";
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    return error.message.length < maxMessage ? error.code : `${error.code} with ${error.message.length} characters`;
  }
}

const classify = (bytes: Uint8Array): Promise<unknown> => runtime.classifyImage(bytes, { model: vit! });
const transcribe = (bytes: Uint8Array): Promise<unknown> =>
  runtime.transcribe(bytes, { model: whisper!, language: "en", temperature: 0, vad: false });

/** What becomes of each of a list of named files, and what was to become of it. */
async function outcomes(
  files: Readonly<Record<string, readonly [code: string, bytes: Uint8Array]>>,
  run: (bytes: Uint8Array) => Promise<unknown>,
): Promise<{ readonly found: Record<string, string>; readonly expected: Record<string, string> }> {
  const found: Record<string, string> = {};
  for (const [file, [, bytes]] of Object.entries(files)) found[file] = await outcomeOf(run(bytes));
  return { found, expected: Object.fromEntries(Object.entries(files).map(([file, [code]]) => [file, code])) };
}

/** Some hundred changed files in a row, by their outcome. */
async function mutatedOutcomes(
  seeds: readonly Uint8Array[],
  count: number,
  run: (bytes: Uint8Array) => Promise<unknown>,
): Promise<Readonly<Record<string, number>>> {
  const random = new Random(1);
  const mutate = createMediaMutator(seeds);
  const counts: Record<string, number> = {};
  for (let index = 0; index < count; index++) {
    const bytes = mutate(random.pick(seeds), { random, other: random.pick(seeds), dictionary: [] });
    const outcome = await outcomeOf(run(bytes));
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const goldens = JSON.parse(
  readFileSync(new URL("../../src/processors/audio/decode-sound.goldens.json", import.meta.url), "utf8"),
) as { readonly cases: readonly { readonly name: string; readonly file: string }[] };
const soundFile = (of: string): Uint8Array => Buffer.from(goldens.cases.find((golden) => golden.name === of)!.file, "base64");

function noise(length: number): Uint8Array {
  const random = new Random(7);
  return Uint8Array.from({ length }, () => random.below(256));
}

describe.skipIf(skip)(`${name}: the library`, () => {
  it("refuses each hostile picture with its code, for a classifier and for a page reader", async () => {
    const files = await hostilePictures();
    for (const run of [classify, (bytes: Uint8Array) => runtime.read(bytes, { model: reader })]) {
      const { found, expected } = await outcomes(files, run);
      expect(found).toEqual(expected);
    }
  });

  it("decodes the first picture of a long animation, and no texts and profiles", async () => {
    for (const bytes of Object.values(await harmlessPictures())) expect(await outcomeOf(classify(bytes))).toBe("accepted");
  });

  it("refuses each hostile sound with its code", async () => {
    const { found, expected } = await outcomes(hostileSounds(soundFile, noise(20_000)), transcribe);
    expect(found).toEqual(expected);
  });

  it("refuses values that are no pictures, addresses and devices", async () => {
    const values = [
      null,
      7,
      {},
      { width: 2, height: 2, channels: 3, data: new Uint8Array(3) },
      "data:image/png,%E0",
      "data:",
      "/",
      "/dev/zero",
    ];
    for (const value of [...values, "http://192.0.2.1/a.png", "ftp://192.0.2.1/a", `data:image/png;base64,${"~".repeat(9)}`])
      expect([value, await outcomeOf(classify(value as never))]).toEqual([value, "INPUT_INVALID"]);
    const [damaged, silent] = [new Float32Array(100).fill(Number.NaN), new Float32Array(100)];
    for (const value of [null, "a.wav", { samples: damaged, sampleRate: 16_000 }, { samples: silent, sampleRate: 0 }])
      expect([value, await outcomeOf(transcribe(value as never))]).toEqual([value, "INPUT_INVALID"]);
  });

  it(`classifies or refuses ${mutatedPictures} changed pictures`, async () => {
    const counts = await mutatedOutcomes(pictureSeeds(), mutatedPictures, classify);
    expect(Object.keys(counts).filter((outcome) => outcome !== "accepted" && !refusals.has(outcome))).toEqual([]);
    expect(counts["INPUT_INVALID"]).toBeGreaterThan(0);
    expect(counts["accepted"]).toBeGreaterThan(0);
  });

  it(`transcribes or refuses ${mutatedSounds} changed sounds`, async () => {
    const counts = await mutatedOutcomes(soundSeeds(), mutatedSounds, transcribe);
    expect(Object.keys(counts).filter((outcome) => outcome !== "accepted" && !refusals.has(outcome))).toEqual([]);
    expect(counts["accepted"]).toBeGreaterThan(0);
  });
});

describe.skipIf(skip)(`${name}: the server`, () => {
  type Route = "/api/read" | "/api/classify";
  const modelOf: Readonly<Record<Route, string>> = { "/api/read": "bars", "/api/classify": "vit" };

  async function post(
    route: Route,
    body: object | FormData,
    options: { readonly maxBodyBytes?: number; readonly signal?: AbortSignal } = {},
  ) {
    const { signal, ...limits } = options;
    const answer = options.maxBodyBytes === undefined ? handler : createHandler(runtime, { models, ...limits });
    const isForm = body instanceof FormData;
    const request = new Request(`http://localhost${route}`, {
      method: "POST",
      body: isForm ? body : JSON.stringify(body),
      ...(isForm ? {} : { headers: { "content-type": "application/json" } }),
      ...(signal === undefined ? {} : { signal }),
    });
    const response = await answer(request);
    return { status: response.status, text: await response.text() };
  }

  const json = (route: Route, url: string) => post(route, { model: modelOf[route], images: [{ url }] });
  function form(bytes: Uint8Array): FormData {
    const data = new FormData();
    data.append("model", "bars");
    data.append("file", new Blob([Uint8Array.from(bytes)]), "../../a.png");
    return data;
  }

  it("refuses each hostile picture with the status of its code, in a form and in JSON", async () => {
    for (const [file, [code, bytes]] of Object.entries(await hostilePictures())) {
      const responses = [
        await post("/api/read", form(bytes)),
        await json("/api/read", dataUrl(bytes)),
        await json("/api/classify", dataUrl(bytes)),
      ];
      expect([file, ...responses.map(({ status }) => status)]).toEqual([file, ...responses.map(() => statusOf[code])]);
      for (const { text } of responses) expect(text.includes(folder) || /node_modules|\.ts:\d/.test(text), text).toBe(false);
    }
  });

  it("fetches no address, and opens no path", async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.end(good);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const paths = [
      join(folder, "bars"),
      "/etc/hostname",
      "file:///etc/hostname",
      `http://127.0.0.1:${port}/a.png`,
      "//127.0.0.1/a.png",
      "",
    ];
    for (const route of ["/api/read", "/api/classify"] as const)
      for (const url of paths) expect([url, (await json(route, url)).status]).toEqual([url, 400]);
    server.close();
    expect(requests).toBe(0);
  });

  it("refuses bodies beyond the limit, and forms that are damaged", async () => {
    const large = Buffer.concat([good, noise(20_000)]);
    expect((await post("/api/read", form(large), { maxBodyBytes: 10_000 })).status).toBe(413);
    expect((await post("/api/read", { model: "bars", images: [{ url: dataUrl(large) }] }, { maxBodyBytes: 10_000 })).status).toBe(
      413,
    );
    const cut = `--a\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n`;
    for (const [type, body] of [
      ["multipart/form-data; boundary=a", cut],
      ["multipart/form-data", cut],
      ["multipart/form-data; boundary=", ""],
      ["image/png", "a"],
    ] as const) {
      const response = await handler(
        new Request("http://localhost/api/read", { method: "POST", body, headers: { "content-type": type } }),
      );
      expect([type, [400, 415].includes(response.status)]).toEqual([type, true]);
    }
  });

  it("writes no uploaded file to the disk", async () => {
    const list = () => readdirSync(tmpdir()).filter((entry) => !entry.startsWith("inferyard-") && !entry.startsWith("vitest"));
    const [before, inside] = [new Set(list()), readdirSync(folder, { recursive: true }).length];
    expect((await post("/api/read", form(good))).status).toBe(200);
    expect(readdirSync(folder, { recursive: true })).toHaveLength(inside);
    expect(list().filter((entry) => !before.has(entry) && entry.endsWith(".png"))).toEqual([]);
  });

  it("ends a call whose client went away, and serves the next", async () => {
    const controller = new AbortController();
    const images = Array.from({ length: 64 }, () => ({ url: dataUrl(good) }));
    const call = post("/api/classify", { model: "vit", images }, { signal: controller.signal });
    controller.abort();
    expect((await call.catch(() => ({ status: 499 }))).status).toBeGreaterThanOrEqual(400);
    expect((await json("/api/classify", dataUrl(good))).status).toBe(200);
  });
});
