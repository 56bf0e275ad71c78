/** Pictures and sounds as files of forms and in JSON: /api/detect-speech, /api/classify-sound, /api/classify and /api/detect; no socket. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, expect, it } from "vitest";
import { writeDetector } from "../fixtures/models/detector-model.ts";
import { waveFile, writeSoundClassifier, writeVoiceDetector } from "../fixtures/models/sound-models.ts";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-media-forms-"));
writeDetector(join(folder, "detr"), [{ logits: [0, 4, 0], box: [0.25, 0.5, 0.5, 1] }]);
writeSoundClassifier(join(folder, "sounds"));
writeVoiceDetector(join(folder, "voice.onnx"));
const clip = `${sharedData}tiny-random-clip`;
const names = { detr: join(folder, "detr"), sounds: join(folder, "sounds"), voice: join(folder, "voice.onnx") };
const models = hasSharedData ? { ...names, clip } : names;
const runtime = await createRuntime({ host: "inline", threads: 1, target: "native" });
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true });
});
const handler: Handler = createHandler(runtime, { models, maxTexts: 3 });

async function answer(path: string, init: RequestInit): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await handler(new Request(`http://localhost${path}`, { method: "POST", ...init }));
  return { status: response.status, body: await response.json() };
}

const postJson = (path: string, body: object) =>
  answer(path, { headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

/** Sends a form: files in the field `file` unless another is named, and texts by the names of their fields. */
function postForm(
  path: string,
  files: readonly (Uint8Array<ArrayBuffer> | readonly [field: string, bytes: Uint8Array<ArrayBuffer>])[],
  texts: readonly (readonly [name: string, text: string])[],
): ReturnType<typeof answer> {
  const body = new FormData();
  for (const each of files) {
    const [field, bytes] = each instanceof Uint8Array ? ["file", each] : each;
    body.append(field, new Blob([bytes]), "name.bin");
  }
  for (const [name, text] of texts) body.append(name, text);
  return answer(path, { body });
}

const photo = new Uint8Array(readFileSync(new URL("../fixtures/pictures/astronaut.jpg", import.meta.url)));
const constant = (value: number): Uint8Array<ArrayBuffer> => waveFile(8000, new Float32Array(8000).fill(value));
/** Two seconds of silence with a loud second in them. */
const loud = waveFile(
  16_000,
  Float32Array.from({ length: 48_000 }, (_, index) => (index >= 16_000 && index < 32_000 ? 0.9 : 0)),
);

it("/api/detect-speech gives the segments of the library, for a form and for JSON", async () => {
  const options = { model: names.voice, threshold: 0.6, speechPadMs: 0, cutAtLongestSilence: false };
  const { duration, segments } = await runtime.detectSpeech(loud, options);
  expect([duration, segments.length]).toEqual([3, 1]);
  expect(segments[0]!.start).toBeCloseTo(1, 1);
  const expected = { status: 200, body: { model: "voice", duration, segments } };
  const fields = { threshold: 0.6, speech_pad_ms: 0, cut_at_longest_silence: false };
  const texts = Object.entries({ model: "voice", ...fields }).map(([name, value]) => [name, String(value)] as const);
  expect(await postForm("/api/detect-speech", [loud], texts)).toEqual(expected);
  const base64 = Buffer.from(loud).toString("base64");
  for (const audio of [base64, `data:audio/wav;base64,${base64}`, `data:audio/webm;codecs=opus;base64,${base64}`])
    expect(await postJson("/api/detect-speech", { model: "voice", audio, ...fields })).toEqual(expected);
});

it("/api/classify-sound gives the labels of the library, of one sound and of several", async () => {
  const { results } = await runtime.classifySound([constant(0.5), constant(-0.5)], { model: names.sounds, topK: 2 });
  const expected = { status: 200, body: { model: "sounds", classifications: results } };
  const texts = [
    ["model", "sounds"],
    ["top_k", "2"],
  ] as const;
  expect(await postForm("/api/classify-sound", [constant(0.5), constant(-0.5)], texts)).toEqual(expected);
  const audio = [constant(0.5), constant(-0.5)].map((bytes) => Buffer.from(bytes).toString("base64"));
  expect(await postJson("/api/classify-sound", { model: "sounds", audio, top_k: 2 })).toEqual(expected);
  const one = await postJson("/api/classify-sound", { model: "sounds", audio: audio[1], top_k: 2 });
  expect(one.body).toEqual({ model: "sounds", classifications: [results[1]] });
});

it("/api/detect takes a form with several pictures", async () => {
  const texts = [
    ["model", "detr"],
    ["threshold", "0.9"],
  ] as const;
  const { status, body } = await postForm("/api/detect", [photo, photo], texts);
  expect(status).toBe(200);
  expect(body).toMatchObject({ detections: [[{ label: "dog" }], [{ label: "dog" }]] });
});

const [skip, title] = needsData("/api/classify takes a form");
it.skipIf(skip)(title, async () => {
  const picture = new Uint8Array(readFileSync(`${clip}/wide.png`));
  const { results } = await runtime.classifyImage(picture, { model: clip, labels: ["a cat", "a dog"], topK: 1 });
  const texts = [
    ["model", "clip"],
    ["labels", "a cat"],
    ["labels", "a dog"],
    ["top_k", "1"],
  ] as const;
  expect(await postForm("/api/classify", [picture], texts)).toEqual({
    status: 200,
    body: { model: "clip", classifications: results },
  });
  expect(await postForm("/api/classify", [picture], [["texts", "a"]])).toMatchObject({ status: 400 });
});

it.each([
  ["/api/detect-speech", [], [], 400, /no file in its field "file"/],
  ["/api/detect-speech", [["sound", loud]], [], 400, /a file in its field "sound"/],
  ["/api/detect-speech", [loud, loud], [], 413, /2 files; the limit is 1/],
  ["/api/detect-speech", [loud], [["threshold", "high"]], 400, /threshold/],
  ["/api/detect-speech", [loud], [["threshhold", "0.5"]], 400, /threshhold/],
  ["/api/detect-speech", [photo], [], 415, /no sound file/],
  ["/api/classify-sound", [constant(0), constant(0), constant(0), constant(0)], [], 413, /4 files; the limit is 3/],
  ["/api/detect", [photo], [["threshold", "2"]], 400, /threshold/],
  ["/api/detect", [loud], [], 415, /picture/],
] as const)("%s refuses a form that is wrong", async (path, files, texts, status, message) => {
  const model = { "/api/detect": "detr", "/api/detect-speech": "voice", "/api/classify-sound": "sounds" }[path];
  expect(await postForm(path, [...files], [["model", model], ...texts])).toMatchObject({
    status,
    body: { error: { message: expect.stringMatching(message) as string } },
  });
});

it.each([
  ["/api/detect-speech", { audio: "https://example.org/talk.wav" }, 400, /audio is an address/],
  ["/api/detect-speech", { audio: "file:///etc/passwd" }, 400, /audio is an address/],
  ["/api/detect-speech", { audio: "data:image/png;base64,AAAA" }, 400, /image\/png/],
  ["/api/detect-speech", { audio: ["AAAA"] }, 400, /audio/],
  ["/api/detect-speech", {}, 400, /audio/],
  ["/api/classify-sound", { audio: ["AAAA", "?"] }, 400, /audio\.1 is not base64/],
  ["/api/classify-sound", { audio: [] }, 400, /audio/],
  ["/api/detect", { images: [{ url: "data:text/html;base64,PGI+" }] }, 400, /images\.0\.url/],
] as const)("%s refuses %j", async (path, fields, status, message) => {
  const model = { "/api/detect": "detr", "/api/detect-speech": "voice", "/api/classify-sound": "sounds" }[path];
  expect(await postJson(path, { model, ...fields })).toMatchObject({
    status,
    body: { error: { message: expect.stringMatching(message) as string } },
  });
});
