/** Decoders for tokens that spell bytes. */
import { byteOfCharacter } from "../byte-characters.ts";

/** Joins all tokens, byte by byte; what is no UTF-8 becomes U+FFFD. A token with a character outside the alphabet stays as it is. */
export function decodeByteLevel(tokens: readonly string[]): readonly string[] {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const token of tokens) {
    const spelled = Array.from(token, (character) => byteOfCharacter.get(character) ?? -1);
    for (const byte of spelled.includes(-1) ? encoder.encode(token) : spelled) bytes.push(byte);
  }
  return [new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes))];
}

/** Turns <0x61> and the like into text. Bytes in a row that are no UTF-8 become one U+FFFD each. */
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
