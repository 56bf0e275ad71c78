/** White space around JSON. */
import { regularExpressionDfa } from "../automata/regular-expression.ts";
import { type GrammarNode, textNode } from "../grammar/grammar.ts";

/** White space that may precede and follow a value, as models write it between the parts of an answer. */
export const whitespace: GrammarNode = textNode(regularExpressionDfa(String.raw`[ ]?(?:\r?\n){0,2}`, { whole: true }));
