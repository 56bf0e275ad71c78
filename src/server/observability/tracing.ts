/**
 * OpenTelemetry spans of requests, for the tracer that the program has registered. The package `@opentelemetry/api` is optional; without it, or
 * without a tracer, nothing is traced. Spans contain no texts of clients.
 */
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Attributes, Context as Parent, Tracer } from "@opentelemetry/api";
import type { MiddlewareHandler } from "hono";
import { omitUndefined } from "../../contract/checked.ts";
import { version } from "../../version.ts";
import type { Env } from "../http/context.ts";
import { scrub } from "../http/scrub.ts";
import type { CallRecord } from "../serving/call-record.ts";
import { getCode, onceEnded, getRoute, probePaths } from "./request-records.ts";

type Api = typeof OpenTelemetry;

/** Middleware that makes a span for each request, with the attributes of OpenTelemetry's semantic conventions for HTTP. */
export function traceRequests(): MiddlewareHandler<Env> {
  let loading: Promise<Api | undefined> | undefined;
  return async (context, next) => {
    loading ??= loadApi();
    const api = await loading;
    if (api === undefined || probePaths.has(context.req.path)) return next();
    const outer = api.context.active();
    // The parent is the program's own span if it traces requests, else the caller's, from the header traceparent.
    const parent = api.trace.getSpan(outer) === undefined ? api.propagation.extract(outer, context.req.header()) : outer;
    const tracer = api.trace.getTracer("inferyard", version);
    const { method } = context.req;
    const url = new URL(context.req.url);
    const attributes = {
      "http.request.method": method,
      "url.path": url.pathname,
      "url.scheme": url.protocol.slice(0, -1),
      "server.address": url.hostname,
    };
    const span = tracer.startSpan(method, { kind: api.SpanKind.SERVER, attributes }, parent);
    const inside = api.trace.setSpan(parent, span);
    const end = (fault: unknown): void => {
      const route = getRoute(context);
      const { status } = context.res;
      if (route !== "none") span.updateName(`${method} ${route}`).setAttribute("http.route", route);
      span.setAttribute("http.response.status_code", status);
      if (fault !== undefined) span.setAttribute("error.type", getCode(fault));
      if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
      const call = context.get("call");
      if (call !== undefined && span.isRecording()) traceCall(api, tracer, inside, call);
      span.end();
    };
    try {
      await api.context.with(inside, () => next());
    } finally {
      onceEnded(context, end);
    }
    return undefined;
  };
}

/** Adds spans for waiting, loading and running, whose times are known when the call has ended. */
function traceCall(api: Api, tracer: Tracer, parent: Parent, call: CallRecord): void {
  const { queueMs, inferenceMs, loadMs = 0, endedAt, reuse } = call;
  if (reuse === "cached") return; // nothing waited or ran
  const end = performance.timeOrigin + endedAt;
  const begun = end - inferenceMs;
  const add = (name: string, from: number, to: number, attributes: Attributes): void => {
    const span = tracer.startSpan(name, { startTime: from, attributes }, parent);
    if (call.error !== undefined && to === end) {
      span.setAttribute("error.type", call.error.code).setStatus({ code: api.SpanStatusCode.ERROR });
    }
    span.end(to);
  };
  const model = { "gen_ai.request.model": scrub(call.model) };
  add("queue", begun - queueMs, begun, model);
  if (inferenceMs === 0) return; // the call never had its turn
  if (loadMs > 0) add("load", begun, begun + loadMs, model);
  const operation = call.operation === "embed" ? "embeddings" : (call.operation ?? "inference");
  add(`${operation} ${scrub(call.model)}`, begun + loadMs, end, {
    ...model,
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": "inferyard",
    ...omitUndefined({ "gen_ai.usage.input_tokens": call.tokens, "inferyard.target": call.target, "inferyard.reuse": reuse }),
  });
}

async function loadApi(): Promise<Api | undefined> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
