/** Inputs of a span-level GLiNER model: the labels, each after an entity token, a separator, then the words of the text. */
import { at } from "../../../contract/checked.ts";
import { InferyardError, throwIfAborted, quoteOption, invalidInput } from "../../../contract/errors.ts";
import type { TensorMap } from "../../../contract/tensor.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { encodeText } from "../../encoding/encode-texts.ts";
import { createYielder } from "../../encoding/yielding.ts";
import { type Word, splitWords } from "./words.ts";

/** Settings of gliner_config.json, with the defaults of the GLiNER library. */
export interface GlinerConfig {
  /** `max_width`: maximum length of a span in words. */
  readonly maxWidth: number;
  /** `max_len`: maximum number of words of one window. */
  readonly maxWords: number;
  /** `ent_token`: token before each label. */
  readonly classToken: string;
  /** `sep_token`: token between the labels and the text. */
  readonly separator: string;
}

/** One row of a batch: the labels, and a window of words of one text. */
export interface WordWindow {
  readonly ids: readonly number[];
  /** One entry per token: at the first token of a word the number of the word, from 1; 0 at all others. */
  readonly wordsMask: readonly number[];
  readonly words: readonly Word[];
  /** Index of the text in the list that was given. */
  readonly text: number;
}

/** Limits of a window. */
export interface GlinerWindowLimits {
  /** Maximum number of tokens, labels and special tokens included. */
  readonly maxTokens: number;
  /** Whether a longer text is read in windows or refused with INPUT_TOO_LONG. */
  readonly truncate: "cut" | "error";
  /** Overlap of consecutive windows in tokens. */
  readonly stride: number;
}

/**
 * Tokenizes labels and texts; a long text gives several overlapping windows, a text without words none. Throws INPUT_TOO_LONG if the labels
 * leave no room for the text, or if a text does not fit and `truncate` is "error".
 */
export async function encodeGlinerWindows(
  tokenizer: Tokenizer,
  texts: readonly string[],
  labels: readonly string[],
  config: GlinerConfig,
  limits: GlinerWindowLimits,
  signal?: AbortSignal,
): Promise<WordWindow[]> {
  const { prefix, suffix } = tokenizer.frame;
  const getIds = async (text: string): Promise<readonly number[]> =>
    (await encodeText(tokenizer, text, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY })).ids;
  const named = labels.flatMap((label) => [config.classToken, label]);
  const prefixIds = [...prefix, ...(await Promise.all([...named, config.separator].map(getIds))).flat()];
  const room = limits.maxTokens - prefixIds.length - suffix.length;
  if (room < 1) throw noRoom(prefixIds.length + suffix.length, limits.maxTokens);
  const maybeYield = createYielder();
  const windows: WordWindow[] = [];
  for (const [index, text] of texts.entries()) {
    throwIfAborted(signal);
    if (typeof text !== "string") throw invalidInput(`text ${index} is not a string`);
    // A word for which the tokenizer gives no token (a zero-width joiner) is left out: the model scores words by their first token.
    const words: { readonly word: Word; readonly ids: readonly number[] }[] = [];
    for (const word of splitWords(text)) {
      const ids = (await getIds(word.text)).slice(0, room);
      if (ids.length > 0) words.push({ word, ids });
      await maybeYield();
    }
    const parts = planWordWindows(
      words.map(({ ids }) => ids.length),
      room,
      config.maxWords,
      limits.stride,
    );
    if (parts.length > 1 && limits.truncate === "error") throw tooLong(index, limits.maxTokens);
    for (const { from, to } of parts) {
      const slice = words.slice(from, to);
      const mask = slice.flatMap(({ ids }, word) => ids.map((_id, piece) => (piece === 0 ? word + 1 : 0)));
      windows.push({
        ids: [...prefixIds, ...slice.flatMap(({ ids }) => ids), ...suffix],
        wordsMask: [...prefixIds.map(() => 0), ...mask, ...suffix.map(() => 0)],
        words: slice.map(({ word }) => word),
        text: index,
      });
    }
    await maybeYield();
  }
  return windows;
}

/**
 * The words [from, to) of each window. `sizes`: number of tokens of each word; `room`: maximum number of tokens of a window. No words give no
 * window; a word larger than `room` has a window of its own.
 */
export function planWordWindows(
  sizes: readonly number[],
  room: number,
  maxWords: number,
  stride: number,
): { readonly from: number; readonly to: number }[] {
  const windows: { from: number; to: number }[] = [];
  for (let from = 0; from < sizes.length;) {
    let to = from;
    for (let left = room; to < sizes.length && to - from < maxWords && at(sizes, to) <= left; to += 1) left -= at(sizes, to);
    windows.push({ from, to: Math.max(to, from + 1) });
    if (to >= sizes.length) break;
    // Move back by the stride, but advance by at least one word.
    let next = to;
    for (let back = stride; next - 1 > from && at(sizes, next - 1) <= back; next -= 1) back -= at(sizes, next - 1);
    from = Math.max(next, from + 1);
  }
  return windows;
}

/** The input tensors of one batch. Shorter rows are padded to `length`; spans that extend beyond the words of a row are masked. */
export function glinerInputs(rows: readonly WordWindow[], length: number, padId: number, maxWidth: number): TensorMap {
  const words = Math.max(1, ...rows.map((row) => row.words.length));
  const spans = words * maxWidth;
  const tokens = rows.length * length;
  const ids = new BigInt64Array(tokens).fill(BigInt(padId));
  const attention = new BigInt64Array(tokens);
  const wordsMask = new BigInt64Array(tokens);
  const spanIndex = new BigInt64Array(rows.length * spans * 2);
  const spanMask = new Uint8Array(rows.length * spans);
  for (const [row, window] of rows.entries()) {
    for (const [position, id] of window.ids.entries()) {
      ids[row * length + position] = BigInt(id);
      attention[row * length + position] = 1n;
      wordsMask[row * length + position] = BigInt(at(window.wordsMask, position));
    }
    for (let first = 0; first < window.words.length; first += 1) {
      for (let width = 0; width < maxWidth && first + width < window.words.length; width += 1) {
        const span = row * spans + first * maxWidth + width;
        spanIndex[2 * span] = BigInt(first);
        spanIndex[2 * span + 1] = BigInt(first + width);
        spanMask[span] = 1;
      }
    }
  }
  const batch = rows.length;
  const lengths = BigInt64Array.from(rows, (row) => BigInt(row.words.length));
  return {
    input_ids: { dataType: "int64", shape: [batch, length], data: ids },
    attention_mask: { dataType: "int64", shape: [batch, length], data: attention },
    words_mask: { dataType: "int64", shape: [batch, length], data: wordsMask },
    text_lengths: { dataType: "int64", shape: [batch, 1], data: lengths },
    span_idx: { dataType: "int64", shape: [batch, spans, 2], data: spanIndex },
    span_mask: { dataType: "bool", shape: [batch, spans], data: spanMask },
  };
}

function noRoom(tokens: number, limit: number): InferyardError {
  return new InferyardError("INPUT_TOO_LONG", `the labels take ${tokens} tokens, and the limit is ${limit}`, {
    remedy: "give fewer or shorter labels",
    data: { tokens, limit },
  });
}

function tooLong(index: number, limit: number): InferyardError {
  return new InferyardError("INPUT_TOO_LONG", `text ${index} and the labels take more than ${limit} tokens`, {
    remedy: `shorten it, or let it be read in windows: ${quoteOption("truncate", "cut")}`,
    data: { text: index, limit },
  });
}
