/** The syntax tree of a regular expression. */

export type RegexNode =
  | CharacterSetNode
  | { readonly kind: "sequence"; readonly parts: readonly RegexNode[] }
  /** The first option that lets the whole expression match is taken. */
  | { readonly kind: "alternatives"; readonly options: readonly RegexNode[] }
  | RepeatNode
  /** Matches the empty text where `body` matches behind the position (not there, if `negated`). */
  | { readonly kind: "lookahead"; readonly negated: boolean; readonly body: RegexNode }
  /** Matches the empty text where the character before the position is in `set` (is not, or is none, if `negated`). */
  | { readonly kind: "lookbehind"; readonly negated: boolean; readonly set: CharacterSetNode };

/** One character of a set. */
export interface CharacterSetNode {
  readonly kind: "set";
  /** The set as a JavaScript regular expression for one character. */
  readonly source: string;
  /** "v" where sets are intersected or nested. */
  readonly flag: "u" | "v";
}

export interface RepeatNode {
  readonly kind: "repeat";
  readonly body: RegexNode;
  readonly min: number;
  /** Infinity: no limit. */
  readonly max: number;
  readonly greedy: boolean;
}

export const emptyNode: RegexNode = { kind: "sequence", parts: [] };

/** Whether a node can match the empty text. */
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
