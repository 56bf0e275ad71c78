/** Reads JSONL: one JSON value per line, in bounded memory, from any offset. */
import { createReadStream } from "node:fs";
import { getMessage } from "../../contract/errors.ts";
import type { InputPosition } from "../store/job.ts";
import type { ReadRow, RowReader } from "./row-reader.ts";

/** Longest line in bytes. Longer ones are rows without a result. */
const maxLineBytes = 64 * 2 ** 20;
const blockBytes = 2 ** 20;
/** Rows that are read together: a block may have a million. */
const maxGroupRows = 256;
const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/** A reader of a JSONL file. Its positions are byte offsets. */
export function jsonlReader(path: string): RowReader {
  return { read: (position) => readJsonl(path, position) };
}

async function* readJsonl(path: string, { offset, number }: InputPosition): AsyncGenerator<readonly ReadRow[], void> {
  const stream = createReadStream(path, { start: offset, highWaterMark: blockBytes });
  const line = new Line();
  let [end, count] = [offset, number];
  for await (const block of stream as AsyncIterable<Buffer>) {
    let rows: ReadRow[] = [];
    let start = 0;
    for (let at = block.indexOf(lineFeed); at !== -1; at = block.indexOf(lineFeed, start)) {
      line.append(block.subarray(start, at));
      end += at + 1 - start;
      start = at + 1;
      count += 1;
      const row = line.take(count, end);
      if (row !== undefined) rows.push(row);
      if (rows.length < maxGroupRows) continue;
      yield rows;
      rows = [];
    }
    line.append(block.subarray(start));
    end += block.length - start;
    if (rows.length > 0) yield rows;
  }
  const last = line.take(count + 1, end);
  if (last !== undefined) yield [last];
}

/** The line that is being read. */
class Line {
  #pieces: Buffer[] = [];
  #bytes = 0;

  append(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= maxLineBytes && piece.length > 0) this.#pieces.push(piece);
    else if (this.#bytes > maxLineBytes) this.#pieces = [];
  }

  /** The row of the line, which ends at the offset `end`. Undefined for a blank line. */
  take(number: number, end: number): ReadRow | undefined {
    const [pieces, bytes] = [this.#pieces, this.#bytes];
    this.#pieces = [];
    this.#bytes = 0;
    const base = { number, bytes, position: { offset: end, number } };
    if (bytes > maxLineBytes) return { ...base, problem: `the line has ${bytes} bytes; the limit is ${maxLineBytes}` };
    const [first = Buffer.alloc(0)] = pieces;
    const whole = pieces.length <= 1 ? first : Buffer.concat(pieces);
    const text = decode(whole, number);
    if (text === undefined) return { ...base, problem: "the line is not UTF-8" };
    if (text.trim() === "") return undefined;
    try {
      return { ...base, value: JSON.parse(text) as unknown };
    } catch (error) {
      return { ...base, problem: `the line is not JSON: ${getMessage(error)}`, text: text.slice(0, shownCharacters) };
    }
  }
}

/** Characters of a damaged line that the file of failed rows shows. */
const shownCharacters = 1000;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a line; undefined if it is not UTF-8. The first line may begin with a byte order mark. */
function decode(line: Buffer, number: number): string | undefined {
  const bytes = line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
  try {
    const text = utf8.decode(bytes);
    return number === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;
  } catch {
    return undefined;
  }
}
