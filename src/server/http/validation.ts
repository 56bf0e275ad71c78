/** Errors for requests that do not match their schema. */
import type { Hook, z } from "@hono/zod-openapi";
import { InferyardError } from "../../contract/errors.ts";
import { describeIssue } from "../../models/validation/issue-message.ts";
import { issueProblems } from "../../models/validation/schema-problems.ts";
import type { Env } from "./context.ts";
import { requestLimits } from "./request-limits.ts";
import { ellipsize } from "./ellipsize.ts";

/** Maximum length of the description of one fault. */
const faultCharacters = 300;

/** Hook of a router: throws the error for a request that does not match the schema of its route. */
export const refuseInvalid: Hook<unknown, Env, string, unknown> = (result) => {
  if (result.success) return undefined;
  const { data, error } = result as typeof result & { readonly data: unknown };
  throw invalidRequest(error.issues.map((issue) => withMessage(issue, data)));
};

/** The issue with the message of `describeIssue`; the schemas' own messages, which have the code "custom", are kept. `request`: the value checked. */
function withMessage(issue: z.core.$ZodIssue, request: unknown): z.core.$ZodIssue {
  const input = issue.path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], request);
  return { ...issue, message: describeIssue(issue, input) ?? issue.message };
}

/**
 * The error for the given schema issues: LIMIT_EXCEEDED if the first one is a length limit, else INPUT_INVALID. The message names the first few
 * faults and counts the rest. `remedy`: for INPUT_INVALID.
 */
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
    `the request is invalid: ${[...named, ...more].join("; ")}`,
    {
      remedy: isLimit ? "send less at once" : remedy,
      data: { path },
    },
  );
}
