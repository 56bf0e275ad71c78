/**
 * Hugging Face's inference API: POST /models/{name}, /pipeline/{task}/{name}, /models/{name}/pipeline/{task}, and the same below /hf-inference. The task in the
 * path, else the one that follows from the form of the request, else the model's. Below /models/{name} are OpenAI's /v1/completions and /v1/chat/completions
 * too, which the newer of these clients use for texts.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Env } from "../../http/context.ts";
import { partIgnorer, takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody } from "../../http/json-body.ts";
import type { RequestForm } from "../../http/routes/request-form.ts";
import { jsonRequest } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { answerChatCall } from "../generation/chat-call.ts";
import { chatForm, completionsForm } from "../openai/chat-request.ts";
import { chatAnswerForm } from "../openai/chat-response.ts";
import { answerCompletions } from "../openai/completions.ts";
import type { Protocol } from "../protocol.ts";
import { embedForm } from "../tei/embed.ts";
import { teiErrors } from "../tei/errors.ts";
import { type TaskForms, answerTask } from "./answer-task.ts";
import { generationForm } from "./generation-request.ts";
import { pipelineForms } from "./pipelines.ts";

/** The forms of the paths, where the router has them, and where the document does. */
const paths = [
  {
    pattern: /^(?:\/hf-inference)?\/pipeline\/(?<task>[^/]+)\/(?<model>.+)$/,
    path: "/pipeline/{task}/{model}",
    patterns: ["/pipeline/*"],
  },
  {
    pattern: /^(?:\/hf-inference)?\/models\/(?<model>.+)\/pipeline\/(?<task>[^/]+)$/,
    path: "/models/{model}/pipeline/{task}",
    patterns: [],
  },
  {
    pattern: /^(?:\/hf-inference)?\/models\/(?<model>.+)$/,
    path: "/models/{model}",
    patterns: ["/models/*", "/hf-inference/*"],
  },
];

const response = z
  .unknown()
  .openapi({ description: "As the pipeline of the task: vectors, labels, entities, fills, an answer, similarities, or texts" });

/** The routes. */
export const huggingFace: Protocol = {
  errors: teiErrors,
  routes: (service) => {
    const forms = { ...pipelineForms(service), "feature-extraction": embedForm(service) };
    const schemas = Object.values(forms).map(({ schema }) => schema);
    const request = z.union([...schemas, generationForm(service.limits.maxTexts).schema]).openapi("PipelineRequest");
    return paths.map(({ path, patterns }) => ({
      method: "post",
      path,
      patterns,
      summary: "A task of Hugging Face's pipelines",
      request: jsonRequest(request),
      response,
      answer: (context) => answer(service, forms, context),
    }));
  },
};

const openAiPath = /^(?:\/hf-inference)?\/models\/(?<model>.+)\/v1\/(?<route>(?:chat\/)?completions)$/;

async function answer(service: Service, forms: TaskForms, context: Context<Env>): Promise<Response> {
  const body = await jsonBody(context);
  const read = <Call>({ schema, read }: RequestForm<Call>): Call => read(takeFields(context, body, schema), partIgnorer(context));
  const openAi = openAiPath.exec(context.req.path)?.groups;
  if (openAi !== undefined) {
    const model = decodeURIComponent(openAi["model"] ?? "");
    if (openAi["route"] === "completions") return answerCompletions(service, context, { ...read(completionsForm), model });
    const call = read(chatForm);
    return answerChatCall(service, context, { ...call, model }, chatAnswerForm(call));
  }
  const found = paths.map(({ pattern }) => pattern.exec(context.req.path)?.groups).find((groups) => groups !== undefined);
  const { model, task } = found ?? {};
  return answerTask(service, forms, context, body, { model: model === undefined ? undefined : decodeURIComponent(model), task });
}
