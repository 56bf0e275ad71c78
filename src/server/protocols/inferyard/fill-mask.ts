/** POST /api/fill-mask: tokens for the mask tokens of texts. */
import { createRoute, z } from "@hono/zod-openapi";
import { fillMaskTask } from "../../../tasks/definitions.ts";
import { fillMaskOptions } from "../../../tasks/fill-mask/fill-mask-options.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { requestObject, texts } from "../../http/field-schemas.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { modelField } from "./request-fields.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";

const toRequest = (limit: number) =>
  requestObject({
    model: modelField,
    texts: texts(limit, 1).openapi({ description: "Texts with one or more mask tokens of the model, such as [MASK]" }),
    ...optionFields(fillMaskOptions, limit),
  }).openapi("FillMaskRequest");

const fill = z.object({
  token: z.string().openapi({ description: "The token as text" }),
  token_id: z.int(),
  score: z.number(),
  text: z.string().openapi({ description: "The text with the token in the place of the mask" }),
});
const response = z
  .object({
    model: z.string(),
    fills: z.array(z.array(z.array(fill))).openapi({ description: "For each text and each of its masks, tokens, best first" }),
  })
  .openapi("FillMaskResponse");

/** Adds `POST /api/fill-mask`. */
export function addFillMask(routes: Routes, service: Service): void {
  const summary = "Tokens for the mask tokens of texts";
  const request = toRequest(service.limits.maxTexts);
  routes.openapi(createRoute(jsonRoute(getPath(fillMaskTask), summary, request, response, documentedErrors)), async (context) => {
    const { model, texts, ...fields } = context.req.valid("json");
    const options = optionsFromFields(fillMaskOptions, fields);
    const call = { model, texts: texts.length, key: ["fill mask", texts, options] as const };
    const outcome = await service.call(getCaller(context), call, (handle, signal) =>
      service.runtime.fillMask(texts, { ...options, model: handle, signal }),
    );
    const fills = outcome.result.results.map((masks) =>
      masks.map((each) =>
        each.map(({ token, tokenText, score, sequence }) => ({ token: tokenText, token_id: token, score, text: sequence })),
      ),
    );
    return context.json({ model: outcome.model, fills }, 200, resultHeaders(outcome));
  });
}
