/**
 * Tokenizes questions with their contexts. A context that does not fit is split into overlapping windows, each preceded by the whole question.
 * Unlike `encodePairs` this never truncates the question: one that leaves no room for the context is an error.
 */
import { InferyardError, throwIfAborted, quoteOption, invalidInput } from "../../contract/errors.ts";
import type { Encoding, Tokenizer } from "../../tokenizers/index.ts";
import { encodeText } from "../encoding/encode-texts.ts";
import { createYielder } from "../encoding/yielding.ts";

/** A question and the text to search for its answer. */
export interface QuestionPair {
  readonly question: string;
  readonly context: string;
}

/** Limits of a window of question and context. */
export interface QuestionLimits {
  /** Maximum length of a window in tokens, question and special tokens included. */
  readonly maxTokens: number;
  /** Whether a longer context is read in windows or refused with INPUT_TOO_LONG. */
  readonly truncate: "cut" | "error";
  /** Overlap of windows in tokens. Undefined: a quarter of a window, but at most half of the room that the question leaves. */
  readonly stride: number | undefined;
}

/** Window length in tokens that the default stride is derived from, at most: models without a limit would get a stride without one. */
const maxDefaultWindow = 4096;

/**
 * Tokenizes pairs. Throws INPUT_INVALID for an empty question, INPUT_TOO_LONG for a question that leaves no room for the context, or, with
 * `truncate: "error"`, for a pair that does not fit.
 */
export async function encodeQuestions(
  tokenizer: Tokenizer,
  pairs: readonly QuestionPair[],
  { maxTokens, truncate, stride }: QuestionLimits,
  signal?: AbortSignal,
): Promise<Encoding[]> {
  const maybeYield = createYielder();
  const rooms = new Map<string, number>();
  const encodings: Encoding[] = [];
  for (const [index, { question, context }] of pairs.entries()) {
    throwIfAborted(signal);
    const room = rooms.get(question) ?? (await roomForContext(tokenizer, question, index, maxTokens));
    rooms.set(question, room);
    const overlap = stride ?? Math.min(Math.floor(Math.min(maxTokens, maxDefaultWindow) / 4), Math.floor(room / 2));
    const encoding = await encodeText(tokenizer, question, {
      pair: context,
      maxTokens,
      strategy: "only_second",
      stride: overlap,
      truncationSide: "right",
    });
    if (encoding.truncated && truncate === "error") throw tooLong(index, encoding.wholeLength, maxTokens);
    encodings.push(encoding);
    await maybeYield();
  }
  return encodings;
}

/** Number of tokens that a question leaves for the context. */
async function roomForContext(tokenizer: Tokenizer, question: string, index: number, maxTokens: number): Promise<number> {
  if (question.trim() === "") {
    throw invalidInput(`question ${index} is empty`, "ask something", { question: index });
  }
  const { ids } = await encodeText(tokenizer, question, { pair: "", maxTokens: Infinity });
  const taken = ids.length;
  if (taken < maxTokens) return maxTokens - taken;
  const message = `question ${index} takes ${taken} of ${maxTokens} tokens, which leaves none for the context`;
  throw new InferyardError("INPUT_TOO_LONG", message, {
    remedy: "ask a shorter question",
    data: { question: index, tokens: taken, limit: maxTokens },
  });
}

function tooLong(index: number, tokens: number, limit: number): InferyardError {
  return new InferyardError("INPUT_TOO_LONG", `question and context ${index} have ${tokens} tokens, and the limit is ${limit}`, {
    remedy: `shorten the context, or let it be read in windows: ${quoteOption("truncate", "cut")}`,
    data: { context: index, tokens, limit },
  });
}
