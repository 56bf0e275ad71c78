/**
 * Questions with their contexts as token ids; a context that is too long becomes windows, each with the whole question before it. `encodePairs`
 * would cut a question that leaves no room, which asks something else.
 */
import { InferyardError, throwIfAborted } from "../../errors.ts";
import type { Encoding, Tokenizer } from "../../tokenizers/index.ts";
import { encodeText } from "../shared/encode-texts.ts";
import { createYielder } from "../shared/yielding.ts";

export interface QuestionPair {
  readonly question: string;
  readonly context: string;
}

export interface QuestionLimits {
  /** Longest window in tokens, question and special tokens included. */
  readonly maxTokens: number;
  readonly truncate: "cut" | "error";
  /** Left out: a quarter of a window, and at most half of what the question leaves of it. */
  readonly stride: number | undefined;
}

/** Where nothing limits a window, or only very far, windows overlap by a quarter of this. */
const widestDefault = 4096;

/** Throws INPUT_INVALID for an empty question, INPUT_TOO_LONG for a question that leaves no room, or a context that is not to be cut. */
export async function encodeQuestions(
  tokenizer: Tokenizer,
  pairs: readonly QuestionPair[],
  { maxTokens, truncate, stride }: QuestionLimits,
  signal?: AbortSignal,
): Promise<Encoding[]> {
  const rest = createYielder();
  const rooms = new Map<string, number>();
  const encodings: Encoding[] = [];
  for (const [index, { question, context }] of pairs.entries()) {
    throwIfAborted(signal);
    const room = rooms.get(question) ?? (await roomBeside(tokenizer, question, index, maxTokens));
    rooms.set(question, room);
    const overlap = stride ?? Math.min(Math.floor(Math.min(maxTokens, widestDefault) / 4), Math.floor(room / 2));
    const encoding = await encodeText(tokenizer, question, {
      pair: context,
      maxTokens,
      strategy: "only_second",
      stride: overlap,
      truncationSide: "right",
    });
    if (encoding.truncated && truncate === "error") throw tooLong(index, encoding.wholeLength, maxTokens);
    encodings.push(encoding);
    await rest();
  }
  return encodings;
}

/** Tokens a question leaves for the context. */
async function roomBeside(tokenizer: Tokenizer, question: string, index: number, maxTokens: number): Promise<number> {
  if (question.trim() === "") {
    throw new InferyardError("INPUT_INVALID", `question ${index} is empty`, {
      remedy: "ask something",
      data: { question: index },
    });
  }
  const { ids } = await encodeText(tokenizer, question, { pair: "", maxTokens: Infinity });
  const taken = ids.length;
  if (taken < maxTokens) return maxTokens - taken;
  const message = `question ${index} takes ${taken} tokens of the ${maxTokens} the model reads, which leaves nothing for the context`;
  throw new InferyardError("INPUT_TOO_LONG", message, {
    remedy: "ask a shorter question",
    data: { question: index, tokens: taken, limit: maxTokens },
  });
}

function tooLong(index: number, tokens: number, limit: number): InferyardError {
  return new InferyardError("INPUT_TOO_LONG", `question and context ${index} have ${tokens} tokens, and the limit is ${limit}`, {
    remedy: "shorten the context, or let it be read in windows: --truncate cut",
    data: { context: index, tokens, limit },
  });
}
