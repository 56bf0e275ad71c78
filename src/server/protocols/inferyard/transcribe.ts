/** POST /api/transcribe: what is said in a sound, sent as a form with a file or as JSON in base64. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { usesCtc } from "../../../models/language-tasks.ts";
import { transcriptionTask } from "../../../tasks/definitions.ts";
import { transcribeOptions } from "../../../tasks/speech/transcribe-options.ts";
import type { TranscriptSegment } from "../../../tasks/speech/transcript.ts";
import { getCaller } from "../../http/context.ts";
import { modelField, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { openStream } from "../generation/open-stream.ts";
import { readSpeech } from "../speech-body.ts";
import { getPath, optionFields, optionsFromFields } from "./task-route.ts";

/** The transcript of a sound. */
export function transcribeRoute(service: Service, limit: number): Route {
  const fields = { model: modelField, ...optionFields(transcribeOptions, limit) };
  const audio = z.string().openapi({ description: "A sound file in base64, or as a data URL: data:audio/wav;base64,..." });
  const json = requestObject({ audio, ...fields }).openapi("TranscribeRequest");
  const form = requestObject(fields);
  const file = z.string().openapi({ format: "binary", description: "A sound file" });
  return {
    method: "post",
    path: getPath(transcriptionTask),
    summary: "What is said in a sound, with times of segments and words",
    request: {
      body: {
        required: true,
        content: {
          "application/json": { schema: json },
          "multipart/form-data": { schema: z.object({ file, ...fields }).openapi("TranscribeForm") },
        },
      },
    },
    response: responseSchema(),
    answer: async (context) => {
      const body = await readSpeech(context, { json, form }, transcribeOptions);
      const {
        model,
        vad_model: vad,
        ...rest
      } = body.fields as typeof body.fields & { readonly model?: string; readonly vad_model?: string };
      // Clients name networks for voice activity as they name models.
      const vadModel = typeof vad === "string" ? (await service.names.resolve(getCaller(context), vad)).reference : undefined;
      const options = { ...optionsFromFields(transcribeOptions, rest), ...omitUndefined({ vadModel }) };
      const opened = await openStream(service, context, {
        model,
        runsGraph: usesCtc,
        start: (on) => service.runtime.transcribe(body.sound, { ...options, ...on, stream: true }),
      });
      void opened.stream.finish();
      const outcome = await opened.outcome;
      const { text, language, languageProbability, duration, segments } = outcome.result;
      const shown = { text, language, language_probability: languageProbability, duration, segments: segments.map(toSegment) };
      return jsonResponse(context, { model: outcome.model, ...shown }, outcome);
    },
  };
}

function toSegment({
  start,
  end,
  text,
  words,
  averageLogProbability,
  compressionRatio,
  noSpeechProbability,
}: TranscriptSegment): object {
  return {
    start,
    end,
    text,
    ...omitUndefined({ words }),
    average_log_probability: averageLogProbability,
    compression_ratio: compressionRatio,
    no_speech_probability: noSpeechProbability,
  };
}

function responseSchema(): z.ZodType {
  const times = { start: z.number().openapi({ description: "Seconds from the start of the sound" }), end: z.number() };
  const word = z.object({ word: z.string(), ...times, probability: z.number() });
  const segment = z.object({
    ...times,
    text: z.string(),
    words: z.array(word).optional(),
    average_log_probability: z.number(),
    compression_ratio: z.number(),
    no_speech_probability: z.number(),
  });
  return z
    .object({
      model: z.string(),
      text: z.string(),
      language: z.string().openapi({ description: "Code of the language, such as en" }),
      language_probability: z.number(),
      duration: z.number().openapi({ description: "Length of the sound in seconds" }),
      segments: z.array(segment),
    })
    .openapi("TranscribeResponse");
}
