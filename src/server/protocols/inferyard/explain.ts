/** GET and POST /api/explain: where a model would run, without loading it. GET /api/backends: which backends and devices are available. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { BackendReport } from "../../../runtime/reports.ts";
import { parseGpuMode, gpuModes } from "../../../runtime/targets/constraints.ts";
import { type Routes, getCaller } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { name, requestObject } from "../../http/field-schemas.ts";
import { scrubAll } from "../../http/scrub.ts";
import type { Caller } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";
import { decisionBody, publicDecision } from "./decision.ts";
import { documentedType } from "./documented-type.ts";
import { documentedErrors } from "./errors.ts";

const explainFields = {
  model: name()
    .optional()
    .openapi({ description: "Name of a model, optionally with a target (name@onnx:cpu). Default: the server's default model" }),
  target: name().optional().openapi({ description: "The only target that may run the model", example: "onnx:cpu" }),
  prefer: name().optional().openapi({ description: "Target to try first" }),
  exclude: name().optional().openapi({ description: "Target never to use" }),
  gpu: z.preprocess(parseGpuMode, z.enum(gpuModes)).optional().openapi({ description: "Use of accelerators" }),
  variant: name().optional().openapi({ description: "Variant of the model" }),
};
const explainRequest = requestObject(explainFields).openapi("ExplainRequest");
type ExplainRequest = z.infer<typeof explainRequest>;

const getRoute = createRoute({
  method: "get",
  path: "/api/explain",
  summary: "Where a model would run, and why; loads nothing",
  request: { query: z.strictObject(explainFields) },
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
  state: z
    .enum(["absent", "present", "available"])
    .describe("present: found, and nothing has run on it yet; available: a tiny graph ran on it"),
  reason: z.string().describe("Why the device is absent, or what was found or ran"),
  warning: z.string().exactOptional().describe("What is wrong with a device that is available nevertheless"),
  remedy: z.string().optional(),
  milliseconds: z.number().optional().describe("Duration of a test run, where there was one"),
});
const searched = z
  .array(
    z.object({
      path: z.string().exactOptional().describe("Absent for a variable that is not set"),
      rule: z.string().describe("Why it is looked at: a variable, or a kind of folder"),
      outcome: z.enum(["found", "empty", "absent", "unreadable"]),
      libraries: z.int(),
      notes: z.array(z.string()),
    }),
  )
  .exactOptional()
  .describe("Where the backend's library was looked for");
const availability = z.union([
  z.object({ present: z.literal(false), reason: z.string(), remedy: z.string().optional(), searched }),
  z.object({
    present: z.literal(true),
    library: z.object({ name: z.string(), version: z.string() }),
    devices: z.array(device).describe("In the backend's order of preference"),
    searched,
  }),
]);
const report = documentedType<BackendReport>("BackendReport", z.toJSONSchema(z.object({ backend: z.string(), availability })));
const backends = z.object({ backends: z.array(report) });

const backendsRoute = createRoute({
  method: "get",
  path: "/api/backends",
  summary: "Availability of every backend and device",
  responses: {
    200: { description: "Every backend", content: { "application/json": { schema: backends } } },
    ...documentedErrors,
  },
} satisfies RouteConfig);

/** Adds `/api/explain`, the decision that a model would get, and `/api/backends`, the list of all targets. */
export function addExplain(routes: Routes, service: Service): void {
  const explain = async (caller: Caller, { model, ...request }: ExplainRequest) => {
    const { name, reference, constraints } = await service.resolve(caller, model);
    return publicDecision(
      await service.runtime.explain(reference, { ...constraints, ...omitUndefined(request) }),
      name,
      caller.role,
    );
  };
  routes.openapi(getRoute, async (context) => context.json(await explain(getCaller(context), context.req.valid("query")), 200));
  routes.openapi(postRoute, async (context) => context.json(await explain(getCaller(context), context.req.valid("json")), 200));
  routes.openapi(backendsRoute, async (context) => {
    const backends = await service.runtime.backends();
    return context.json({ backends: getCaller(context).role === "admin" ? backends : scrubAll(backends) }, 200);
  });
}
