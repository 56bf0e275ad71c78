/** Texts to token ids, without holding the event loop for long. */
import { InferyardError, throwIfAborted } from "../../errors.ts";
import type { DecodeOptions, EncodeOptions, TokenIds, Tokenizer } from "../../tokenizers/index.ts";
import { createYielder } from "./yielding.ts";

/** What most tasks need of a tokenizer. */
export interface TaskTokenizer<Encoded extends TokenIds = TokenIds> extends Pick<
  Tokenizer,
  "padId" | "frame" | "idOf" | "maskId"
> {
  encode(text: string, options?: EncodeOptions): Encoded;
  encodeOnThread?(text: string, options?: EncodeOptions): Promise<Encoded>;
}

export interface EncodeLimits {
  /** Longest text in tokens, special tokens included; Infinity = no limit. */
  readonly maxTokens: number;
  /** What happens to longer ones. */
  readonly truncate: "cut" | "error";
  /** Put before each text; "" = none. */
  readonly prompt?: string;
  /** Tokens by which the windows of longer texts overlap. Default: 0. */
  readonly stride?: number;
}

/** Throws INPUT_INVALID for what is no text, INPUT_TOO_LONG where that is not to be cut. */
export async function encodeTexts<Encoded extends TokenIds>(
  tokenizer: TaskTokenizer<Encoded>,
  texts: readonly string[],
  { maxTokens, truncate, prompt = "", stride }: EncodeLimits,
  signal?: AbortSignal,
): Promise<Encoded[]> {
  const rest = createYielder();
  const encodings: Encoded[] = [];
  for (const [index, text] of texts.entries()) {
    throwIfAborted(signal);
    if (typeof text !== "string")
      throw new InferyardError("INPUT_INVALID", `text ${index} is ${text === null ? "null" : typeof text}, not a string`);
    const encoding = await encodeText(tokenizer, text, {
      maxTokens,
      ...(prompt === "" ? {} : { prompt }),
      ...(stride === undefined ? {} : { stride }),
    });
    if (encoding.truncated && truncate === "error") throw tooLong(index, encoding.wholeLength, maxTokens);
    encodings.push(encoding);
    await rest();
  }
  return encodings;
}

/** One text to tokens; where there are threads for it and the text is long, on one of them. */
export function encodeText<Encoded extends TokenIds>(
  tokenizer: Pick<TaskTokenizer<Encoded>, "encode" | "encodeOnThread">,
  text: string,
  options: EncodeOptions,
): Encoded | Promise<Encoded> {
  return tokenizer.encodeOnThread === undefined ? tokenizer.encode(text, options) : tokenizer.encodeOnThread(text, options);
}

/** The same for tokens to text. */
export function decodeTokens(
  tokenizer: Pick<Tokenizer, "decode" | "decodeOnThread">,
  ids: readonly number[],
  options?: DecodeOptions,
): string | Promise<string> {
  return tokenizer.decodeOnThread === undefined ? tokenizer.decode(ids, options) : tokenizer.decodeOnThread(ids, options);
}

function tooLong(index: number, tokens: number, limit: number): InferyardError {
  return new InferyardError("INPUT_TOO_LONG", `text ${index} has ${tokens} tokens, and the limit is ${limit}`, {
    remedy: "shorten it, or let it be cut: --truncate cut",
    data: { text: index, tokens, limit },
  });
}
