/** One record of each request, made when its answer is known. No text of a client is in it. */
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { InferyardError } from "../../errors.ts";
import { abortedIfDisconnected } from "../http/client-disconnect.ts";
import type { Env } from "../http/context.ts";
import type { CallRecord } from "../serving/service.ts";

export interface RequestRecord {
  readonly requestId: string;
  readonly client: string;
  readonly method: string;
  /** The pattern, "/v2/models/:model/infer", and not the path; "none" where there is no such route. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  /** What the service did for it, where it came that far. */
  readonly call?: CallRecord;
  /** What was thrown. */
  readonly fault?: unknown;
}

/** Whoever wants to know of every request. */
export interface RequestObserver {
  request(record: RequestRecord): void;
}

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

/** The pattern of the route that answered; "none" where there is no such route. */
export function routeOf(context: Context<Env>): string {
  return matchedRoutes(context).findLast(({ path }) => !path.endsWith("*"))?.path ?? "none";
}

/** The code of a failure; "DEFECT" for what has none. */
export function codeOf(fault: unknown): string {
  return fault instanceof InferyardError ? fault.code : "DEFECT";
}
