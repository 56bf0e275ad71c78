/** Pictures in requests: as lists of data URLs, as parts of contents, and POST /api/detect. Addresses are not fetched. */
import { z } from "@hono/zod-openapi";
import { decodeBase64 } from "../../../platform/base64.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { bytesOfDataUrl } from "../../../processors/images/picture-source.ts";
import { objectDetectionTask } from "../../../tasks/vision-definitions.ts";
import { detectObjectsOptions } from "../../../tasks/vision/detect-objects-options.ts";
import { listField, modelField, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { runTask } from "../run-task.ts";
import { getPath, optionFields, optionsFromFields } from "./task-route.ts";

const dataUrl = z.string().openapi({ description: "A data URL: data:image/png;base64,..." });

/** The field `images`: pictures as data URLs. */
export function imagesField(limit: number): z.ZodType<{ url: string }[]> {
  return listField(z.object({ url: dataUrl }), { min: 1, max: limit }).openapi({
    description: "Pictures: PNG, JPEG, WebP, GIF, TIFF or AVIF. Addresses are not fetched",
  });
}

/** The bytes of the field `images`. Throws INPUT_INVALID for a URL that is no data URL in base64. */
export function imageBytes(images: readonly { readonly url: string }[]): Uint8Array[] {
  return images.map(({ url }) => bytesOfDataUrl(url));
}

/** A part of a content: a text, a picture as data URL (in the form of OpenAI's API), or a picture in base64 (in the form of Termite's). */
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "media"; readonly data: string; readonly mime_type?: string | undefined };

/** The schema of a part. */
export const contentPart: z.ZodType<ContentPart> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: dataUrl }) }),
  z.object({ type: z.literal("media"), data: z.string(), mime_type: z.string().optional() }),
]);

/** What a part holds: a text or the bytes of a picture. Throws INPUT_INVALID for a picture that is not base64. */
export function readPart(part: ContentPart): string | { readonly image: Uint8Array } {
  if (part.type === "text") return part.text;
  if (part.type === "image_url") return { image: bytesOfDataUrl(part.image_url.url) };
  const type = part.mime_type ?? "image/";
  if (!type.startsWith("image/"))
    throw invalidInput(`a part has the type ${type}`, "send pictures as image/…, and texts as text");
  try {
    return { image: decodeBase64(part.data) };
  } catch {
    throw invalidInput("the data of a part is not base64", "encode the bytes of the picture in base64");
  }
}

/** Things in pictures, each with its label, score and box. */
export function detectRoute(service: Service, limit: number): Route {
  const box = z
    .object({ xmin: z.number(), ymin: z.number(), xmax: z.number(), ymax: z.number() })
    .openapi({ description: "Sides in pixels of the picture" });
  const found = z.object({ label: z.string(), score: z.number(), box });
  return post({
    path: getPath(objectDetectionTask),
    summary: "Things in pictures, with labels, scores and boxes",
    schema: requestObject({
      model: modelField,
      images: imagesField(limit),
      ...optionFields(detectObjectsOptions, limit),
    }).openapi("DetectRequest"),
    response: z
      .object({
        model: z.string(),
        detections: z.array(z.array(found)).openapi({ description: "Things in each picture, best first" }),
      })
      .openapi("DetectResponse"),
    answer: async ({ model, images, ...fields }, context) => {
      const options = optionsFromFields(detectObjectsOptions, fields);
      const pictures = imageBytes(images);
      const outcome = await runTask(service, context, { model, texts: pictures.length }, (on) =>
        service.runtime.detectObjects(pictures, { ...options, ...on }),
      );
      const detections = outcome.result.results.map((list) =>
        list.map(({ label, score, box: sides }) => ({ label, score, box: sides })),
      );
      return jsonResponse(context, { model: outcome.model, detections }, outcome);
    },
  });
}
