/** Offset trimming (`process_offsets` of ByteLevel in the Rust library): removes white space at both ends of tokens from their offsets. */
import { characterOfByte } from "../unicode/byte-level-alphabet.ts";
import { isWhitespace } from "../unicode/character-properties.ts";
import type { OffsetTrimming } from "./index.ts";

const spaceByte = characterOfByte[0x20];

/**
 * Trims white space from the offsets of tokens in place. `offsets` has the start and end of each token; `tokenAt` returns the
 * text of a token by its index.
 */
export function trimOffsets(offsets: number[], tokenAt: (index: number) => string, { addPrefixSpace }: OffsetTrimming): void {
  for (let index = 0; 2 * index < offsets.length; index++) {
    const token = tokenAt(index);
    let leading = 0;
    while (leading < token.length && isSpace(token, leading)) leading++;
    let trailing = 0;
    while (trailing < token.length && isSpace(token, token.length - 1 - trailing)) trailing++;
    let start = offsets[2 * index] as number;
    let end = offsets[2 * index + 1] as number;
    if (leading > 0) {
      const isFirst = index === 0 || start === 0;
      // A single space before the first word was inserted by the pre-tokenizer and is not in the text.
      if (!(isFirst && addPrefixSpace && leading === 1)) start = Math.min(start + leading, end);
    }
    if (trailing > 0 && end >= trailing) end = Math.max(end - trailing, start);
    offsets[2 * index] = start;
    offsets[2 * index + 1] = end;
  }
}

function isSpace(token: string, unit: number): boolean {
  return token.charAt(unit) === spaceByte || isWhitespace(token.charCodeAt(unit));
}
