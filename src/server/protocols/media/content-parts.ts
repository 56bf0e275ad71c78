/** Parts of contents that are embedded: texts, and pictures in the forms of several APIs. */
import { z } from "@hono/zod-openapi";
import { invalidInput } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { oneOfFields, textField } from "../../http/field-schemas.ts";
import { pictureOfText, pictureOfUrl } from "./picture-url.ts";

/** Bytes of a picture that is embedded. */
export interface PictureInput {
  readonly image: Uint8Array;
}

/** A part: a text, a picture as data URL (OpenAI's API), in base64 with its type (Termite's API), or as data URL or base64 (Jina's API). */
export type ContentPart =
  | { readonly type?: "text" | undefined; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: ImageAddress }
  | { readonly type: "media"; readonly data: string; readonly mime_type?: string | undefined }
  | { readonly image: string };

type ImageAddress = string | { readonly url: string; readonly detail?: string | undefined };

const url = z.string().openapi({ description: "A data URL: data:image/png;base64,..." });
const textPart = z.strictObject({ type: z.literal("text").optional(), text: z.string() });
const imagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: oneOfFields<ImageAddress>("a string, or an object with url", [
    textField,
    { schema: z.strictObject({ url, detail: z.string().optional() }), fits: isObject },
  ]),
});
const mediaPart = z.strictObject({ type: z.literal("media"), data: z.string(), mime_type: z.string().optional() });
const plainImage = z.strictObject({ image: z.string().openapi({ description: "A data URL, or base64" }) });

const hasType =
  (type: string) =>
  (part: unknown): boolean =>
    isObject(part) && part["type"] === type;

/** Schema of a part. */
export const contentPart: z.ZodType<ContentPart> = oneOfFields<ContentPart>(
  "an object with text, of the type image_url or media, or with image",
  [
    { schema: imagePart, fits: hasType("image_url") },
    { schema: mediaPart, fits: hasType("media") },
    { schema: plainImage, fits: (part) => isObject(part) && "image" in part },
    { schema: textPart, fits: (part) => isObject(part) && "text" in part },
  ],
);

/** What a part holds. `path`: where the request has it, such as `input.0`. Throws INPUT_INVALID for a picture that is neither a data URL nor base64. */
export function readPart(part: ContentPart, path: string): string | PictureInput {
  if ("text" in part) return part.text;
  if ("image" in part) return { image: pictureOfText(part.image, `${path}.image`) };
  if (part.type === "image_url") {
    const { image_url: address } = part;
    return typeof address === "string"
      ? { image: pictureOfUrl(address, `${path}.image_url`) }
      : { image: pictureOfUrl(address.url, `${path}.image_url.url`) };
  }
  const { mime_type: type = "image/", data } = part;
  if (!type.startsWith("image/"))
    throw invalidInput(
      `${path} has the type ${JSON.stringify(type.slice(0, 80))}`,
      "send pictures as image/…, and texts as text",
    );
  return { image: pictureOfText(data, `${path}.data`) };
}
