/** Routes that clients know and this version has nothing behind: they say so in the words of their protocol, and the document lists them. */
import type { z } from "@hono/zod-openapi";
import { InferyardError } from "../../errors.ts";
import type { Routes } from "../http/context.ts";
import { documentError } from "../http/error-responses.ts";

/** `paths` with what each would do. */
export function addUnimplemented(routes: Routes, paths: Readonly<Record<string, string>>, errorBody: z.ZodType): void {
  for (const [path, summary] of Object.entries(paths)) {
    routes.openAPIRegistry.registerPath({
      method: "post",
      path,
      summary: `${summary}: not built yet`,
      responses: { 501: documentError(errorBody, "Nothing is behind this route yet") },
    });
    routes.post(path, () => {
      throw new InferyardError(
        "NOT_BUILT",
        `POST ${path} is not built yet: this version has no language, vision or speech models`,
        {
          remedy: "GET /openapi.json describes the routes there are",
        },
      );
    });
  }
}
