/**
 * What a trace did so far, so that it can be done again up to the place where something had to be asked, and go on from there with the answer. A
 * trace is a pure function of its inputs and of the answers: done again it takes the same steps, finds the same values in this log, and computes
 * nothing twice. Steps that are done stand in it as their results alone.
 */
import type { GraphNode, Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import { type Traced, tensorsIn } from "./traced-value.ts";

type Answer = readonly [asked: Value, literal: Literal];

type Entry =
  | { readonly kind: "node"; readonly node: GraphNode }
  | { readonly kind: "answer"; readonly answer: Answer }
  | {
      readonly kind: "step";
      /** How many other steps it lies in. */
      readonly depth: number;
      readonly outputs: readonly Traced[];
      readonly answers: readonly Answer[];
      /** Whether names lead to all of its outputs that are still needed. */
      readonly isNamed: boolean;
    };

/** A step that is being taken. */
interface OpenStep {
  readonly start: number;
  /** Nodes there were before. */
  readonly nodes: number;
  readonly isNamed: boolean;
}

export class TraceLog {
  readonly #entries: Entry[];
  readonly #nodes: GraphNode[];
  readonly #answers = new Map<Value, Literal>();
  #place = 0;
  #open: readonly OpenStep[] = [];
  /** Of the step that the host is asked to compute: how many others it lies in, and whether names lead to its outputs. */
  #asked = { depth: 0, isNamed: true };

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
  answer(value: Value): Literal | undefined {
    const entry = this.#entries[this.#place];
    if (entry?.kind === "answer" && entry.answer[0] === value) {
      this.#place += 1;
      this.#answers.set(...entry.answer);
    }
    return this.answered(value);
  }

  /** The elements of a value, where they were asked for before. */
  answered(value: Value): Literal | undefined {
    return this.#answers.get(value);
  }

  /** The node that stands here, or the new one. */
  node(make: () => GraphNode): GraphNode {
    const entry = this.#entries[this.#place];
    if (entry !== undefined && entry.kind !== "node") throw new Error("the trace went another way this time");
    const node = entry?.node ?? make();
    if (entry === undefined) {
      this.#entries.push({ kind: "node", node });
      this.#nodes.push(node);
    }
    this.#place += 1;
    return node;
  }

  /** Begins a step. Where it was done before, its outputs; it is over then. */
  begin(isNamed: boolean): readonly Traced[] | undefined {
    const entry = this.#entries[this.#place];
    if (entry?.kind !== "step" || entry.depth !== this.#open.length) {
      this.#open = [...this.#open, { start: this.#place, nodes: this.#nodes.length, isNamed }];
      return undefined;
    }
    this.#place += 1;
    for (const answer of entry.answers) this.#answers.set(...answer);
    return entry.outputs;
  }

  /** The step that began last is done: only its outputs are remembered. */
  finish(outputs: readonly Traced[]): void {
    const { start = 0, isNamed = true } = this.#open.at(-1) ?? {};
    const answers = answersIn(this.#entries.splice(start));
    this.#entries.push({ kind: "step", depth: this.#open.length - 1, outputs, answers, isNamed });
    this.#place = this.#entries.length;
  }

  /** Ends the step that began last, done or not. */
  leave(): void {
    this.#open = this.#open.slice(0, -1);
  }

  /** Forgets what was done in the step that began last: the host is asked to compute it. */
  undo(): void {
    const { start = 0, nodes = 0, isNamed = true } = this.#open.at(-1) ?? {};
    this.#entries.length = start;
    this.#nodes.length = nodes;
    this.#asked = { depth: this.#open.length - 1, isNamed };
  }

  /** What operators hold in their hands that are not done, beside what has a name. */
  get held(): readonly Value[] {
    return this.#entries.flatMap((entry): readonly Value[] => {
      if (entry.kind === "node") return entry.node.outputs;
      return entry.kind === "step" && !entry.isNamed ? entry.outputs.flatMap(tensorsIn) : [];
    });
  }

  /** The log of a trace that goes on where this one stopped, with the elements it asked for. */
  withAnswer(asked: Value, literal: Literal): TraceLog {
    return new TraceLog([...this.#entries, { kind: "answer", answer: [asked, literal] }], this.#nodes, this.bytes);
  }

  /** The same, with what the host computed in the place of the step that asked. */
  withResult(outputs: readonly Traced[]): TraceLog {
    const entry: Entry = { kind: "step", ...this.#asked, outputs, answers: [] };
    return new TraceLog([...this.#entries, entry], this.#nodes, this.bytes);
  }
}

function answersIn(entries: readonly Entry[]): readonly Answer[] {
  return entries.flatMap((entry): readonly Answer[] => {
    if (entry.kind === "answer") return [entry.answer];
    return entry.kind === "step" ? entry.answers : [];
  });
}
