/** Nmt: control characters go, and what counts as a space becomes one. The lists are the Rust library's. */
import type { AlignedText } from "../aligned-text.ts";
import { mapCharacters } from "./map-characters.ts";

const removed = /^[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]$/;
const spaced = /^[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]$/;

export function nmt(source: AlignedText): AlignedText {
  return mapCharacters(source, (point) => {
    if (point > 0xffff) return undefined;
    const character = String.fromCharCode(point);
    return removed.test(character) ? "" : spaced.test(character) ? " " : undefined;
  });
}
