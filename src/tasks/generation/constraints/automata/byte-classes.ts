/** Classes of bytes that an automaton does not tell apart: by byte, the number of its class. */

/** Classes of bytes that ranges do not distinguish. */
export function getClasses(ranges: readonly (readonly [first: number, last: number])[]): Uint8Array {
  const borders = new Uint8Array(257);
  for (const [first, last] of ranges) {
    borders[first] = 1;
    borders[last + 1] = 1;
  }
  let kind = 0;
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (byte > 0 && borders[byte] === 1) kind += 1;
    return kind;
  });
}

/** A class for each byte. */
export const everyByte: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** Number of classes of bytes. */
export function getClassCount(classes: Uint8Array): number {
  return Math.max(...classes) + 1;
}

/** A byte of each class. */
export function getRepresentatives(classes: Uint8Array): readonly number[] {
  const bytes: number[] = [];
  for (const [byte, kind] of classes.entries()) bytes[kind] ??= byte;
  return bytes;
}

/** Classes of bytes that neither of two automata distinguishes. */
export function commonClasses(left: Uint8Array, right: Uint8Array): Uint8Array {
  const numbers = new Map<number, number>();
  return left.map((kind, byte) => {
    const pair = kind * 256 + (right[byte] ?? 0);
    const number = numbers.get(pair) ?? numbers.size;
    numbers.set(pair, number);
    return number;
  });
}
