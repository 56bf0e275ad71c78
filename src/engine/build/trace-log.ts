/**
 * The record of a trace, with which a trace that stopped at a data dependency continues. A trace is a pure function of its inputs and of the resolved
 * values. To continue it, the source is traced again from the start: the same steps find their nodes and values in this log, so nothing is built or
 * computed twice, until the trace reaches the dependency, which is resolved now. A completed step is logged as its outputs only.
 */
import { required } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import { type TracedValue, tensorsIn } from "./traced-value.ts";

/** A value whose elements a run provided, and these elements. */
type ResolvedValue = readonly [value: Value, literal: Literal];

type Entry =
  | { readonly kind: "node"; readonly node: GraphNode }
  | { readonly kind: "resolved"; readonly resolved: ResolvedValue }
  | {
      readonly kind: "step";
      /** Number of steps around this one. */
      readonly depth: number;
      readonly outputs: readonly TracedValue[];
      /** Values that were resolved inside the step. */
      readonly resolved: readonly ResolvedValue[];
      /** Whether the model names all outputs of the step. */
      readonly isNamed: boolean;
    };

/** A step that has begun and not ended. */
interface OpenStep {
  /** Index of its first log entry. */
  readonly start: number;
  /** Number of nodes in the graph when it began. */
  readonly nodeCount: number;
  readonly isNamed: boolean;
}

/**
 * The logged steps of one trace. A trace that continues after a data dependency is repeated from its start: it reads the logged results first, then
 * appends new ones.
 */
export class TraceLog {
  readonly #entries: Entry[];
  readonly #nodes: GraphNode[];
  readonly #resolved = new Map<Value, Literal>();
  #position = 0;
  #open: readonly OpenStep[] = [];
  /** The step that `undo` removed, which an interpreted operation replaces. */
  #undone = { depth: 0, isNamed: true };

  /** Bytes held by all traces that wrote to this log. */
  bytes: number;

  constructor(entries: readonly Entry[] = [], nodes: readonly GraphNode[] = [], bytes: number = 0) {
    this.#entries = [...entries];
    this.#nodes = [...nodes];
    this.bytes = bytes;
  }

  /** All nodes built so far, in order, unused ones included. */
  get nodes(): readonly GraphNode[] {
    return this.#nodes;
  }

  /** The elements of a value that the trace needs now, if the log holds them; advances the log if its next entry resolves that value. */
  resolve(value: Value): Literal | undefined {
    const entry = this.#entries[this.#position];
    if (entry?.kind === "resolved" && entry.resolved[0] === value) {
      this.#position += 1;
      this.#resolved.set(...entry.resolved);
    }
    return this.resolved(value);
  }

  /** The elements of a value that was resolved earlier in this trace; undefined if it was not. */
  resolved(value: Value): Literal | undefined {
    return this.#resolved.get(value);
  }

  /** The next logged node while the trace is repeated; afterwards logs and returns a new one. Throws if the repeated trace takes another path. */
  node(make: () => GraphNode): GraphNode {
    const entry = this.#entries[this.#position];
    if (entry !== undefined && entry.kind !== "node")
      throw new InferyardError("CONTRACT_VIOLATION", "the repeated trace of a model differs from the logged one");
    const node = entry?.node ?? make();
    if (entry === undefined) {
      this.#entries.push({ kind: "node", node });
      this.#nodes.push(node);
    }
    this.#position += 1;
    return node;
  }

  /** Begins a step. If the log holds it as completed, skips it and returns its outputs; the caller must not run or end it then. */
  begin(isNamed: boolean): readonly TracedValue[] | undefined {
    const entry = this.#entries[this.#position];
    if (entry?.kind !== "step" || entry.depth !== this.#open.length) {
      this.#open = [...this.#open, { start: this.#position, nodeCount: this.#nodes.length, isNamed }];
      return undefined;
    }
    this.#position += 1;
    for (const resolved of entry.resolved) this.#resolved.set(...resolved);
    return entry.outputs;
  }

  /** Completes the innermost step: its entries are replaced by its outputs. */
  finish(outputs: readonly TracedValue[]): void {
    const { start, isNamed } = this.#innermost;
    const resolved = resolvedIn(this.#entries.splice(start));
    this.#entries.push({ kind: "step", depth: this.#open.length - 1, outputs, resolved, isNamed });
    this.#position = this.#entries.length;
  }

  /** Leaves the innermost step, whether it completed or threw. */
  leave(): void {
    this.#open = this.#open.slice(0, -1);
  }

  /** Removes the entries and nodes of the innermost step, which will be interpreted instead: see `withOutputs`. */
  undo(): void {
    const { start, nodeCount, isNamed } = this.#innermost;
    this.#entries.length = start;
    this.#nodes.length = nodeCount;
    this.#undone = { depth: this.#open.length - 1, isNamed };
  }

  /** Values that incomplete steps may still read and that have no name in the model. */
  get liveValues(): readonly Value[] {
    return this.#entries.flatMap((entry): readonly Value[] => {
      if (entry.kind === "node") return entry.node.outputs;
      return entry.kind === "step" && !entry.isNamed ? entry.outputs.flatMap(tensorsIn) : [];
    });
  }

  /** A copy of this log in which the value that stopped the trace has these elements. */
  withResolved(value: Value, literal: Literal): TraceLog {
    return new TraceLog([...this.#entries, { kind: "resolved", resolved: [value, literal] }], this.#nodes, this.bytes);
  }

  /** A copy of this log in which the step that `undo` removed is completed, with the outputs of the interpreted operation. */
  withOutputs(outputs: readonly TracedValue[]): TraceLog {
    const entry: Entry = { kind: "step", ...this.#undone, outputs, resolved: [] };
    return new TraceLog([...this.#entries, entry], this.#nodes, this.bytes);
  }

  get #innermost(): OpenStep {
    return required(this.#open.at(-1), "an open step of the trace");
  }
}

function resolvedIn(entries: readonly Entry[]): readonly ResolvedValue[] {
  return entries.flatMap((entry): readonly ResolvedValue[] => {
    if (entry.kind === "resolved") return [entry.resolved];
    return entry.kind === "step" ? entry.resolved : [];
  });
}
