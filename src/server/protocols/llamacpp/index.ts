/** The routes of llama.cpp's server that no other protocol has. Its POST /tokenize is in tei/, and POST /detokenize also answers vLLM's clients. */
import { openAiErrors } from "../openai/errors.ts";
import type { Protocol } from "../protocol.ts";
import { llamacppCompletionRoutes } from "./completion.ts";
import { detokenizeRoute } from "./detokenize.ts";
import { propsRoutes } from "./props.ts";

/** The routes. */
export const llamaCpp: Protocol = {
  errors: openAiErrors,
  routes: (service) => [...llamacppCompletionRoutes(service), detokenizeRoute(service), ...propsRoutes(service)],
};
