/** Transcribing over HTTP: our own route, and OpenAI's. */
import { readFileSync } from "node:fs";
import { createRuntime, type Runtime } from "inferyard";
import { createHandler, type Handler } from "inferyard/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const exported = `${sharedData}tiny-random-whisper`;
const [skip, name] = needsData("transcribing over HTTP");

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  let handler: Handler;
  let sound = new Uint8Array();
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1, target: "onnx:cpu" });
    handler = createHandler(runtime, { models: { whisper: exported } });
    sound = new Uint8Array(readFileSync(`${exported}/chirp-2s.wav`));
  });
  afterAll(() => runtime.dispose());

  /** Sends a form with the sound; `fields`: pairs of names and texts. */
  async function send(path: string, fields: readonly (readonly [string, string])[], bytes = sound): Promise<Response> {
    const form = new FormData();
    form.append("file", new Blob([bytes]), "chirp.wav");
    for (const [field, text] of fields) form.append(field, text);
    return handler(new Request(`http://localhost${path}`, { method: "POST", body: form }));
  }
  const given = [
    ["model", "whisper"],
    ["language", "en"],
  ] as const;
  // The model has random weights, so that it needs a temperature that is kept.
  const own = [...given, ["temperature", "0"], ["no_speech_threshold", "2"], ["max_new_tokens", "12"]] as const;

  it("/api/transcribe takes a form, and JSON in base64 or as a data URL", async () => {
    const response = await send("/api/transcribe", own);
    expect(response.status).toBe(200);
    const body = (await response.json()) as { text: string; segments: { start: number; end: number; text: string }[] };
    expect(body).toMatchObject({ model: "whisper", language: "en", language_probability: 1, duration: 2 });
    expect(
      body.segments
        .map(({ text }) => text)
        .join("")
        .trim(),
    ).toBe(body.text);
    expect(response.headers.get("x-inferyard-target")).toBe("onnx:cpu");
    const encoded = Buffer.from(sound).toString("base64");
    for (const audio of [encoded, `data:audio/wav;base64,${encoded}`]) {
      const json = { model: "whisper", language: "en", temperature: 0, no_speech_threshold: 2, max_new_tokens: 12, audio };
      const again = await handler(
        new Request("http://localhost/api/transcribe", {
          method: "POST",
          body: JSON.stringify(json),
          headers: { "content-type": "application/json" },
        }),
      );
      expect(await again.json()).toEqual(body);
    }
  });

  it("both routes take a model of CTC, which is no language model", async () => {
    const ctc = `${sharedData}tiny-random-wav2vec2-ctc`;
    const handling = createHandler(runtime, { models: { ctc } });
    const bytes = new Uint8Array(readFileSync(`${ctc}/chirp-1s.wav`));
    const { text } = await runtime.transcribe(bytes, { model: ctc });
    for (const path of ["/api/transcribe", "/v1/audio/transcriptions"]) {
      const body = new FormData();
      body.append("file", new Blob([bytes]), "chirp.wav");
      body.append("model", "ctc");
      const response = await handling(new Request(`http://localhost${path}`, { method: "POST", body }));
      expect([response.status, ((await response.json()) as { text: string }).text]).toEqual([200, text]);
    }
  });

  it.each([
    ["another address", { audio: "https://example.org/talk.wav" }, 400, "INPUT_INVALID"],
    ["no base64", { audio: "?" }, 400, "INPUT_INVALID"],
    ["no sound", { audio: "AAAA" }, 415, "MEDIA_TYPE_UNSUPPORTED"],
    ["a language that the model does not know", { language: "xx" }, 400, "INPUT_INVALID"],
    ["a field that is not known", { beam_count: 5 }, 400, "INPUT_INVALID"],
    ["a network for voice activity that has no name here", { vad_model: "/etc/passwd" }, 404, "MODEL_NOT_FOUND"],
  ])("/api/transcribe refuses %s", async (_what, fields, status, code) => {
    const body = JSON.stringify({ model: "whisper", audio: Buffer.from(sound).toString("base64"), ...fields });
    const headers = { "content-type": "application/json" };
    const response = await handler(new Request("http://localhost/api/transcribe", { method: "POST", body, headers }));
    expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
  });

  it("/api/transcribe refuses a form without a file, or with a file in another field", async () => {
    for (const file of [undefined, new Blob([sound])]) {
      const form = new FormData();
      form.append("model", "whisper");
      if (file !== undefined) form.append("sound", file, "a.wav");
      const response = await handler(new Request("http://localhost/api/transcribe", { method: "POST", body: form }));
      expect(response.status).toBe(400);
    }
  });

  it("/v1/audio/transcriptions answers in a format, with the media type of it", async () => {
    const response = await send("/v1/audio/transcriptions", [...given, ["temperature", "1"], ["response_format", "vtt"]]);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/vtt; charset=utf-8"]);
    expect(await response.text()).toMatch(/^WEBVTT\n\n/);
  });

  it("/v1/audio/transcriptions streams events", async () => {
    const response = await send("/v1/audio/transcriptions", [...given, ["temperature", "1"], ["stream", "true"]]);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text())
      .split("\n\n")
      .filter((part) => part.startsWith("data: "))
      .map((part) => JSON.parse(part.slice(6)) as { type: string; delta?: string; text?: string });
    expect(events.at(-1)?.type).toBe("transcript.text.done");
    const deltas = events.filter(({ type }) => type === "transcript.text.delta").map(({ delta = "" }) => delta);
    expect(deltas.join("").trim()).toBe(events.at(-1)?.text);
  });

  it("/v1/audio/translations translates, and refuses what it cannot do", async () => {
    const response = await send("/v1/audio/translations", [
      ["model", "whisper"],
      ["response_format", "verbose_json"],
      ["temperature", "1"],
    ]);
    expect([response.status, await response.json()]).toMatchObject([200, { task: "translate", duration: 2 }]);
    const words = await send("/v1/audio/transcriptions", [
      ...given,
      ["response_format", "verbose_json"],
      ["timestamp_granularities[]", "word"],
    ]);
    expect(words.status).toBe(422); // this export has no outputs of cross-attention
    const wrong = await send("/v1/audio/transcriptions", [...given, ["timestamp_granularities[]", "word"]]);
    expect(wrong.status).toBe(400);
    const noSound = await send("/v1/audio/transcriptions", given, new Uint8Array([1, 2, 3]));
    expect(noSound.status).toBe(415);
  });
});
