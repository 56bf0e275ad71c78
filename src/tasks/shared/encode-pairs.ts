/** Pairs of texts to token ids, without holding the event loop for long. */
import { InferyardError, throwIfAborted } from "../../errors.ts";
import type { Encoding, Tokenizer, TruncationStrategy } from "../../tokenizers/index.ts";
import { encodeText } from "./encode-texts.ts";
import { createYielder } from "./yielding.ts";

/** Two texts that a model reads together, or with no `pair` one alone. */
export interface TextPair {
  readonly text: string;
  readonly pair?: string;
}

export interface PairLimits {
  /** Longest pair in tokens, special tokens included; Infinity = no limit. */
  readonly maxTokens: number;
  /** What happens to longer ones. */
  readonly truncate: "cut" | "error";
  /** Which text of a pair is cut. */
  readonly strategy: TruncationStrategy;
  /** What a pair is called in errors, by its place: "text 3 and a label". */
  readonly name: (index: number) => string;
  /** Tokens by which the windows of longer pairs overlap. Default: 0. */
  readonly stride?: number;
}

/** Throws INPUT_TOO_LONG for a pair that is not to be cut. Where one text may be cut alone and the other leaves no room, both are. */
export async function encodePairs(
  tokenizer: PairTokenizer,
  pairs: Iterable<TextPair>,
  limits: PairLimits,
  signal?: AbortSignal,
): Promise<Encoding[]> {
  const rest = createYielder();
  const encodings: Encoding[] = [];
  for (const pair of pairs) {
    throwIfAborted(signal);
    checkStrings(pair, limits.name(encodings.length));
    const encoding = await encodePair(tokenizer, pair, limits);
    if (encoding.truncated && limits.truncate === "error") throw tooLong(encodings.length, encoding.wholeLength, limits);
    encodings.push(encoding);
    await rest();
  }
  return encodings;
}

type PairTokenizer = Pick<Tokenizer, "encode" | "encodeOnThread">;

async function encodePair(tokenizer: PairTokenizer, { text, pair }: TextPair, limits: PairLimits): Promise<Encoding> {
  const { maxTokens, strategy, stride } = limits;
  const options = { maxTokens, ...(pair === undefined ? {} : { pair }), ...(stride === undefined ? {} : { stride }) };
  try {
    return await encodeText(tokenizer, text, { ...options, strategy });
  } catch (error) {
    const noRoom = error instanceof InferyardError && error.code === "INPUT_INVALID" && strategy !== "longest_first";
    if (!noRoom) throw error;
    // As the reference implementations do it: a query of the length of the window is cut rather than refused.
    return encodeText(tokenizer, text, { ...options, strategy: "longest_first" });
  }
}

function checkStrings({ text, pair = "" }: TextPair, name: string): void {
  const wrong = [text, pair].find((part) => typeof part !== "string");
  if (wrong === undefined) return;
  throw new InferyardError("INPUT_INVALID", `${name}: ${wrong === null ? "null" : typeof wrong}, not a string`);
}

function tooLong(index: number, tokens: number, { maxTokens, name }: PairLimits): InferyardError {
  return new InferyardError("INPUT_TOO_LONG", `${name(index)}: ${tokens} tokens, and the limit is ${maxTokens}`, {
    remedy: "shorten it, or let it be cut: --truncate cut",
    data: { text: index, tokens, limit: maxTokens },
  });
}
