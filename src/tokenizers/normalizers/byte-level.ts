/** Normalizer `ByteLevel`: replaces every character by those of its UTF-8 bytes in the byte-level alphabet. */
import type { AlignedText } from "../alignment/aligned-text.ts";
import { characterOfByte, writeUtf8 } from "../unicode/byte-level-alphabet.ts";
import { mapCharacters } from "./map-characters.ts";

/**
 * Normalizer `ByteLevel`: writes the UTF-8 bytes of a text in GPT-2's alphabet of 256 characters. Every byte is aligned to its
 * whole character.
 */
export function byteLevelNormalizer(source: AlignedText): AlignedText {
  const bytes = new Uint8Array(4);
  return mapCharacters(source, (point) => {
    const length = writeUtf8(point, bytes);
    let written = "";
    for (let index = 0; index < length; index++) written += characterOfByte[bytes[index] ?? 0];
    return written;
  });
}
