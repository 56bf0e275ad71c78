/** How errors look in the Open Inference Protocol: `error` is a sentence; what programs need stands beside it. */
import type { Context } from "hono";
import { type Env, errorResponse, publicError } from "../../http/context.ts";

export function handleKserveError(thrown: unknown, context: Context<Env>): Response {
  const { status, code, message, remedy, retryable, retryAfterMs, loading, headers } = publicError(thrown);
  const body = {
    error: remedy === undefined ? message : `${message} (${remedy})`,
    code,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...(loading === undefined ? {} : { loading }),
    request_id: context.get("requestId"),
  };
  return errorResponse(context, body, { status, headers });
}
