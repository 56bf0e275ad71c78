/** Requests with a sound: forms with a file, or JSON. */
import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Option } from "../../runtime/options/option.ts";
import { isForm, readForm } from "../http/bodies/form-body.ts";
import type { Env } from "../http/context.ts";
import { takeFields } from "../http/fields/take-fields.ts";
import { jsonBody, refuseOtherTypes } from "../http/json-body.ts";
import { asNumber, readFormFields } from "./media/form-fields.ts";
import { soundOfText } from "./media/sound-text.ts";

/** The sound of a request, and its other fields. */
export interface SpeechBody<Fields> {
  readonly sound: Uint8Array;
  readonly fields: Fields;
}

/** The file in the field `file` of a form, and the other fields as `parse` reads them. Throws INPUT_INVALID for none or several files. */
export async function readSpeechForm<Schema extends z.ZodType>(
  context: Context<Env>,
  schema: Schema,
  parse: (texts: Readonly<Record<string, readonly string[]>>) => Record<string, unknown>,
): Promise<SpeechBody<z.infer<Schema>>> {
  const { files, texts } = await readForm(context);
  const [file, ...others] = files;
  if (file === undefined || file.field !== "file" || others.length > 0)
    throw new InferyardError("INPUT_INVALID", `the form has ${files.length} files, and one in its field "file" is needed`, {
      remedy: "send the sound as curl -F file=@talk.wav does",
    });
  return { sound: file.bytes, fields: takeFields(context, parse(texts), schema) };
}

/** A form with a file, or JSON with the sound in `audio`: base64, or a data URL. */
export async function readSpeech<Schema extends z.ZodType<{ readonly audio: string }>>(
  context: Context<Env>,
  schemas: { readonly json: Schema; readonly form: z.ZodType },
  options: Readonly<Record<string, Option>>,
): Promise<SpeechBody<Omit<z.infer<Schema>, "audio">>> {
  if (isForm(context)) {
    const { sound, fields } = await readSpeechForm(context, schemas.form, (texts) => parseFields(texts, options));
    return { sound, fields: fields as Omit<z.infer<Schema>, "audio"> }; // the schema of forms has the other fields of the schema of JSON
  }
  refuseOtherTypes(context);
  const { audio, ...fields } = takeFields(context, await jsonBody(context), schemas.json);
  return { sound: soundOfText(audio, "audio"), fields };
}

/** The fields of a form with the types that JSON would have. `temperature` may be a list, with commas between its numbers. */
function parseFields(
  texts: Readonly<Record<string, readonly string[]>>,
  options: Readonly<Record<string, Option>>,
): Record<string, unknown> {
  const text = texts["temperature"]?.at(-1);
  const temperature =
    text?.includes(",") === true ? text.split(",").map(asNumber) : text === undefined ? undefined : asNumber(text);
  return { ...readFormFields(texts, options), ...omitUndefined({ temperature }) };
}
