/** Progress of a load in responses: in the error MODEL_LOADING of every protocol, and of POST /api/models/{name}/load. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../contract/checked.ts";
import type { LoadProgress, LoadStage } from "../serving/load-progress.ts";

/** Progress of a load in snake case; the fields are as in `LoadProgress`. */
export interface LoadProgressBody {
  readonly stage: LoadStage;
  readonly elapsed_ms: number;
  readonly bytes?: number;
  readonly total_bytes?: number;
  readonly progress?: number;
  readonly estimate_ms?: number;
}

/** Schema of the progress of a load in a response, for the OpenAPI document. */
export const loadProgressSchema: z.ZodType<LoadProgressBody> = z
  .object({
    stage: z.enum(["preparing", "downloading", "loading"]),
    elapsed_ms: z.number().openapi({ description: "Since the load began" }),
    bytes: z.number().optional().openapi({ description: "Fetched so far" }),
    total_bytes: z.number().optional(),
    progress: z.number().optional().openapi({ description: "From 0 to 1, of this stage, where it is known" }),
    estimate_ms: z.number().optional().openapi({ description: "Until this stage is over, where earlier loads tell" }),
  })
  .openapi("LoadProgress", { description: "Of a model that is still loading" }) as z.ZodType<LoadProgressBody>;

/** The progress as a response has it. */
export function loadProgressBody({ stage, elapsedMs, bytes, totalBytes, progress, estimateMs }: LoadProgress): LoadProgressBody {
  return {
    stage,
    elapsed_ms: elapsedMs,
    ...omitUndefined({ bytes, total_bytes: totalBytes, progress, estimate_ms: estimateMs }),
  };
}
