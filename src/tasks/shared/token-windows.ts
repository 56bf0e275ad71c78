/** A text that is longer than a model reads, in windows: each with the special tokens and the prompt around its part of the text. */
import { InferyardError } from "../../errors.ts";
import type { Frame, TokenIds } from "../../tokenizers/index.ts";
import type { EncoderInputRow } from "./encoder-inputs.ts";

export interface TokenWindow extends TokenIds, EncoderInputRow {
  readonly ids: number[];
  /** Which text it is of. */
  readonly text: number;
  /** The part of the text's own tokens it reads: [from, to), special tokens and prompt not counted. */
  readonly from: number;
  readonly to: number;
  /** Those before it were read by the window before. */
  readonly firstNew: number;
  /** How many ids stand before the text's own. */
  readonly head: number;
}

export interface WindowLimits {
  /** Longest window, special tokens and prompt included; Infinity = one window. */
  readonly maxTokens: number;
  /** Tokens of the text by which windows overlap. Default: a quarter of what a window has of it. */
  readonly stride?: number;
}

/**
 * The windows of one text, whose encoding is whole. INPUT_INVALID where the limit leaves no room for the text, or the stride none for new
 * tokens.
 */
export function tokenWindows(
  encoding: TokenIds & EncoderInputRow,
  text: number,
  { prefix, suffix }: Frame,
  { maxTokens, stride: asked }: WindowLimits,
): TokenWindow[] {
  const { ids, typeIds, wholeLength, promptTokens } = encoding;
  const end = ids.length - suffix.length;
  const head = Math.min(Math.max(prefix.length, promptTokens), end);
  const room = maxTokens - head - suffix.length;
  if (room < 1) throw noRoom(maxTokens, head + suffix.length);
  const stride = asked ?? (Number.isFinite(room) ? Math.floor(room / 4) : 0);
  if (stride >= room) throw tooFar(stride, room);
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

function noRoom(maxTokens: number, around: number): InferyardError {
  const message = `a limit of ${maxTokens} tokens leaves no room for the text: special tokens and prompt take ${around} of every window`;
  return new InferyardError("INPUT_INVALID", message, { remedy: `give a limit of more than ${around} tokens` });
}

function tooFar(stride: number, room: number): InferyardError {
  return new InferyardError(
    "INPUT_INVALID",
    `a stride of ${stride} leaves no room for new tokens: a window has ${room} of the text`,
    {
      remedy: `give a stride below ${room}; a quarter of it is usual`,
    },
  );
}
