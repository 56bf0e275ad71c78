/** Request fields that several routes under /api share. */
import { z } from "@hono/zod-openapi";
import { listOf, name } from "../../http/field-schemas.ts";
import { requestLimits } from "../../http/request-limits.ts";

/** Schema of the request field `model`: the name of a model; the default model of the server if left out. */
export const modelField: z.ZodOptional<z.ZodString> = name()
  .optional()
  .openapi({ description: "Name of a model. Default: the server's default model" });

/** Labels of the client's own, at most `limit`. */
export function labelsField(limit: number, description: string): z.ZodType<string[] | undefined> {
  return listOf(z.string().max(requestLimits.templateCharacters), { min: 1, max: limit }).optional().openapi({ description });
}

/** What to do with texts longer than the model reads. */
export const truncateField: z.ZodType<"cut" | "error" | undefined> = z
  .enum(["cut", "error"])
  .optional()
  .openapi({ description: "What to do with texts longer than the model reads. Default: cut" });
