/** GET and POST /api/explain: where a model would run, with nothing loaded. GET /api/backends: what each engine says of itself. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import type { BackendReport } from "../../../runtime/reports.ts";
import { type Routes, callerOf } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { name } from "../../http/field-schemas.ts";
import { scrubAll } from "../../http/scrub.ts";
import type { Caller, Service } from "../../serving/service.ts";
import { decisionBody, publicDecision } from "./decision.ts";
import { documentedType } from "./documented-type.ts";
import { documentedErrors } from "./errors.ts";

const explainRequest = z
  .strictObject({
    model: name().optional().openapi({ description: "Name of a model, a target behind it if wanted; left out, the default" }),
    target: name().optional().openapi({ description: "The target that is required", example: "onnx:cpu" }),
    prefer: name().optional().openapi({ description: "The target that is tried first" }),
    exclude: name().optional().openapi({ description: "The target that is not to be used" }),
    variant: name().optional().openapi({ description: "Weights, by name" }),
  })
  .openapi("ExplainRequest");
type ExplainRequest = z.infer<typeof explainRequest>;

const getRoute = createRoute({
  method: "get",
  path: "/api/explain",
  summary: "Where a model would run, and why; loads nothing",
  request: { query: explainRequest },
  responses: {
    200: { description: "The decision", content: { "application/json": { schema: decisionBody } } },
    ...documentedErrors,
  },
} satisfies RouteConfig);

const postRoute = createRoute(
  jsonRoute("/api/explain", "Where a model would run, and why; loads nothing", explainRequest, decisionBody, documentedErrors),
);

const device = z.object({
  device: z.object({ type: z.string(), index: z.int() }),
  available: z.boolean(),
  reason: z.string().describe("Why not, or what was found"),
  remedy: z.string().optional(),
  milliseconds: z.number().optional().describe("How long a tiny graph took, where one was run"),
});
const availability = z.union([
  z.object({ present: z.literal(false), reason: z.string(), remedy: z.string().optional() }),
  z.object({
    present: z.literal(true),
    library: z.object({ name: z.string(), version: z.string() }),
    devices: z.array(device).describe("In the engine's order of preference"),
  }),
]);
const report = documentedType<BackendReport>("BackendReport", z.toJSONSchema(z.object({ backend: z.string(), availability })));
const backends = z.object({ backends: z.array(report) });

const backendsRoute = createRoute({
  method: "get",
  path: "/api/backends",
  summary: "What each engine says of itself",
  responses: { 200: { description: "Every engine", content: { "application/json": { schema: backends } } }, ...documentedErrors },
} satisfies RouteConfig);

export function addExplain(routes: Routes, service: Service): void {
  const explain = async (caller: Caller, { model, ...asked }: ExplainRequest) => {
    const named = await service.resolve(caller, model);
    const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    return publicDecision(
      await service.runtime.explain(named.reference, { ...named.constraints, ...given }),
      named.name,
      caller.role,
    );
  };
  routes.openapi(getRoute, async (context) => context.json(await explain(callerOf(context), context.req.valid("query")), 200));
  routes.openapi(postRoute, async (context) => context.json(await explain(callerOf(context), context.req.valid("json")), 200));
  routes.openapi(backendsRoute, async (context) => {
    const backends = await service.runtime.backends();
    return context.json({ backends: callerOf(context).role === "admin" ? backends : scrubAll(backends) }, 200);
  });
}
