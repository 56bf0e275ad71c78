/** Requests with a sound: forms with a file, or JSON. */
import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InferyardError } from "../../contract/errors.ts";
import { decodeBase64 } from "../../platform/base64.ts";
import { soundError } from "../../processors/audio/sound.ts";
import type { Option } from "../../runtime/options/option.ts";
import { isForm, readForm } from "../http/bodies/form-body.ts";
import type { Env } from "../http/context.ts";
import { takeFields } from "../http/fields/take-fields.ts";
import { jsonBody, refuseOtherTypes } from "../http/json-body.ts";
import { toSnakeCase } from "../http/snake-case.ts";

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
    const { sound, fields } = await readSpeechForm(context, schemas.form, (texts) => parseOptions(texts, options));
    return { sound, fields: fields as Omit<z.infer<Schema>, "audio"> }; // the schema of forms has the other fields of the schema of JSON
  }
  refuseOtherTypes(context);
  const { audio, ...fields } = takeFields(context, await jsonBody(context), schemas.json);
  return { sound: decodeSound(audio), fields };
}

/** The bytes of base64 or of a data URL in base64. */
function decodeSound(audio: string): Uint8Array {
  const encoded = /^data:[^,]*;base64,/i.test(audio.slice(0, 200)) ? audio.slice(audio.indexOf(",") + 1) : audio;
  if (/^[a-z][a-z0-9+.-]*:/i.test(encoded.slice(0, 100)))
    throw soundError(
      "audio is an address, and addresses are not fetched",
      "send the sound in base64, or as a data URL in base64",
    );
  try {
    return decodeBase64(encoded);
  } catch {
    throw soundError("audio is not base64", "send the sound in base64, or as a data URL in base64");
  }
}

/** The fields of a form with the types that JSON would have, by the types of the options. The last value of a field counts; lists have commas between. */
function parseOptions(
  texts: Readonly<Record<string, readonly string[]>>,
  options: Readonly<Record<string, Option>>,
): Record<string, unknown> {
  const types = new Map(Object.entries(options).map(([option, { type }]) => [toSnakeCase(option), type.kind]));
  const entries = Object.entries(texts).map(([field, values]): [string, unknown] => {
    const text = values.at(-1) ?? "";
    const kind = types.get(field);
    if (kind === "boolean" && (text === "true" || text === "false")) return [field, text === "true"];
    if (kind === "integer" || kind === "number") return [field, asNumber(text)];
    if (field === "temperature") return [field, text.includes(",") ? text.split(",").map(asNumber) : asNumber(text)];
    return [field, text];
  });
  return Object.fromEntries(entries);
}

/** The number that a text states; a text that states none stays one, for the schema to refuse. */
export function asNumber(text: string): number | string {
  return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text);
}
