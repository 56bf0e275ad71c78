/** Tokenizes pairs of texts, yielding to the event loop in between. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted, quoteOption, invalidInput } from "../../contract/errors.ts";
import type { Encoding, Tokenizer, TruncationStrategy } from "../../tokenizers/index.ts";
import { encodeText } from "./encode-texts.ts";
import { createYielder } from "./yielding.ts";

/** Two texts that a model reads together; without `pair` a single text. */
export interface TextPair {
  readonly text: string;
  readonly pair?: string;
}

/** Limits for `encodePairs`. */
export interface PairLimits {
  /** Maximum length of a pair in tokens, special tokens included; Infinity: no limit. */
  readonly maxTokens: number;
  /** Whether longer pairs are truncated or refused with INPUT_TOO_LONG. */
  readonly truncate: "cut" | "error";
  /** Which text of a pair is truncated. */
  readonly strategy: TruncationStrategy;
  /** Name of a pair in error messages, from its index: "text 3 and a label". */
  readonly name: (index: number) => string;
  /** Overlap in tokens of the windows of longer pairs. Default: 0. */
  readonly stride?: number;
}

/**
 * Tokenizes pairs, in order. If `strategy` truncates one text and the other alone exceeds the limit, both are truncated ("longest_first"). Throws
 * INPUT_INVALID for a value that is not a string, INPUT_TOO_LONG with `truncate: "error"`.
 */
export async function encodePairs(
  tokenizer: PairTokenizer,
  pairs: Iterable<TextPair>,
  limits: PairLimits,
  signal?: AbortSignal,
): Promise<Encoding[]> {
  const maybeYield = createYielder();
  const encodings: Encoding[] = [];
  for (const pair of pairs) {
    throwIfAborted(signal);
    checkStrings(pair, limits.name(encodings.length));
    const encoding = await encodePair(tokenizer, pair, limits);
    if (encoding.truncated && limits.truncate === "error") throw tooLong(encodings.length, encoding.wholeLength, limits);
    encodings.push(encoding);
    await maybeYield();
  }
  return encodings;
}

type PairTokenizer = Pick<Tokenizer, "encode" | "encodeOnThread">;

async function encodePair(tokenizer: PairTokenizer, { text, pair }: TextPair, limits: PairLimits): Promise<Encoding> {
  const { maxTokens, strategy, stride } = limits;
  const options = { maxTokens, ...omitUndefined({ pair, stride }) };
  try {
    return await encodeText(tokenizer, text, { ...options, strategy });
  } catch (error) {
    const noRoom = error instanceof InferyardError && error.code === "INPUT_INVALID" && strategy !== "longest_first";
    if (!noRoom) throw error;
    // As in the reference implementations, a query that fills the whole window is truncated, not refused.
    return encodeText(tokenizer, text, { ...options, strategy: "longest_first" });
  }
}

function checkStrings({ text, pair = "" }: TextPair, name: string): void {
  const wrong = [text, pair].find((part) => typeof part !== "string");
  if (wrong === undefined) return;
  throw invalidInput(`${name}: ${wrong === null ? "null" : typeof wrong}, not a string`);
}

function tooLong(index: number, tokens: number, { maxTokens, name }: PairLimits): InferyardError {
  return new InferyardError("INPUT_TOO_LONG", `${name(index)}: ${tokens} tokens, and the limit is ${maxTokens}`, {
    remedy: `shorten it, or allow truncation: ${quoteOption("truncate", "cut")}`,
    data: { text: index, tokens, limit: maxTokens },
  });
}
