/** Forms (multipart/form-data) with files in the field `file`: pictures or sounds, and the options of a task as other fields. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InferyardError } from "../../../contract/errors.ts";
import type { Option } from "../../../runtime/options/option.ts";
import { readForm } from "../../http/bodies/form-body.ts";
import type { Env } from "../../http/context.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import type { Route } from "../../http/routes/route.ts";
import { readFormFields } from "./form-fields.ts";

/** Files of a request, and its other fields. */
export interface MediaBody<Fields> {
  readonly files: readonly Uint8Array[];
  readonly fields: Fields;
}

/** What a form holds. */
export interface MediaForm<Schema extends z.ZodType> {
  /** The fields besides `file`. */
  readonly schema: Schema;
  /** The options that fields set, for the types of their values. */
  readonly options: Readonly<Record<string, Option>>;
  /** Maximum number of files. */
  readonly limit: number;
  /** Name of a file for the remedy of errors, such as "photo.jpg". */
  readonly example: string;
}

/** Reads a form. Throws INPUT_INVALID for a file in another field and for no file, and LIMIT_EXCEEDED for more than `limit` files. */
export async function readMediaForm<Schema extends z.ZodType>(
  context: Context<Env>,
  { schema, options, limit, example }: MediaForm<Schema>,
): Promise<MediaBody<z.infer<Schema>>> {
  const { files, texts } = await readForm(context);
  const remedy = `send each file as a field "file", as curl -F file=@${example} does`;
  const misplaced = files.find(({ field }) => field !== "file");
  if (misplaced !== undefined)
    throw new InferyardError("INPUT_INVALID", `the form has a file in its field "${misplaced.field}"`, { remedy });
  if (files.length === 0) throw new InferyardError("INPUT_INVALID", 'the form has no file in its field "file"', { remedy });
  if (files.length > limit)
    throw new InferyardError("LIMIT_EXCEEDED", `the form has ${files.length} files; the limit is ${limit}`, {
      remedy: limit === 1 ? "send one file" : "send fewer files at once",
      data: { value: files.length, limit },
    });
  return { files: files.map(({ bytes }) => bytes), fields: takeFields(context, readFormFields(texts, options), schema) };
}

/** The part of the OpenAPI document for a request that is JSON or a form. `name`: name of the form's component. */
export function jsonOrForm(
  json: z.ZodType,
  form: { readonly fields: z.core.$ZodLooseShape; readonly file: string; readonly name: string },
): NonNullable<Route["request"]> {
  const file = z.string().openapi({ format: "binary", description: form.file });
  return {
    body: {
      required: true,
      content: {
        "application/json": { schema: json },
        "multipart/form-data": { schema: z.object({ file, ...form.fields }).openapi(form.name) },
      },
    },
  };
}
