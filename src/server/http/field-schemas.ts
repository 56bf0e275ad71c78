/**
 * Schemas of request fields that hold many elements or have several alternatives. The type is decided by looking at the value, the length is
 * compared with its limit before any element is read, and validation stops at the first fault, so that an error does not grow with the request.
 */
import { z } from "@hono/zod-openapi";
import { requestLimits } from "./request-limits.ts";

type Issue = z.core.$ZodRawIssue;
/** The JSON schema of a field in the OpenAPI document. */
type Documentation = Readonly<Record<string, unknown>>;

/** Limits of an array field. */
export interface ListLimits<Item> {
  /** Minimum number of elements. Default: 0. */
  readonly min?: number;
  /** Maximum number of elements. Default: unlimited here, since the limits on the whole body apply. */
  readonly max?: number;
  /** Whether an element is valid, where that can be checked without running the schema. Default: the schema decides. */
  readonly fits?: (item: unknown) => item is Item;
}

/** An array whose elements match `item`. The array is not copied. */
export function listOf<Item>(
  item: z.ZodType<Item>,
  { min = 0, max = Number.POSITIVE_INFINITY, fits }: ListLimits<Item> = {},
): z.ZodType<Item[]> {
  const check = (value: unknown): Issue | undefined => {
    if (!Array.isArray(value)) return mismatchIssue(value, "an array");
    if (value.length > max) return tooLong(value, max, `has ${value.length} elements, and the limit is ${max}`);
    if (value.length < min) return { code: "too_small", origin: "array", minimum: min, inclusive: true, input: value };
    for (const [index, element] of value.entries()) {
      if (fits?.(element) === true) continue;
      const issue = firstIssue(item, element);
      if (issue !== undefined) return { ...issue, path: [index, ...(issue.path ?? [])] };
    }
    return undefined;
  };
  const bounds = { ...(min === 0 ? {} : { minItems: min }), ...(Number.isFinite(max) ? { maxItems: max } : {}) };
  return customSchema(check, { type: "array", items: jsonSchemaOf(item), ...bounds });
}

/** One of several schemas of a field, and the test that selects it for a value. */
export interface Alternative<Value> {
  readonly schema: z.ZodType<Value>;
  readonly fits: (value: unknown) => boolean;
}

/**
 * A field with several alternatives: the first whose test accepts the value validates it, and only its faults are reported. `expected` describes
 * the alternatives for the error of a value that fits none.
 */
export function oneOf<Value>(expected: string, shapes: readonly Alternative<Value>[]): z.ZodType<Value> {
  const check = (value: unknown): Issue | undefined => {
    const shape = shapes.find(({ fits }) => fits(value));
    return shape === undefined ? mismatchIssue(value, expected) : firstIssue(shape.schema, value);
  };
  return customSchema(check, { anyOf: shapes.map(({ schema }) => jsonSchemaOf(schema)) });
}

/** An alternative for arrays, selected by the first element; an empty array selects the first such alternative. */
export function arrayAlternative<Value>(schema: z.ZodType<Value>, fits: (first: unknown) => boolean): Alternative<Value> {
  return { schema, fits: (value) => Array.isArray(value) && (value.length === 0 || fits(value[0])) };
}

/** Whether the value is a string. */
export const isText = (value: unknown): value is string => typeof value === "string";
const isId = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
/** Whether the value is a number. */
export const isNumber = (value: unknown): boolean => typeof value === "number";

/** The alternative for a single string. */
export const text: Alternative<string> = { schema: z.string(), fits: isText };

/** Schema of an array of texts with at least `min` and at most `max` entries. */
export function texts(max: number, min = 0): z.ZodType<string[]> {
  return listOf(z.string(), { min, max, fits: isText });
}

/** Schema of the token ids of one text; each is an integer of at least `min`. */
export function tokenIds(min = 0): z.ZodType<number[]> {
  return listOf(z.int().nonnegative(), { min, max: requestLimits.tokenIds, fits: isId });
}

/** A name: of a model, a prompt or an output. */
export function name(): z.ZodString {
  return z.string().max(requestLimits.nameCharacters);
}

/**
 * An object with arbitrary members, which is not copied. `max`: maximum number of members. Default: unlimited here, since the limits on the whole
 * body apply. `properties`: the JSON schemas of members that the OpenAPI document names; they are not checked here.
 */
export function members(max: number = Number.POSITIVE_INFINITY, properties?: Documentation): z.ZodType<Record<string, unknown>> {
  const check = (value: unknown): Issue | undefined => {
    if (!isObject(value)) return mismatchIssue(value, "an object");
    let count = 0;
    for (const _member in value) {
      count += 1;
      if (count > max) return tooLong(value, max, `has more than ${max} members`);
    }
    return undefined;
  };
  return customSchema(check, {
    type: "object",
    ...(properties === undefined ? { additionalProperties: {} } : { properties, additionalProperties: true }),
    ...(Number.isFinite(max) ? { maxProperties: max } : {}),
  });
}

/** An object whose members match `item`. It is not copied. */
export function membersOf<Item>(item: z.ZodType<Item>): z.ZodType<Record<string, Item>> {
  const check = (value: unknown): Issue | undefined => {
    if (!isObject(value)) return mismatchIssue(value, "an object");
    for (const [key, member] of Object.entries(value)) {
      const issue = firstIssue(item, member);
      if (issue !== undefined) return { ...issue, path: [key, ...(issue.path ?? [])] };
    }
    return undefined;
  };
  return customSchema(check, { type: "object", additionalProperties: jsonSchemaOf(item) });
}

/** Whether the value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The schema of a request, or of an object in one: unknown members are refused, and members that are null count as absent, as `nullAsAbsent`
 * says.
 */
export function requestObject<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodPreprocess<z.ZodObject<{ -readonly [Key in keyof Shape]: Shape[Key] }, z.core.$strict>> {
  return nullAsAbsent(z.strictObject(shape));
}

/**
 * The object's schema, for values whose members may be null: such a member counts as absent, whether or not the schema knows it, since many
 * clients write null for what they do not set. Only a required member is refused for being null.
 */
export function nullAsAbsent<Schema extends z.ZodObject>(schema: Schema): z.ZodPreprocess<Schema> {
  const required = new Set(Object.keys(schema.shape).filter((key) => !z.safeParse(schema.shape[key], undefined).success));
  return z.preprocess((value) => {
    if (!isObject(value) || !Object.values(value).includes(null)) return value;
    return Object.fromEntries(Object.entries(value).filter(([key, member]) => member !== null || required.has(key)));
  }, schema);
}

/** An array whose elements are validated later. It is not copied. */
export function anyList(): z.ZodType<unknown[]> {
  return customSchema((value) => (Array.isArray(value) ? undefined : mismatchIssue(value, "an array")), {
    type: "array",
    items: {},
  });
}

function firstIssue(schema: z.ZodType, value: unknown): Issue | undefined {
  const result = schema.safeParse(value);
  const [issue] = result.success ? [] : result.error.issues;
  return issue === undefined ? undefined : ({ ...issue, input: value } as Issue);
}

function customSchema<Value>(check: (value: unknown) => Issue | undefined, documentation: Documentation): z.ZodType<Value> {
  const checked = z
    .unknown() // the OpenAPI generator accepts it as it is
    .check((context) => {
      const issue = check(context.value);
      if (issue !== undefined) context.issues.push(issue);
    })
    .openapi(documentation)
    .meta(documentation); // for the JSON schema of an enclosing schema
  return checked as z.ZodType as z.ZodType<Value>;
}

function jsonSchemaOf(schema: z.ZodType): Documentation {
  const { $schema: _dialect, ...shape } = z.toJSONSchema(schema, { unrepresentable: "any" });
  return shape;
}

function mismatchIssue(value: unknown, expected: string): Issue {
  return { code: "custom", input: value, message: `Invalid input: expected ${expected}, received ${kindOf(value)}` };
}

function tooLong(value: unknown, max: number, message: string): Issue {
  return { code: "too_big", origin: "array", maximum: max, inclusive: true, input: value, message };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
