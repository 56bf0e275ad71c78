/** What fails outside every route (a body too large, a path that is not there) is told in the words of the protocol the path belongs to. */
import type { Context } from "hono";
import type { Env } from "../http/context.ts";
import { handleCohereError } from "./cohere/errors.ts";
import { handleKserveError } from "./kserve/errors.ts";
import { handleInferyardError } from "./inferyard/errors.ts";
import { handleOpenAiError } from "./openai/errors.ts";
import { handleTeiError } from "./tei/errors.ts";

interface Protocol {
  readonly paths: RegExp;
  readonly answer: (thrown: unknown, context: Context<Env>) => Response;
}

/** The first that fits; ours has the rest. */
const protocols: readonly Protocol[] = [
  { paths: /^\/v[12]\/rerank$/, answer: handleCohereError },
  { paths: /^\/v1(?:\/|$)/, answer: handleOpenAiError },
  { paths: /^\/v2(\/?$|\/(health|models|repository)\b)/, answer: handleKserveError },
  { paths: /^\/(?:embed|embed_all|embed_sparse|rerank|predict|similarity|tokenize|decode|info)$/, answer: handleTeiError },
];

export function handleProtocolError(thrown: unknown, context: Context<Env>): Response {
  const { answer } = protocols.find(({ paths }) => paths.test(context.req.path)) ?? { answer: handleInferyardError };
  return answer(thrown, context);
}
