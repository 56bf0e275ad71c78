/** Errors for requests that do not match their schema. */
import type { z } from "@hono/zod-openapi";
import { InferyardError } from "../../contract/errors.ts";
import { issueProblems } from "../../models/validation/schema-problems.ts";
import { requestLimits } from "./request-limits.ts";
import { ellipsize } from "./ellipsize.ts";

/** Maximum length of the description of one fault. */
const faultCharacters = 300;

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
