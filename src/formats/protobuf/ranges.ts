/** Decodes contents of repeated fields that a reader of messages left in the file. */
import { PbfReader } from "pbf";
import type { FileWindow, Reading } from "../file-window.ts";
import type { Ranges } from "./message-reader.ts";

/** Memory that a number in a list takes, in bytes, and a bigint. */
const numberBytes = 8;
const bigintBytes = 40;

/** Bytes of all ranges together. */
export function rangesLength(ranges: Ranges): number {
  return ranges.reduce((sum, bound, index) => sum + (index % 2 === 0 ? -bound : bound), 0);
}

/** The last occurrence of a field that is not repeated, which is the one that counts: its position in the file and its bytes. */
export function getLastRange(ranges: Ranges): { readonly start: number; readonly length: number } | undefined {
  const [start, end] = ranges.slice(-2);
  return start === undefined || end === undefined ? undefined : { start, length: end - start };
}

/** A copy of the bytes of all ranges, one after the other: the content of the repeated field as one packed list. */
export function* readRanges(window: FileWindow, ranges: Ranges): Reading<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(rangesLength(ranges));
  let position = 0;
  for (const [start, end] of pairs(ranges)) {
    bytes.set(yield* window.readBytes(start, end - start), position);
    position += end - start;
  }
  return bytes;
}

/** The texts of a repeated field, each a range. */
export function* readTextRanges(window: FileWindow, ranges: Ranges): Reading<string[]> {
  const texts: string[] = [];
  for (const [start, end] of pairs(ranges)) texts.push(yield* window.readText(start, end - start));
  return texts;
}

function* pairs(ranges: Ranges): Generator<readonly [start: number, end: number]> {
  for (let index = 0; index + 1 < ranges.length; index += 2) yield [ranges[index] ?? 0, ranges[index + 1] ?? 0];
}

/** The signed integers of a packed list. Integers beyond 2^53 are rounded. Throws Error if the last one ends too early. */
export function* readIntegers(window: FileWindow, ranges: Ranges): Reading<number[]> {
  const bytes = yield* readRanges(window, ranges);
  const pbf = new PbfReader(bytes);
  const numbers: number[] = [];
  while (pbf.pos < bytes.length) {
    window.charge(numberBytes, "numbers of the file");
    numbers.push(pbf.readVarint(true));
  }
  if (pbf.pos > bytes.length) throw new Error("it is damaged: a list of integers ends too early");
  return numbers;
}

/** The integers of a packed list as unsigned bigints of 64 bits, with all their digits. Throws as `readIntegers` does. */
export function* readWideIntegers(window: FileWindow, ranges: Ranges): Reading<bigint[]> {
  const numbers: bigint[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of yield* readRanges(window, ranges)) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (shift > 70n) break;
    if (byte >= 0x80) continue;
    window.charge(bigintBytes, "numbers of the file");
    numbers.push(BigInt.asUintN(64, value));
    [value, shift] = [0n, 0n];
  }
  if (shift > 0n) throw new Error("it is damaged: a list of integers ends too early");
  return numbers;
}
