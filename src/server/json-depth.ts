/** How deep a JSON text nests, found without building it. */
import { InferyardError } from "../errors.ts";

const quote = 0x22;
const backslash = 0x5c;
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** LIMIT_EXCEEDED for a text whose lists and objects nest deeper than `limit`. A text that is no JSON is left to the parser. */
export function refuseDeep(text: string, limit: number): void {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) index = endOfString(text, index);
    else if (opening.has(code)) depth += 1;
    else if (closing.has(code)) depth -= 1;
    if (depth > limit) {
      throw new InferyardError("LIMIT_EXCEEDED", `the body nests deeper than ${limit} levels`, {
        remedy: "send a flatter body",
        data: { limit },
      });
    }
  }
}

/** The index of the closing quotation mark. */
function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
  } while (escaped(text, end));
  return end;
}

function escaped(text: string, index: number): boolean {
  let before = index - 1;
  while (text.charCodeAt(before) === backslash) before -= 1;
  return (index - before) % 2 === 0;
}
