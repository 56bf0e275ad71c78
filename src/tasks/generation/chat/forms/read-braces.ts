/** Reads `call:NAME{key:VALUE,...}`, in which strings stand between marks of their own and keys without any (Gemma). */
import type { CallSyntax } from "./call-form.ts";
import type { CallReading } from "./call-reading.ts";
import { jsonOfPython } from "./python-literals.ts";
import type { CursorReading, CallCursor } from "./text-cursor.ts";

/** Deepest nesting that is read. */
const maxDepth = 100;

/** Reads one call to the end of its block. */
export function* readBraces(
  { quote, close }: Extract<CallSyntax, { kind: "braces" }>,
  { cursor, add }: CallReading,
): CursorReading<boolean> {
  yield* cursor.space();
  if (!(yield* cursor.take("call:"))) return false;
  const name = yield* cursor.takeWhile(/[^\s{}]/);
  const json = yield* readValue(cursor, quote, 0);
  if (name === "" || json?.startsWith("{") !== true) return false;
  add({ name, arguments: json });
  yield* cursor.space();
  yield* cursor.take(close);
  return true;
}

function* readValue(cursor: CallCursor, quote: string, depth: number): CursorReading<string | undefined> {
  if (depth > maxDepth) return undefined;
  yield* cursor.space();
  if (yield* cursor.take(quote)) {
    const { text, delimiter } = yield* cursor.until([quote]);
    return delimiter === undefined ? undefined : JSON.stringify(text);
  }
  const isObject = yield* cursor.take("{");
  if (!isObject && !(yield* cursor.take("["))) return jsonOfPython(yield* cursor.takeWhile(/[^,{}[\]\s]/));
  const close = isObject ? "}" : "]";
  const parts: string[] = [];
  for (;;) {
    yield* cursor.space();
    if (yield* cursor.take(close)) return isObject ? `{${parts.join(",")}}` : `[${parts.join(",")}]`;
    if (parts.length > 0 && !(yield* cursor.take(","))) return undefined;
    yield* cursor.space();
    let key = "";
    if (isObject) {
      const isQuoted = yield* cursor.take(quote);
      const { text, delimiter } = yield* cursor.until([isQuoted ? quote : ":"]);
      if (delimiter === undefined || (isQuoted && !(yield* cursor.take(":")))) return undefined;
      key = `${JSON.stringify(isQuoted ? text : text.trim())}:`;
    }
    const value = yield* readValue(cursor, quote, depth + 1);
    if (value === undefined) return undefined;
    parts.push(key + value);
  }
}
