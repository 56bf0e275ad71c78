/** What is known of the parts of a grammar: which no text fits, and that no rule begins with itself. Takes time linear in the number of references. */
import { getOrInsert } from "../../../../contract/checked.ts";
import { chargeStates, chargeSteps } from "../constraint-budget.ts";
import { constraintRefusal } from "../refusal.ts";
import { type GrammarNode, type ObjectNode, getChildren } from "./grammar.ts";

/** Facts about the parts of a grammar. */
export interface GrammarFacts {
  /** Parts that no text fits. */
  readonly dead: ReadonlySet<GrammarNode>;
}

/** Checks a grammar. Throws INPUT_INVALID if no text fits it, and if a rule begins with itself. */
export function checkGrammar(root: GrammarNode): GrammarFacts {
  const graph = new Graph(root);
  const alive = graph.leastSet(neededToLive, true);
  const dead = new Set(graph.nodes.filter((_node, number) => alive[number] !== 1));
  if (dead.has(root)) throw constraintRefusal("no text fits it", "loosen it");
  refuseLeftRecursion(graph, graph.leastSet(neededToBeEmpty, false));
  return { dead };
}

/** Estimated memory of a node of the graph, and of a reference. */
const [nodeBytes, edgeBytes] = [100, 8];

/** The parts of a grammar, numbered, and which parts refer to which. */
class Graph {
  readonly nodes: readonly GrammarNode[];
  /** The numbers of the parts that part `n` refers to are from `#childStarts[n]` to the one before `#childStarts[n + 1]`. Parents likewise. */
  readonly #childStarts: Int32Array;
  readonly #children: Int32Array;
  readonly #parentStarts: Int32Array;
  readonly #parents: Int32Array;

  constructor(root: GrammarNode) {
    const numbers = new Map<GrammarNode, number>([[root, 0]]);
    const [starts, children]: [number[], number[]] = [[], []];
    for (const node of numbers.keys()) {
      starts.push(children.length);
      const own = getChildren(node);
      chargeSteps(20 + 5 * own.length);
      chargeStates(0, nodeBytes + edgeBytes * own.length);
      for (const child of own) {
        const known = numbers.get(child);
        if (known === undefined) numbers.set(child, numbers.size);
        children.push(known ?? numbers.size - 1);
      }
    }
    starts.push(children.length);
    this.nodes = [...numbers.keys()];
    this.#childStarts = Int32Array.from(starts);
    this.#children = Int32Array.from(children);
    const parentStarts = new Int32Array(this.nodes.length + 1);
    for (const child of children) parentStarts[child + 1] = (parentStarts[child + 1] ?? 0) + 1;
    for (let node = 1; node <= this.nodes.length; node += 1)
      parentStarts[node] = (parentStarts[node] ?? 0) + (parentStarts[node - 1] ?? 0);
    const filled = parentStarts.slice();
    this.#parents = new Int32Array(children.length);
    for (let node = 0; node < this.nodes.length; node += 1) {
      for (const child of this.getChildren(node)) {
        this.#parents[filled[child] ?? 0] = node;
        filled[child] = (filled[child] ?? 0) + 1;
      }
    }
    this.#parentStarts = parentStarts;
  }

  getChildren(node: number): Int32Array {
    return this.#children.subarray(this.#childStarts[node], this.#childStarts[node + 1]);
  }

  /**
   * The smallest set of parts, a 1 for each of its numbers: a part is in it once so many of its references are. `needed`: Infinity for a part that never is. With
   * `withObjects`, objects are in it as their members allow; otherwise they are not.
   */
  leastSet(needed: (node: GrammarNode) => number, withObjects: boolean): Uint8Array {
    const set = new Uint8Array(this.nodes.length);
    const missing = Float64Array.from(this.nodes, needed);
    const objects = new Map<number, ObjectCounter>();
    const open: number[] = [];
    const enter = (node: number): void => {
      if (set[node] === 1) return;
      set[node] = 1;
      open.push(node);
    };
    for (const [number, node] of this.nodes.entries()) {
      if (node.kind !== "object") {
        if (missing[number] === 0) enter(number);
      } else if (withObjects) {
        const counter = new ObjectCounter(node);
        objects.set(number, counter);
        if (counter.isIn) enter(number);
      }
    }
    chargeSteps(5 * this.nodes.length + 3 * this.#parents.length);
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const end = this.#parentStarts[node + 1] ?? 0;
      for (let at = this.#parentStarts[node] ?? 0; at < end; at += 1) {
        const parent = this.#parents[at] ?? 0;
        missing[parent] = (missing[parent] ?? 0) - 1;
        const counter = objects.get(parent);
        counter?.add(this.nodes[node] as GrammarNode);
        if (counter === undefined ? missing[parent] === 0 : counter.isIn) enter(parent);
      }
    }
    return set;
  }
}

function neededToLive(node: GrammarNode): number {
  switch (node.kind) {
    case "text":
      return node.isEmpty ? Number.POSITIVE_INFINITY : 0;
    case "sequence":
      return node.items.length;
    case "repeat":
      return node.min === 0 ? 0 : 1;
    case "choice":
    case "switch":
    case "rule":
      return 1;
    case "object":
      return Number.POSITIVE_INFINITY;
    default:
      return node satisfies never;
  }
}

function neededToBeEmpty(node: GrammarNode): number {
  switch (node.kind) {
    case "text":
      return !node.isEmpty && node.automaton.accepts(node.automaton.start) ? 0 : Number.POSITIVE_INFINITY;
    case "sequence":
      return node.items.length;
    case "repeat":
      return node.min === 0 ? 0 : 1;
    case "choice":
    case "rule":
      return 1;
    case "switch":
    case "object":
      return Number.POSITIVE_INFINITY;
    default:
      return node satisfies never;
  }
}

/** Told of each reference of an object to a part that has a text: which members have a value. */
class ObjectCounter {
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
      const counts = getOrInsert(this.#byValue, value, () => ({ properties: 0, required: 0 }));
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

/** A depth-first search of what each part may begin with, without recursion: grammars are deep. `nullable`: a 1 for each part that may be empty. */
function refuseLeftRecursion(graph: Graph, nullable: Uint8Array): void {
  /** 1: on the path; 2: done. */
  const marks = new Uint8Array(graph.nodes.length);
  const path: number[] = [];
  /** For each part of the path, the next reference to follow. */
  const places: number[] = [];
  for (const start of graph.nodes.keys()) {
    if (marks[start] === 2) continue;
    marks[start] = 1;
    path.push(start);
    places.push(0);
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      const place = places.pop() ?? 0;
      const next = nextFirst(graph, node, place, nullable);
      if (next === undefined) {
        marks[node] = 2;
        path.pop();
        continue;
      }
      places.push(place + 1);
      if (marks[next] === 1) throw beginsWithItself(path.map((number) => graph.nodes[number] as GrammarNode));
      if (marks[next] === 2) continue;
      marks[next] = 1;
      path.push(next);
      places.push(0);
    }
  }
}

function beginsWithItself(path: readonly GrammarNode[]): Error {
  const name = path.findLast((part) => part.kind === "rule");
  return constraintRefusal(
    `the rule ${name?.kind === "rule" ? name.name : "of a part"} begins with itself`,
    "write it with a repetition",
  );
}

/** The part at a place of the references of another, if that may begin with it. */
function nextFirst(graph: Graph, number: number, place: number, nullable: Uint8Array): number | undefined {
  const node = graph.nodes[number];
  if (node === undefined || node.kind === "object" || node.kind === "text" || node.kind === "switch") return undefined;
  const children = graph.getChildren(number);
  if (node.kind === "sequence" && place > 0 && nullable[children[place - 1] ?? 0] !== 1) return undefined;
  return children[place];
}
