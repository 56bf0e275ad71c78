/**
 * What a trace did so far, so that it can be done again up to the place where something had to be asked, and go on from there with the answer. A
 * trace is a pure function of its inputs and of the answers: done again it takes the same steps, finds the same values in this log, and computes
 * nothing twice. Steps that are done stand in it as their results alone.
 */
import type { GraphNode, Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import { type TracedValue, tensorsIn } from "./traced-value.ts";

type ResolvedValue = readonly [asked: Value, literal: Literal];

type Entry =
  | { readonly kind: "node"; readonly node: GraphNode }
  | { readonly kind: "answer"; readonly resolve: ResolvedValue }
  | {
      readonly kind: "step";
      /** How many other steps it lies in. */
      readonly depth: number;
      readonly outputs: readonly TracedValue[];
      readonly answers: readonly ResolvedValue[];
      /** Whether names lead to all of its outputs that are still needed. */
      readonly isNamed: boolean;
    };

/** A step that is being taken. */
interface OpenStep {
  readonly start: number;
  /** Nodes there were before. */
  readonly nodeCount: number;
  readonly isNamed: boolean;
}

export class TraceLog {
  readonly #entries: Entry[];
  readonly #nodes: GraphNode[];
  readonly #resolved = new Map<Value, Literal>();
  #position = 0;
  #open: readonly OpenStep[] = [];
  /** Of the step that the host is asked to compute: how many others it lies in, and whether names lead to its outputs. */
  #undone = { depth: 0, isNamed: true };

  /** Bytes that the traces which wrote this log hold, all together. */
  bytes: number;

  constructor(entries: readonly Entry[] = [], nodes: readonly GraphNode[] = [], bytes: number = 0) {
    this.#entries = [...entries];
    this.#nodes = [...nodes];
    this.bytes = bytes;
  }

  /** All nodes that were built, in order; some of them may be of no use any more. */
  get nodes(): readonly GraphNode[] {
    return this.#nodes;
  }

  /** The elements of a value that is asked for now, or was before. */
  resolve(value: Value): Literal | undefined {
    const entry = this.#entries[this.#position];
    if (entry?.kind === "answer" && entry.resolve[0] === value) {
      this.#position += 1;
      this.#resolved.set(...entry.resolve);
    }
    return this.resolved(value);
  }

  /** The elements of a value, where they were asked for before. */
  resolved(value: Value): Literal | undefined {
    return this.#resolved.get(value);
  }

  /** The node that stands here, or the new one. */
  node(make: () => GraphNode): GraphNode {
    const entry = this.#entries[this.#position];
    if (entry !== undefined && entry.kind !== "node") throw new Error("the trace went another way this time");
    const node = entry?.node ?? make();
    if (entry === undefined) {
      this.#entries.push({ kind: "node", node });
      this.#nodes.push(node);
    }
    this.#position += 1;
    return node;
  }

  /** Begins a step. Where it was done before, its outputs; it is over then. */
  begin(isNamed: boolean): readonly TracedValue[] | undefined {
    const entry = this.#entries[this.#position];
    if (entry?.kind !== "step" || entry.depth !== this.#open.length) {
      this.#open = [...this.#open, { start: this.#position, nodeCount: this.#nodes.length, isNamed }];
      return undefined;
    }
    this.#position += 1;
    for (const answer of entry.answers) this.#resolved.set(...answer);
    return entry.outputs;
  }

  /** The step that began last is done: only its outputs are remembered. */
  finish(outputs: readonly TracedValue[]): void {
    const { start = 0, isNamed = true } = this.#open.at(-1) ?? {};
    const answers = resolvedIn(this.#entries.splice(start));
    this.#entries.push({ kind: "step", depth: this.#open.length - 1, outputs, answers, isNamed });
    this.#position = this.#entries.length;
  }

  /** Ends the step that began last, done or not. */
  leave(): void {
    this.#open = this.#open.slice(0, -1);
  }

  /** Forgets what was done in the step that began last: the host is asked to compute it. */
  undo(): void {
    const { start = 0, nodeCount = 0, isNamed = true } = this.#open.at(-1) ?? {};
    this.#entries.length = start;
    this.#nodes.length = nodeCount;
    this.#undone = { depth: this.#open.length - 1, isNamed };
  }

  /** What operators hold in their hands that are not done, beside what has a name. */
  get liveValues(): readonly Value[] {
    return this.#entries.flatMap((entry): readonly Value[] => {
      if (entry.kind === "node") return entry.node.outputs;
      return entry.kind === "step" && !entry.isNamed ? entry.outputs.flatMap(tensorsIn) : [];
    });
  }

  /** The log of a trace that goes on where this one stopped, with the elements it asked for. */
  withResolved(asked: Value, literal: Literal): TraceLog {
    return new TraceLog([...this.#entries, { kind: "answer", resolve: [asked, literal] }], this.#nodes, this.bytes);
  }

  /** The same, with what the host computed in the place of the step that asked. */
  withOutputs(outputs: readonly TracedValue[]): TraceLog {
    const entry: Entry = { kind: "step", ...this.#undone, outputs, answers: [] };
    return new TraceLog([...this.#entries, entry], this.#nodes, this.bytes);
  }
}

function resolvedIn(entries: readonly Entry[]): readonly ResolvedValue[] {
  return entries.flatMap((entry): readonly ResolvedValue[] => {
    if (entry.kind === "answer") return [entry.resolve];
    return entry.kind === "step" ? entry.answers : [];
  });
}
