/**
 * Hugging Face's inference API: POST /models/{name}, /pipeline/{task}/{name}, /models/{name}/pipeline/{task}, and the same below /hf-inference. The task in the
 * path, else the one that follows from the form of the request, else the model's. Below /models/{name} are OpenAI's /v1/completions and /v1/chat/completions
 * too, which the newer of these clients use for texts.
 */
import type { Context } from "hono";
import { z } from "@hono/zod-openapi";
import type { Env, Routes } from "../../http/context.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody } from "../../http/json-body.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { answerChatCompletions } from "../openai/chat.ts";
import { chatRequestSchema } from "../openai/chat-request.ts";
import { answerCompletions, completionsRequest } from "../openai/completions.ts";
import { embedRequest } from "../tei/embed.ts";
import { documentedErrors, handleTeiError } from "../tei/errors.ts";
import { answerTask } from "./answer-task.ts";
import { generationRequest } from "./generation-request.ts";
import { pipelineRequests } from "./pipeline-requests.ts";

const paths = [
  {
    pattern: /^(?:\/hf-inference)?\/pipeline\/(?<task>[^/]+)\/(?<model>.+)$/,
    documented: "/pipeline/{task}/{model}",
    params: ["task", "model"],
  },
  {
    pattern: /^(?:\/hf-inference)?\/models\/(?<model>.+)\/pipeline\/(?<task>[^/]+)$/,
    documented: "/models/{model}/pipeline/{task}",
    params: ["model", "task"],
  },
  { pattern: /^(?:\/hf-inference)?\/models\/(?<model>.+)$/, documented: "/models/{model}", params: ["model"] },
] as const;

const response = z
  .unknown()
  .openapi({ description: "As the pipeline of the task: vectors, labels, entities, fills, an answer, similarities, or texts" });

/** Creates the routes. */
export function huggingFaceRoutes(service: Service): Routes {
  const routes = createRoutes(handleTeiError);
  const { maxTexts } = service.limits;
  const request = z
    .union([...Object.values(pipelineRequests(maxTexts)), embedRequest(maxTexts), generationRequest(maxTexts)])
    .openapi("PipelineRequest");
  for (const { documented, params } of paths) {
    const route = jsonRoute(documented, "A task of Hugging Face's pipelines", request, response, documentedErrors);
    const shape = Object.fromEntries(params.map((each) => [each, z.string()]));
    routes.openAPIRegistry.registerPath({ ...route, request: { ...route.request, params: z.object(shape) } });
  }
  const answer = async (context: Context<Env>): Promise<Response> => {
    const openAi = /^(?:\/hf-inference)?\/models\/(?<model>.+)\/v1\/(?<route>(?:chat\/)?completions)$/.exec(
      context.req.path,
    )?.groups;
    if (openAi !== undefined) {
      const { model = "", route } = openAi;
      const named = { model: decodeURIComponent(model) };
      const body = await jsonBody(context);
      return route === "completions"
        ? answerCompletions(service, context, { ...takeFields(context, body, completionsRequest), ...named })
        : answerChatCompletions(service, context, { ...takeFields(context, body, chatRequestSchema), ...named });
    }
    const found = paths.map(({ pattern }) => pattern.exec(context.req.path)?.groups).find((groups) => groups !== undefined);
    const { model, task } = found ?? {};
    return answerTask(service, context, await jsonBody(context), {
      model: model === undefined ? undefined : decodeURIComponent(model),
      task,
    });
  };
  for (const path of ["/models/*", "/pipeline/*", "/hf-inference/*"]) routes.post(path, answer);
  return routes;
}
