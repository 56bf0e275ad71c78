/** UTF-8 to text, with no replacement of what is not UTF-8. */
import { InferyardError } from "../../../errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** INPUT_INVALID with the offset of the first byte that is not UTF-8. A byte order mark at the start is removed. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    const offset = invalidAt(bytes);
    const value = bytes[offset];
    const what = value === undefined ? "the end of the body" : `0x${value.toString(16).padStart(2, "0")}`;
    throw new InferyardError("INPUT_INVALID", `the request body is not UTF-8: ${what} at byte ${offset}`, {
      remedy: "encode the body as UTF-8",
      data: { offset },
    });
  }
}

/** Offset of the first byte that cannot stand where it stands (Unicode Standard, table 3-7); the length where the last sequence is cut off. */
function invalidAt(bytes: Uint8Array): number {
  let index = 0;
  while (index < bytes.length) {
    const lead = bytes[index] ?? 0;
    const following = lengthAfter(lead);
    if (following === undefined) return index;
    for (let step = 1; step <= following; step += 1) {
      const byte = bytes[index + step];
      if (byte === undefined) return bytes.length;
      const [lowest, highest] = step === 1 ? secondBytes(lead) : [0x80, 0xbf];
      if (byte < lowest || byte > highest) return index + step;
    }
    index += following + 1;
  }
  return index;
}

/** Bytes that follow a first byte; undefined where it cannot be a first byte. */
function lengthAfter(lead: number): number | undefined {
  if (lead < 0x80) return 0;
  if (lead >= 0xc2 && lead <= 0xdf) return 1;
  if (lead >= 0xe0 && lead <= 0xef) return 2;
  return lead >= 0xf0 && lead <= 0xf4 ? 3 : undefined;
}

/** Without overlong forms, surrogates, and what is beyond U+10FFFF. */
function secondBytes(lead: number): readonly [lowest: number, highest: number] {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  return lead === 0xf4 ? [0x80, 0x8f] : [0x80, 0xbf];
}
