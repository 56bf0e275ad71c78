/** A decoder of UTF-8 as an automaton over bytes. */
import { getClasses } from "./byte-classes.ts";

/** By state of `stepUtf8`: the ranges of bytes that may follow, and the state after them (Unicode, table 3-7). */
const utf8Rows: readonly (readonly (readonly [first: number, last: number, next: number])[])[] = [
  [
    [0x00, 0x7f, 0],
    [0xc2, 0xdf, 1],
    [0xe0, 0xe0, 2],
    [0xe1, 0xec, 3],
    [0xed, 0xed, 4],
    [0xee, 0xef, 3],
    [0xf0, 0xf0, 5],
    [0xf1, 0xf3, 6],
    [0xf4, 0xf4, 7],
  ],
  [[0x80, 0xbf, 0]],
  [[0xa0, 0xbf, 1]],
  [[0x80, 0xbf, 1]],
  [[0x80, 0x9f, 1]],
  [[0x90, 0xbf, 3]],
  [[0x80, 0xbf, 3]],
  [[0x80, 0x8f, 3]],
];

const utf8Table: Int8Array = new Int8Array(8 * 256).fill(-1);
for (const [state, row] of utf8Rows.entries())
  for (const [first, last, next] of row) utf8Table.fill(next, state * 256 + first, state * 256 + last + 1);

/** Number of states of `stepUtf8`. State 0 is that between characters. */
export const utf8States = 8;

/** The state of a decoder of UTF-8 after a byte; -1 for a byte that UTF-8 does not have there. */
export function stepUtf8(state: number, byte: number): number {
  return utf8Table[state * 256 + byte] ?? -1;
}

/** Classes of bytes that UTF-8 does not distinguish. */
export const utf8Classes: Uint8Array = getClasses(utf8Rows.flat().map(([first, last]) => [first, last] as const));
