/** Builds the graphs of one rank, and the exchanges between them. */
import { addToList, at, getOrInsert, required } from "../../contract/checked.ts";
import type { TensorData } from "../../contract/tensor.ts";
import { getType, type Graph, type GraphNode, type NamedValue, type Value } from "../../engine/ir/graph.ts";
import { type Literal, withLazyStorage } from "../../engine/ir/literal.ts";
import type { Collective, RankPart, RankStep, RankWeight } from "./rank-part.ts";
import { localShape, type Sharding, shardingKey, sliceAxis, type Split, replicated } from "./sharding.ts";
import type { NodePlacement } from "./sharding-rules.ts";

/** A value as one rank has it. */
interface LocalValue {
  readonly value: Value;
  /** Number of the step that computes it; values that an exchange gives belong to the step after it. -1 for constants. */
  readonly step: number;
}

/** A value in the form in which it is computed, and in other forms that were needed. */
interface PlacedValue {
  readonly source: Value;
  readonly sharding: Sharding;
  /** The forms of the value on this rank, by `shardingKey`. */
  readonly forms: Map<string, LocalValue>;
}

/** The steps of one rank. All ranks add the same nodes in the same order, and so exchange the same values in the same order. */
export class PartBuilder {
  readonly #rank: number;
  readonly #numberOf: (value: Value) => number;
  readonly #values = new Map<Value, PlacedValue>();
  readonly #nodes = new Map<number, GraphNode[]>();
  readonly #collectives = new Map<number, Collective[]>();
  readonly #names = new Map<Value, string>();
  readonly #weights: RankWeight[] = [];
  /** Values that are exchanged after the step that computes them. */
  readonly #sent = new Set<Value>();
  #last = 0;

  constructor(rank: number, numberOf: (value: Value) => number) {
    this.#rank = rank;
    this.#numberOf = numberOf;
  }

  /** Adds an input of the graph, which each rank has whole, and returns its name. */
  addInput(value: Value): string {
    const local: Value = { type: value.type };
    this.#place(value, replicated, { value: local, step: 0 });
    return this.#name(local);
  }

  /** Adds a node. `placement`: undefined if each rank computes it whole. */
  addNode(node: GraphNode, placement: NodePlacement | undefined): void {
    const { inputs, outputs } = node;
    const given = inputs.map((value, index) => this.get(value, placement?.inputs[index] ?? replicated));
    const step = Math.max(0, ...given.map((each) => each.step));
    this.#last = Math.max(this.#last, step);
    const results = outputs.map((value, index): Value => {
      const sharding = placement?.outputs[index] ?? replicated;
      const { dataType, shape } = value.type;
      const local: Value = { type: { dataType, shape: localShape(shape, sharding, this.#rank) } };
      this.#place(value, sharding, { value: local, step });
      return local;
    });
    const [owner] = placement?.outputs ?? [];
    if (owner?.kind === "owned" && owner.rank !== this.#rank) return;
    addToList(this.#nodes, step, {
      operation: placement?.operation?.(this.#rank) ?? node.operation,
      inputs: given.map((each) => each.value),
      outputs: results,
    });
  }

  /** The value in the form that is wanted, after an exchange or a cut if it is in another one. */
  get(value: Value, wanted: Sharding): LocalValue {
    const placed = this.#values.get(value) ?? this.#placeConstant(value);
    const { sharding, forms } = placed;
    // A value that each rank has needs no exchange to belong to one.
    const target = wanted.kind === "owned" && sharding.kind !== "owned" ? replicated : wanted;
    const found = forms.get(shardingKey(target));
    if (found !== undefined) return found;
    const form = target.kind === "split" ? this.#cut(value, this.get(value, replicated), target) : this.#exchange(placed);
    forms.set(shardingKey(target), form);
    // What one rank had, each has after the exchange.
    if (target.kind !== "split") forms.set(shardingKey(replicated), form);
    return form;
  }

  /** The finished part. `outputs`: the graph's outputs by name, whole. */
  finish(inputs: RankPart["inputs"], outputs: readonly NamedValue[]): RankPart {
    const read = new Set(outputs.map(({ value }) => value));
    const constants = [...read].filter(({ constant }) => constant !== undefined);
    const steps: RankStep[] = [];
    for (let step = this.#last; step >= 0; step -= 1) {
      const collectives = this.#collectives.get(step) ?? [];
      const graph = this.#graph(step, read, step === 0 ? constants : []);
      for (const { value } of graph?.inputs ?? []) read.add(value);
      steps.unshift({ graph, collectives });
    }
    return {
      steps,
      inputs,
      outputs: outputs.map(({ name, value }) => ({ name, result: this.#name(value) })),
      weights: this.#weights,
    };
  }

  /** The graph of one step. `read`: values that later steps, exchanges and outputs of the program read. */
  #graph(step: number, read: ReadonlySet<Value>, constants: readonly Value[]): Graph | undefined {
    const nodes = this.#nodes.get(step) ?? [];
    const defined = new Set(nodes.flatMap(({ outputs }) => outputs));
    const used = new Set(nodes.flatMap(({ inputs }) => inputs));
    const inputs = [...used].filter((value) => value.constant === undefined && !defined.has(value));
    const outputs = [...[...defined].filter((value) => read.has(value) || this.#sent.has(value)), ...constants];
    if (outputs.length === 0) return undefined;
    const named = (value: Value): NamedValue => ({ name: this.#name(value), value });
    return { inputs: inputs.map(named), nodes, outputs: outputs.map(named) };
  }

  #place(value: Value, sharding: Sharding, local: LocalValue): PlacedValue {
    const placed = { source: value, sharding, forms: new Map([[shardingKey(sharding), local]]) };
    this.#values.set(value, placed);
    return placed;
  }

  #placeConstant(value: Value): PlacedValue {
    const literal = required(value.constant, "a value that no node defines");
    return this.#place(value, replicated, this.#constant(value, literal, replicated));
  }

  #constant(of: Value, literal: Literal, sharding: Sharding): LocalValue {
    const value: Value = { type: getType(literal), constant: literal };
    if (literal.storage !== undefined) this.#weights.push({ value, key: `${this.#numberOf(of)} ${shardingKey(sharding)}` });
    return { value, step: -1 };
  }

  /** This rank's part of a value that each rank has whole. */
  #cut(source: Value, local: LocalValue, split: Split): LocalValue {
    const { axis, bounds } = split;
    const [start, end] = [at(bounds, this.#rank), at(bounds, this.#rank + 1)];
    const { dataType, shape } = local.value.type;
    const literal = local.value.constant;
    if (literal !== undefined) {
      const part = sliceAxis(literal, axis, start, end);
      const materialize = (): TensorData => sliceAxis(literal, axis, start, end).data;
      return this.#constant(source, withLazyStorage(part, { materialize }), split);
    }
    const value: Value = { type: { dataType, shape: shape.with(axis, end - start) } };
    const starts = shape.map((_, each) => (each === axis ? start : 0));
    const operation = { kind: "slice", starts, steps: shape.map(() => 1), sizes: value.type.shape } as const;
    const isEmpty = end === start && start === shape[axis]; // a slice starts inside of its operand, also an empty one
    const inside = isEmpty ? { ...operation, starts: starts.with(axis, 0) } : operation;
    addToList(this.#nodes, local.step, { operation: inside, inputs: [local.value], outputs: [value] });
    this.#last = Math.max(this.#last, local.step);
    return { value, step: local.step };
  }

  /** The whole value, which the ranks put together after the step that computes it. */
  #exchange({ source, sharding, forms }: PlacedValue): LocalValue {
    const local = required(forms.get(shardingKey(sharding)), "a value that was placed");
    const value: Value = { type: source.type };
    this.#sent.add(local.value);
    addToList(this.#collectives, local.step, {
      kind: getKind(sharding),
      source: this.#name(local.value),
      result: this.#name(value),
      type: source.type,
    });
    this.#last = Math.max(this.#last, local.step);
    return { value, step: local.step + 1 };
  }

  #name(value: Value): string {
    return getOrInsert(this.#names, value, () => `v${this.#names.size}`);
  }
}

function getKind(sharding: Sharding): Collective["kind"] {
  if (sharding.kind === "split") return { name: "join", split: sharding };
  return sharding.kind === "owned" ? { name: "copy", from: sharding.rank } : { name: "sum" };
}
