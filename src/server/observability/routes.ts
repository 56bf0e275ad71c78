/** GET /metrics and GET /api/events, for monitoring. */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { accepts } from "hono/accepts";
import { InferyardError } from "../../contract/errors.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import type { Routes } from "../http/context.ts";
import { createRoutes } from "../http/routes.ts";
import { documentedErrors, handleInferyardError } from "../protocols/inferyard/errors.ts";
import type { Service } from "../serving/service.ts";
import { type Metrics, metricsFormats } from "./metrics.ts";
import { publicEvent } from "./public-event.ts";
import type { RuntimeEvents } from "./runtime-events.ts";

const metricsRoute = createRoute({
  method: "get",
  path: "/metrics",
  summary: "Metrics in the text format of Prometheus, or as OpenMetrics",
  responses: {
    200: {
      description: "Metrics, in the format that Accept prefers",
      content: { "text/plain": { schema: z.string() }, "application/openmetrics-text": { schema: z.string() } },
    },
    401: documentedErrors[401],
  },
} satisfies RouteConfig);

const eventsRoute = createRoute({
  method: "get",
  path: "/api/events",
  summary: "Loads, fallbacks, unloads, failovers, crashes, restarts and downloads as they happen (server-sent events)",
  responses: {
    200: {
      description: "Events, until the client disconnects or the server shuts down",
      content: { "text/event-stream": { schema: z.string() } },
    },
    401: documentedErrors[401],
    503: documentedErrors[503],
  },
} satisfies RouteConfig);

/** Interval of comments that keep idle streams open through proxies, in milliseconds. */
const heartbeatMs = 15_000;
/** Maximum bytes of events that a reader has not taken; a slower reader is disconnected. */
const maxBacklogBytes = 65_536;
/** Maximum number of open streams, each of which holds a connection. */
const maxStreams = 64;
/** Minimum time between two progress events of a download, in milliseconds. */
const progressMs = 500;

/** Creates the routes for the operators of a server: `/metrics` (Prometheus) and `/api/events`. */
export function observabilityRoutes(service: Service, metrics: Metrics, events: RuntimeEvents): Routes {
  const routes = createRoutes(handleInferyardError);
  routes.openapi(metricsRoute, async (context) => {
    const wanted = accepts(context, { header: "Accept", supports: [...metricsFormats], default: "text/plain" });
    const { text, contentType } = await metrics.text(metricsFormats.find((format) => format === wanted) ?? "text/plain");
    return context.text(text, 200, { "content-type": contentType });
  });
  let streams = 0;
  routes.openapi(eventsRoute, (context) => {
    service.refuseDraining();
    if (streams >= maxStreams) throw tooManyStreams();
    const headers = { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" };
    const end = AbortSignal.any([service.shutdown, context.req.raw.signal]);
    if (context.req.raw.method === "HEAD") return context.body(null, 200, headers); // nothing would ever end the stream
    streams += 1;
    return context.body(
      eventStream(events, end, () => (streams -= 1)),
      200,
      headers,
    );
  });
  return routes;
}

function tooManyStreams(): InferyardError {
  return new InferyardError("OVERLOADED", `${maxStreams} streams of events are open, which is the limit`, {
    remedy: "close unused streams, or read /metrics",
    retryAfterMs: heartbeatMs,
  });
}

function eventStream(events: RuntimeEvents, end: AbortSignal, onEnd: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let stop = (): void => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (text: string): void => {
          if ((controller.desiredSize ?? 0) < 0) stop();
          else controller.enqueue(encoder.encode(text));
        };
        const wanted = progressFilter();
        let id = 0;
        const unsubscribe = events.subscribe((event) => {
          if (!wanted(event)) return;
          const { type, ...data } = publicEvent(event);
          id += 1;
          write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
        });
        const heartbeat = setInterval(() => write(": still here\n\n"), heartbeatMs);
        let stopped = false;
        stop = () => {
          if (stopped) return;
          stopped = true;
          removeAbortListener(end, stop);
          unsubscribe();
          clearInterval(heartbeat);
          onEnd();
          try {
            controller.close();
          } catch {
            // the reader has cancelled the stream
          }
        };
        write(": listening\n\n");
        addAbortListener(end, stop);
        if (end.aborted) stop();
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxBacklogBytes }),
  );
}

/** A filter that passes every change of stage of a download, and its progress at intervals. */
function progressFilter(): (event: RuntimeEvent) => boolean {
  const last = new Map<string, { readonly stage: string; readonly at: number }>();
  return (event) => {
    if (event.type !== "download") return true;
    const { stage } = event.progress;
    const before = last.get(event.reference);
    const now = performance.now();
    if (before?.stage === stage && now - before.at < progressMs) return false;
    if (stage === "done") last.delete(event.reference);
    else last.set(event.reference, { stage, at: now });
    return true;
  };
}
