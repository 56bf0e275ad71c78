/** Progress of a load in responses: in the error MODEL_LOADING of every protocol, and of POST /api/models/{name}/load. */
import { z } from "@hono/zod-openapi";
import type { LoadProgress } from "../serving/load-progress.ts";
import { toSnakeCase } from "./snake-case.ts";

/** Schema of the progress for the OpenAPI document; the fields are as in `LoadProgress`, in snake case. */
export const loadProgressSchema: z.ZodType = z
  .object({
    stage: z.enum(["preparing", "downloading", "loading"]),
    elapsed_ms: z.number().openapi({ description: "Since the load began" }),
    bytes: z.number().optional().openapi({ description: "Fetched so far" }),
    total_bytes: z.number().optional(),
    progress: z.number().optional().openapi({ description: "From 0 to 1, of this stage, where it is known" }),
    estimate_ms: z.number().optional().openapi({ description: "Until this stage is over, where earlier loads tell" }),
  })
  .openapi("LoadProgress", { description: "Of a model that is still loading" });

/** The progress as a response has it. */
export function loadProgressBody(progress: LoadProgress): object {
  return Object.fromEntries(Object.entries(progress).map(([name, value]) => [toSnakeCase(name), value]));
}
