/** Chained Ogg files: streams one after the other, as radio stations and concatenated files have them (RFC 3533, 4). */
import { hasBytes } from "./sound-format.ts";

/** Bytes of a page's header without its table of segments. */
const headerBytes = 27;
const beginsStream = 2;

/**
 * The streams of an Ogg file, each from its first page on. A page that begins a stream right after another of that kind belongs to the same link, as streams beside
 * each other do. Bytes that are no page end the search: what follows belongs to the last link.
 */
export function splitOggLinks(bytes: Uint8Array): readonly Uint8Array[] {
  const starts: number[] = [];
  let isBeginning = false;
  for (let at = 0; at + headerBytes <= bytes.length && hasBytes(bytes, at, "OggS\0");) {
    const begins = ((bytes[at + 5] ?? 0) & beginsStream) !== 0;
    if (begins && !isBeginning) starts.push(at);
    isBeginning = begins;
    const segments = bytes[at + 26] ?? 0;
    let size = headerBytes + segments;
    for (let index = 0; index < segments; index += 1) size += bytes[at + headerBytes + index] ?? 0;
    at += size;
  }
  if (starts.length <= 1) return [bytes];
  return starts.map((start, index) => bytes.subarray(start, starts[index + 1] ?? bytes.length));
}
