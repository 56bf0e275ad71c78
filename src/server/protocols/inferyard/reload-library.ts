/** POST /api/library/reload: replaces the native library that models run on, while they serve. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { ReloadReport } from "../../../runtime/reloading/reload-report.ts";
import { getCaller } from "../../http/context.ts";
import { requestObject } from "../../http/field-schemas.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { requireAdmin } from "./admin.ts";
import { documentedType } from "./documented-type.ts";

const request = requestObject({
  path: z.string().min(1).max(4096).optional().openapi({
    description:
      "Path of the new library on the machine of the server, for a key whose role is admin. Default: the file in use, which was built anew",
    example: "/opt/llama.cpp/build/bin/libllama.so",
  }),
  tolerance: z.number().min(0).max(1).optional().openapi({
    description:
      "Largest difference of a logit from that of the old library, as a part of the range of the logits. Default: 0.02",
  }),
}).openapi("ReloadLibraryRequest");

const file = z.object({
  name: z.string(),
  version: z.string(),
  path: z.string(),
  sha256: z.string(),
  files: z.array(z.object({ name: z.string(), sha256: z.string() })).describe("The library, then what it loads from its folder"),
});
const comparison = z.object({
  prompts: z.int(),
  positions: z.int(),
  ties: z.int(),
  maxDifference: z.number(),
  tolerance: z.number(),
});
const model = z.object({
  reference: z.string(),
  target: z.string(),
  decisions: z.object({ before: z.string(), after: z.string() }),
  comparison,
});
const report = documentedType<ReloadReport>(
  "ReloadReport",
  z.toJSONSchema(
    z.object({
      backend: z.string(),
      before: file.nullable().describe("The library before; null: there was none"),
      after: file,
      validation: z.array(z.string()).describe("What the new library computed on each device"),
      models: z.array(model).describe("The models that moved to the new library, and how its answers compare"),
      milliseconds: z.object({ validation: z.number(), models: z.number(), drain: z.number(), total: z.number() }),
    }),
  ),
);

/** `POST /api/library/reload`, for admins. */
export function reloadLibraryRoute(service: Service): Route {
  return post({
    path: "/api/library/reload",
    summary: "Replace the native library of the backend `library` while models serve (admins)",
    schema: request,
    response: report,
    answer: async ({ path, tolerance }, context) => {
      requireAdmin(context);
      const { anyReference, signal } = getCaller(context);
      // A library runs code in this machine's name: web pages and other users of the machine, who have no key, may not choose one.
      if (path !== undefined && anyReference !== true) {
        throw new InferyardError("FORBIDDEN", "a path was given, and only a key with the role admin may choose a library", {
          remedy: "leave out path to reload the file in use, or present a key whose role is admin",
        });
      }
      return context.json(await service.runtime.reloadLibrary(path, { ...omitUndefined({ tolerance }), signal }), 200);
    },
  });
}
