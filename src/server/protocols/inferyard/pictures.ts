/** POST /api/detect: things in pictures. */
import { z } from "@hono/zod-openapi";
import { objectDetectionTask } from "../../../tasks/vision-definitions.ts";
import { detectObjectsOptions } from "../../../tasks/vision/detect-objects-options.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { pictureRequests } from "../media/media-requests.ts";
import { runTask } from "../run-task.ts";
import { getPath } from "./task-route.ts";

/** Things in pictures, each with its label, score and box. */
export function detectRoute(service: Service, limit: number): Route {
  const box = z
    .object({ xmin: z.number(), ymin: z.number(), xmax: z.number(), ymax: z.number() })
    .openapi({ description: "Sides in pixels of the picture" });
  const found = z.object({ label: z.string(), score: z.number(), box });
  const { request, read } = pictureRequests({ name: "Detect", options: detectObjectsOptions, limit });
  return {
    method: "post",
    path: getPath(objectDetectionTask),
    summary: "Things in pictures, with labels, scores and boxes",
    request,
    response: z
      .object({
        model: z.string(),
        detections: z.array(z.array(found)).openapi({ description: "Things in each picture, best first" }),
      })
      .openapi("DetectResponse"),
    answer: async (context) => {
      const { model, files, options } = await read(context);
      const outcome = await runTask(service, context, { model, texts: files.length }, (on) =>
        service.runtime.detectObjects(files, { ...options, ...on }),
      );
      const detections = outcome.result.results.map((list) =>
        list.map(({ label, score, box: sides }) => ({ label, score, box: sides })),
      );
      return jsonResponse(context, { model: outcome.model, detections }, outcome);
    },
  };
}
