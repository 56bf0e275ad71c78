/** Truncation (`truncate_encodings` of the Rust library): windows over the tokens of each text. */
import { at } from "../contract/checked.ts";
import { type InferyardError, invalidInput } from "../contract/errors.ts";
import type { TruncationStrategy } from "./tokenizer.ts";

/** A window of a truncated text: the tokens [from, to). */
export interface TruncationWindow {
  readonly from: number;
  readonly to: number;
}

/**
 * How texts are truncated (`TruncationParams` of the Rust library): the strategy, the side, and the overlap of windows in tokens.
 */
export interface TruncationRules {
  readonly strategy: TruncationStrategy;
  /** Overlap of consecutive windows in tokens. */
  readonly stride: number;
  /** The end at which tokens are removed. */
  readonly side: "left" | "right";
}

/**
 * Splits one or two texts into windows that meet a limit; the first window of each text is kept, the others are overflow. `lengths` has the number of tokens of
 * each text; `room` is the maximum number of tokens of all texts together. Throws INPUT_INVALID if the strategy cannot meet the limit, or if the stride is not
 * shorter than a window.
 */
export function truncationWindows(lengths: readonly number[], room: number, rules: TruncationRules): TruncationWindow[][] {
  const [first = 0, second] = lengths;
  const surplus = first + (second ?? 0) - room;
  if (surplus <= 0) return lengths.map((length) => [{ from: 0, to: length }]);
  return roomOfEach(first, second, room, surplus, rules.strategy).map((most, index) => windows(at(lengths, index), most, rules));
}

function roomOfEach(
  first: number,
  second: number | undefined,
  room: number,
  surplus: number,
  strategy: TruncationStrategy,
): number[] {
  if (strategy === "only_second" && second === undefined)
    throw cannotCut("the truncation strategy only_second needs a second text");
  if (strategy !== "longest_first") {
    const cut = strategy === "only_first" ? first : (second ?? 0);
    if (cut <= surplus && room > 0)
      throw cannotCut(`the limit cannot be kept by cutting ${strategy === "only_first" ? "the first" : "the second"} text alone`);
    const left = Math.max(0, cut - surplus);
    return strategy === "only_first" ? [left, ...(second === undefined ? [] : [second])] : [first, left];
  }
  if (second === undefined) return [room];
  const shorter = Math.min(first, second);
  const [shorterRoom, longerRoom] =
    shorter > room || shorter + Math.max(shorter, room - shorter) > room
      ? [Math.floor(room / 2), Math.ceil(room / 2)]
      : [shorter, Math.max(shorter, room - shorter)];
  return first > second ? [longerRoom, shorterRoom] : [shorterRoom, longerRoom];
}

/** Maximum number of tokens in all windows of one text: a stride close to the window length multiplies the length of a text. */
const maxWindowedTokens = 2 ** 20;

function windows(length: number, maxTokens: number, { stride, side }: TruncationRules): TruncationWindow[] {
  if (length <= maxTokens) return [{ from: 0, to: length }];
  if (maxTokens === 0) {
    return [
      { from: 0, to: 0 },
      { from: 0, to: length },
    ];
  }
  if (stride >= maxTokens) throw cannotCut(`a stride of ${stride} tokens does not fit into windows with room for ${maxTokens}`);
  const windowed = Math.ceil((length - stride) / (maxTokens - stride)) * maxTokens;
  if (windowed > Math.max(maxWindowedTokens, 8 * length))
    throw cannotCut(`a stride of ${stride} tokens cuts ${length} tokens into windows of ${windowed} in all`);
  const result: TruncationWindow[] = [];
  for (let at = 0; at < length; at += maxTokens - stride) {
    const window =
      side === "right"
        ? { from: at, to: Math.min(at + maxTokens, length) }
        : { from: Math.max(0, length - at - maxTokens), to: length - at };
    result.push(window);
    if (side === "right" ? window.to === length : window.from === 0) break;
  }
  return result;
}

function cannotCut(message: string): InferyardError {
  return invalidInput(message, "raise the limit of tokens, or choose another strategy or stride");
}
