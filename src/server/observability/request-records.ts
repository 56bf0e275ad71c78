/** Records of requests, for metrics, the log and the dashboard. */
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { InferyardError } from "../../errors.ts";
import { abortedIfDisconnected } from "../http/client-disconnect.ts";
import type { Env } from "../http/context.ts";
import type { CallRecord } from "../serving/call-record.ts";

/** Record of a request that has been responded to. It contains no texts of the client. */
export interface RequestRecord {
  readonly requestId: string;
  readonly client: string;
  readonly method: string;
  /** Pattern of the route ("/v2/models/:model/infer"), not the path; "none" if no route matched. */
  readonly route: string;
  readonly status: number;
  /** Time from the request to its response. */
  readonly milliseconds: number;
  /** Record of the call of the service, if there was one. */
  readonly call?: CallRecord;
  /** What was thrown. */
  readonly fault?: unknown;
}

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
    const call = context.get("call");
    const record: RequestRecord = {
      requestId: context.get("requestId"),
      client: context.get("client"),
      method: context.req.method,
      route: routeOf(context),
      status: context.res.status,
      milliseconds: performance.now() - started,
      ...(call === undefined ? {} : { call }),
      ...(context.error === undefined ? {} : { fault: abortedIfDisconnected(context.error) }),
    };
    for (const observer of observers) observer.request(record);
  };
}

/** Pattern of the route that responded; "none" if no route matched. */
export function routeOf(context: Context<Env>): string {
  return matchedRoutes(context).findLast(({ path }) => !path.endsWith("*"))?.path ?? "none";
}

/** Error code of what was thrown; "DEFECT" if it has none. */
export function codeOf(fault: unknown): string {
  return fault instanceof InferyardError ? fault.code : "DEFECT";
}
