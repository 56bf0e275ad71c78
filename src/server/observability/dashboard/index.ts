/** GET /dashboard: a page for people. GET /api/status: the data it shows. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import { adminOnly } from "../../http/middleware.ts";
import { handleInferyardError } from "../../protocols/inferyard/errors.ts";
import type { Service } from "../../serving/service.ts";
import type { LoadRecorder } from "./load-history.ts";
import { page, pagePolicy } from "./page.ts";
import type { RecentRequests } from "./recent-requests.ts";

const status = z
  .object({
    running: z.int().openapi({ description: "Requests that run now" }),
    waiting: z.int().openapi({ description: "Requests that wait now" }),
    draining: z.boolean(),
    recent: z.object({
      seconds: z.number(),
      requests: z.int(),
      failed: z.int(),
      p50: z.number().nullable().openapi({ description: "Milliseconds" }),
      p99: z.number().nullable(),
    }),
    history: z
      .object({ seconds: z.number(), requests: z.array(z.int()), tokens: z.array(z.int()), waiting: z.array(z.int()) })
      .openapi({ description: "Sums of the last five minutes in periods of so many seconds, the newest last" }),
    memory: z.object({
      limits: z
        .record(z.string(), z.number())
        .nullable()
        .openapi({ description: "Memory limits in bytes by device; null: no limits" }),
      models: z.array(
        z.object({
          name: z.string().openapi({ description: "A name that requests may use; the reference, if there is none" }),
          reference: z.string(),
          target: z.string(),
          state: z.string(),
          bytes: z.record(z.string(), z.number()),
        }),
      ),
    }),
    decisions: z.array(z.unknown()).openapi({ description: "Decisions of the models in memory" }),
    names: z.array(z.string()).openapi({ description: "Names of models that requests may use" }),
  })
  .openapi("Status");

const statusRoute = createRoute({
  method: "get",
  path: "/api/status",
  middleware: [adminOnly] as const,
  summary: "State of the server: requests, models in memory and their decisions (admins)",
  responses: { 200: { description: "The current state", content: { "application/json": { schema: status } } } },
});

/** Creates the routes of the dashboard: its page and the data that it shows. */
export function dashboardRoutes(service: Service, recent: RecentRequests, load: LoadRecorder): Routes {
  const routes = createRoutes(handleInferyardError);
  routes.openapi(statusRoute, async (context) => {
    const { limits, models } = service.runtime.memory();
    const names = await service.modelNames();
    const nameOf = models.length === 0 ? new Map<string, string>() : await namesByReference(service, names);
    return context.json(
      {
        running: service.admission.running,
        waiting: service.admission.waiting,
        draining: service.draining,
        recent: recent.summary(),
        history: load.history(),
        memory: {
          limits: limits === null ? null : { ...limits.bytes },
          models: models.map(({ reference, target, state, bytes }) => ({
            name: nameOf.get(reference) ?? reference,
            reference,
            target,
            state,
            bytes: { ...bytes },
          })),
        },
        decisions: [...(await service.runtime.loaded())],
        names,
      },
      200,
    );
  });
  routes.get("/dashboard", (context) =>
    context.html(page, 200, { "content-security-policy": pagePolicy, "cache-control": "no-cache" }),
  );
  return routes;
}

/** The first name of each model, by its reference. */
async function namesByReference(service: Service, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const name of names) {
    const reference = await service.resolve({}, name).then(
      (resolved) => resolved.reference,
      () => undefined, // a name whose model is not on this machine yet
    );
    if (reference !== undefined && !found.has(reference)) found.set(reference, name);
  }
  return found;
}
