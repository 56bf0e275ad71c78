/** What is known of the parts of a grammar: which no text fits, and that no rule begins with itself. Takes time linear in the number of references. */
import { chargeStates, chargeSteps } from "../constraint-budget.ts";
import { refusal } from "../refusal.ts";
import { type GrammarNode, type ObjectNode, childrenOf } from "./grammar.ts";

/** What is known of the parts of a grammar. */
export interface GrammarFacts {
  /** Parts that no text fits. */
  readonly dead: ReadonlySet<GrammarNode>;
}

/** Checks a grammar. Throws INPUT_INVALID if no text fits it, and if a rule begins with itself. */
export function checkGrammar(root: GrammarNode): GrammarFacts {
  const parents = parentsOf(root);
  const alive = leastSet(parents, aliveCounter);
  const dead = new Set([...parents.keys()].filter((node) => !alive.has(node)));
  if (dead.has(root)) throw refusal("no text fits it", "loosen it");
  const nullable = leastSet(parents, nullableCounter);
  refuseLeftRecursion([...parents.keys()], nullable);
  return { dead };
}

/** By node: the nodes that refer to it, each as often as it does. */
type Parents = ReadonlyMap<GrammarNode, readonly GrammarNode[]>;

function parentsOf(root: GrammarNode): Parents {
  const parents = new Map<GrammarNode, GrammarNode[]>([[root, []]]);
  for (const node of parents.keys()) {
    const children = childrenOf(node);
    chargeSteps(children.length + 1);
    chargeStates(0, 8 * children.length + 150);
    for (const child of children) {
      const known = parents.get(child);
      if (known === undefined) parents.set(child, [node]);
      else known.push(node);
    }
  }
  return parents;
}

/** Told of each reference of a node to one that is in the set. */
interface Counter {
  /** Whether the node is in the set. */
  readonly isIn: boolean;
  add(child: GrammarNode): void;
}

/** The smallest set of nodes that their counters allow. */
function leastSet(parents: Parents, counterOf: (node: GrammarNode) => Counter): ReadonlySet<GrammarNode> {
  const counters = new Map<GrammarNode, Counter>();
  const set = new Set<GrammarNode>();
  const open: GrammarNode[] = [];
  const enter = (node: GrammarNode, counter: Counter): void => {
    if (!counter.isIn || set.has(node)) return;
    set.add(node);
    open.push(node);
  };
  for (const node of parents.keys()) {
    const counter = counterOf(node);
    counters.set(node, counter);
    enter(node, counter);
  }
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const parent of parents.get(node) ?? []) {
      chargeSteps(1);
      const counter = counters.get(parent);
      if (counter === undefined) continue;
      counter.add(node);
      enter(parent, counter);
    }
  }
  return set;
}

/** In the set once `needed` references are. */
class ReferenceCounter implements Counter {
  #needed: number;

  constructor(needed: number) {
    this.#needed = needed;
  }

  get isIn(): boolean {
    return this.#needed <= 0;
  }

  add(): void {
    this.#needed -= 1;
  }
}

function aliveCounter(node: GrammarNode): Counter {
  switch (node.kind) {
    case "text":
      return new ReferenceCounter(node.isEmpty ? Number.POSITIVE_INFINITY : 0);
    case "sequence":
      return new ReferenceCounter(node.items.length);
    case "repeat":
      return new ReferenceCounter(node.min === 0 ? 0 : 1);
    case "choice":
    case "switch":
    case "rule":
      return new ReferenceCounter(1);
    case "object":
      return new ObjectCounter(node);
    default:
      return node satisfies never;
  }
}

/** Which members of an object have a value. */
class ObjectCounter implements Counter {
  readonly #node: ObjectNode;
  readonly #required: number;
  /** By value: number of properties that have it, and of those that are required. */
  readonly #byValue = new Map<GrammarNode, { properties: number; required: number }>();
  readonly #otherValues: ReadonlySet<GrammarNode>;
  #possible = 0;
  #possibleRequired = 0;

  constructor(node: ObjectNode) {
    this.#node = node;
    for (const { value, isRequired } of node.properties) {
      const counts = this.#byValue.get(value) ?? { properties: 0, required: 0 };
      this.#byValue.set(value, counts);
      counts.properties += 1;
      counts.required += isRequired ? 1 : 0;
    }
    this.#otherValues = new Set(node.others.map(({ value }) => value));
    this.#required = node.properties.filter(({ isRequired }) => isRequired).length;
  }

  get isIn(): boolean {
    const { min, max } = this.#node;
    return this.#possibleRequired === this.#required && this.#required <= max && min <= Math.min(this.#possible, max);
  }

  add(child: GrammarNode): void {
    if (this.#otherValues.has(child)) this.#possible = Number.POSITIVE_INFINITY;
    const counts = this.#byValue.get(child);
    if (counts === undefined) return;
    // The first of several references counts for all.
    this.#byValue.delete(child);
    this.#possible += counts.properties;
    this.#possibleRequired += counts.required;
  }
}

function nullableCounter(node: GrammarNode): Counter {
  switch (node.kind) {
    case "text":
      return new ReferenceCounter(!node.isEmpty && node.automaton.accepts(node.automaton.start) ? 0 : Number.POSITIVE_INFINITY);
    case "sequence":
      return new ReferenceCounter(node.items.length);
    case "repeat":
      return new ReferenceCounter(node.min === 0 ? 0 : 1);
    case "choice":
    case "rule":
      return new ReferenceCounter(1);
    case "switch":
    case "object":
      return new ReferenceCounter(Number.POSITIVE_INFINITY);
    default:
      return node satisfies never;
  }
}

/** A depth-first search of what each node may begin with, without recursion: grammars are deep. */
function refuseLeftRecursion(nodes: readonly GrammarNode[], nullable: ReadonlySet<GrammarNode>): void {
  const done = new Set<GrammarNode>();
  const path = new Set<GrammarNode>();
  for (const start of nodes) {
    const open: { readonly node: GrammarNode; readonly firsts: Iterator<GrammarNode> }[] = [];
    const enter = (node: GrammarNode): void => {
      if (done.has(node)) return;
      if (path.has(node)) throw beginsWithItself(path);
      path.add(node);
      const firsts = firstOf(node, nullable);
      chargeSteps(firsts.length + 1);
      open.push({ node, firsts: firsts[Symbol.iterator]() });
    };
    enter(start);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const next = top.firsts.next();
      if (next.done !== true) {
        enter(next.value);
        continue;
      }
      path.delete(top.node);
      done.add(top.node);
      open.pop();
    }
  }
}

function beginsWithItself(path: ReadonlySet<GrammarNode>): Error {
  const name = [...path].findLast((part) => part.kind === "rule");
  return refusal(`the rule ${name?.kind === "rule" ? name.name : "of a part"} begins with itself`, "write it with a repetition");
}

/** Parts that a node may begin with. */
function firstOf(node: GrammarNode, nullable: ReadonlySet<GrammarNode>): readonly GrammarNode[] {
  if (node.kind === "object" || node.kind === "text" || node.kind === "switch") return [];
  if (node.kind !== "sequence") return childrenOf(node);
  const end = node.items.findIndex((item) => !nullable.has(item));
  return end < 0 ? node.items : node.items.slice(0, end + 1);
}
