/** POST /api/classify, /recognize, /fill-mask, /answer and /rewrite: a task of the library on several texts, whose options are fields of the request. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { at } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import type { Option } from "../../../runtime/options/option.ts";
import { classifyImageOptions } from "../../../tasks/vision/classify-image-options.ts";
import type { Env } from "../../http/context.ts";
import { isForm } from "../../http/bodies/form-body.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody, refuseOtherTypes } from "../../http/json-body.ts";
import { toSnakeCase } from "../../http/snake-case.ts";
import { jsonOrForm, readMediaForm } from "../media/media-form.ts";
import { imageBytes, imagesField, pictureFile } from "../media/media-requests.ts";
import { classifyOptions } from "../../../tasks/classification/classify-options.ts";
import * as definitions from "../../../tasks/definitions.ts";
import { fillMaskOptions } from "../../../tasks/fill-mask/fill-mask-options.ts";
import { rewriteOptions } from "../../../tasks/generation/rewrite/rewrite-options.ts";
import { answerOptions } from "../../../tasks/question-answering/answer-options.ts";
import type { Entity } from "../../../tasks/token-classification/entities.ts";
import { recognizeOptions } from "../../../tasks/token-classification/recognize-options.ts";
import { type OffsetUnit, convertOffsets } from "../../../tokenizers/index.ts";
import { modelField, requestObject, texts as textsField } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refuseHypotheses, refusePairs } from "../../http/pair-limits.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { runTask } from "../run-task.ts";
import { getPath, optionFields, optionsFromFields } from "./task-route.ts";

/** Labels of texts, from the model's own label set or from the client's (zero-shot classification). */
export function classifyRoute(service: Service, limit: number): Route {
  const labelled = z.object({ label: z.string(), score: z.number() });
  const json = requestObject({
    model: modelField,
    texts: textsField(limit, 1).optional(),
    images: imagesField(limit).optional(),
    ...optionFields({ ...classifyImageOptions, ...classifyOptions }, limit),
  }).openapi("ClassifyRequest");
  const formFields = { model: modelField, ...optionFields(classifyImageOptions, limit) };
  const form = { schema: requestObject(formFields), options: classifyImageOptions, limit, example: "photo.jpg" };
  return {
    method: "post",
    path: getPath(definitions.textClassificationTask),
    summary: "Labels of texts or pictures, with scores",
    request: jsonOrForm(json, { fields: formFields, file: pictureFile, name: "ClassifyForm" }),
    response: z
      .object({
        model: z.string(),
        classifications: z.array(z.array(labelled)).openapi({ description: "Labels of each text or picture, best first" }),
      })
      .openapi("ClassifyResponse"),
    answer: async (context) => {
      if (isForm(context)) {
        const {
          files,
          fields: { model, ...fields },
        } = await readMediaForm(context, form);
        return classifyPictures(service, context, { model, pictures: files, fields });
      }
      refuseOtherTypes(context);
      const { model, texts, images, ...fields } = takeFields(context, await jsonBody(context), json);
      if (images !== undefined) {
        if (texts !== undefined) throw invalidInput("there are texts and images", "send one of the two");
        return classifyPictures(service, context, { model, pictures: imageBytes(images), fields });
      }
      refuseFieldsOf(fields, classifyImageOptions, classifyOptions, "images");
      if (texts === undefined) throw invalidInput("there are neither texts nor images", "send one of the two");
      const options = optionsFromFields(classifyOptions, fields);
      const { labels, hypothesisTemplate = "" } = options;
      if (labels !== undefined) refuseHypotheses(texts, labels, hypothesisTemplate);
      // Zero-shot classification reads each text once per label.
      const call = { model, texts: texts.length * (labels?.length ?? 1), key: ["classify", texts, options] as const };
      const outcome = await runTask(service, context, call, (on) => service.runtime.classify(texts, { ...options, ...on }));
      const classifications = outcome.result.results.map((list) => list.map(({ label, score }) => ({ label, score })));
      return jsonResponse(context, { model: outcome.model, classifications }, outcome);
    },
  };
}

/** What a request to classify pictures has. */
interface PicturesToClassify {
  readonly model: string | undefined;
  readonly pictures: readonly Uint8Array[];
  readonly fields: object;
}

async function classifyPictures(
  service: Service,
  context: Context<Env>,
  { model, pictures, fields }: PicturesToClassify,
): Promise<Response> {
  refuseFieldsOf(fields, classifyOptions, classifyImageOptions, "texts");
  const options = optionsFromFields(classifyImageOptions, fields);
  const outcome = await runTask(service, context, { model, texts: pictures.length }, (on) =>
    service.runtime.classifyImage(pictures, { ...options, ...on }),
  );
  const classifications = outcome.result.results.map((list) => list.map(({ label, score }) => ({ label, score })));
  return jsonResponse(context, { model: outcome.model, classifications }, outcome);
}

/** Throws INPUT_INVALID for a field of one kind of input that was sent with the other. */
function refuseFieldsOf(
  fields: object,
  table: Readonly<Record<string, Option>>,
  kept: Readonly<Record<string, Option>>,
  input: "texts" | "images",
): void {
  const names = Object.keys(table).filter((name) => !Object.hasOwn(kept, name));
  const sent = names.map(toSnakeCase).find((name) => Object.hasOwn(fields, name));
  if (sent !== undefined) throw invalidInput(`"${sent}" has an effect with ${input} alone`, `leave "${sent}" out`);
}

/** Named entities in texts, with their positions. */
export function recognizeRoute(service: Service, limit: number): Route {
  const entity = z.object({ text: z.string(), label: z.string(), start: z.int(), end: z.int(), score: z.number() });
  return post({
    path: getPath(definitions.tokenClassificationTask),
    summary: "Named entities in texts",
    schema: requestObject({
      model: modelField,
      texts: textsField(limit, 1),
      ...optionFields(recognizeOptions, limit),
    }).openapi("RecognizeRequest"),
    response: z
      .object({
        model: z.string(),
        entities: z.array(z.array(entity)).openapi({ description: "Entities of each text, in order" }),
      })
      .openapi("RecognizeResponse"),
    answer: async ({ model, texts, ...fields }, context) => {
      const { offsets = "utf16", ...options } = optionsFromFields(recognizeOptions, fields); // results of all units share the cache
      if (options.labels !== undefined) refusePairs([options.labels.join(" ")], texts);
      const call = { model, texts: texts.length, key: ["recognize", texts, options] as const };
      const outcome = await runTask(service, context, call, (on) => service.runtime.recognize(texts, { ...options, ...on }));
      const entities = outcome.result.results.map((found, index) => toEntities(found, at(texts, index), offsets));
      return jsonResponse(context, { model: outcome.model, entities }, outcome);
    },
  });
}

function toEntities(found: readonly Entity[], text: string, unit: OffsetUnit): object[] {
  const positions = convertOffsets(Int32Array.from(found.flatMap(({ start, end }) => [start, end])), text, unit);
  return found.map(({ entityGroup, entity: tag, score, start, end }, index) => ({
    text: text.slice(start, end),
    label: entityGroup ?? tag ?? "",
    start: at(positions, 2 * index),
    end: at(positions, 2 * index + 1),
    score,
  }));
}

/** Tokens for the mask tokens of texts. */
export function fillMaskRoute(service: Service, limit: number): Route {
  const fill = z.object({
    token: z.string().openapi({ description: "The token as text" }),
    token_id: z.int(),
    score: z.number(),
    text: z.string().openapi({ description: "The text with the token in the place of the mask" }),
  });
  return post({
    path: getPath(definitions.fillMaskTask),
    summary: "Tokens for the mask tokens of texts",
    schema: requestObject({
      model: modelField,
      texts: textsField(limit, 1).openapi({ description: "Texts with one or more mask tokens of the model, such as [MASK]" }),
      ...optionFields(fillMaskOptions, limit),
    }).openapi("FillMaskRequest"),
    response: z
      .object({
        model: z.string(),
        fills: z
          .array(z.array(z.array(fill)))
          .openapi({ description: "For each text and each of its masks, tokens, best first" }),
      })
      .openapi("FillMaskResponse"),
    answer: async ({ model, texts, ...fields }, context) => {
      const options = optionsFromFields(fillMaskOptions, fields);
      const call = { model, texts: texts.length, key: ["fill mask", texts, options] as const };
      const outcome = await runTask(service, context, call, (on) => service.runtime.fillMask(texts, { ...options, ...on }));
      const fills = outcome.result.results.map((masks) =>
        masks.map((each) =>
          each.map(({ token, tokenText, score, sequence }) => ({ token: tokenText, token_id: token, score, text: sequence })),
        ),
      );
      return jsonResponse(context, { model: outcome.model, fills }, outcome);
    },
  });
}

/** Answers to a question, as pieces of contexts. */
export function answerRoute(service: Service, limit: number): Route {
  const answer = z.object({ text: z.string(), start: z.int(), end: z.int(), score: z.number() });
  return post({
    path: getPath(definitions.questionAnsweringTask),
    summary: "Answers to a question, as pieces of contexts",
    schema: requestObject({
      model: modelField,
      question: z.string().openapi({ example: "Who purrs?" }),
      contexts: textsField(limit, 1).openapi({
        description: "Texts in which to look for the answer",
        example: ["A cat purrs."],
      }),
      ...optionFields(answerOptions, limit),
    }).openapi("AnswerRequest"),
    response: z
      .object({
        model: z.string(),
        answers: z
          .array(z.array(answer))
          .openapi({ description: "For each context its answers, best first; an empty text is no answer" }),
      })
      .openapi("AnswerResponse"),
    answer: async ({ model, question, contexts, ...fields }, context) => {
      refusePairs([question], contexts);
      const options = optionsFromFields(answerOptions, fields);
      const call = { model, texts: contexts.length, key: ["answer", question, contexts, options] as const };
      const outcome = await runTask(service, context, call, (on) =>
        service.runtime.answer(question, contexts, { ...options, ...on }),
      );
      const answers = outcome.result.results.map((each) =>
        each.map(({ answer: text, start, end, score }) => ({ text, start, end, score })),
      );
      return jsonResponse(context, { model: outcome.model, answers }, outcome);
    },
  });
}

/** Summaries, translations, and what else models with an encoder and a decoder make of texts. */
export function rewriteRoute(service: Service, limit: number): Route {
  return post({
    path: getPath(definitions.rewritingTask),
    summary: "Summarize, translate or otherwise rewrite texts",
    schema: requestObject({
      model: modelField,
      texts: textsField(limit, 1).openapi({ description: "Texts to rewrite" }),
      ...optionFields(rewriteOptions, limit),
    }).openapi("RewriteRequest"),
    response: z
      .object({
        model: z.string(),
        texts: z.array(z.array(z.string())).openapi({ description: "For each text what became of it: `n` texts" }),
        finish_reasons: z.array(z.array(z.enum(["stop", "length"]))),
        usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }),
      })
      .openapi("RewriteResponse"),
    answer: async ({ model, texts: given, ...fields }, context) => {
      const options = { ...optionsFromFields(rewriteOptions, fields), stream: false as const };
      const call = { model, texts: given.length, runsLanguageModel: true };
      const outcome = await runTask(service, context, call, (on) => service.runtime.rewrite(given, { ...options, ...on }));
      const { results } = outcome.result;
      const each = Math.max(1, results.length / given.length);
      const lists = given.map((_, index) => results.slice(index * each, (index + 1) * each));
      const body = {
        model: outcome.model,
        texts: lists.map((list) => list.map(({ text }) => text)),
        finish_reasons: lists.map((list) => list.map(({ finishReason }) => finishReason)),
        usage: {
          prompt_tokens: lists.reduce((sum, [first]) => sum + (first?.promptTokens ?? 0), 0),
          completion_tokens: results.reduce((sum, { tokens }) => sum + tokens.length, 0),
        },
      };
      return jsonResponse(context, body, outcome);
    },
  });
}
