/** The messages of zod issues: what the value must be, and what it is. */
import type * as z from "zod";

/** Maximum length of a quoted string in UTF-16 units. Longer ones may be texts of users, which error messages do not repeat. */
const maxQuotedLength = 40;

/** Maximum number of allowed values that a message lists. */
const maxListedValues = 40;

/** Messages of zod's own checks; the messages of the schemas are kept. To be passed to zod as `error`. */
export function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  return describeIssue(issue as z.core.$ZodIssue, issue.input);
}

/** The message of an issue about the value `input`: `must be at most 2, and is 5`. Undefined for issues of checks that have a message of their own. */
export function describeIssue(issue: z.core.$ZodIssue, input: unknown): string | undefined {
  if (issue.code === "unrecognized_keys") return `unknown field ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
  const expectation = describeExpectation(issue);
  return expectation === undefined ? undefined : `must ${expectation}, and is ${describeValue(input)}`;
}

/** A value in a message: a number, a short string in quotes, the length of an array or of a longer string. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string")
    return value.length > maxQuotedLength ? `a string of ${value.length} characters` : JSON.stringify(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`;
  if (value === null) return "null";
  if (typeof value === "object") return "an object";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : typeof value;
}

/** What a value must do to fulfil the schema, as a verb with its object: "be a string", "have at most 3 elements". */
function describeExpectation(issue: z.core.$ZodIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `be ${describeType(issue.expected)}`;
    case "invalid_value": {
      const values = issue.values.map((value) => (typeof value === "string" ? JSON.stringify(value) : String(value)));
      const more = values.length > maxListedValues ? [`${values.length - maxListedValues} more`] : [];
      return `be ${values.length === 1 ? "" : "one of "}${[...values.slice(0, maxListedValues), ...more].join(", ")}`;
    }
    case "too_big":
      return describeBound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum);
    case "too_small":
      return describeBound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
    case "not_multiple_of":
      return `be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return issue.pattern === undefined ? `be a valid ${issue.format}` : `match ${issue.pattern}`;
    case "invalid_union":
      return describeAlternatives(issue.errors);
    case "unrecognized_keys":
    case "invalid_key":
    case "invalid_element":
    case "custom":
      return undefined;
    default:
      return issue satisfies never;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  int: "a whole number",
  object: "an object",
  record: "an object",
  null: "null",
  undefined: "left out",
};

function describeType(expected: string): string {
  return typeNames[expected] ?? `a ${expected}`;
}

function describeBound(origin: string, comparison: string, bound: number | bigint): string {
  const units: Readonly<Record<string, string>> = { string: "character", array: "element", set: "element" };
  const unit = units[origin];
  if (unit === undefined) return `be ${comparison} ${bound}`;
  return `have ${comparison} ${bound} ${unit}${Number(bound) === 1 ? "" : "s"}`;
}

/** What one of the alternatives of a union expects; of an alternative whose type fits, what the first part that does not fit must do. */
function describeAlternatives(alternatives: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const described = alternatives.flatMap((issues) => {
    const [issue] = issues;
    const expectation = issue === undefined ? undefined : describeExpectation(issue);
    if (issue === undefined || expectation === undefined) return [];
    return [issue.path.length === 0 ? expectation : `have an element ${issue.path.join(".")} that must ${expectation}`];
  });
  return described.length === 0 ? undefined : [...new Set(described)].join(", or ");
}
