/** Oniguruma escapes that are assertions (\b, \A, \z, ...) or match several characters (\R). */
import { anyCharacter, lineEnd, wordCharacter } from "./character-sets.ts";
import type { CharacterSetNode, RegexNode } from "./syntax.ts";

/** Creates a syntax node that matches one character of a set. `source` is the set as a JavaScript regular expression. */
export function setNode(source: string, flag: "u" | "v" = "u"): CharacterSetNode {
  return { kind: "set", source, flag };
}

const any = setNode(anyCharacter);
const word = setNode(wordCharacter);
const notLineFeed = setNode("[^\\n]");

const follows = (body: RegexNode, negated: boolean): RegexNode => ({ kind: "lookahead", negated, body });
const precedes = (set: CharacterSetNode, negated: boolean): RegexNode => ({ kind: "lookbehind", negated, set });
const sequence = (...parts: RegexNode[]): RegexNode => ({ kind: "sequence", parts });
const either = (...options: RegexNode[]): RegexNode => ({ kind: "alternatives", options });

/**
 * The assertion "^": matches at line starts, not only at the start of the text (Oniguruma's Ruby syntax, which the Rust library
 * uses).
 */
export const lineStart: RegexNode = precedes(notLineFeed, true);
/** The assertion "$": matches at line ends, not only at the end of the text. */
export const lineEndPosition: RegexNode = follows(notLineFeed, true);

const textEnd = follows(any, true);

/**
 * Syntax nodes of the escapes that are not single characters, by their letter: line break (R), start and end of the text (A, z,
 * Z), word boundary or none (b, B).
 */
export const assertions: ReadonlyMap<string, RegexNode> = new Map([
  ["R", either(sequence(setNode("\\r"), setNode("\\n")), setNode(lineEnd))],
  ["A", precedes(any, true)],
  ["z", textEnd],
  ["Z", follows(sequence({ kind: "repeat", body: setNode("\\n"), min: 0, max: 1, greedy: true }, textEnd), false)],
  ["b", either(sequence(precedes(word, false), follows(word, true)), sequence(precedes(word, true), follows(word, false)))],
  ["B", either(sequence(precedes(word, false), follows(word, false)), sequence(precedes(word, true), follows(word, true)))],
]);
