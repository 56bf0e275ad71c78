/** Runs the tasks of Hugging Face's inference API, and gives what its pipelines give. Positions count code points, as in Python. */
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import { toHuggingFaceEntities, toHuggingFaceFills } from "../../../tasks/hugging-face-results.ts";
import type { Env } from "../../http/context.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refuseHypotheses, refusePairs } from "../../http/pair-limits.ts";
import type { Service } from "../../serving/service.ts";
import { headerModel, runTask } from "../run-task.ts";
import { type PipelineTask, pipelineRequests } from "./pipeline-requests.ts";

/** The response to a request of a task. `model`: the model in the path. Default: the model in the header, or the default model. */
export async function answerPipeline(
  service: Service,
  context: Context<Env>,
  task: PipelineTask,
  body: unknown,
  model: string | undefined,
): Promise<Response> {
  const requests = pipelineRequests(service.limits.maxTexts);
  const { runtime } = service;
  const named = headerModel(context, model);
  switch (task) {
    case "text-classification": {
      const { inputs, parameters = {} } = takeFields(context, body, requests[task]);
      const list = [inputs].flat();
      const { top_k: topK, function_to_apply: activation } = parameters;
      const options = { ...omitUndefined({ topK, activation }) };
      const call = { model: named, texts: list.length, key: ["classify", list, options] as const };
      const outcome = await runTask(service, context, call, (on) => runtime.classify(list, { ...options, ...on }));
      const labels = outcome.result.results.map((each) => each.map(({ label, score }) => ({ label, score })));
      return jsonResponse(context, labels, outcome); // a list of lists for one text, too
    }
    case "token-classification": {
      const { inputs, parameters = {} } = takeFields(context, body, requests[task]);
      const list = [inputs].flat();
      const { aggregation_strategy: aggregation, ignore_labels: ignoreLabels, stride } = parameters;
      const options = {
        offsets: "codepoints" as const,
        ...omitUndefined({ aggregation, ignoreLabels, stride }),
      };
      const call = { model: named, texts: list.length, key: ["recognize", list, options] as const };
      const outcome = await runTask(service, context, call, (on) => runtime.recognize(list, { ...options, ...on }));
      const entities = outcome.result.results.map((each) => toHuggingFaceEntities(each));
      return jsonResponse(context, typeof inputs === "string" ? (entities[0] ?? []) : entities, outcome);
    }
    case "zero-shot-classification": {
      const { inputs, parameters } = takeFields(context, body, requests[task]);
      const list = [inputs].flat();
      const { candidate_labels: given, multi_label: multiLabel, hypothesis_template: hypothesisTemplate } = parameters;
      const labels = typeof given === "string" ? given.split(",").map((label) => label.trim()) : given;
      refuseHypotheses(list, labels, hypothesisTemplate ?? "");
      const options = {
        labels,
        ...omitUndefined({ multiLabel, hypothesisTemplate }),
      };
      const call = { model: named, texts: list.length * labels.length, key: ["classify", list, options] as const };
      const outcome = await runTask(service, context, call, (on) => runtime.classify(list, { ...options, ...on }));
      const scores = outcome.result.results.map((each) => each.map(({ label, score }) => ({ label, score })));
      // Clients that send one text in a list read the labels of one text, too.
      return jsonResponse(context, list.length === 1 ? (scores[0] ?? []) : scores, outcome);
    }
    case "fill-mask": {
      const { inputs, parameters = {} } = takeFields(context, body, requests[task]);
      const list = [inputs].flat();
      const { top_k: topK, targets } = parameters;
      const options = { ...omitUndefined({ topK, targets }) };
      const call = { model: named, texts: list.length, key: ["fill mask", list, options] as const };
      const outcome = await runTask(service, context, call, (on) => runtime.fillMask(list, { ...options, ...on }));
      const fills = outcome.result.results.map((each) => toHuggingFaceFills(each));
      return jsonResponse(context, typeof inputs === "string" ? (fills[0] ?? []) : fills, outcome);
    }
    case "question-answering": {
      const { inputs, parameters = {} } = takeFields(context, body, requests[task]);
      const { question, context: passage } = inputs;
      refusePairs([question], [passage]);
      const { top_k: topK = 1, max_answer_len: maxAnswerTokens, doc_stride: stride } = parameters;
      const { handle_impossible_answer: noAnswer, align_to_words: alignToWords } = parameters;
      const options = {
        topK,
        offsets: "codepoints" as const,
        ...omitUndefined({ maxAnswerTokens, stride, noAnswer, alignToWords }),
      };
      const call = { model: named, texts: 1, key: ["answer", question, passage, options] as const };
      const outcome = await runTask(service, context, call, (on) => runtime.answer(question, passage, { ...options, ...on }));
      const answers = (outcome.result.results[0] ?? []).map(({ answer, score, start, end }) => ({ score, start, end, answer }));
      return jsonResponse(context, topK === 1 && answers.length === 1 ? answers[0] : answers, outcome);
    }
    case "sentence-similarity": {
      const { inputs } = takeFields(context, body, requests[task]);
      const { source_sentence: source, sentences } = inputs;
      const key = ["similarity", source, sentences, {}] as const;
      const call = { model: named, texts: sentences.length + 1, key };
      const outcome = await runTask(service, context, call, (on) =>
        runtime.similarity([source], sentences, { metric: "cosine", ...on }),
      );
      return jsonResponse(context, outcome.result.scores[0] ?? [], outcome);
    }
    default:
      return task satisfies never;
  }
}
