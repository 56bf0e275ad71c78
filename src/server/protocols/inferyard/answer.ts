/** POST /api/answer: answers to questions, as pieces of contexts. */
import { createRoute, z } from "@hono/zod-openapi";
import { questionAnsweringTask } from "../../../tasks/definitions.ts";
import { answerOptions } from "../../../tasks/question-answering/answer-options.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { requestObject, texts } from "../../http/field-schemas.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { modelField } from "./request-fields.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";

const toRequest = (limit: number) =>
  requestObject({
    model: modelField,
    question: z.string().openapi({ example: "Who purrs?" }),
    contexts: texts(limit, 1).openapi({ description: "Texts in which to look for the answer", example: ["A cat purrs."] }),
    ...optionFields(answerOptions, limit),
  }).openapi("AnswerRequest");

const answer = z.object({ text: z.string(), start: z.int(), end: z.int(), score: z.number() });
const response = z
  .object({
    model: z.string(),
    answers: z
      .array(z.array(answer))
      .openapi({ description: "For each context its answers, best first; an empty text is no answer" }),
  })
  .openapi("AnswerResponse");

/** Adds `POST /api/answer`. */
export function addAnswer(routes: Routes, service: Service): void {
  const summary = "Answers to a question, as pieces of contexts";
  const request = toRequest(service.limits.maxTexts);
  const route = createRoute(jsonRoute(getPath(questionAnsweringTask), summary, request, response, documentedErrors));
  routes.openapi(route, async (context) => {
    const { model, question, contexts, ...fields } = context.req.valid("json");
    refusePairs([question], contexts);
    const options = optionsFromFields(answerOptions, fields);
    const call = { model, texts: contexts.length, key: ["answer", question, contexts, options] as const };
    const outcome = await service.call(getCaller(context), call, (handle, signal) =>
      service.runtime.answer(question, contexts, { ...options, model: handle, signal }),
    );
    const answers = outcome.result.results.map((each) =>
      each.map(({ answer: found, start, end, score }) => ({ text: found, start, end, score })),
    );
    return context.json({ model: outcome.model, answers }, 200, resultHeaders(outcome));
  });
}
