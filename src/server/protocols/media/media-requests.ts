/** Requests of our own routes about pictures or sounds: JSON with data URLs or base64, or a form with files in the field `file`. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { OptionTable } from "../../../runtime/options/option.ts";
import { isForm } from "../../http/bodies/form-body.ts";
import type { Env } from "../../http/context.ts";
import {
  arrayAlternative,
  isText,
  listField,
  modelField,
  oneOfFields,
  requestObject,
  textField,
  texts,
} from "../../http/field-schemas.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody, refuseOtherTypes } from "../../http/json-body.ts";
import type { Route } from "../../http/routes/route.ts";
import { optionFields, optionsFromFields } from "../inferyard/task-route.ts";
import { type MediaForm, jsonOrForm, readMediaForm } from "./media-form.ts";
import { pictureOfUrl } from "./picture-url.ts";
import { soundOfText } from "./sound-text.ts";

/** What a request asks for. */
export interface MediaCall<Options> {
  readonly model: string | undefined;
  /** Bytes of files: pictures or sounds, at least one. */
  readonly files: readonly Uint8Array[];
  readonly options: Partial<Options>;
}

/** The requests of a route. */
export interface MediaRequests<Options> {
  /** What the OpenAPI document says of the request. */
  readonly request: NonNullable<Route["request"]>;
  /** Reads a request. Throws INPUT_INVALID and LIMIT_EXCEEDED. */
  readonly read: (context: Context<Env>) => Promise<MediaCall<Options>>;
}

/** What distinguishes the requests of a route. */
export interface MediaRequestSettings<Options> {
  /** Name of the schemas in the OpenAPI document, without their ending. */
  readonly name: string;
  readonly options: OptionTable<Options>;
  /** Maximum number of pictures or sounds. */
  readonly limit: number;
}

const dataUrl = z.string().openapi({ description: "A data URL: data:image/png;base64,..." });

/** The description of the field `file` of forms with pictures. */
export const pictureFile = "A PNG, JPEG, WebP, GIF, TIFF or AVIF file; several are allowed";

/** Schema of the field `images`: pictures as data URLs. */
export function imagesField(limit: number): z.ZodType<{ url: string }[]> {
  return listField(z.object({ url: dataUrl }), { min: 1, max: limit }).openapi({
    description: "Pictures: PNG, JPEG, WebP, GIF, TIFF or AVIF. Addresses are not fetched",
  });
}

/** The bytes of the field `images`. Throws INPUT_INVALID for a URL that is no data URL of a picture. */
export function imageBytes(images: readonly { readonly url: string }[]): Uint8Array[] {
  return images.map(({ url }, index) => pictureOfUrl(url, `images.${index}.url`));
}

/** Requests with pictures, in JSON as `images`. */
export function pictureRequests<Options>(settings: MediaRequestSettings<Options>): MediaRequests<Options> {
  const { limit } = settings;
  const read = (images: unknown): Uint8Array[] => imageBytes(images as { url: string }[]); // the schema has checked it
  return requests(settings, { images: imagesField(limit) }, { read, limit, example: "photo.jpg", file: pictureFile });
}

/** Requests with sounds, in JSON as `audio`: one, or with a `limit` above 1 several. */
export function soundRequests<Options>(settings: MediaRequestSettings<Options>): MediaRequests<Options> {
  const { limit } = settings;
  const one = "A sound file in base64, or as a data URL: data:audio/wav;base64,...";
  const list = arrayAlternative(texts(limit, 1), isText);
  const audio: z.ZodType<string | string[]> =
    limit === 1 ? z.string() : oneOfFields<string | string[]>("a string, or an array of strings", [textField, list]);
  const read = (sent: unknown): Uint8Array[] =>
    Array.isArray(sent)
      ? sent.map((each: unknown, index) => soundOfText(String(each), `audio.${index}`))
      : [soundOfText(String(sent), "audio")];
  const file = limit === 1 ? "A sound file" : "A sound file; several are allowed";
  return requests(
    settings,
    { audio: audio.openapi({ description: limit === 1 ? one : `${one}; or several` }) },
    { read, limit, example: "talk.wav", file },
  );
}

function requests<Options>(
  { name, options }: MediaRequestSettings<Options>,
  media: Readonly<Record<string, z.ZodType>>,
  {
    read,
    file,
    ...form
  }: Pick<MediaForm<z.ZodType>, "limit" | "example"> & { readonly read: (sent: unknown) => Uint8Array[]; readonly file: string },
): MediaRequests<Options> {
  const fields = { model: modelField, ...optionFields(options, form.limit) };
  const [field = ""] = Object.keys(media);
  const json = requestObject({ ...media, ...fields }).openapi(`${name}Request`);
  const schema = requestObject(fields);
  const toCall = (files: readonly Uint8Array[], taken: unknown): MediaCall<Options> => {
    const { model, ...rest } = taken as { readonly model?: string }; // both schemas have the field
    return { model, files, options: optionsFromFields(options, rest) };
  };
  return {
    request: jsonOrForm(json, { fields, file, name: `${name}Form` }),
    read: async (context) => {
      if (isForm(context)) {
        const { files, fields: taken } = await readMediaForm(context, { ...form, schema, options });
        return toCall(files, taken);
      }
      refuseOtherTypes(context);
      const { [field]: sent, ...taken } = takeFields(context, await jsonBody(context), json) as Record<string, unknown>;
      return toCall(read(sent), taken);
    },
  };
}
