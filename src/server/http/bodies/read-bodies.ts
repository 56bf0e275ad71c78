/** Middleware that reads the bodies of requests. */
import { getHeapStatistics } from "node:v8";
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "../context.ts";
import type { ServerSettings } from "../../server-settings.ts";
import type { ClientTurns } from "../../serving/client-turns.ts";
import { BodyBudget } from "./body-budget.ts";
import { LargeBodyQueue } from "./large-body-queue.ts";
import { RequestBody, bodyLimits, bytesPerValue } from "./request-body.ts";

/** Fraction of V8's heap limit that bodies may hold by default. */
const heapShare = 1 / 8;

/** The budget for all bodies in bytes: `maxInFlightBodyBytes`, else an eighth of the heap limit, but at least two bodies of the maximum size. */
export function bodyBudgetBytes(settings: ServerSettings): number {
  const { bytes, jsonBytes, json } = bodyLimits(settings);
  const largest = Math.max(bytes, jsonBytes + bytesPerValue * Math.min(json.values, jsonBytes / 2));
  return settings.maxInFlightBodyBytes ?? Math.max(Math.floor(getHeapStatistics().heap_size_limit * heapShare), 2 * largest);
}

/**
 * Middleware that gives each request its `RequestBody`. All readers of `context.req` (text, JSON, bytes) receive the checked body, for any content type. JSON
 * is read immediately, so that an invalid body is refused here, with the errors of this file.
 */
export function requestBodies(settings: ServerSettings, turns: ClientTurns): MiddlewareHandler<Env> {
  const limits = bodyLimits(settings);
  const budget = new BodyBudget(bodyBudgetBytes(settings));
  const largeBodies = new LargeBodyQueue();
  return async (context, next) => {
    const { method } = context.req;
    if (method === "GET" || method === "HEAD") return next();
    const reservation = budget.reservation(context.get("client"));
    const body = new RequestBody(context, limits, reservation, largeBodies);
    context.set("body", body);
    Object.assign(context.req, { bodyCache: new CheckedBodyCache(body) }); // whose type says that texts are not promised
    try {
      body.refuseAnnounced();
      const isJson = /json/i.test(context.req.header("content-type") ?? "");
      const hasBinaryPart = context.req.header("inference-header-content-length") !== undefined;
      if (isJson && !hasBinaryPart) await body.text();
      await turns.wait(context.get("client")); // many bodies may be complete at once
      if (takesAsJson(context)) context.req.raw.headers.set("content-type", "application/json"); // read when a route asks for JSON
      await next();
    } finally {
      reservation.release();
    }
  };
}

/**
 * The cache in which the framework's readers of bodies look first. A class: accessors that are defined on an object of each request are kept by V8, with all that
 * they refer to, until the next collection of the whole heap.
 */
class CheckedBodyCache {
  readonly #body: RequestBody;

  constructor(body: RequestBody) {
    this.#body = body;
  }

  get text(): Promise<string> {
    return this.#body.text();
  }

  get arrayBuffer(): Promise<ArrayBuffer> {
    return this.#body.arrayBuffer();
  }
}

// A reader of another form, such as JSON, takes the first member that `for in` finds.
for (const name of ["text", "arrayBuffer"]) Object.defineProperty(CheckedBodyCache.prototype, name, { enumerable: true });

/** Types that clients say by themselves: `curl -d` and simple HTTP libraries the first, others the second for bodies of which they know nothing. */
const unmeantTypes: ReadonlySet<string> = new Set(["application/x-www-form-urlencoded", "application/octet-stream"]);

/** Whether the body is read as JSON although its type is not said, or was not meant. Bodies with binary tensors are left alone. */
function takesAsJson({ req }: Context<Env>): boolean {
  const type = req.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type !== "" && !unmeantTypes.has(type)) return false;
  return req.header("inference-header-content-length") === undefined;
}
