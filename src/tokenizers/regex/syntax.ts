/** The syntax tree of a regular expression. */

/** A node of the syntax tree of a regular expression. */
export type RegexNode =
  | CharacterSetNode
  | { readonly kind: "sequence"; readonly parts: readonly RegexNode[] }
  /** By descending preference: the first option with which the whole expression matches is taken. */
  | { readonly kind: "alternatives"; readonly options: readonly RegexNode[] }
  | RepeatNode
  /** Matches the empty string if `body` matches after the position (does not match, if `negated`). */
  | { readonly kind: "lookahead"; readonly negated: boolean; readonly body: RegexNode }
  /** Matches the empty string if the character before the position is in `set` (is not in it or does not exist, if `negated`). */
  | { readonly kind: "lookbehind"; readonly negated: boolean; readonly set: CharacterSetNode };

/** A syntax node that matches one character of a set. */
export interface CharacterSetNode {
  readonly kind: "set";
  /** The set as a JavaScript regular expression. */
  readonly source: string;
  /** Flag of that expression: "v" for intersected or nested sets. */
  readonly flag: "u" | "v";
}

/** A quantifier of a regular expression: matches `body` between `min` and `max` times. */
export interface RepeatNode {
  readonly kind: "repeat";
  readonly body: RegexNode;
  readonly min: number;
  /** Infinity: no limit. */
  readonly max: number;
  readonly greedy: boolean;
}

/** The syntax node that matches the empty string. */
export const emptyNode: RegexNode = { kind: "sequence", parts: [] };

/** Whether the node of a regular expression can match the empty string. */
export function isNullable(node: RegexNode): boolean {
  switch (node.kind) {
    case "set":
      return false;
    case "sequence":
      return node.parts.every(isNullable);
    case "alternatives":
      return node.options.some(isNullable);
    case "repeat":
      return node.min === 0 || isNullable(node.body);
    case "lookahead":
    case "lookbehind":
      return true;
    default:
      return node satisfies never;
  }
}
