/** Describes in sentences why a value does not match a zod schema. */
import * as z from "zod";
import { issueMessage } from "./issue-message.ts";
import { nearestName } from "./nearest-name.ts";

/**
 * Checks a value against a zod schema. Returns every problem as a sentence that begins with the path of the field; empty if the
 * value matches. Unknown keys get a suggestion.
 */
export function schemaProblems(schema: z.ZodType, value: unknown): string[] {
  const result = schema.safeParse(value, { error: issueMessage });
  return result.success ? [] : result.error.issues.flatMap((issue) => issueSentences(schema, issue));
}

/** The first 20 issues of a failed zod check as sentences, for a message. Unknown keys get no suggestion, since the schema is not known here. */
export function issueProblems(issues: readonly z.core.$ZodIssue[]): string[] {
  return issues.slice(0, maxIssues).map((issue) => `${formatPath(issue.path)}${issue.message}`);
}

const maxIssues = 20;

function issueSentences(schema: z.ZodType, issue: z.core.$ZodIssue): string[] {
  if (issue.code !== "unrecognized_keys") return [`${formatPath(issue.path)}${issue.message}`];
  const known = keysAt(schema, issue.path);
  return issue.keys.map((key) => {
    const guess = nearestName(key, known);
    const hint = guess === undefined ? `it may have ${known.join(", ")}` : `did you mean "${guess}"?`;
    return `${formatPath(issue.path)}unknown key "${key}" (${hint})`;
  });
}

function formatPath(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "" : `${path.map(String).join(".")}: `;
}

/** The keys that the object at `path` may have. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema;
  for (const step of [...path, undefined]) {
    while (at instanceof z.ZodExactOptional || at instanceof z.ZodOptional || at instanceof z.ZodNullable) at = at.unwrap();
    if (step === undefined) break;
    if (at instanceof z.ZodObject) at = at.shape[String(step)];
    else if (at instanceof z.ZodRecord) at = at.valueType;
    else if (at instanceof z.ZodArray) at = at.element;
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}
