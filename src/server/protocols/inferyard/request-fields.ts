/** Request fields that several routes under /api share. */
import type { z } from "@hono/zod-openapi";
import { name } from "../../http/field-schemas.ts";

/** Schema of the request field `model`: the name of a model; the default model of the server if left out. */
export const modelField: z.ZodOptional<z.ZodString> = name()
  .optional()
  .openapi({ description: "Name of a model. Default: the server's default model" });
