/** Strict decoding of UTF-8: invalid bytes are an error and are not replaced. */
import { at } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The text, without a byte order mark at its start. Throws INPUT_INVALID with the offset of the first byte that is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    const offset = invalidAt(bytes);
    const value = bytes[offset];
    const what = value === undefined ? "the end of the body" : `0x${value.toString(16).padStart(2, "0")}`;
    throw invalidInput(`the request body is not UTF-8: ${what} at byte ${offset}`, "encode the body as UTF-8", { offset });
  }
}

/** Offset of the first byte that is invalid at its position (Unicode Standard, table 3-7); the length if the last sequence is incomplete. */
function invalidAt(bytes: Uint8Array): number {
  let index = 0;
  while (index < bytes.length) {
    const lead = at(bytes, index);
    const following = lengthAfter(lead);
    if (following === undefined) return index;
    for (let step = 1; step <= following; step += 1) {
      const byte = bytes[index + step];
      if (byte === undefined) return bytes.length;
      const [min, max] = step === 1 ? secondBytes(lead) : [0x80, 0xbf];
      if (byte < min || byte > max) return index + step;
    }
    index += following + 1;
  }
  return index;
}

/** Number of continuation bytes that follow a first byte; undefined if the byte cannot be a first byte. */
function lengthAfter(lead: number): number | undefined {
  if (lead < 0x80) return 0;
  if (lead >= 0xc2 && lead <= 0xdf) return 1;
  if (lead >= 0xe0 && lead <= 0xef) return 2;
  return lead >= 0xf0 && lead <= 0xf4 ? 3 : undefined;
}

/** Range of the second byte, which excludes overlong forms, surrogates, and code points above U+10FFFF. */
function secondBytes(lead: number): readonly [min: number, max: number] {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  return lead === 0xf4 ? [0x80, 0x8f] : [0x80, 0xbf];
}
