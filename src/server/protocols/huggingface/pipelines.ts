/** The pipelines of Hugging Face's inference API: what each task takes, and what it gives. Positions count code points, as in Python. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { toHuggingFaceEntities, toHuggingFaceFills } from "../../../tasks/hugging-face-results.ts";
import { isText, nameField, oneOfFields, requestObject, textField, texts } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refuseHypotheses, refusePairs } from "../../http/pair-limits.ts";
import { requestLimits } from "../../http/request-limits.ts";
import type { Service } from "../../serving/service.ts";
import { type AnsweredForm, answeredForm } from "../answered-form.ts";
import { headerModel, runTask } from "../run-task.ts";

/** Tasks whose pipelines are built, besides `feature-extraction`, which is text-embeddings-inference's /embed. */
export type HuggingFacePipelineTask =
  | "text-classification"
  | "token-classification"
  | "zero-shot-classification"
  | "fill-mask"
  | "question-answering"
  | "sentence-similarity";

/** Options of Hugging Face's inference API, about how its servers schedule; they cannot change an answer. */
export const hubOptions: z.ZodType<object> = requestObject({
  wait_for_model: z.boolean().optional(),
  use_cache: z.boolean().optional(),
  use_gpu: z.boolean().optional(),
  dont_load_model: z.boolean().optional(),
}).openapi("PipelineOptions", { description: "Accepted and ignored" });

const several = (limit: number): z.ZodType<string | string[]> =>
  oneOfFields<string | string[]>("a string or an array of strings", [
    textField,
    { schema: texts(limit, 1), fits: Array.isArray },
  ]);
const topK = z.int().positive().optional();
const sentence = z.string().max(requestLimits.templateCharacters);

/** Requests of the pipelines of Hugging Face's inference API by task. `inputs` has the texts, `parameters` the options of the task. */
export function pipelineForms(service: Service): Readonly<Record<HuggingFacePipelineTask, AnsweredForm>> {
  const { runtime, limits } = service;
  const limit = limits.maxTexts;
  return {
    "text-classification": answeredForm(
      requestObject({
        inputs: several(limit),
        parameters: requestObject({
          top_k: topK,
          function_to_apply: z.enum(["sigmoid", "softmax", "none"]).optional(),
        }).optional(),
        options: hubOptions.optional(),
      }),
      async ({ inputs, parameters = {} }, context, model) => {
        const list = [inputs].flat();
        const { top_k: topK, function_to_apply: activation } = parameters;
        const options = { ...omitUndefined({ topK, activation }) };
        const call = { model: headerModel(context, model), texts: list.length, key: ["classify", list, options] as const };
        const outcome = await runTask(service, context, call, (on) => runtime.classify(list, { ...options, ...on }));
        const labels = outcome.result.results.map((each) => each.map(({ label, score }) => ({ label, score })));
        return jsonResponse(context, labels, outcome); // a list of lists for one text, too
      },
    ),
    "token-classification": answeredForm(
      requestObject({
        inputs: several(limit),
        parameters: requestObject({
          aggregation_strategy: z.enum(["none", "simple", "first", "average", "max"]).optional(),
          ignore_labels: z.array(nameField()).max(limit).optional(),
          stride: z.int().nonnegative().optional(),
        }).optional(),
        options: hubOptions.optional(),
      }),
      async ({ inputs, parameters = {} }, context, model) => {
        const list = [inputs].flat();
        const { aggregation_strategy: aggregation, ignore_labels: ignoreLabels, stride } = parameters;
        const options = {
          offsets: "codepoints" as const,
          ...omitUndefined({ aggregation, ignoreLabels, stride }),
        };
        const call = { model: headerModel(context, model), texts: list.length, key: ["recognize", list, options] as const };
        const outcome = await runTask(service, context, call, (on) => runtime.recognize(list, { ...options, ...on }));
        const entities = outcome.result.results.map((each) => toHuggingFaceEntities(each));
        return jsonResponse(context, typeof inputs === "string" ? (entities[0] ?? []) : entities, outcome);
      },
    ),
    "zero-shot-classification": answeredForm(
      requestObject({
        inputs: several(limit),
        parameters: requestObject({
          candidate_labels: oneOfFields<string | string[]>("labels in an array, or in a string with commas between them", [
            { schema: sentence, fits: isText },
            { schema: texts(limit, 1), fits: Array.isArray },
          ]),
          multi_label: z.boolean().optional(),
          hypothesis_template: sentence.optional(),
        }),
        options: hubOptions.optional(),
      }),
      async ({ inputs, parameters }, context, model) => {
        const list = [inputs].flat();
        const { candidate_labels: given, multi_label: multiLabel, hypothesis_template: hypothesisTemplate } = parameters;
        const labels = typeof given === "string" ? given.split(",").map((label) => label.trim()) : given;
        refuseHypotheses(list, labels, hypothesisTemplate ?? "");
        const options = {
          labels,
          ...omitUndefined({ multiLabel, hypothesisTemplate }),
        };
        const call = {
          model: headerModel(context, model),
          texts: list.length * labels.length,
          key: ["classify", list, options] as const,
        };
        const outcome = await runTask(service, context, call, (on) => runtime.classify(list, { ...options, ...on }));
        const scores = outcome.result.results.map((each) => each.map(({ label, score }) => ({ label, score })));
        // Clients that send one text in a list read the labels of one text, too.
        return jsonResponse(context, list.length === 1 ? (scores[0] ?? []) : scores, outcome);
      },
    ),
    "fill-mask": answeredForm(
      requestObject({
        inputs: several(limit),
        parameters: requestObject({ top_k: topK, targets: texts(limit, 1).optional() }).optional(),
        options: hubOptions.optional(),
      }),
      async ({ inputs, parameters = {} }, context, model) => {
        const list = [inputs].flat();
        const { top_k: topK, targets } = parameters;
        const options = { ...omitUndefined({ topK, targets }) };
        const call = { model: headerModel(context, model), texts: list.length, key: ["fill mask", list, options] as const };
        const outcome = await runTask(service, context, call, (on) => runtime.fillMask(list, { ...options, ...on }));
        const fills = outcome.result.results.map((each) => toHuggingFaceFills(each));
        return jsonResponse(context, typeof inputs === "string" ? (fills[0] ?? []) : fills, outcome);
      },
    ),
    "question-answering": answeredForm(
      requestObject({
        inputs: requestObject({ question: z.string(), context: z.string() }),
        parameters: requestObject({
          top_k: topK,
          max_answer_len: z.int().positive().optional(),
          doc_stride: z.int().positive().optional(),
          handle_impossible_answer: z.boolean().optional(),
          align_to_words: z.boolean().optional(),
        }).optional(),
        options: hubOptions.optional(),
      }),
      async ({ inputs, parameters = {} }, context, model) => {
        const { question, context: passage } = inputs;
        refusePairs([question], [passage]);
        const { top_k: topK = 1, max_answer_len: maxAnswerTokens, doc_stride: stride } = parameters;
        const { handle_impossible_answer: noAnswer, align_to_words: alignToWords } = parameters;
        const options = {
          topK,
          offsets: "codepoints" as const,
          ...omitUndefined({ maxAnswerTokens, stride, noAnswer, alignToWords }),
        };
        const call = { model: headerModel(context, model), texts: 1, key: ["answer", question, passage, options] as const };
        const outcome = await runTask(service, context, call, (on) => runtime.answer(question, passage, { ...options, ...on }));
        const answers = (outcome.result.results[0] ?? []).map(({ answer, score, start, end }) => ({ score, start, end, answer }));
        return jsonResponse(context, topK === 1 && answers.length === 1 ? answers[0] : answers, outcome);
      },
    ),
    "sentence-similarity": answeredForm(
      requestObject({
        inputs: requestObject({ source_sentence: z.string(), sentences: texts(limit, 1) }),
        parameters: requestObject({}).optional(),
        options: hubOptions.optional(),
      }),
      async ({ inputs }, context, model) => {
        const { source_sentence: source, sentences } = inputs;
        const key = ["similarity", source, sentences, {}] as const;
        const call = { model: headerModel(context, model), texts: sentences.length + 1, key };
        const outcome = await runTask(service, context, call, (on) =>
          runtime.similarity([source], sentences, { metric: "cosine", ...on }),
        );
        return jsonResponse(context, outcome.result.scores[0] ?? [], outcome);
      },
    ),
  };
}

/** The task that the shape of a request names; undefined if the model decides. */
export function taskOfShape(body: unknown): HuggingFacePipelineTask | undefined {
  if (!isObject(body)) return undefined;
  const { inputs, parameters } = body;
  if (isObject(parameters) && "candidate_labels" in parameters) return "zero-shot-classification";
  if (!isObject(inputs)) return undefined;
  if ("source_sentence" in inputs) return "sentence-similarity";
  return "question" in inputs ? "question-answering" : undefined;
}
