/**
 * Parses the text of a tokenizer.json whose vocabulary is an object. `JSON.parse` makes an object with a property for each token: to build and to read that takes three times as long
 * as to read the tokens straight into a Map.
 */

/** A vocabulary, and the text of the file without it. */
interface CutVocabulary {
  readonly vocabulary: ReadonlyMap<string, number>;
  /** The text with `cutMark` in the place of the vocabulary. */
  readonly rest: string;
}

/** Exclusive maximum of a token id, which bounds the size of the table of tokens. */
export const highestId: number = 2 ** 26;

/** The key of the vocabulary. Its first quote must not be escaped, as it is in the string "a \"vocab". */
const vocabularyKey = /(?<!\\)"vocab"[ \n]*:[ \n]*\{/;
/** Control characters other than a line feed. JSON has none of them in a string, and published files none at all. */
// oxlint-disable-next-line no-control-regex
const otherControls = /[\0-\t\v-\x1f]/;

const [lineFeed, space, quote, comma, zero, colon, backslash, closingBrace] = [10, 32, 34, 44, 48, 58, 92, 125];

/**
 * Parses a tokenizer.json with `model.vocab` as a Map of ids by token. Undefined if `model.vocab` is not an object of integers below `highestId`, or if a plain
 * parser could read it differently: then `JSON.parse` is used, and reports errors.
 */
export function parseWithVocabulary(text: string): unknown {
  const cut = cutVocabulary(text);
  if (cut === undefined) return undefined;
  try {
    const value = JSON.parse(cut.rest) as { model?: { vocab?: unknown } | null } | null;
    if (value?.model?.vocab !== cutMark) return undefined;
    value.model.vocab = cut.vocabulary;
    return value;
  } catch {
    return undefined; // a message about `rest` would name wrong positions
  }
}

/** Stands in the place of the vocabulary. A string, since nothing after it can continue it, as "e1" continues a number. */
const cutMark = "the vocabulary";

function cutVocabulary(text: string): CutVocabulary | undefined {
  const key = vocabularyKey.exec(text);
  if (key === null) return undefined;
  const start = key.index + key[0].length;
  const scanned = scanEntries(text, start);
  if (scanned === undefined || otherControls.test(text.slice(start, scanned.end))) return undefined;
  const rest = `${text.slice(0, start - 1)}${JSON.stringify(cutMark)}${text.slice(scanned.end)}`;
  // A second key of this name could be the one of the model.
  return rest.indexOf('"vocab"') === rest.lastIndexOf('"vocab"') ? { vocabulary: scanned.vocabulary, rest } : undefined;
}

/** Reads the members of an object from after its opening brace. `end`: index after the closing one. */
function scanEntries(
  text: string,
  start: number,
): { readonly vocabulary: ReadonlyMap<string, number>; readonly end: number } | undefined {
  const vocabulary = new Map<string, number>();
  let count = 0;
  let previousId = -1;
  let isAscending = true;
  let nextBackslash = indexFrom(text, "\\", start);
  let nextLineFeed = indexFrom(text, "\n", start);
  for (let unit = start; ; unit++) {
    unit = skipSpace(text, unit);
    if (text.charCodeAt(unit) !== quote) return undefined;
    const from = unit;
    unit = text.indexOf('"', from + 1);
    if (nextBackslash < from) nextBackslash = indexFrom(text, "\\", from);
    while (unit !== -1 && isEscaped(text, unit, nextBackslash)) unit = text.indexOf('"', unit + 1);
    if (nextLineFeed < from) nextLineFeed = indexFrom(text, "\n", from);
    if (unit === -1 || nextLineFeed < unit) return undefined;
    const token = nextBackslash < unit ? unescaped(text.slice(from, unit + 1)) : text.slice(from + 1, unit);
    if (token === undefined) return undefined;
    unit = skipSpace(text, unit + 1);
    if (text.charCodeAt(unit) !== colon) return undefined;
    unit = skipSpace(text, unit + 1);
    const firstDigit = unit;
    let id = 0;
    for (let digit: number; (digit = text.charCodeAt(unit) - zero) >= 0 && digit <= 9; unit++) id = id * 10 + digit;
    const hasLeadingZero = text.charCodeAt(firstDigit) === zero && unit - firstDigit > 1;
    if (unit === firstDigit || hasLeadingZero || id >= highestId) return undefined;
    vocabulary.set(token, id);
    count += 1;
    isAscending &&= id > previousId;
    previousId = id;
    unit = skipSpace(text, unit);
    const separator = text.charCodeAt(unit);
    if (separator === comma) continue;
    if (separator !== closingBrace) return undefined;
    // Of two tokens with one id the later one counts, and JSON.parse puts tokens that are array indices first.
    const isUnique = isAscending || new Set(vocabulary.values()).size === count;
    return vocabulary.size === count && isUnique ? { vocabulary, end: unit + 1 } : undefined;
  }
}

function indexFrom(text: string, searched: string, start: number): number {
  const index = text.indexOf(searched, start);
  return index === -1 ? Number.POSITIVE_INFINITY : index;
}

function skipSpace(text: string, start: number): number {
  let unit = start;
  for (let code: number; (code = text.charCodeAt(unit)) === space || code === lineFeed;) unit++;
  return unit;
}

/** Whether an odd number of backslashes precedes the index, the first of them not before `firstBackslash`. */
function isEscaped(text: string, index: number, firstBackslash: number): boolean {
  let count = 0;
  while (index - count > firstBackslash && text.charCodeAt(index - count - 1) === backslash) count++;
  return count % 2 === 1;
}

function unescaped(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}
