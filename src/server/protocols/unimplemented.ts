/**
 * Routes that clients of a protocol know and this version does not implement. They are documented, and respond with an error in the format of the
 * protocol.
 */
import { z } from "@hono/zod-openapi";
import { InferyardError } from "../../contract/errors.ts";
import type { Routes } from "../http/context.ts";
import { routerPath } from "../http/routes.ts";
import { jsonContent } from "../http/error-responses.ts";

/** Adds routes that respond with NOT_BUILT. `paths`: the summary of each path. */
export function addUnimplemented(routes: Routes, paths: Readonly<Record<string, string>>, errorBody: z.ZodType): void {
  for (const [path, summary] of Object.entries(paths)) {
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, z.string()]);
    routes.openAPIRegistry.registerPath({
      method: "post",
      path,
      ...(parameters.length === 0 ? {} : { request: { params: z.object(Object.fromEntries(parameters)) } }),
      summary: `${summary}: not built yet`,
      responses: { 501: jsonContent("This route is not built yet", errorBody) },
    });
    routes.post(routerPath(path), (context) => {
      throw new InferyardError(
        "NOT_BUILT",
        `POST ${context.req.path} is not built yet: no task of this version reads images or sound`,
        {
          remedy:
            "run such a model on tensors of your own: POST /v2/models/NAME/infer; GET /openapi.json describes the routes there are",
        },
      );
    });
  }
}
