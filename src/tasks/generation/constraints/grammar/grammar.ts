/** Context-free grammars over bytes: what a constraint is compiled to. */
import type { Automaton } from "../automata/automaton.ts";
import { wordsDfa } from "../automata/automaton.ts";
import { refusal } from "../refusal.ts";

/** A part of a grammar. */
export type GrammarNode =
  /** A text that fits an automaton. */
  | { readonly kind: "text"; readonly automaton: Automaton; readonly isEmpty: boolean }
  | { readonly kind: "sequence"; readonly items: readonly GrammarNode[] }
  | { readonly kind: "choice"; readonly options: readonly GrammarNode[] }
  /** `item`, `min` to `max` times. */
  | { readonly kind: "repeat"; readonly item: GrammarNode; readonly min: number; readonly max: number }
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
  readonly properties: readonly ObjectProperty[];
  /** Members with other names. */
  readonly others: readonly Pick<ObjectProperty, "key" | "value">[];
  readonly min: number;
  readonly max: number;
  /** What may stand between its parts. */
  readonly space: GrammarNode;
}

/** A member of an object. */
export interface ObjectProperty {
  /** Its name, with quotes. */
  readonly key: GrammarNode;
  readonly value: GrammarNode;
  readonly isRequired: boolean;
}

/** A part that fits an automaton. */
export function text(automaton: Automaton & { readonly isEmpty?: boolean }): GrammarNode {
  return { kind: "text", automaton, isEmpty: automaton.isEmpty ?? false };
}

/** This text. */
export function literal(word: string): GrammarNode {
  return word === "" ? sequence() : text(wordsDfa([word]));
}

/** Parts one after another. */
export function sequence(...items: readonly GrammarNode[]): GrammarNode {
  return items.length === 1 ? (items[0] as GrammarNode) : { kind: "sequence", items };
}

/** One of several parts; with none, no text fits. */
export function choice(...options: readonly GrammarNode[]): GrammarNode {
  return options.length === 1 ? (options[0] as GrammarNode) : { kind: "choice", options };
}

/** Default: nothing or one. */
export function repeat(item: GrammarNode, min = 0, max = 1): GrammarNode {
  return { kind: "repeat", item, min, max };
}

/** What is known of the parts of a grammar. */
export interface GrammarFacts {
  /** Parts that no text fits. */
  readonly dead: ReadonlySet<GrammarNode>;
}

/** Checks a grammar. Throws INPUT_INVALID if no text fits it, and if a rule begins with itself. */
export function checkGrammar(root: GrammarNode): GrammarFacts {
  const nodes = reachable(root);
  const alive = fixedPoint(nodes, isAlive);
  const dead = new Set(nodes.filter((node) => !alive.has(node)));
  if (dead.has(root)) throw refusal("no text fits it", "loosen it");
  const nullable = fixedPoint(nodes, isNullable);
  refuseLeftRecursion(root, nullable);
  return { dead };
}

function childrenOf(node: GrammarNode): readonly GrammarNode[] {
  switch (node.kind) {
    case "text":
      return [];
    case "sequence":
      return node.items;
    case "choice":
      return node.options;
    case "repeat":
      return [node.item];
    case "rule":
      return node.body === undefined ? [] : [node.body];
    case "object":
      return [
        node.space,
        ...node.properties.flatMap(({ key, value }) => [key, value]),
        ...node.others.flatMap(({ key, value }) => [key, value]),
      ];
    default:
      return node satisfies never;
  }
}

function reachable(root: GrammarNode): readonly GrammarNode[] {
  const seen = new Set([root]);
  for (const node of seen) for (const child of childrenOf(node)) seen.add(child);
  return [...seen];
}

/** The smallest set of nodes for which `holds` is true, given the set itself. */
function fixedPoint(
  nodes: readonly GrammarNode[],
  holds: (node: GrammarNode, set: ReadonlySet<GrammarNode>) => boolean,
): ReadonlySet<GrammarNode> {
  const parents = new Map<GrammarNode, GrammarNode[]>();
  for (const node of nodes) {
    for (const child of childrenOf(node)) {
      const known = parents.get(child);
      if (known === undefined) parents.set(child, [node]);
      else known.push(node);
    }
  }
  const set = new Set<GrammarNode>();
  const open = [...nodes];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (set.has(node) || !holds(node, set)) continue;
    set.add(node);
    open.push(...(parents.get(node) ?? []));
  }
  return set;
}

function isAlive(node: GrammarNode, alive: ReadonlySet<GrammarNode>): boolean {
  switch (node.kind) {
    case "text":
      return !node.isEmpty;
    case "sequence":
      return node.items.every((item) => alive.has(item));
    case "choice":
      return node.options.some((option) => alive.has(option));
    case "repeat":
      return node.min === 0 || alive.has(node.item);
    case "rule":
      return node.body !== undefined && alive.has(node.body);
    case "object": {
      const isPossible = ({ key, value }: Pick<ObjectProperty, "key" | "value">): boolean => alive.has(key) && alive.has(value);
      const possible = node.properties.filter(isPossible);
      const count = node.others.some(isPossible) ? Number.POSITIVE_INFINITY : possible.length;
      const required = node.properties.filter(({ isRequired }) => isRequired);
      return required.every(isPossible) && required.length <= node.max && node.min <= Math.min(count, node.max);
    }
    default:
      return node satisfies never;
  }
}

function isNullable(node: GrammarNode, nullable: ReadonlySet<GrammarNode>): boolean {
  switch (node.kind) {
    case "text":
      return !node.isEmpty && node.automaton.accepts(node.automaton.start);
    case "sequence":
      return node.items.every((item) => nullable.has(item));
    case "choice":
      return node.options.some((option) => nullable.has(option));
    case "repeat":
      return node.min === 0 || nullable.has(node.item);
    case "rule":
      return node.body !== undefined && nullable.has(node.body);
    case "object":
      return false;
    default:
      return node satisfies never;
  }
}

function refuseLeftRecursion(root: GrammarNode, nullable: ReadonlySet<GrammarNode>): void {
  const done = new Set<GrammarNode>();
  const path = new Set<GrammarNode>();
  const visit = (node: GrammarNode): void => {
    if (done.has(node)) return;
    if (path.has(node)) {
      const name = [...path].findLast((part) => part.kind === "rule");
      throw refusal(
        `the rule ${name?.kind === "rule" ? name.name : "of a part"} begins with itself`,
        "write it with a repetition",
      );
    }
    path.add(node);
    for (const first of firstOf(node, nullable)) visit(first);
    path.delete(node);
    done.add(node);
  };
  for (const node of reachable(root)) visit(node);
}

/** Parts that a node may begin with. */
function firstOf(node: GrammarNode, nullable: ReadonlySet<GrammarNode>): readonly GrammarNode[] {
  if (node.kind === "object" || node.kind === "text") return [];
  if (node.kind !== "sequence") return childrenOf(node);
  const end = node.items.findIndex((item) => !nullable.has(item));
  return end < 0 ? node.items : node.items.slice(0, end + 1);
}
