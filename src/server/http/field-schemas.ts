/**
 * Schemas of request fields that hold many elements or have several alternatives. The type is decided by looking at the value, the length is
 * compared with its limit before any element is read, and validation stops at the first fault, so that an error does not grow with the request.
 */
import { z } from "@hono/zod-openapi";
import { isObject } from "../../contract/shapes/shape.ts";
import { describeValue } from "../../models/validation/issue-message.ts";
import { ElementIssues, type Issue, type SchemaRun, runSchema } from "./fields/schema-run.ts";
import { requestLimits } from "./request-limits.ts";

/** The JSON schema of a field in the OpenAPI document. */
type Documentation = Readonly<Record<string, unknown>>;

/** Limits of an array field. */
export interface ListLimits<Item> {
  /** Minimum number of elements. Default: 0. */
  readonly min?: number;
  /** Maximum number of elements. Default: unlimited here, since the limits on the whole body apply. */
  readonly max?: number;
  /** How many elements one counts for. Default: one. */
  readonly getWeight?: (item: unknown) => number;
  /** Whether an element is valid, where that can be checked without running the schema. Default: the schema decides. */
  readonly fits?: (item: unknown) => item is Item;
}

/** An array whose elements match `item`. The array is copied only where the schema changes an element. */
export function listField<Item>(
  item: z.ZodType<Item>,
  { min = 0, max = Number.POSITIVE_INFINITY, getWeight, fits }: ListLimits<Item> = {},
): z.ZodType<Item[]> {
  const read = (value: unknown): SchemaRun => {
    if (!Array.isArray(value)) return faulty(value, mismatchIssue(value, "an array"));
    if (value.length > max) return faulty(value, tooLong(value, max, `has ${value.length} elements, and the limit is ${max}`));
    if (getWeight !== undefined && isHeavier(value, max, getWeight))
      return faulty(value, tooLong(value, max, `has more than ${max} elements, with those in them`));
    if (value.length < min)
      return faulty(value, { code: "too_small", origin: "array", minimum: min, inclusive: true, input: value });
    const found = new ElementIssues();
    let list: unknown[] = value;
    for (const [index, element] of value.entries()) {
      if (fits?.(element) === true) continue;
      const run = runSchema(item, element);
      if (found.add(index, run.issues)) break;
      if (run.value === element) continue;
      if (list === value) list = [...(value as unknown[])];
      list[index] = run.value;
    }
    return { value: list, issues: found.issues };
  };
  const bounds = { ...(min === 0 ? {} : { minItems: min }), ...(Number.isFinite(max) ? { maxItems: max } : {}) };
  return customSchema(read, { type: "array", items: toJsonSchema(item), ...bounds });
}

/** The messages of a conversation. Each counts with the parts of its content and its calls: to read one takes time of the server's thread. */
export function conversation<Message>(message: z.ZodType<Message>, min: number = 1): z.ZodType<Message[]> {
  const getWeight = (item: unknown): number =>
    isObject(item) ? Object.values(item).reduce<number>((sum, field) => sum + (Array.isArray(field) ? field.length : 0), 1) : 1;
  return listField(message, { min, max: requestLimits.messages, getWeight });
}

function isHeavier(items: readonly unknown[], max: number, weightOf: (item: unknown) => number): boolean {
  let weight = 0;
  return items.some((item) => (weight += weightOf(item)) > max);
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
export function oneOfFields<Value>(expected: string, shapes: readonly Alternative<Value>[]): z.ZodType<Value> {
  const read = (value: unknown): SchemaRun => {
    const shape = shapes.find(({ fits }) => fits(value));
    return shape === undefined ? faulty(value, mismatchIssue(value, expected)) : runSchema(shape.schema, value);
  };
  return customSchema(read, { anyOf: shapes.map(({ schema }) => toJsonSchema(schema)) });
}

/** An alternative for arrays, selected by the first element; an empty array selects the first such alternative. */
export function arrayAlternative<Value>(schema: z.ZodType<Value>, fits: (first: unknown) => boolean): Alternative<Value> {
  return { schema, fits: (value) => Array.isArray(value) && (value.length === 0 || fits(value[0])) };
}

/** Whether the value is a string. */
export const isText = (value: unknown): value is string => typeof value === "string";
const isId = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
/** Whether the value is a number. */
export const isNumberField = (value: unknown): boolean => typeof value === "number";

/** The alternative for a single string. */
export const textField: Alternative<string> = { schema: z.string(), fits: isText };

/** Schema of an array of texts with at least `min` and at most `max` entries. */
export function texts(max: number, min = 0): z.ZodType<string[]> {
  return listField(z.string(), { min, max, fits: isText });
}

/** Schema of the token ids of one text; each is an integer of at least `min`. */
export function tokenIds(min = 0): z.ZodType<number[]> {
  return listField(z.int().nonnegative(), { min, max: requestLimits.tokenIds, fits: isId });
}

/** A name: of a model, a prompt or an output. */
export function nameField(): z.ZodString {
  return z.string().max(requestLimits.nameCharacters);
}

/** Schema of the request field `model`: the name of a model. */
export const modelField: z.ZodOptional<z.ZodString> = nameField()
  .optional()
  .openapi({ description: "Name of a model. Default: the server's default model" });

/** The same for routes of servers that have one model. */
export const headerModelField: z.ZodOptional<z.ZodString> = nameField()
  .optional()
  .openapi({ description: "Name of a model. Default: that of x-inferyard-model, or the default model" });

/**
 * An object with arbitrary members, which is not copied. `max`: maximum number of members. Default: unlimited here, since the limits on the whole
 * body apply. `properties`: the JSON schemas of members that the OpenAPI document names; they are not checked here.
 */
export function members(max: number = Number.POSITIVE_INFINITY, properties?: Documentation): z.ZodType<Record<string, unknown>> {
  const read = (value: unknown): SchemaRun => {
    if (!isObject(value)) return faulty(value, mismatchIssue(value, "an object"));
    let count = 0;
    for (const _member in value) {
      count += 1;
      if (count > max) return faulty(value, tooLong(value, max, `has more than ${max} members`));
    }
    return { value, issues: [] };
  };
  return customSchema(read, {
    type: "object",
    ...(properties === undefined ? { additionalProperties: {} } : { properties, additionalProperties: true }),
    ...(Number.isFinite(max) ? { maxProperties: max } : {}),
  });
}

/** An object whose members match `item`. It is copied only where the schema changes a member. */
export function memberRecord<Item>(item: z.ZodType<Item>): z.ZodType<Record<string, Item>> {
  const read = (value: unknown): SchemaRun => {
    if (!isObject(value)) return faulty(value, mismatchIssue(value, "an object"));
    const found = new ElementIssues();
    const changed: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value)) {
      const run = runSchema(item, member);
      if (found.add(key, run.issues)) break;
      if (run.value !== member) changed.push([key, run.value]);
    }
    return { value: changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) }, issues: found.issues };
  };
  return customSchema(read, { type: "object", additionalProperties: toJsonSchema(item) });
}

/**
 * The schema of a request, or of an object in one. Unknown members are left out and reported by issues of zod's code `unrecognized_keys`, which `takeFields`
 * handles as ignored fields or as faults. Members that are null count as absent, as `nullAsAbsent` describes.
 */
export function requestObject<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodPreprocess<z.ZodObject<{ -readonly [Key in keyof Shape]: Shape[Key] }, z.core.$strict>> {
  return nullAsAbsent(z.strictObject(shape));
}

/**
 * The object's schema, for values whose members may be null: such a member counts as absent, known or unknown, since many clients write null for members that
 * they do not set. Only a required member is refused for being null.
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
  const read = (value: unknown): SchemaRun =>
    Array.isArray(value) ? { value, issues: [] } : faulty(value, mismatchIssue(value, "an array"));
  return customSchema(read, { type: "array", items: {} });
}

function faulty(value: unknown, issue: Issue): SchemaRun {
  return { value, issues: [issue] };
}

function customSchema<Value>(read: (value: unknown) => SchemaRun, documentation: Documentation): z.ZodType<Value> {
  const checked = z
    .unknown() // the OpenAPI generator accepts it as it is
    .check((context) => {
      const { value, issues } = read(context.value);
      context.value = value;
      context.issues.push(...issues);
    })
    .openapi(documentation)
    .meta(documentation); // for the JSON schema of an enclosing schema
  return checked as z.ZodType as z.ZodType<Value>;
}

function toJsonSchema(schema: z.ZodType): Documentation {
  const { $schema: _dialect, ...shape } = z.toJSONSchema(schema, { unrepresentable: "any" });
  return shape;
}

function mismatchIssue(value: unknown, expected: string): Issue {
  return { code: "custom", input: value, message: `must be ${expected}, and is ${describeValue(value)}` };
}

function tooLong(value: unknown, max: number, message: string): Issue {
  return { code: "too_big", origin: "array", maximum: max, inclusive: true, input: value, message };
}
