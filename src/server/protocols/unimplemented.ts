/**
 * Routes that clients of a protocol know and this version does not implement. They are documented, and respond with an error in the format of the
 * protocol.
 */
import { InferyardError } from "../../contract/errors.ts";
import type { ErrorFormat } from "../http/error-format.ts";
import { jsonContent } from "../http/error-responses.ts";
import type { Route } from "../http/routes/route.ts";

/** Routes that respond with NOT_BUILT. `paths`: the summary of each path. */
export function unimplementedRoutes({ schema }: ErrorFormat, paths: Readonly<Record<string, string>>): Route[] {
  return Object.entries(paths).map(([path, summary]) => ({
    method: "post",
    path,
    summary: `${summary}: not built yet`,
    errors: [],
    responses: { 501: jsonContent("This route is not built yet", schema) },
    answer: (context) => {
      throw new InferyardError(
        "NOT_BUILT",
        `POST ${context.req.path} is not built yet: no task of this version reads images or sound`,
        {
          remedy:
            "run such a model on tensors of your own: POST /v2/models/NAME/infer; GET /openapi.json describes the routes there are",
        },
      );
    },
  }));
}
