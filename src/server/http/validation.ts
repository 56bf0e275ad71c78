/** A request that does not fit its schema: the first faults in one error, in the words of the protocol's own error handler. */
import type { Hook, z } from "@hono/zod-openapi";
import { InferyardError } from "../../errors.ts";
import { issueProblems } from "../../models/validation/schema-problems.ts";
import type { Env } from "./context.ts";
import { requestLimits } from "./request-limits.ts";
import { ellipsize } from "./ellipsize.ts";

const faultCharacters = 300;

export const refuseInvalid: Hook<unknown, Env, string, unknown> = (result) => {
  if (result.success) return undefined;
  throw invalidRequest(result.error.issues);
};

/** LIMIT_EXCEEDED where something is too long, else INPUT_INVALID. Names a few faults and how many more there are. */
export function invalidRequest(
  issues: readonly z.core.$ZodIssue[],
  remedy = "correct it; GET /openapi.json describes every request",
): InferyardError {
  const [first] = issues;
  const named = issueProblems(issues.slice(0, requestLimits.faults)).map((problem) => ellipsize(problem, faultCharacters));
  const more = issues.length > named.length ? [`and ${issues.length - named.length} more`] : [];
  const isLimit = first?.code === "too_big" && (first.origin === "array" || first.origin === "string");
  const path = first?.path.slice(0, 8).map((step) => ellipsize(String(step), 80)) ?? [];
  return new InferyardError(
    isLimit ? "LIMIT_EXCEEDED" : "INPUT_INVALID",
    `the request is not right: ${[...named, ...more].join("; ")}`,
    {
      remedy: isLimit ? "send less at once" : remedy,
      data: { path },
    },
  );
}
