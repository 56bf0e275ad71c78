/** A request that does not fit its schema: every problem in one error, in the words of the protocol's own error handler. */
import type { Hook } from "@hono/zod-openapi";
import { InferyardError } from "../errors.ts";
import { issueProblems } from "../models/schema-problems.ts";
import type { Env } from "./context.ts";

export const refuseInvalid: Hook<unknown, Env, string, unknown> = (result) => {
  if (result.success) return undefined;
  throw new InferyardError("INPUT_INVALID", `the request is not right: ${issueProblems(result.error.issues).join("; ")}`, {
    remedy: "correct it; GET /openapi.json describes every request",
    data: { path: result.error.issues[0]?.path.map(String) ?? [] },
  });
};
