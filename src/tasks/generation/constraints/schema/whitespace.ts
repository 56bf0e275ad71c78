/** White space of JSON. */
import { regularExpressionDfa } from "../automata/regular-expression.ts";
import { type GrammarNode, text } from "../grammar/grammar.ts";

/** What may stand between the parts of a value: as values are written with and without indentation, so that no model goes on for ever with it. */
export const whitespace: GrammarNode = text(
  regularExpressionDfa(String.raw`[ \t]{0,2}(?:(?:\r?\n){1,2}[ \t]{0,80})?`, { whole: true }),
);
