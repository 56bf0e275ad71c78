/** The routes of llama.cpp's server that no other protocol has. Its POST /tokenize is in tei/, and POST /detokenize also answers vLLM's clients. */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { handleOpenAiError } from "../openai/errors.ts";
import { addCompletion } from "./completion.ts";
import { addDetokenize } from "./detokenize.ts";
import { addProps } from "./props.ts";

/** Creates the routes. */
export function llamaCppRoutes(service: Service): Routes {
  const routes = createRoutes(handleOpenAiError);
  addCompletion(routes, service);
  addDetokenize(routes, service);
  addProps(routes, service);
  return routes;
}
