/** GET /health/live, /health/ready and /health, for load balancers and containers. */
import { z } from "@hono/zod-openapi";
import { jsonContent } from "../http/error-responses.ts";
import type { Route } from "../http/routes/route.ts";
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

const health = z
  .object({
    status: z.string().openapi({ description: "ok, as llama.cpp" }),
    unix: z.number().openapi({ description: "Time of the server in seconds since 1970" }),
  })
  .openapi("Health");

/** Whether a probe of the address reads JSON. KServe's Python client does and does not say so: it is known by its HTTP library, which Ollama's clients do not use for this. */
function wantsJson(accepted: string, userAgent = ""): boolean {
  return (accepted.includes("application/json") && !accepted.includes("text/plain")) || userAgent.startsWith("python-httpx/");
}

/** The routes of the health probes. */
export function healthRoutes(service: Service, readiness: Readiness): Route[] {
  // For balancers and clients that probe the address itself: KServe's `GET /`, SageMaker's `GET /ping`. A browser gets the page for people, and who asks
  // for nothing in particular what Ollama says, by which its clients know a server.
  const probes = ["/", "/ping"].map((path): Route => ({
    method: "get",
    path,
    answer: (context) => {
      const accepted = context.req.header("accept") ?? "";
      if (path === "/" && accepted.includes("text/html")) return context.redirect("/dashboard", 302);
      if (service.draining) return context.body(null, 503);
      return path === "/ping" || wantsJson(accepted, context.req.header("user-agent"))
        ? context.json({ status: "alive" }, 200)
        : context.text("Ollama is running", 200);
    },
  }));
  return [
    {
      method: "get",
      path: "/health/live",
      summary: "Liveness of the server",
      description: "The server is live",
      response: live,
      errors: [],
      answer: (context) => context.json({ status: "live" }, 200),
    },
    // For containers and the clients of text-embeddings-inference, which read the status code, and for clients of llama.cpp and Infinity, which read the body.
    {
      method: "get",
      path: "/health",
      summary: "Whether the server takes requests",
      description: "It does",
      response: health,
      errors: [],
      responses: { 503: jsonContent("It is shutting down", health) },
      answer: (context) => {
        const { draining } = service;
        return context.json({ status: draining ? "draining" : "ok", unix: Date.now() / 1000 }, draining ? 503 : 200);
      },
    },
    ...probes,
    {
      method: "get",
      path: "/health/ready",
      summary: "Readiness: a probe has run on the default model and the preloaded ones, and the server is not shutting down",
      description: "Send requests",
      response: ready,
      errors: [],
      responses: { 503: jsonContent("Send none", ready) },
      answer: async (context) => {
        const report = await readiness.report();
        return report.ready ? context.json(report, 200) : context.json(report, 503, { "retry-after": "1" });
      },
    },
  ];
}
