/** GET /dashboard: a page for people. GET /api/status: the data it shows. */
import { z } from "@hono/zod-openapi";
import { refuseOthers } from "../../http/middleware.ts";
import type { Route } from "../../http/routes/route.ts";
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

/** The routes of the dashboard: its page and the data that it shows. */
export function dashboardRoutes(service: Service, recent: RecentRequests, load: LoadRecorder): Route[] {
  return [
    {
      method: "get",
      path: "/api/status",
      summary: "State of the server: requests, models in memory and their decisions (admins)",
      description: "The current state",
      response: status,
      errors: [],
      answer: async (context) => {
        refuseOthers(context);
        const { limits, models } = service.runtime.memory();
        const names = await service.names.list();
        const nameByReference = models.length === 0 ? new Map<string, string>() : await namesByReference(service, names);
        const body = {
          running: service.admission.running,
          waiting: service.admission.waiting,
          draining: service.draining,
          recent: recent.summary(),
          history: load.history(),
          memory: {
            limits: limits === null ? null : { ...limits.bytes },
            models: models.map(({ reference, target, state, bytes }) => ({
              name: nameByReference.get(reference) ?? reference,
              reference,
              target,
              state,
              bytes: { ...bytes },
            })),
          },
          decisions: [...(await service.runtime.loaded())],
          names,
        };
        return context.json(body, 200);
      },
    },
    {
      method: "get",
      path: "/dashboard",
      answer: (context) => context.html(page, 200, { "content-security-policy": pagePolicy, "cache-control": "no-cache" }),
    },
  ];
}

/** The first name of each model, by its reference. */
async function namesByReference(service: Service, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const name of names) {
    const reference = await service.names.resolve({}, name).then(
      (resolved) => resolved.reference,
      () => undefined, // a name whose model is not on this machine yet
    );
    if (reference !== undefined && !found.has(reference)) found.set(reference, name);
  }
  return found;
}
