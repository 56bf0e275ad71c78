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

/**
 * A node that matches the same whole texts, whose loops have no body that matches the empty string (star normal form, Brüggemann-Klein 1993): the automaton has such
 * bodies twice. Loops over assertions stay as they are.
 */
export function toStarNormalForm(node: RegexNode): RegexNode {
  switch (node.kind) {
    case "sequence":
      return { ...node, parts: node.parts.map(toStarNormalForm) };
    case "alternatives":
      return { ...node, options: node.options.map(toStarNormalForm) };
    case "repeat": {
      const body = toStarNormalForm(node.body);
      if (!isNullable(body) || hasAssertions(body)) return { ...node, body };
      return node.max === Infinity ? { ...node, min: 0, body: toIteration(body) } : { ...node, min: node.max, body };
    }
    case "set":
    case "lookahead":
    case "lookbehind":
      return node;
    default:
      return node satisfies never;
  }
}

/** A node that does not match the empty string, and whose iterations together match the same texts as those of `node`, which has no assertions. */
function toIteration(node: RegexNode): RegexNode {
  if (!isNullable(node)) return node;
  if (node.kind === "sequence") return { kind: "alternatives", options: node.parts.map(toIteration) };
  if (node.kind === "alternatives") return { ...node, options: node.options.map(toIteration) };
  return node.kind === "repeat" && node.max > 0 ? toIteration(node.body) : { kind: "alternatives", options: [] };
}

function hasAssertions(node: RegexNode): boolean {
  if (node.kind === "sequence") return node.parts.some(hasAssertions);
  if (node.kind === "alternatives") return node.options.some(hasAssertions);
  return node.kind === "repeat" ? hasAssertions(node.body) : node.kind !== "set";
}
