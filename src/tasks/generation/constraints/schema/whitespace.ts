/** White space of JSON. */
import { regularExpressionDfa } from "../automata/regular-expression.ts";
import { type GrammarNode, text } from "../grammar/grammar.ts";

/** Enough for values that were written with indentation; a model that would go on for ever is stopped. */
const longest = 80;

/** What may stand between the parts of a value. */
export const whitespace: GrammarNode = text(regularExpressionDfa(String.raw`[ \t\r\n]{0,${longest}}`, { whole: true }));
