/** Escapes of Oniguruma that stand for a position or for several characters. */
import { anyCharacter, lineEnd, wordCharacter } from "./character-sets.ts";
import type { CharacterSetNode, RegexNode } from "./syntax.ts";

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

/** "^" and "$" are the ends of lines, not of the text: Ruby's syntax, which the Rust library sets. */
export const lineStart: RegexNode = precedes(notLineFeed, true);
export const lineEndPosition: RegexNode = follows(notLineFeed, true);

const textEnd = follows(any, true);

export const assertions: ReadonlyMap<string, RegexNode> = new Map([
  ["R", either(sequence(setNode("\\r"), setNode("\\n")), setNode(lineEnd))],
  ["A", precedes(any, true)],
  ["z", textEnd],
  ["Z", follows(sequence({ kind: "repeat", body: setNode("\\n"), min: 0, max: 1, greedy: true }, textEnd), false)],
  ["b", either(sequence(precedes(word, false), follows(word, true)), sequence(precedes(word, true), follows(word, false)))],
  ["B", either(sequence(precedes(word, false), follows(word, false)), sequence(precedes(word, true), follows(word, true)))],
]);
