/** What the requests of TEI have in common. */
import { z } from "@hono/zod-openapi";
import { invalidInput } from "../../../contract/errors.ts";
import { serverDefaults } from "../../../settings/server-options.ts";
import type { ModelHandle } from "../../../runtime/model-handle.ts";
import {
  arrayAlternative,
  isNumberField,
  isText,
  listField,
  nameField,
  oneOfFields,
  textField,
  tokenIds,
  requestObject,
} from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { type TextInput, toTexts } from "../token-input.ts";
import { emptyError } from "./errors.ts";

/** Texts of a request, or their token ids. */
export type Inputs = string | number[] | (string | number[])[];

/** One text or several, as strings or as token ids of the model's own tokenizer. `limit`: maximum number of texts. */
export function toInputs(limit: number): z.ZodType<Inputs> {
  const one = oneOfFields<string | number[]>("a string or an array of token ids", [
    textField,
    { schema: tokenIds(), fits: Array.isArray },
  ]);
  const many = listField(one, { max: limit, fits: isText });
  return oneOfFields<Inputs>("a string, or an array of strings, of token ids, or of arrays of token ids", [
    textField,
    arrayAlternative(tokenIds(), isNumberField),
    { schema: many, fits: Array.isArray },
  ]).openapi("TeiInput", { description: "A text or a list of texts, each a string or token ids of the model's own tokenizer" });
}

/** The fields of a request that say what to do with long texts. */
export interface TruncationFields {
  readonly truncate?: boolean | undefined;
  readonly truncation_direction?: "Left" | "Right" | "left" | "right" | undefined;
}

/** Their schemas. */
export const truncationFields: { readonly [Name in keyof TruncationFields]-?: z.ZodType<TruncationFields[Name]> } = {
  truncate: z.boolean().optional().openapi({
    description:
      "Whether to truncate texts longer than the model reads; otherwise they are refused. Default: the setting longTexts",
  }),
  truncation_direction: z
    .enum(["Left", "Right", "left", "right"])
    .optional()
    .openapi({
      // One spelling of each: generators of clients make constants of them, whose names do not differ by case alone.
      enum: ["Left", "Right"],
      description:
        "Which side of a text that is too long is left out: only right is supported. Default: right. In lower case as well",
    }),
};

const nothing = requestObject({}).optional().openapi({ description: "Accepted where it is empty" });

/** Schemas of members that Hugging Face's clients send whether or not they have anything in them. */
export const emptyObjects: Readonly<Record<"parameters" | "options", z.ZodType>> = { parameters: nothing, options: nothing };

/** Schema of the name of a prompt. */
export const promptName: z.ZodType<string | undefined> = nameField()
  .optional()
  .openapi({ description: "Name of a prompt of the model that is prepended to every text" });

/** The option `truncate` of the task. Throws INPUT_INVALID for truncation on the left. */
export function toTeiTruncation({ settings }: Service, fields: TruncationFields): { readonly truncate: "cut" | "error" } {
  const { truncate: isCut = (settings.longTexts ?? serverDefaults.longTexts) === "cut" } = fields;
  if (!isCut) return { truncate: "error" };
  if (fields.truncation_direction?.toLowerCase() !== "left") return { truncate: "cut" };
  throw invalidInput("texts can be truncated on the right only", "leave truncation_direction out, or set truncate to false");
}

/** The inputs as a list; an array of numbers is one text. Throws the error for empty input. */
export function textList(written: Inputs): readonly TextInput[] {
  const list = typeof written === "string" ? [written] : isIds(written) ? [written] : written;
  const isEmpty = list.length === 0 || list.some((input) => typeof input !== "string" && input.length === 0);
  if (isEmpty) throw emptyError("`inputs`");
  return list;
}

function isIds(list: readonly (string | number | readonly number[])[]): list is number[] {
  return typeof list[0] === "number";
}

/** The inputs as texts; token ids are the model's own, as the protocol has it, and are decoded with its tokenizer. */
export function readInputTexts(service: Service, handle: ModelHandle, list: readonly TextInput[]): Promise<string[]> {
  return toTexts(list, () => service.runtime.tokenizer(handle), "own");
}
