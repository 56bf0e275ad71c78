/** Reads calls whose arguments stand between tags, as text. */
import type { TaggedSyntax } from "./call-form.ts";
import { type CallReading, type CallStart, isOffered } from "./call-reading.ts";
import type { CursorReading } from "./text-cursor.ts";
import { ArgumentSchemas } from "./typed-value.ts";

const [cdataOpen, cdataClose] = ["<![CDATA[", "]]>"];

/** The text of an argument. */
interface TaggedValue {
  readonly text: string;
  /** What the tag says of the type. Default: nothing. */
  readonly isString?: boolean | undefined;
}

/** Reads calls up to the end of the block. `start.open`: the text that began the block, or a call without one. */
export function* readTagged(syntax: TaggedSyntax, start: CallStart, reading: CallReading): CursorReading<boolean> {
  const { cursor, tools, add } = reading;
  const [beforeName, afterName] = syntax.name;
  const isBare = start.open === beforeName;
  for (let isFirst = true; ; isFirst = false) {
    yield* cursor.space();
    if (!isFirst && (yield* cursor.takeOneOf(syntax.closes)) !== undefined) return true;
    if (cursor.isAtEnd) return !isFirst;
    const hasBegun = isFirst && (isBare || beforeName === "");
    if (!hasBegun && (beforeName === "" || !(yield* cursor.take(beforeName)))) return !isFirst;
    const name = yield* cursor.takeWhile(/[^\s<>"]/);
    if (name === "" || !(yield* cursor.take(afterName))) return false;
    // Without a tag around the call, only the names of tools tell it from text.
    if (isBare && !isOffered(tools, name)) return false;
    const values = yield* readArguments(syntax, start, reading);
    if (values === undefined) return false;
    const schemas = new ArgumentSchemas(tools, name);
    const members = [...values].map(
      ([key, { text, isString }]) =>
        `${JSON.stringify(key)}:${isString === true ? JSON.stringify(text) : schemas.json(text, [key])}`,
    );
    add({ name, arguments: `{${members.join(",")}}` });
    if (syntax.closes.length === 0) return true;
  }
}

/** Reads the arguments of a call and its end. Undefined if they do not end. */
function* readArguments(
  syntax: TaggedSyntax,
  { isLenient }: CallStart,
  { cursor }: CallReading,
): CursorReading<ReadonlyMap<string, TaggedValue> | undefined> {
  const values = new Map<string, TaggedValue>();
  const [beforeKey, ...afterKey] = syntax.key;
  for (;;) {
    yield* cursor.space();
    if (yield* cursor.take(beforeKey)) {
      const value = yield* readArgument(syntax, afterKey, isLenient, { cursor });
      if (value === undefined) return undefined;
      values.set(value.key, value);
      continue;
    }
    if (yield* cursor.take(syntax.callClose)) return values;
    // A model that ends, or ends the block, has ended the call too.
    if (cursor.isAtEnd) return cursor.isCut ? undefined : values;
    if (yield* cursor.isNextOneOf(syntax.closes)) return values;
    // Some templates end a call with the tag that begins one.
    return syntax.name[0] === "" && (yield* cursor.takeOneOf(syntax.opens)) !== undefined ? values : undefined;
  }
}

function* readArgument(
  syntax: TaggedSyntax,
  afterKey: readonly string[],
  isLenient: boolean,
  { cursor }: Pick<CallReading, "cursor">,
): CursorReading<(TaggedValue & { readonly key: string }) | undefined> {
  const [first = "", ...others] = afterKey;
  // Behind a name between quotes there may be attributes.
  const isQuoted = first.startsWith('"');
  const { text: key, delimiter } = yield* cursor.until([isQuoted ? '"' : first]);
  if (delimiter === undefined || key.length > 1000) return undefined;
  let isString: boolean | undefined;
  if (isQuoted) {
    const { text: attributes, delimiter: end } = yield* cursor.until([">"]);
    if (end === undefined) return undefined;
    const [, stated] = /string="(true|false)"/.exec(attributes) ?? [];
    isString = stated === undefined ? undefined : stated === "true";
  }
  for (const word of others) {
    yield* cursor.space();
    if (!(yield* cursor.take(word))) return undefined;
  }
  const text = yield* readValue(syntax, isLenient, { cursor });
  return text === undefined ? undefined : { key, text, isString };
}

/**
 * Reads a value and its end: a closing tag after which the call goes on, or the answer ends, or another call begins. Others are part of the value. Where text
 * follows the calls, their end is found on a second, lenient reading, since that text could be part of a value too.
 */
function* readValue(
  syntax: TaggedSyntax,
  isLenient: boolean,
  { cursor }: Pick<CallReading, "cursor">,
): CursorReading<string | undefined> {
  const { valueClose, callClose, closes } = syntax;
  if (syntax.hasCdata === true && (yield* cursor.take(cdataOpen))) {
    const { text, delimiter } = yield* cursor.until([cdataClose + valueClose]);
    return delimiter === undefined ? undefined : text;
  }
  const { ends, behindCall, maybeEnds } = getEnds(syntax);
  let isAmbiguous = false;
  let text = "";
  for (;;) {
    const others = isLenient ? [callClose, ...closes] : isAmbiguous ? syntax.opens : [];
    const { text: part, delimiter } = yield* cursor.until([valueClose, ...others]);
    text += part;
    if (delimiter === undefined) return isLenient && !cursor.isCut ? withoutLines(text, syntax) : undefined;
    if (delimiter === valueClose) {
      if (yield* cursor.follows(isLenient ? [...ends, ...maybeEnds] : ends)) return withoutLines(text, syntax);
      isAmbiguous ||= yield* cursor.follows(maybeEnds);
    } else if (!isLenient) return undefined;
    else if (yield* cursor.follows(behindCall)) {
      cursor.unread(delimiter); // that of the value is missing
      return withoutLines(text, syntax);
    }
    text += delimiter;
  }
}

/** What may follow a value. */
interface ValueEnds {
  /** Lists of words of which one follows the tag that ends a value. */
  readonly ends: readonly (readonly string[])[];
  /** Lists of words that follow it unless the value goes on with text that looks like them. */
  readonly maybeEnds: readonly (readonly string[])[];
  /** What follows the tag that ends a call or a block. */
  readonly behindCall: readonly (readonly string[])[];
}

function getEnds({ callClose, closes, key, name, opens }: TaggedSyntax): ValueEnds {
  const further = [...opens, ""];
  const blockEnds = closes.length === 0 ? [[callClose]] : closes.map((word) => [callClose, word]);
  return {
    ends: [
      [key[0]],
      ...further.map((word) => [callClose, word]),
      ...blockEnds.flatMap((words) => further.map((word) => [...words, word])),
      ...(name[0] === "" ? opens.map((word) => [word]) : []),
      [""],
    ],
    maybeEnds: [...blockEnds, [callClose], ...closes.map((word) => [word])],
    behindCall: [...closes, ...further].map((word) => [word]),
  };
}

/** The value without the line ends that belong to the tags. */
function withoutLines(text: string, { lines }: TaggedSyntax): string {
  if (lines === "both") return text.replace(/^\n/, "").replace(/\n$/, "");
  return lines === "pair" && text.startsWith("\n") ? text.slice(1).replace(/\n$/, "") : text;
}
