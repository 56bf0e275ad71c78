/** POST /rerank, /predict and /similarity: relevance of texts to a query, labels of texts, and cosine similarity. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import type { TextPair } from "../../../tasks/encoding/encode-pairs.ts";
import { isText, listField, oneOfFields, requestObject, textField, texts } from "../../http/field-schemas.ts";
import { jsonBody } from "../../http/json-body.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { type Route, jsonRequest, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type AnsweredForm, answerBody, answeredForm } from "../answered-form.ts";
import { rerankResponse } from "../cohere/rerank-response.ts";
import { rerankForm as documentsForm } from "../cohere/rerank.ts";
import { relevanceScore } from "../relevance.ts";
import { headerModel, runTask } from "../run-task.ts";
import { emptyError } from "./errors.ts";
import { emptyObjects, promptName, toTeiTruncation, truncationFields } from "./requests.ts";

const rawScores = z
  .boolean()
  .optional()
  .openapi({ description: "Return the model's raw output, without an activation function. Default: false" });

const rank = z.object({ index: z.int(), score: z.number(), text: z.string().optional() });

/** Requests of /rerank. */
export function teiRerankForm(service: Service): AnsweredForm {
  const schema = requestObject({
    query: z.string(),
    texts: texts(service.limits.maxTexts),
    raw_scores: rawScores,
    return_text: z.boolean().optional().openapi({ description: "Whether results contain their texts. Default: false" }),
    ...truncationFields,
    ...emptyObjects,
    top_n: z.int().optional().openapi({ description: "Accepted and ignored, as text-embeddings-inference does" }),
  }).openapi("TeiRerankRequest");
  return answeredForm(schema, async (request, context) => {
    const { query, texts: list, raw_scores: raw = false, return_text: withText = false, ...truncation } = request;
    if (list.length === 0) throw emptyError("`texts`");
    refusePairs([query], list);
    const options = { ...toTeiTruncation(service, truncation), ...(raw ? { raw } : {}) };
    const call = { model: headerModel(context), texts: list.length, key: ["rerank", query, list, options] as const };
    const outcome = await runTask(service, context, call, (on) => service.runtime.rerank(query, list, { ...options, ...on }));
    const { results, scoring } = outcome.result;
    const ranks = results.map(({ index, score, text }) => ({
      index,
      score: raw ? score : relevanceScore(scoring, score),
      ...(withText ? { text } : {}),
    }));
    return jsonResponse(context, ranks, outcome);
  });
}

/** POST /rerank: `texts` is TEI's form, `documents` the form of Cohere, Jina, vLLM and Infinity, each with its own response. */
export function teiRerankRoute(service: Service): Route {
  const [own, others] = [teiRerankForm(service), documentsForm(service, "2")];
  return {
    method: "post",
    path: "/rerank",
    summary: "Rank texts by relevance, as text-embeddings-inference (texts) or as Cohere, Jina, vLLM and Infinity (documents)",
    request: jsonRequest(z.union([own.schema, others.schema])),
    response: z.union([z.array(rank), rerankResponse]),
    answer: async (context) => {
      const body = await jsonBody(context);
      const isOther = isObject(body) && !("texts" in body) && ("documents" in body || "input" in body);
      return answerBody(isOther ? others : own, context, body);
    },
  };
}

type Pair = [string, string];
type PredictInput = string | Pair | ([string] | Pair)[];

const single: z.ZodType<[string]> = z.tuple([z.string()]);
const pair: z.ZodType<Pair> = z.tuple([z.string(), z.string()]);

/** Inputs are recognized by the length of the arrays, so that none is read twice. */
function predictInputs(limit: number): z.ZodType<PredictInput> {
  const item = oneOfFields<[string] | Pair>("an array of one or two strings", [
    { schema: single, fits: (value) => Array.isArray(value) && value.length === 1 },
    { schema: pair, fits: (value) => Array.isArray(value) && value.length === 2 },
  ]);
  return oneOfFields<PredictInput>("a string, two strings in an array, or an array of arrays of one or two strings", [
    textField,
    { schema: pair, fits: (value) => Array.isArray(value) && value.length === 2 && isText(value[0]) },
    { schema: listField(item, { max: limit }), fits: (value) => Array.isArray(value) && !isText(value[0]) },
  ]);
}

/** Requests of /predict. */
export function predictForm(service: Service): AnsweredForm {
  const schema = requestObject({
    inputs: predictInputs(service.limits.maxTexts).openapi({
      description: "A text, a pair of texts, or a list of lists of one or two texts",
      example: "I like it",
    }),
    raw_scores: rawScores,
    ...truncationFields,
    ...emptyObjects,
  }).openapi("TeiPredictRequest");
  return answeredForm(schema, async ({ inputs, raw_scores: raw = false, ...truncation }, context) => {
    const one = typeof inputs === "string" || (inputs.length === 2 && typeof inputs[0] === "string");
    const list = predictTexts(inputs);
    if (list.length === 0) throw emptyError("`inputs`");
    const options = { ...toTeiTruncation(service, truncation), ...(raw ? { activation: "none" as const } : {}) };
    const call = { model: headerModel(context), texts: list.length, key: ["classify", list, options] as const };
    const outcome = await runTask(service, context, call, (on) => service.runtime.classify(list, { ...options, ...on }));
    const predictions = outcome.result.results.map((labels) => labels.map(({ label, score }) => ({ label, score })));
    return jsonResponse(context, one ? (predictions[0] ?? []) : predictions, outcome);
  });
}

/** POST /predict. */
export function teiPredictRoute(service: Service): Route {
  const prediction = z.object({ label: z.string(), score: z.number() });
  return post({
    path: "/predict",
    summary: "Labels of texts with scores, as text-embeddings-inference",
    ...predictForm(service),
    response: z.union([z.array(prediction), z.array(z.array(prediction))]),
  });
}

/** Two strings in an array are a pair; arrays in an array are a batch. */
function predictTexts(inputs: PredictInput): (string | TextPair)[] {
  if (typeof inputs === "string") return [inputs];
  const [first, second] = inputs;
  if (typeof first === "string" && typeof second === "string") return [{ text: first, pair: second }];
  return inputs.flatMap((item) => {
    if (typeof item === "string") return [item];
    const [text, pair] = item;
    return [pair === undefined ? text : { text, pair }];
  });
}

const similarityRequest = (limit: number) =>
  requestObject({
    inputs: requestObject({ source_sentence: z.string(), sentences: texts(limit) }),
    parameters: requestObject({ prompt_name: promptName, ...truncationFields }).optional(),
  }).openapi("TeiSimilarityRequest");

/** POST /similarity. */
export function similarityRoute(service: Service): Route {
  return post({
    path: "/similarity",
    summary: "Cosine similarity of a text to others, as text-embeddings-inference",
    schema: similarityRequest(service.limits.maxTexts),
    response: z.array(z.number()),
    answer: async ({ inputs, parameters = {} }, context) => {
      const { source_sentence: source, sentences } = inputs;
      if (sentences.length === 0) throw emptyError("`sentences`");
      const options = { ...toTeiTruncation(service, parameters), ...omitUndefined({ prompt: parameters.prompt_name }) };
      const key = ["similarity", source, sentences, options] as const;
      const call = { model: headerModel(context), texts: sentences.length + 1, key };
      const outcome = await runTask(service, context, call, (on) =>
        service.runtime.similarity([source], sentences, { ...options, metric: "cosine", ...on }),
      );
      return jsonResponse(context, outcome.result.scores[0] ?? [], outcome);
    },
  });
}
