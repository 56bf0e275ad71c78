/** Reads calls of tools, whatever their form. */
import type { CallForm, CallSyntax, NamedSyntax } from "./call-form.ts";
import { type CallReading, type CallStart, callsFromJson, isOffered, readFence, readFenceEnd } from "./call-reading.ts";
import { compactJson, readBracketed } from "./json-source.ts";
import { callsOfPython } from "./python-literals.ts";
import { readBraces } from "./read-braces.ts";
import { readElements } from "./read-elements.ts";
import { readTagged } from "./read-tagged.ts";
import type { CursorReading } from "./text-cursor.ts";

/** Reads the calls after a text that begins them. Returns whether the text read since the last call belongs to calls; otherwise it is plain text. */
export function* readCalls({ syntax }: CallForm, start: CallStart, reading: CallReading): CursorReading<boolean> {
  switch (syntax.kind) {
    case "json":
      return yield* readJson(syntax, reading);
    case "named":
      return yield* readNamed(syntax, start, reading);
    case "tagged":
      return yield* readTagged(syntax, start, reading);
    case "elements":
      return yield* readElements(syntax, reading);
    case "braces":
      return yield* readBraces(syntax, reading);
    case "python":
      return yield* readPython(syntax.close, start, reading);
    case "channel":
      return false;
    default:
      return syntax satisfies never;
  }
}

type JsonSyntax = Extract<CallSyntax, { kind: "json" }>;

/** Reads objects and lists of calls up to the end of the block. */
function* readJson({ closes, isBare }: JsonSyntax, { cursor, tools, add }: CallReading): CursorReading<boolean> {
  for (let count = 0; ;) {
    yield* cursor.takeWhile(/[\s,;]/);
    const isFenced = yield* readFence(cursor);
    if ((yield* cursor.takeOneOf(closes)) !== undefined || cursor.isAtEnd) return count > 0;
    const next = yield* cursor.peek();
    if (next !== "{" && next !== "[") return count > 0 && isBare;
    const calls = callsFromJson((yield* readBracketed(cursor)) ?? "");
    if (calls === undefined || (isBare && !calls.every(({ name }) => isOffered(tools, name)))) return false;
    for (const call of calls) add(call);
    count += 1;
    if (isFenced) yield* readFenceEnd(cursor);
    cursor.mark();
  }
}

/** Reads names, each with an object. */
function* readNamed(
  { call, hasTypes, separators, callCloses, closes }: NamedSyntax,
  { open }: CallStart,
  reading: CallReading,
): CursorReading<boolean> {
  const { cursor, tools, add } = reading;
  for (let isFirst = true; ; isFirst = false) {
    yield* cursor.space();
    if ((yield* cursor.takeOneOf(closes)) !== undefined || cursor.isAtEnd) return !isFirst;
    const hasBegun = call.length === 0 ? isFirst || open === "" : isFirst && call.includes(open);
    if (!hasBegun && (yield* cursor.takeOneOf(call)) === undefined) return !isFirst;
    yield* cursor.space();
    const next = yield* cursor.peek();
    if (next === "{" || next === "[") {
      const calls = callsFromJson((yield* readBracketed(cursor)) ?? "");
      if (calls === undefined) return false;
      for (const each of calls) add(each);
    } else {
      let name = yield* readName(reading);
      while ((yield* cursor.takeOneOf(separators)) !== undefined) {
        const other = yield* readName(reading);
        if (hasTypes && other !== "") name = other;
      }
      const isFenced = yield* readFence(cursor);
      const isEmpty = yield* cursor.isNextOneOf([...callCloses, ...closes]);
      const json = isEmpty ? "{}" : compactJson((yield* readBracketed(cursor)) ?? "");
      if (name === "" || json?.startsWith("{") !== true) return false;
      // Without anything before the name, only the names of tools tell calls from text.
      if (open === "" && !isOffered(tools, name)) return false;
      add({ name, arguments: json });
      if (isFenced) yield* readFenceEnd(cursor);
      cursor.mark();
    }
    yield* cursor.space();
    yield* cursor.takeOneOf(callCloses);
  }
}

/** Reads a name, without the namespace and the number of Kimi's ids. */
function* readName({ cursor }: CallReading): CursorReading<string> {
  const text = yield* cursor.takeWhile(/[^\s<>[\]{}`"]/);
  return text.replace(/^functions\./, "").replace(/:\d+$/, "");
}

/** Reads a list of calls, or a call on each line up to the end of the block. */
function* readPython(close: string, { open }: CallStart, { cursor, tools, add }: CallReading): CursorReading<boolean> {
  yield* cursor.space();
  const isList = yield* cursor.isNext("[");
  const text = isList ? ((yield* readBracketed(cursor)) ?? "") : (yield* cursor.until([close])).text;
  const calls =
    callsFromJson(text) ??
    callsOfPython(
      isList
        ? text
        : `[${text
            .trim()
            .split(/\)\s*\n/)
            .join("),")}]`,
    );
  // Without a text that begins them, only the names of tools tell calls from other lists.
  if (calls === undefined || (open === "" && !calls.every(({ name }) => isOffered(tools, name)))) return false;
  for (const call of calls) add(call);
  yield* cursor.space();
  yield* cursor.take(close);
  return true;
}
