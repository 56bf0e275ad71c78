/** GET and POST /api/explain: where a model would run, without loading it. GET /api/backends: which backends and devices are available. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import type { BackendReport } from "../../../runtime/reports.ts";
import { gpuModes, parseGpuMode } from "../../../runtime/targets/constraints.ts";
import { type Env, getCaller } from "../../http/context.ts";
import { nameField, requestObject } from "../../http/field-schemas.ts";
import { type Route, get, post } from "../../http/routes/route.ts";
import { scrubAll } from "../../http/scrub.ts";
import type { Service } from "../../serving/service.ts";
import { decisionBody, publicDecision } from "./decision.ts";
import { documentedType } from "./documented-type.ts";

const explainFields = {
  model: nameField()
    .optional()
    .openapi({ description: "Name of a model, optionally with a target (name@onnx:cpu). Default: the server's default model" }),
  target: nameField().optional().openapi({ description: "The only target that may run the model", example: "onnx:cpu" }),
  prefer: nameField().optional().openapi({ description: "Target to try first" }),
  exclude: nameField().optional().openapi({ description: "Target never to use" }),
  gpu: z.preprocess(parseGpuMode, z.enum(gpuModes)).optional().openapi({ description: "Use of accelerators" }),
  variant: nameField().optional().openapi({ description: "Variant of the model" }),
};
const explainRequest = requestObject(explainFields).openapi("ExplainRequest");
type ExplainRequest = z.infer<typeof explainRequest>;

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

/** Which target would run a model and why, and which targets there are. */
export function explainRoutes(service: Service): Route[] {
  const explain = async ({ model, ...request }: ExplainRequest, context: Context<Env>): Promise<Response> => {
    const caller = getCaller(context);
    const { name, reference, constraints } = await service.names.resolve(caller, model);
    const decision = await service.runtime.explain(reference, { ...constraints, ...omitUndefined(request) });
    return context.json(publicDecision(decision, name, caller.role), 200);
  };
  const summary = "Where a model would run, and why; loads nothing";
  return [
    get({
      path: "/api/explain",
      summary,
      query: z.strictObject(explainFields),
      description: "The decision",
      response: decisionBody,
      answer: explain,
    }),
    post({ path: "/api/explain", summary, schema: explainRequest, response: decisionBody, answer: explain }),
    {
      method: "get",
      path: "/api/backends",
      summary: "Availability of every backend and device",
      description: "Every backend",
      response: z.object({ backends: z.array(report) }),
      answer: async (context) => {
        const backends = await service.runtime.backends();
        return context.json({ backends: context.get("role") === "admin" ? backends : scrubAll(backends) }, 200);
      },
    },
  ];
}
