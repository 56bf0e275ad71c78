/** JSON texts that end in the middle. */
import { isJsonObject, parseJson } from "./exact-json.ts";

/** Objects and lists that are open: what closes the innermost, and those around it. */
interface Open {
  readonly closer: "}" | "]";
  readonly outer: Open | undefined;
}

/** Parses an object with `parseJson`; for a truncated text parses the result of `completedObject`. An empty object for other texts. */
export function parseObject(json: string): unknown {
  return parseJson(isObjectText(json) ? json : (completedObject(json) ?? "{}"));
}

/**
 * Completes the text of a truncated object: closes open strings, arrays and objects, and drops a name without its value, or a number that may have further
 * digits. Undefined if the text is not the beginning of an object. Takes one pass.
 */
export function completedObject(text: string): string | undefined {
  let open: Open | undefined;
  /** Up to here the text is whole but for what closes it. */
  let kept: { readonly end: number; readonly quote: '"' | ""; readonly open: Open | undefined } | undefined;
  let isValue = false; // whether the next string of an object is a value
  for (let at = 0; at < text.length;) {
    const character = text.charAt(at);
    if (/[\s,:]/.test(character)) {
      isValue = character === ":" || (isValue && character !== ",");
      at += 1;
      continue;
    }
    if (character === '"') {
      const { end, isWhole } = readString(text, at);
      const isName = open?.closer === "}" && !isValue;
      if (!isName) kept = { end, quote: isWhole ? "" : '"', open };
      if (!isWhole) break;
      at = end;
      if (isName) continue;
    } else {
      if (character === "{" || character === "[") open = { closer: character === "{" ? "}" : "]", outer: open };
      else if (character === "}" || character === "]") open = open?.outer;
      const written = wordAt(text, at);
      at += written.length;
      if (at === text.length && mayGoOn(written)) {
        if (open?.closer === "}" && !isValue) return undefined;
        break;
      }
      kept = { end: at, quote: "", open };
    }
    isValue = false;
  }
  if (kept === undefined) return undefined;
  let completed = text.slice(0, kept.end) + kept.quote;
  for (let each = kept.open; each !== undefined; each = each.outer) completed += each.closer;
  return isObjectText(completed) ? completed : undefined;
}

const word = /[{}[\]]|[^\s,:"{}[\]]+/y;

/** Whether a word at the end of a text may be the beginning of a number or a constant. */
function mayGoOn(written: string): boolean {
  return (
    /^-?\d*\.?\d*(?:[eE][+-]?\d*)?$/.test(written) ||
    ["true", "false", "null"].some((each) => each !== written && each.startsWith(written))
  );
}

/** A bracket, a number or a constant. */
function wordAt(text: string, at: number): string {
  word.lastIndex = at;
  return word.exec(text)?.[0] ?? "";
}

/** Where a string ends, after its closing quote; of one that is cut, before an escape that is cut too. */
function readString(text: string, start: number): { readonly end: number; readonly isWhole: boolean } {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') return { end: at + 1, isWhole: true };
    if (character !== "\\") continue;
    const length = text.charAt(at + 1) === "u" ? 6 : 2;
    if (at + length > text.length) return { end: at, isWhole: false };
    at += length - 1;
  }
  return { end: text.length, isWhole: false };
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
