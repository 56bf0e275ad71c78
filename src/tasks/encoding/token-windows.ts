/** Splits a tokenized text into overlapping windows within the model's limit, each with the special tokens and the prompt around its part. */
import { type InferyardError, invalidInput } from "../../contract/errors.ts";
import type { Frame, TokenIds } from "../../tokenizers/index.ts";
import type { EncoderInputRow } from "./encoder-inputs.ts";

/** One window of a text. */
export interface TokenWindow extends TokenIds, EncoderInputRow {
  /** Token ids of the window, special tokens and prompt included. */
  readonly ids: number[];
  /** Index of the text. */
  readonly text: number;
  /** The tokens of the text it contains: [from, to), where special tokens and prompt are not counted. */
  readonly from: number;
  readonly to: number;
  /** First token of the text that no earlier window contains. */
  readonly firstNew: number;
  /** Number of ids before the first one of the text: prefix and prompt. */
  readonly head: number;
}

/** Limits of a window. */
export interface WindowLimits {
  /** Maximum length of a window in tokens, special tokens and prompt included; Infinity: one window. */
  readonly maxTokens: number;
  /** Overlap of consecutive windows, in tokens of the text. Default: a quarter of the text tokens of a window. */
  readonly stride?: number;
}

/**
 * Splits one text; `encoding` must hold the whole text, not truncated. Throws INPUT_INVALID if special tokens and prompt fill a window, or if the
 * stride is not shorter than a window.
 */
export function tokenWindows(
  encoding: TokenIds & EncoderInputRow,
  text: number,
  { prefix, suffix }: Frame,
  { maxTokens, stride: requested }: WindowLimits,
): TokenWindow[] {
  const { ids, typeIds, wholeLength, promptTokens } = encoding;
  const end = ids.length - suffix.length;
  const head = Math.min(Math.max(prefix.length, promptTokens), end);
  const room = maxTokens - head - suffix.length;
  if (room < 1) throw limitTooShort(maxTokens, head + suffix.length);
  const stride = requested ?? (Number.isFinite(room) ? Math.floor(room / 4) : 0);
  if (stride >= room) throw strideTooLong(stride, room);
  const part = <Item>(list: readonly Item[], from: number, to: number): Item[] => [
    ...list.slice(0, head),
    ...list.slice(head + from, head + to),
    ...list.slice(end),
  ];
  const count = Math.max(0, end - head);
  const windows: TokenWindow[] = [];
  for (let from = 0, firstNew = 0; ; from = firstNew - stride) {
    const to = Math.min(from + room, count);
    windows.push({
      ids: part(ids, from, to),
      ...(typeIds === undefined ? {} : { typeIds: part(typeIds, from, to) }),
      truncated: false,
      wholeLength,
      promptTokens,
      text,
      from,
      to,
      firstNew,
      head,
    });
    if (to === count) return windows;
    firstNew = to;
  }
}

function limitTooShort(maxTokens: number, around: number): InferyardError {
  const message = `a limit of ${maxTokens} tokens leaves no room for the text: special tokens and prompt take ${around} of every window`;
  return invalidInput(message, `give a limit of more than ${around} tokens`);
}

function strideTooLong(stride: number, room: number): InferyardError {
  return invalidInput(
    `a stride of ${stride} leaves no room for new tokens: a window has ${room} of the text`,
    `give a stride below ${room}; a quarter of it is usual`,
  );
}
