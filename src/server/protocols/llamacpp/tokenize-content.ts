/** Texts at POST /tokenize, as llama.cpp's clients send them. The model is not loaded. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import { type Env, getCaller, resultHeaders } from "../../http/context.ts";
import { name, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Service } from "../../serving/service.ts";
import { TokenTexts } from "../generation/token-texts.ts";

/** A validated request. */
export interface TokenizeContentRequest {
  readonly model?: string;
  readonly content: string;
  readonly add_special?: boolean;
  readonly with_pieces?: boolean;
}

/** Schema of the request. */
export const tokenizeContentSchema: z.ZodType<TokenizeContentRequest> = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: that of x-inferyard-model, or the default model" }),
  content: z.string(),
  add_special: z.boolean().optional().openapi({ description: "Whether the tokenizer adds its special tokens. Default: false" }),
  with_pieces: z.boolean().optional().openapi({ description: "Whether each token is given with its text. Default: false" }),
}) as never;

/** Schema of the response. */
export const tokenizedContent: z.ZodType = z
  .object({
    tokens: z.union([z.array(z.int()), z.array(z.object({ id: z.int(), piece: z.union([z.string(), z.array(z.int())]) }))]),
  })
  .openapi("TokenizedContent");

/** Answers a validated request. */
export async function tokenizeContent(
  service: Service,
  context: Context<Env>,
  { model, content, add_special: addSpecialTokens = false, with_pieces: withPieces = false }: TokenizeContentRequest,
): Promise<Response> {
  const call = { model: model ?? context.req.header("x-inferyard-model"), texts: 1 };
  const outcome = await service.callWithoutModel(getCaller(context), call, async ({ reference }, signal) => {
    const tokenizer = await service.runtime.getTokenizer(await service.runtime.manifest(reference, { signal }));
    const { ids } = await encodeText(tokenizer, content, { addSpecialTokens, maxTokens: Number.POSITIVE_INFINITY });
    if (!withPieces) return ids;
    const texts = new TokenTexts(tokenizer);
    return ids.map((id) => {
      const { text, bytes } = texts.shown(id);
      // As llama.cpp: a token that is a part of a character is given by its bytes.
      return { id, piece: text.includes("\uFFFD") ? [...bytes] : text };
    });
  });
  return jsonResponse(context, { tokens: outcome.result }, resultHeaders(outcome));
}
