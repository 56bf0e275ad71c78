/** POST /api/detect-speech and /api/classify-sound: when somebody speaks in a sound, and what it sounds like. */
import { z } from "@hono/zod-openapi";
import { at } from "../../../contract/checked.ts";
import { audioClassificationTask, voiceActivityTask } from "../../../tasks/sound-definitions.ts";
import { classifySoundOptions } from "../../../tasks/speech/classification/classify-sound-options.ts";
import { voiceActivityOptions } from "../../../tasks/speech/voice-activity/voice-activity-options.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { soundRequests } from "../media/media-requests.ts";
import { runTask } from "../run-task.ts";
import { getPath } from "./task-route.ts";

/** When somebody speaks in a sound. */
export function detectSpeechRoute(service: Service): Route {
  const { request, read } = soundRequests({ name: "DetectSpeech", options: voiceActivityOptions, limit: 1 });
  const segment = z.object({
    start: z.number().openapi({ description: "Seconds from the start of the sound" }),
    end: z.number(),
  });
  return {
    method: "post",
    path: getPath(voiceActivityTask),
    summary: "When somebody speaks in a sound",
    request,
    response: z
      .object({
        model: z.string(),
        duration: z.number().openapi({ description: "Length of the sound in seconds" }),
        segments: z.array(segment).openapi({ description: "Segments of speech, from the first to the last" }),
      })
      .openapi("DetectSpeechResponse"),
    answer: async (context) => {
      const { model, files, options } = await read(context);
      const outcome = await runTask(service, context, { model }, (on) =>
        service.runtime.detectSpeech(at(files, 0), { ...options, ...on }),
      );
      const { duration, segments } = outcome.result;
      return jsonResponse(context, { model: outcome.model, duration, segments }, outcome);
    },
  };
}

/** Labels of sounds. */
export function classifySoundRoute(service: Service, limit: number): Route {
  const { request, read } = soundRequests({ name: "ClassifySound", options: classifySoundOptions, limit });
  const labelled = z.object({ label: z.string(), score: z.number() });
  return {
    method: "post",
    path: getPath(audioClassificationTask),
    summary: "Labels of sounds, with scores",
    request,
    response: z
      .object({
        model: z.string(),
        classifications: z.array(z.array(labelled)).openapi({ description: "Labels of each sound, best first" }),
      })
      .openapi("ClassifySoundResponse"),
    answer: async (context) => {
      const { model, files, options } = await read(context);
      const outcome = await runTask(service, context, { model, texts: files.length }, (on) =>
        service.runtime.classifySound(files, { ...options, ...on }),
      );
      const classifications = outcome.result.results.map((list) => list.map(({ label, score }) => ({ label, score })));
      return jsonResponse(context, { model: outcome.model, classifications }, outcome);
    },
  };
}
