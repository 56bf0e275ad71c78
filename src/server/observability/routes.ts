/** GET /metrics and GET /api/events, for monitoring. */
import { z } from "@hono/zod-openapi";
import { accepts } from "hono/accepts";
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import type { Route } from "../http/routes/route.ts";
import { eventStreamHeaders } from "../protocols/generation/streamed-body.ts";
import type { Service } from "../serving/service.ts";
import { type Metrics, metricsFormats } from "./metrics.ts";
import { publicEvent } from "./public-event.ts";
import type { RuntimeEvents } from "./runtime-events.ts";

/** Interval of comments that keep idle streams open through proxies, in milliseconds. */
const heartbeatMs = 15_000;
/** Maximum bytes of events that a reader has not taken; a slower reader is disconnected. */
const maxBacklogBytes = 65_536;
/** Maximum number of open streams, each of which holds a connection. */
const maxStreams = 64;
/** Minimum time between two progress events of a download, in milliseconds. */
const progressMs = 500;

/** The routes for the operators of a server: `/metrics` (Prometheus) and `/api/events`. */
export function observabilityRoutes(service: Service, metrics: Metrics, events: RuntimeEvents): Route[] {
  let streams = 0;
  return [
    {
      method: "get",
      path: "/metrics",
      summary: "Metrics in the text format of Prometheus, or as OpenMetrics",
      description: "Metrics, in the format that Accept prefers",
      media: { "text/plain": z.string(), "application/openmetrics-text": z.string() },
      errors: [401],
      answer: async (context) => {
        const wanted = accepts(context, { header: "Accept", supports: [...metricsFormats], default: "text/plain" });
        const { text, contentType } = await metrics.text(metricsFormats.find((format) => format === wanted) ?? "text/plain");
        return context.text(text, 200, { "content-type": contentType });
      },
    },
    {
      method: "get",
      path: "/api/events",
      summary: "Loads, fallbacks, unloads, failovers, crashes, restarts and downloads as they happen (server-sent events)",
      description: "Events, until the client disconnects or the server shuts down",
      media: { "text/event-stream": z.string() },
      errors: [401, 503],
      answer: (context) => {
        service.calls.refuseDraining();
        if (streams >= maxStreams) throw tooManyStreams();
        const end = AbortSignal.any([service.shutdown, context.req.raw.signal]);
        if (context.req.raw.method === "HEAD") return context.body(null, 200, eventStreamHeaders); // nothing would ever end the stream
        streams += 1;
        const stream = eventStream(events, end, () => (streams -= 1));
        return context.body(stream, 200, eventStreamHeaders);
      },
    },
  ];
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
