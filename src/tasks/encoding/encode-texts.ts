/** Tokenizes texts, yielding to the event loop in between; long texts are tokenized on worker threads if there are any. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted, quoteOption, invalidInput } from "../../contract/errors.ts";
import type { TokenDecodeOptions, EncodeOptions, TokenIds, Tokenizer } from "../../tokenizers/index.ts";
import { createYielder } from "./yielding.ts";

/** The part of a tokenizer that tasks on single texts use. */
export interface TaskTokenizer<Encoded extends TokenIds = TokenIds> extends Pick<
  Tokenizer,
  "padId" | "frame" | "tokenToId" | "maskId"
> {
  encode(text: string, options?: EncodeOptions): Encoded;
  encodeOnThread?(text: string, options?: EncodeOptions): Promise<Encoded>;
}

/** Limits for `encodeTexts`. */
export interface EncodeLimits {
  /** Maximum length of a text in tokens, special tokens included; Infinity: no limit. */
  readonly maxTokens: number;
  /** Whether longer texts are truncated or refused with INPUT_TOO_LONG. */
  readonly truncate: "cut" | "error";
  /** Text prepended to each; "" for none. Default: none. */
  readonly prompt?: string;
  /** Overlap in tokens of the windows of longer texts. Default: 0. */
  readonly stride?: number;
  /** Whether special tokens are added. Default: as the model was trained. */
  readonly addSpecialTokens?: boolean;
}

/** Tokenizes texts, in order. Throws INPUT_INVALID for a value that is not a string, INPUT_TOO_LONG with `truncate: "error"`. */
export async function encodeTexts<Encoded extends TokenIds>(
  tokenizer: TaskTokenizer<Encoded>,
  texts: readonly string[],
  { maxTokens, truncate, prompt = "", stride, addSpecialTokens }: EncodeLimits,
  signal?: AbortSignal,
): Promise<Encoded[]> {
  const maybeYield = createYielder();
  const encodings: Encoded[] = [];
  for (const [index, text] of texts.entries()) {
    throwIfAborted(signal);
    if (typeof text !== "string") throw invalidInput(`text ${index} is ${text === null ? "null" : typeof text}, not a string`);
    const encoding = await encodeText(tokenizer, text, {
      maxTokens,
      ...(prompt === "" ? {} : { prompt }),
      ...omitUndefined({ stride, addSpecialTokens }),
    });
    if (encoding.truncated && truncate === "error") throw tooLong(index, encoding.wholeLength, maxTokens);
    encodings.push(encoding);
    await maybeYield();
  }
  return encodings;
}

/** Tokenizes one text, on a worker thread if the tokenizer has threads and the text is long. */
export function encodeText<Encoded extends TokenIds>(
  tokenizer: Pick<TaskTokenizer<Encoded>, "encode" | "encodeOnThread">,
  text: string,
  options: EncodeOptions,
): Encoded | Promise<Encoded> {
  return tokenizer.encodeOnThread === undefined ? tokenizer.encode(text, options) : tokenizer.encodeOnThread(text, options);
}

/** Decodes token ids to text, on a worker thread if the tokenizer has threads and the list is long. */
export function decodeTokens(
  tokenizer: Pick<Tokenizer, "decode" | "decodeOnThread">,
  ids: readonly number[],
  options?: TokenDecodeOptions,
): string | Promise<string> {
  return tokenizer.decodeOnThread === undefined ? tokenizer.decode(ids, options) : tokenizer.decodeOnThread(ids, options);
}

function tooLong(index: number, tokens: number, limit: number): InferyardError {
  return new InferyardError("INPUT_TOO_LONG", `text ${index} has ${tokens} tokens, and the limit is ${limit}`, {
    remedy: `shorten it, or allow truncation: ${quoteOption("truncate", "cut")}`,
    data: { text: index, tokens, limit },
  });
}
