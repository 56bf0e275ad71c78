/** Records of requests, for metrics, the log and the dashboard. */
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { HTTPException } from "hono/http-exception";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { abortedIfDisconnected } from "../http/client-disconnect.ts";
import type { Env } from "../http/context.ts";
import type { IgnoredFields } from "../http/fields/ignored-fields.ts";
import { toInferyardError } from "../http/public-error.ts";
import { documentPath } from "../http/routes/paths.ts";
import type { CallRecord } from "../serving/call-record.ts";

/** Record of a request that has been responded to. It contains no texts of the client but the names of ignored fields. */
export interface RequestRecord {
  readonly requestId: string;
  readonly client: string;
  readonly method: string;
  /** Path of the route as the OpenAPI document has it ("/v2/models/{model}/infer"); "none" if no route matched. */
  readonly route: string;
  readonly status: number;
  /** Time in milliseconds from the request to its response; for a streaming response, to its end. */
  readonly milliseconds: number;
  /** Record of the call of the service, if there was one. */
  readonly call?: CallRecord;
  /** Number of ignored fields, and the names of the first ones as JSON pointers; undefined if there are none. */
  readonly ignored?: Pick<IgnoredFields, "count" | "names">;
  /** The thrown value. */
  readonly fault?: unknown;
}

/** Paths that monitoring requests all the time: they are traced by nobody, and logged at the level debug. */
export const probePaths: ReadonlySet<string> = new Set([
  "/health",
  "/health/live",
  "/health/ready",
  "/v2/health/live",
  "/v2/health/ready",
  "/metrics",
]);

/** Receives a record of each request when its response has ended. */
export interface RequestObserver {
  /** Called once per request. */
  request(record: RequestRecord): void;
}

/** Middleware that makes the record of each request and passes it to the observers. */
export function observeRequests(observers: readonly RequestObserver[]): MiddlewareHandler<Env> {
  return async (context, next) => {
    const started = performance.now();
    await next();
    onceEnded(context, (fault) => {
      const call = context.get("call");
      const ignored = context.get("ignoredFields");
      const record: RequestRecord = {
        requestId: context.get("requestId"),
        client: context.get("client"),
        method: context.req.method,
        route: getRoute(context),
        status: context.res.status,
        milliseconds: performance.now() - started,
        ...omitUndefined({ call }),
        ...(ignored.count === 0 ? {} : { ignored }),
        ...(fault === undefined ? {} : { fault: abortedIfDisconnected(fault) }),
      };
      for (const observer of observers) observer.request(record);
    });
  };
}

/**
 * Calls `then` when the response has ended: at the end of the stream for a streaming response, otherwise at once. `fault`: the error that was thrown,
 * or that ended the stream early.
 */
export function onceEnded(context: Context<Env>, then: (fault: unknown) => void): void {
  const streaming = context.get("streaming");
  if (streaming === undefined || context.error !== undefined) then(context.error);
  else void streaming.then(() => then(undefined), then);
}

/** Path of the route that responded, as the OpenAPI document has it; "none" if no route matched the method and the path. */
export function getRoute(context: Context<Env>): string {
  const matched = matchedRoutes(context).findLast(({ method }) => method !== "ALL");
  return matched === undefined ? "none" : documentPath(matched.path);
}

/** Error code of what was thrown, as the client gets it; "DEFECT" for a defect of the server. */
export function getCode(fault: unknown): string {
  const isDefect = !(fault instanceof InferyardError) && !(fault instanceof HTTPException && fault.status < 500);
  return isDefect ? "DEFECT" : toInferyardError(fault).code;
}
