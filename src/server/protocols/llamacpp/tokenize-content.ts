/** Texts at POST /tokenize, as llama.cpp's clients send them. The model is not loaded. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import { type Env, getCaller } from "../../http/context.ts";
import { headerModelField, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import type { Service } from "../../serving/service.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { headerModel } from "../run-task.ts";

/** A request for tokens. */
export interface TokenizeContentCall {
  readonly model: string | undefined;
  readonly content: string;
  readonly addSpecialTokens: boolean;
  /** Whether each token is given with its text. */
  readonly withPieces: boolean;
}

/** Requests with a content. */
export const tokenizeContentForm: RequestForm<TokenizeContentCall> = requestForm(
  requestObject({
    model: headerModelField,
    content: z.string(),
    add_special: z.boolean().optional().openapi({ description: "Whether the tokenizer adds its special tokens. Default: false" }),
    with_pieces: z.boolean().optional().openapi({ description: "Whether each token is given with its text. Default: false" }),
  }),
  ({ model, content, add_special: addSpecialTokens = false, with_pieces: withPieces = false }) => ({
    model,
    content,
    addSpecialTokens,
    withPieces,
  }),
);

/** Schema of the response. */
export const tokenizedContent: z.ZodType = z
  .object({
    tokens: z.union([z.array(z.int()), z.array(z.object({ id: z.int(), piece: z.union([z.string(), z.array(z.int())]) }))]),
  })
  .openapi("TokenizedContent");

/** Answers a request. */
export async function tokenizeContent(
  { calls, runtime }: Service,
  context: Context<Env>,
  { model, content, addSpecialTokens, withPieces }: TokenizeContentCall,
): Promise<Response> {
  const call = { model: headerModel(context, model) };
  const outcome = await calls.runWithoutModel(getCaller(context), call, async ({ reference }, signal) => {
    const tokenizer = await runtime.getTokenizer(await runtime.manifest(reference, { signal }));
    const { ids } = await encodeText(tokenizer, content, { addSpecialTokens, maxTokens: Number.POSITIVE_INFINITY });
    if (!withPieces) return ids;
    const texts = new TokenTexts(tokenizer);
    return ids.map((id) => {
      const { text, bytes } = texts.shown(id);
      // As llama.cpp: a token that is a part of a character is given by its bytes.
      return { id, piece: text.includes("\uFFFD") ? [...bytes] : text };
    });
  });
  return jsonResponse(context, { tokens: outcome.result }, outcome);
}
