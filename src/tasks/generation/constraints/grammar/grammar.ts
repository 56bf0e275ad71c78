/** Context-free grammars over bytes: what a constraint is compiled to. */
import type { Automaton } from "../automata/automaton.ts";
import { WordLiteral, WordTrie, sortedWords } from "../automata/words.ts";
import { chargeStates } from "../constraint-budget.ts";

/** A part of a grammar. */
export type GrammarNode =
  /** A text that fits an automaton. */
  | { readonly kind: "text"; readonly automaton: Automaton; readonly isEmpty: boolean }
  /** `isList`: its items but the last stand in a list, one level deeper than the sequence. */
  | { readonly kind: "sequence"; readonly items: readonly GrammarNode[]; readonly isList?: boolean }
  | { readonly kind: "choice"; readonly options: readonly GrammarNode[] }
  /** `item`, `min` to `max` times. */
  | { readonly kind: "repeat"; readonly item: GrammarNode; readonly min: number; readonly max: number }
  /** One of the texts of a trie, and after it the part of its number. */
  | { readonly kind: "switch"; readonly words: WordTrie; readonly cases: readonly GrammarNode[] }
  | GrammarRule
  | ObjectNode;

/** A part that others refer to, and that may contain itself. Its body is set once. */
export interface GrammarRule {
  readonly kind: "rule";
  readonly name: string;
  body: GrammarNode | undefined;
}

/** An object of JSON whose members come in any order. */
export interface ObjectNode {
  readonly kind: "object";
  /** The names of the properties, in the order of `properties`. */
  readonly names: WordTrie;
  readonly properties: readonly ObjectProperty[];
  /** Members with other names. */
  readonly others: readonly OtherMember[];
  readonly min: number;
  readonly max: number;
}

/** A member of an object. */
export interface ObjectProperty {
  readonly name: string;
  readonly value: GrammarNode;
  readonly isRequired: boolean;
}

/** Members whose names fit an automaton. */
export interface OtherMember {
  /** A name with quotes. Some text fits it. */
  readonly name: GrammarNode;
  readonly value: GrammarNode;
}

/** Estimated memory of a part of a grammar, and of each reference to another. */
const [partBytes, referenceBytes] = [150, 16];

function part<Node extends GrammarNode>(node: Node, references: number): Node {
  chargeStates(1, partBytes + referenceBytes * references);
  return node;
}

/** A part that fits an automaton. */
export function textNode(automaton: Automaton & { readonly isEmpty?: boolean }): GrammarNode {
  return part({ kind: "text", automaton, isEmpty: automaton.isEmpty ?? false }, 0);
}

/** Grammar of exactly this text. */
export function literalNode(word: string): GrammarNode {
  return word === "" ? sequenceNode() : textNode(new WordLiteral(word));
}

/** Parts one after another. */
export function sequenceNode(...items: readonly GrammarNode[]): GrammarNode {
  return sequenceOf(items);
}

/** As `sequence`, for a list of parts. */
export function sequenceOf(items: readonly GrammarNode[]): GrammarNode {
  return items.length === 1 ? (items[0] as GrammarNode) : part({ kind: "sequence", items }, items.length);
}

/** A list of JSON: `content` between brackets. */
export function listNode(content: GrammarNode): GrammarNode {
  const items = [literalNode("["), content, literalNode("]")];
  return part({ kind: "sequence", items, isList: true }, items.length);
}

/** One of several parts; with none, no text fits. */
export function choiceNode(...options: readonly GrammarNode[]): GrammarNode {
  return choiceOf(options);
}

/** As `choice`, for a list of parts. */
export function choiceOf(options: readonly GrammarNode[]): GrammarNode {
  return options.length === 1 ? (options[0] as GrammarNode) : part({ kind: "choice", options }, options.length);
}

/** One of the texts of a trie, and after it the part of its number. */
export function switchOf(words: WordTrie, cases: readonly GrammarNode[]): GrammarNode {
  return part({ kind: "switch", words, cases }, cases.length);
}

/** Grammar of repetitions of a part. Default: none or one. */
export function repeat(item: GrammarNode, min = 0, max = 1): GrammarNode {
  return part({ kind: "repeat", item, min, max }, 1);
}

/** A part that others refer to; its body is set later. */
export function rule(name: string): GrammarRule {
  return part({ kind: "rule", name, body: undefined }, 1);
}

/** An object; its properties have different names. */
export function objectNode({ properties, ...rest }: Omit<ObjectNode, "kind" | "names">): ObjectNode {
  const byName = new Map(properties.map((property) => [property.name, property]));
  const words = sortedWords([...byName.keys()]);
  const sorted = words.flatMap((word) => byName.get(word) ?? []);
  return part({ kind: "object", ...rest, names: WordTrie.of(words), properties: sorted }, 2 * properties.length);
}

/** The parts that a part refers to. */
export function getChildren(node: GrammarNode): readonly GrammarNode[] {
  switch (node.kind) {
    case "text":
      return [];
    case "sequence":
      return node.items;
    case "choice":
      return node.options;
    case "switch":
      return node.cases;
    case "repeat":
      return [node.item];
    case "rule":
      return node.body === undefined ? [] : [node.body];
    case "object":
      return [...node.properties.map(({ value }) => value), ...node.others.flatMap(({ name, value }) => [name, value])];
    default:
      return node satisfies never;
  }
}
