/** Reads requests by their schemas: fields that a schema does not know are left out and named, or refused where fields are strict. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { issueMessage } from "../../../models/validation/issue-message.ts";
import type { Env } from "../context.ts";
import { invalidRequest } from "../validation.ts";
import { ignoredHeader } from "./ignored-fields.ts";
import { getIgnorable, getMediaFields, runSchema } from "./schema-run.ts";

/** Options of reading a request. */
export interface FieldOptions {
  /** Whether fields that the schema does not know make the request invalid. Default: as the server is set. */
  readonly strict?: boolean;
  /** Path of the value in the request. Default: the value is the request. */
  readonly at?: readonly PropertyKey[];
  /** Remedy of INPUT_INVALID. */
  readonly remedy?: string;
}

const mediaRemedy =
  "send text: this part of a request takes neither pictures nor sounds; GET /openapi.json describes every request";

/**
 * The value as the schema has it. Fields that the schema does not know become ignored fields of the request; where fields are strict, they are faults like
 * others. Throws INPUT_INVALID and LIMIT_EXCEEDED.
 */
export function takeFields<Schema extends z.ZodType>(
  context: Context<Env>,
  given: unknown,
  schema: Schema,
  { strict = context.get("strictFields"), at = [], remedy }: FieldOptions = {},
): z.infer<Schema> {
  const { value, issues } = runSchema(schema, given);
  const faults = strict ? issues : issues.filter((issue) => getIgnorable(issue) === undefined);
  if (faults.length > 0) {
    const hasMedia = !strict && faults.some((issue) => getMediaFields(issue).length > 0);
    const finalized = faults.map((issue) => {
      const media = strict ? [] : getMediaFields(issue);
      const named = media.length === 0 ? issue : { ...issue, keys: [...media] };
      return z.core.util.finalizeIssue(
        { ...named, path: [...at, ...(issue.path ?? [])] },
        { error: issueMessage },
        z.core.config(),
      );
    });
    throw invalidRequest(finalized, remedy ?? (hasMedia ? mediaRemedy : undefined));
  }
  const ignored = context.get("ignoredFields");
  for (const issue of issues) {
    const { paths = [], unnamed = 0 } = getIgnorable(issue) ?? {};
    for (const path of paths) ignored.add([...at, ...path]);
    ignored.addUnnamed(unnamed);
  }
  nameIgnoredFields(context);
  return value as z.infer<Schema>;
}

/** Records a part of a request as ignored: its path, and which effect it does not have. */
export type IgnorePart = (path: readonly PropertyKey[], problem: string) => void;

/** The function for the parts of one request. It throws INPUT_INVALID with the problem where fields are strict. */
export function partIgnorer(context: Context<Env>): IgnorePart {
  return (path, problem) => {
    if (context.get("strictFields"))
      throw invalidRequest([{ code: "custom", path: [...path], message: problem, input: undefined }]);
    context.get("ignoredFields").add(path);
    nameIgnoredFields(context);
  };
}

/** Sets the header before the response exists: setting it later would copy the response. */
function nameIgnoredFields(context: Context<Env>): void {
  const ignored = context.get("ignoredFields");
  if (ignored.count > 0) context.header(ignoredHeader, ignored.names.join(","));
}
