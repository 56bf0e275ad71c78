/**
 * GPT-2's byte-level alphabet (`bytes_char` of the Rust library): one printable character per byte. Printable Latin-1 characters represent
 * themselves; the other bytes have characters from U+0100 on (a space is "Ġ").
 */

/** The character that represents each byte in GPT-2's byte-level alphabet, indexed by byte. */
export const characterOfByte: readonly string[] = alphabet();

/** The byte that each character of GPT-2's byte-level alphabet represents; the inverse of `characterOfByte`. */
export const byteOfCharacter: ReadonlyMap<string, number> = new Map(characterOfByte.map((character, byte) => [character, byte]));

function alphabet(): string[] {
  const characters: string[] = [];
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const visible = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    characters.push(String.fromCharCode(visible ? byte : next++));
  }
  return characters;
}

/** Writes the UTF-8 bytes of a code point into `bytes` and returns their number. A surrogate is written as U+FFFD. */
export function writeUtf8(point: number, bytes: Uint8Array): 1 | 2 | 3 | 4 {
  const valid = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
  if (valid < 0x80) {
    bytes[0] = valid;
    return 1;
  }
  if (valid < 0x800) {
    bytes[0] = 0xc0 | (valid >> 6);
    bytes[1] = 0x80 | (valid & 0x3f);
    return 2;
  }
  if (valid < 0x10000) {
    bytes[0] = 0xe0 | (valid >> 12);
    bytes[1] = 0x80 | ((valid >> 6) & 0x3f);
    bytes[2] = 0x80 | (valid & 0x3f);
    return 3;
  }
  bytes[0] = 0xf0 | (valid >> 18);
  bytes[1] = 0x80 | ((valid >> 12) & 0x3f);
  bytes[2] = 0x80 | ((valid >> 6) & 0x3f);
  bytes[3] = 0x80 | (valid & 0x3f);
  return 4;
}
