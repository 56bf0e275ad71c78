/** What fails outside every route (a body too large, a path that is not there) is told in the words of the protocol the path belongs to. */
import type { Context } from "hono";
import type { Env } from "../http/context.ts";
import { cohereError } from "./cohere/errors.ts";
import { kserveError } from "./kserve/errors.ts";
import { nativeError } from "./inferyard/errors.ts";
import { openAiError } from "./openai/errors.ts";
import { teiError } from "./tei/errors.ts";

interface Protocol {
  readonly paths: RegExp;
  readonly answer: (thrown: unknown, context: Context<Env>) => Response;
}

/** The first that fits; ours has the rest. */
const protocols: readonly Protocol[] = [
  { paths: /^\/v[12]\/rerank$/, answer: cohereError },
  { paths: /^\/v1(?:\/|$)/, answer: openAiError },
  { paths: /^\/v2(\/?$|\/(health|models|repository)\b)/, answer: kserveError },
  { paths: /^\/(?:embed|embed_all|embed_sparse|rerank|predict|similarity|tokenize|decode|info)$/, answer: teiError },
];

export function protocolError(thrown: unknown, context: Context<Env>): Response {
  const { answer } = protocols.find(({ paths }) => paths.test(context.req.path)) ?? { answer: nativeError };
  return answer(thrown, context);
}
