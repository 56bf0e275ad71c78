/** What TEI's requests have in common: texts as strings or tokens, and how they are cut. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InferyardError } from "../../../errors.ts";
import type { ModelHandle } from "../../../runtime/model-handle.ts";
import { type Env, callerOf } from "../../http/context.ts";
import type { CallKey } from "../../serving/call-key.ts";
import { arrayAlternative, isNumber, isText, listOf, name, oneOf, text, tokenIds } from "../../http/field-schemas.ts";
import type { ModelCallResult, Service } from "../../serving/service.ts";
import { type TextInput, textsOf } from "../token-input.ts";
import { emptyError } from "./errors.ts";

type Inputs = string | number[] | (string | number[])[];

/** One text, or many: strings, or token ids of the model's own tokenizer. `limit`: texts of one request. */
export function inputsOf(limit: number): z.ZodType<Inputs> {
  const one = oneOf<string | number[]>("a string or an array of token ids", [text, { schema: tokenIds(), fits: Array.isArray }]);
  const many = listOf(one, { max: limit, fits: isText });
  return oneOf<Inputs>("a string, or an array of strings, of token ids, or of arrays of token ids", [
    text,
    arrayAlternative(tokenIds(), isNumber),
    { schema: many, fits: Array.isArray },
  ]).openapi("TeiInput", { description: "A text, or a list of texts; token ids of the model's own tokenizer count as a text" });
}

/** Fields of every request that reads texts. */
export interface TruncationFields {
  readonly truncate?: boolean | null | undefined;
  readonly truncation_direction?: "Left" | "Right" | "left" | "right" | undefined;
}

const truncate: z.ZodType<boolean | null | undefined> = z
  .boolean()
  .nullish()
  .openapi({ description: "Whether texts longer than the model reads are cut; else they are refused. Default: false" });

const direction: z.ZodType<TruncationFields["truncation_direction"]> = z
  .enum(["Left", "Right", "left", "right"])
  .optional()
  .openapi({ description: "With `truncate`: left is refused. Default: right" });

export const truncationFields: { readonly truncate: typeof truncate; readonly truncation_direction: typeof direction } = {
  truncate,
  truncation_direction: direction,
};

export const promptName: z.ZodType<string | null | undefined> = name()
  .nullish()
  .openapi({ description: "Name of a prompt of the model, put before every text" });

export function truncationOf(cutting: TruncationFields): { readonly truncate: "cut" | "error" } {
  if (cutting.truncate !== true) return { truncate: "error" };
  if (cutting.truncation_direction?.toLowerCase() !== "left") return { truncate: "cut" };
  throw new InferyardError("INPUT_INVALID", "texts are cut on the right, and not on the left", {
    remedy: "leave truncation_direction out",
  });
}

/** TEI serves one model, and its requests name none: the server's default, or the header x-inferyard-model. `question`: as of a call. */
export function callModel<Result>(
  service: Service,
  context: Context<Env>,
  texts: number,
  question: CallKey | undefined,
  work: (model: ModelHandle, signal: AbortSignal) => Promise<Result>,
): Promise<ModelCallResult<Result>> {
  const call = { model: context.req.header("x-inferyard-model"), texts, ...(question === undefined ? {} : { question }) };
  return service.call(callerOf(context), call, work);
}

/** The texts of `inputs`, which a model is needed for where they are tokens. A list of numbers is one text. */
export function textList(written: Inputs): readonly TextInput[] {
  const list = typeof written === "string" ? [written] : isIds(written) ? [written] : written;
  const isEmpty = list.length === 0 || list.some((input) => typeof input !== "string" && input.length === 0);
  if (isEmpty) throw emptyError("`inputs`");
  return list;
}

function isIds(list: readonly (string | number | readonly number[])[]): list is number[] {
  return typeof list[0] === "number";
}

export function readTexts(service: Service, handle: ModelHandle, list: readonly TextInput[]): Promise<string[]> {
  return textsOf(list, () => service.runtime.tokenizer(handle));
}
