/** GET /health/live, /health/ready and /health, for load balancers and containers. */
import { OpenAPIHono, type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import type { Env, Routes } from "../http/context.ts";
import type { Readiness } from "../serving/readiness.ts";
import type { Service } from "../serving/service.ts";

const live = z.object({ status: z.literal("live") }).openapi("Live");

const ready = z
  .object({
    ready: z.boolean(),
    draining: z.boolean().openapi({ description: "The server is shutting down and takes no new requests" }),
    models: z.array(
      z.object({
        model: z.string(),
        ready: z.boolean(),
        reason: z.string().optional().openapi({ description: "Why it is not ready" }),
        code: z.string().optional().openapi({ description: "One of docs/reference/errors.md" }),
      }),
    ),
  })
  .openapi("Ready");

const liveRoute = createRoute({
  method: "get",
  path: "/health/live",
  summary: "Liveness of the server",
  responses: { 200: { description: "The server is live", content: { "application/json": { schema: live } } } },
} satisfies RouteConfig);

const health = z
  .object({
    status: z.string().openapi({ description: "ok, as llama.cpp" }),
    unix: z.number().openapi({ description: "Time of the server in seconds since 1970" }),
  })
  .openapi("Health");

// For containers and the clients of text-embeddings-inference, which read the status code, and for clients of llama.cpp and Infinity, which read the body.
const healthRoute = createRoute({
  method: "get",
  path: "/health",
  summary: "Whether the server takes requests",
  responses: {
    200: { description: "It does", content: { "application/json": { schema: health } } },
    503: { description: "It is shutting down", content: { "application/json": { schema: health } } },
  },
} satisfies RouteConfig);

const readyRoute = createRoute({
  method: "get",
  path: "/health/ready",
  summary: "Readiness: a probe has run on the default model and the preloaded ones, and the server is not shutting down",
  responses: {
    200: { description: "Send requests", content: { "application/json": { schema: ready } } },
    503: { description: "Send none", content: { "application/json": { schema: ready } } },
  },
} satisfies RouteConfig);

/** Whether a probe of the address reads JSON. KServe's Python client does and does not say so: it is known by its HTTP library, which Ollama's clients do not use for this. */
function wantsJson(accepted: string, userAgent = ""): boolean {
  return (accepted.includes("application/json") && !accepted.includes("text/plain")) || userAgent.startsWith("python-httpx/");
}

/** Creates the routes of the health probes: `/health/live` and `/health/ready`. */
export function healthRoutes(service: Service, readiness: Readiness): Routes {
  const routes = new OpenAPIHono<Env>();
  routes.openapi(liveRoute, (context) => context.json({ status: "live" as const }, 200));
  routes.openapi(healthRoute, (context) =>
    context.json({ status: service.draining ? "draining" : "ok", unix: Date.now() / 1000 }, service.draining ? 503 : 200),
  );
  // For balancers and clients that probe the address itself: KServe's `GET /`, SageMaker's `GET /ping`. A browser gets the page for people, and who asks
  // for nothing in particular what Ollama says, by which its clients know a server.
  for (const path of ["/", "/ping"])
    routes.get(path, (context) => {
      const accepted = context.req.header("accept") ?? "";
      if (path === "/" && accepted.includes("text/html")) return context.redirect("/dashboard", 302);
      if (service.draining) return context.body(null, 503);
      return path === "/ping" || wantsJson(accepted, context.req.header("user-agent"))
        ? context.json({ status: "alive" }, 200)
        : context.text("Ollama is running", 200);
    });
  routes.openapi(readyRoute, async (context) => {
    const { models, ...report } = await readiness.report();
    const body = { ...report, models: [...models] };
    return report.ready ? context.json(body, 200) : context.json(body, 503, { "retry-after": "1" });
  });
  return routes;
}
