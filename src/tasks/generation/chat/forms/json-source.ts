/** JSON as it was written: the texts of its members, in which numbers and the order of keys stay what they were. */
import { jsonOfPython } from "./python-literals.ts";
import type { CursorReading, CallCursor } from "./text-cursor.ts";

const closing: ReadonlyMap<string, string> = new Map([
  ["{", "}"],
  ["[", "]"],
  ["(", ")"],
]);
const closers: ReadonlySet<string> = new Set(closing.values());

/** Reads an object or a list to its closing bracket; brackets in strings are skipped. Undefined if neither is next, or if the text ends before. */
export function* readBracketed(cursor: CallCursor): CursorReading<string | undefined> {
  const open: string[] = [];
  let quote = "";
  let text = "";
  for (;;) {
    if (quote !== "") {
      text += yield* cursor.takeWhile(quote === '"' ? /[^"\\]/ : /[^'\\]/);
      const next = yield* cursor.peek();
      if (next === undefined) return undefined;
      text += next;
      yield* cursor.take(next);
      if (next === quote) quote = "";
      else text += yield* readCharacter(cursor);
      continue;
    }
    if (open.length > 0) text += yield* cursor.takeWhile(/[^"'{}[\]()]/);
    const next = yield* cursor.peek();
    if (next === undefined) return undefined;
    const close = closing.get(next);
    if (close !== undefined) open.push(close);
    else if (open.length === 0) return undefined;
    else if (closers.has(next) && open.pop() !== next) return undefined;
    else if (!closers.has(next)) quote = next;
    text += next;
    yield* cursor.take(next);
    if (open.length === 0) return text;
  }
}

function* readCharacter(cursor: CallCursor): CursorReading<string> {
  const next = yield* cursor.peek();
  if (next === undefined) return "";
  yield* cursor.take(next);
  return next;
}

/**
 * JSON without white space between its parts. Line ends and tabs in strings, which models write and JSON forbids, become escapes, and literals of Python become
 * JSON's. Undefined for other texts.
 */
export function compactJson(text: string): string | undefined {
  const compact = text.replace(
    /("(?:[^"\\]|\\.)*")|\s+/gs,
    (_, string: string | undefined) => string?.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1)) ?? "",
  );
  return isJson(compact) ? compact : jsonOfPython(text);
}

/** The members of an object by name, each as its text. Undefined for other values. `json`: a result of `compactJson`. */
export function readJsonMembers(json: string): ReadonlyMap<string, string> | undefined {
  if (!json.startsWith("{")) return undefined;
  const members = getParts(json).map((part): readonly [string, string] => {
    const [name = ""] = /^"(?:[^"\\]|\\.)*"/.exec(part) ?? [];
    return [JSON.parse(name) as string, part.slice(name.length + 1)];
  });
  return new Map(members);
}

/** The items of a list, each as its text. Undefined for other values. */
export function readJsonItems(json: string): readonly string[] | undefined {
  return json.startsWith("[") ? getParts(json) : undefined;
}

/** The text of a string. Undefined for what is no string. */
export function readString(json: string | undefined): string | undefined {
  return json?.startsWith('"') === true ? (JSON.parse(json) as string) : undefined;
}

/** What stands between the commas of an object or a list. */
function getParts(json: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 1;
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if ((token === "," && depth === 1) || depth === 0) {
      if (index > start) parts.push(json.slice(start, index));
      start = index + 1;
    }
  }
  return parts;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
