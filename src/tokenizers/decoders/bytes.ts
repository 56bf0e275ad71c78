/** Decoders of byte tokens: ByteLevel and ByteFallback. */
import { byteOfCharacter } from "../unicode/byte-level-alphabet.ts";

/** By UTF-16 code unit: its byte; -1 for a unit outside the byte-level alphabet. */
const bytesOfUnits: readonly number[] = Array.from(
  { length: 0x144 },
  (_byte, unit) => byteOfCharacter.get(String.fromCharCode(unit)) ?? -1,
);

/**
 * Decoder `ByteLevel`: maps the characters of all tokens to bytes and decodes them as UTF-8, with U+FFFD for invalid sequences. A token with a
 * character outside the alphabet is kept as text.
 */
export function decodeByteLevel(tokens: readonly string[]): readonly string[] {
  // A UTF-16 code unit has at most three bytes in UTF-8.
  let bytes = new Uint8Array(3 * tokens.reduce((sum, { length }) => sum + length, 0));
  const encoder = new TextEncoder();
  let size = 0;
  for (const token of tokens) {
    const from = size;
    for (let unit = 0; unit < token.length; unit++) {
      const byte = bytesOfUnits[token.charCodeAt(unit)] ?? -1;
      if (byte < 0) {
        size = from + encoder.encodeInto(token, bytes.subarray(from)).written;
        break;
      }
      bytes[size++] = byte;
    }
  }
  bytes = bytes.subarray(0, size);
  return [new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)];
}

/** Decoder `ByteFallback`: converts byte tokens such as <0x61> to text. Consecutive bytes that are not valid UTF-8 give one U+FFFD each. */
export function decodeByteFallback(tokens: readonly string[]): readonly string[] {
  const texts: string[] = [];
  let bytes: number[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const settle = (): void => {
    if (bytes.length === 0) return;
    try {
      texts.push(decoder.decode(Uint8Array.from(bytes)));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      for (const _byte of bytes) texts.push("\ufffd");
    }
    bytes = [];
  };
  for (const token of tokens) {
    const byte = /^<0x([\dA-Fa-f]{2})>$/.exec(token)?.[1];
    if (byte === undefined) {
      settle();
      texts.push(token);
    } else bytes.push(Number.parseInt(byte, 16));
  }
  settle();
  return texts;
}
