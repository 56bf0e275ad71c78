/** Lays a graph out as a list of calls over one memory: which kernel, on which bytes, in which order. Plain data. */
import { elementCount } from "../../tensor.ts";
import { type Kernel, readPaddingBytes } from "../codegen/wasm/index.ts";
import { elementTypes } from "../ir/element-types.ts";
import type { Budget } from "../build/trace-budget.ts";
import type { Graph, GraphNode, NamedValue, TensorType, Value } from "../ir/graph.ts";
import { identityOf, type Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { type AppendedState, appendedStates } from "./appended-states.ts";
import { layOut, type Lifetime } from "./arena-layout.ts";
import { valuesInBytes } from "../lower/quantized.ts";
import { lowerAppend, slotBytes } from "../lower/movement.ts";
import { lowerNode } from "../lower/lower-node.ts";
import type { Operand, PackedWeights, Surroundings } from "../lower/lowered-node.ts";
import { layOutStates } from "./state-layout.ts";

/**
 * A place in memory. Those of the arena are bytes from its start, which may move between runs; those of the state are bytes from the start of a
 * block that the caller of a run names. Texts lie in no memory, but in a list of tensors.
 */
export type Place =
  | { readonly region: "arena" | "state"; readonly offset: number }
  | { readonly region: "texts"; readonly index: number }
  | { readonly region: "weights"; readonly weights: PackedWeights; readonly byteOffset: number };

export interface TensorPlace {
  readonly type: TensorType;
  readonly place: Place;
}

export type PlanStep =
  | { readonly kind: "kernel"; readonly kernel: Kernel; readonly places: readonly Place[]; readonly scratch: Scratch | undefined }
  | {
      readonly kind: "interpret";
      readonly operation: Operation;
      readonly inputs: readonly (TensorPlace | Literal)[];
      readonly outputs: readonly TensorPlace[];
    };

/** Memory of a kernel's own, once for each thread. */
export interface Scratch {
  readonly offset: number;
  readonly stride: number;
}

export interface Plan {
  readonly steps: readonly PlanStep[];
  readonly kernels: readonly Kernel[];
  readonly weights: readonly PackedWeights[];
  /** Those among them that belong to this program alone. */
  readonly ownWeights: readonly PackedWeights[];
  /** Constants that belong to this program alone; they lie in its arena and are written before it runs. */
  readonly constants: readonly { readonly literal: Literal; readonly offset: number }[];
  readonly arenaBytes: number;
  /** Bytes of the block of states that a run is given; 0 where there are none. They lie in it as `layOutStates` says. */
  readonly stateBytes: number;
  /** Without those that are states. */
  readonly inputs: readonly (TensorPlace & { readonly name: string })[];
  readonly outputs: readonly { readonly name: string; readonly source: TensorPlace | Literal }[];
}

export interface PlanSettings {
  /** Whether a constant is one of the model itself, so that all its programs share it. */
  isDurable(literal: Literal): boolean;
  /** Whether the machine multiplies bytes at once, so that activations of 8 bits should lie as such. Default: false. */
  readonly hasByteDot?: boolean;
  /** Threads that may compute one call at once. Default: 1. */
  readonly threads?: number;
  /** Inputs that are states: see `AppendedState`. Default: none. */
  readonly states?: readonly string[];
  /** What is known of kernels by their keys; see `Surroundings`. Plans of one model share it. Default: nothing is known. */
  readonly emittable?: Map<string, boolean>;
  /** Checked for time while the plan is made. Default: it may take as long as it takes. */
  readonly budget?: Budget;
}

export function planGraph(graph: Graph, settings: PlanSettings): Plan {
  return new Planner(graph, settings).plan();
}

/** Threads that write side by side share no line of the cache. */
const scratchAlignment = 64;

interface Buffer {
  readonly bytes: number;
  from: number;
  to: number;
  /** The last step that uses any value that lies here: a tensor and its reshapes share one buffer. */
  last: number;
  constant?: Literal;
  /** It is a state: its place in the block of states. */
  readonly stateOffset?: number;
}

class Planner {
  readonly #graph: Graph;
  readonly #settings: PlanSettings;
  readonly #buffers: Buffer[] = [];
  readonly #bufferOf = new Map<Value, number>();
  readonly #texts = new Map<Value, number>();
  readonly #weights = new Map<object, Map<string, PackedWeights>>();
  readonly #last: ReadonlyMap<Value, number>;
  readonly #states: readonly AppendedState[];
  readonly #inBytes: ReadonlySet<Value>;
  readonly #emittable: Map<string, boolean>;

  constructor(graph: Graph, settings: PlanSettings) {
    this.#graph = graph;
    this.#settings = settings;
    this.#last = lastUses(graph);
    this.#states = appendedStates(graph, settings.states ?? []);
    this.#inBytes = settings.hasByteDot === true ? valuesInBytes(graph) : new Set();
    this.#emittable = settings.emittable ?? new Map<string, boolean>();
  }

  plan(): Plan {
    const { nodes, outputs } = this.#graph;
    const inputs = this.#graph.inputs.filter(({ value }) => this.#states.every(({ past }) => past !== value));
    const { offsets: stateOffsets, bytes: stateBytes } = layOutStates(this.#states.map(({ whole }) => whole.type));
    for (const [index, { whole }] of this.#states.entries()) {
      const [bytes, stateOffset] = [valueBytes(whole), stateOffsets[index] ?? 0];
      this.#buffers.push({ bytes, stateOffset, from: 0, to: Number.POSITIVE_INFINITY, last: 0 });
      this.#settle(whole, this.#buffers.length - 1);
    }
    for (const { value } of inputs) this.#settle(value, this.#buffer(valueBytes(value), 0));
    const { budget } = this.#settings;
    const drafts = nodes.flatMap((node, step): readonly Draft[] => {
      budget?.checkTime();
      return this.#draft(node, step);
    });
    for (const { value } of outputs) this.#use(value, nodes.length);
    const { offsets, bytes } = layOut(this.#buffers.map(lifetimeOf), readPaddingBytes, () => budget?.checkTime());
    const place = (operand: Operand, temporaries: readonly number[]): Place => {
      if (operand.kind === "packed") return { region: "weights", weights: this.#shared(operand.weights), byteOffset: 0 };
      if (operand.kind === "temporary") {
        const start = offsets[temporaries[operand.index] ?? 0] ?? 0;
        return { region: "arena", offset: start + (operand.byteOffset ?? 0) };
      }
      const { constant, type } = operand.value;
      if (type.dataType === "string") return { region: "texts", index: this.#textOf(operand.value) };
      if (constant !== undefined && this.#settings.isDurable(constant)) {
        return { region: "weights", weights: this.#shared(asTheyAre(constant)), byteOffset: operand.byteOffset };
      }
      const index = this.#bufferOf.get(operand.value) ?? -1;
      const stateOffset = this.#buffers[index]?.stateOffset;
      if (stateOffset !== undefined) return { region: "state", offset: stateOffset + operand.byteOffset };
      return { region: "arena", offset: (offsets[index] ?? 0) + operand.byteOffset };
    };
    const located = (value: Value): TensorPlace => ({
      type: value.type,
      place: place({ kind: "tensor", value, byteOffset: 0 }, []),
    });
    const source = (value: Value): TensorPlace | Literal => value.constant ?? located(value);
    const steps = drafts.map(({ node, call, temporaries, scratch }): PlanStep => {
      if (call === undefined) {
        return {
          kind: "interpret",
          operation: node.operation,
          inputs: node.inputs.map(source),
          outputs: node.outputs.map(located),
        };
      }
      const places = call.operands.map((operand) => place(operand, temporaries));
      const own = scratch && { offset: offsets[scratch.buffer] ?? 0, stride: scratch.stride };
      return { kind: "kernel", kernel: call.kernel, places, scratch: own };
    });
    const weights = [...this.#weights.values()].flatMap((layouts) => [...layouts.values()]);
    const named = ({ name, value }: NamedValue): TensorPlace & { readonly name: string } => ({ name, ...located(value) });
    return {
      steps,
      kernels: steps.flatMap((step) => (step.kind === "kernel" ? [step.kernel] : [])),
      weights,
      // What is held outlives every program, and may have let its elements go since they are packed.
      ownWeights: weights.filter(({ source: literal }) => literal.held === undefined && !this.#settings.isDurable(literal)),
      constants: this.#buffers.flatMap(({ constant }, index) =>
        constant === undefined ? [] : [{ literal: constant, offset: offsets[index] ?? 0 }],
      ),
      arenaBytes: bytes,
      stateBytes,
      inputs: inputs.map(named),
      outputs: outputs.map(({ name, value }) => ({ name, source: source(value) })),
    };
  }

  /** The calls of a node, with the buffers they need. What has no elements is not computed. */
  #draft(node: GraphNode, step: number): readonly Draft[] {
    const empty = node.outputs.every(({ type }) => elementCount(type.shape) === 0);
    const [x] = node.inputs;
    const [y] = node.outputs;
    if (hasTexts(node)) {
      for (const output of node.outputs) this.#settle(output, this.#buffer(valueBytes(output), step));
      for (const value of [...node.inputs, ...node.outputs]) if (value.constant === undefined) this.#use(value, step);
      return [{ node, temporaries: [] }];
    }
    if (node.operation.kind === "reshape" && x !== undefined && y !== undefined && x.constant === undefined) {
      this.#use(x, this.#last.get(y) ?? step);
      this.#settle(y, this.#bufferOf.get(x) ?? 0);
      return [];
    }
    const state = this.#states.find(({ whole }) => whole === y);
    const lowered = empty
      ? { calls: [] }
      : state === undefined
        ? lowerNode(node, this.#surroundings(node))
        : lowerAppend(state.append);
    const isFree = (input: Value): boolean =>
      lowered?.apart !== true ||
      node.inputs.filter((other) => this.#bufferOf.get(other) === this.#bufferOf.get(input)).length === 1;
    const reused = lowered?.inPlace?.find((input) => y !== undefined && isFree(input) && this.#canReuse(input, y, step));
    for (const output of state === undefined ? node.outputs : []) {
      const buffer = output === y && reused !== undefined ? this.#bufferOf.get(reused) : undefined;
      this.#settle(output, buffer ?? this.#buffer(valueBytes(output), step));
      this.#use(output, this.#last.get(output) ?? step);
    }
    for (const input of node.inputs) this.#use(input, step);
    if (lowered === undefined) return [{ node, temporaries: [] }];
    const temporaries = (lowered.temporaries ?? []).map((bytes) => this.#buffer(bytes, step));
    return lowered.calls.map((call) => {
      const { scratchBytes } = call.kernel;
      if (scratchBytes === 0) return { node, call, temporaries };
      const stride = Math.ceil((scratchBytes + readPaddingBytes) / scratchAlignment) * scratchAlignment;
      const buffer = this.#buffer(stride * (this.#settings.threads ?? 1), step);
      return { node, call, temporaries, scratch: { buffer, stride } };
    });
  }

  #surroundings({ outputs }: GraphNode): Surroundings {
    const isAmong = (values: { has(value: Value): boolean }, value: Value | undefined): boolean =>
      value !== undefined && values.has(value);
    return {
      isUsed: (output) => isAmong(this.#last, outputs[output]),
      liesInBytes: (value) => isAmong(this.#inBytes, value),
      emittable: this.#emittable,
    };
  }

  /** An input that ends here may become the output where each of its elements lies where the output's will: as many of them, of one width. */
  #canReuse(input: Value, output: Value, step: number): boolean {
    const index = this.#bufferOf.get(input);
    const buffer = index === undefined ? undefined : this.#buffers[index];
    if (buffer === undefined || buffer.constant !== undefined || input.constant !== undefined) return false;
    return (
      buffer.to <= step &&
      buffer.last <= step &&
      slotBytes(input.type.dataType) === slotBytes(output.type.dataType) &&
      valueBytes(input) === valueBytes(output) &&
      buffer.bytes === valueBytes(output)
    );
  }

  #buffer(bytes: number, step: number): number {
    this.#buffers.push({ bytes, from: step, to: step, last: step });
    return this.#buffers.length - 1;
  }

  /** The value lies in this buffer from now on, perhaps with others. */
  #settle(value: Value, index: number): void {
    this.#bufferOf.set(value, index);
    const buffer = this.#buffers[index];
    if (buffer !== undefined) buffer.last = Math.max(buffer.last, this.#last.get(value) ?? 0);
  }

  #use(value: Value, step: number): void {
    const { constant } = value;
    if (constant?.dataType === "string") return;
    if (constant !== undefined && !this.#bufferOf.has(value) && !this.#settings.isDurable(constant)) {
      const index = this.#buffer(valueBytes(value), 0);
      this.#bufferOf.set(value, index);
      const buffer = this.#buffers[index];
      if (buffer !== undefined) Object.assign(buffer, { constant, to: Number.POSITIVE_INFINITY });
    }
    const index = this.#bufferOf.get(value);
    const buffer = index === undefined ? undefined : this.#buffers[index];
    if (buffer !== undefined) buffer.to = Math.max(buffer.to, step);
  }

  #textOf(value: Value): number {
    const index = this.#texts.get(value) ?? this.#texts.size;
    this.#texts.set(value, index);
    return index;
  }

  #shared(weights: PackedWeights): PackedWeights {
    const layouts = this.#weights.get(identityOf(weights.source)) ?? new Map<string, PackedWeights>();
    this.#weights.set(identityOf(weights.source), layouts);
    const known = layouts.get(weights.layout);
    if (known !== undefined) return known;
    layouts.set(weights.layout, weights);
    return weights;
  }
}

interface Draft {
  readonly node: GraphNode;
  readonly call?: { readonly kernel: Kernel; readonly operands: readonly Operand[] };
  readonly temporaries: readonly number[];
  readonly scratch?: { readonly buffer: number; readonly stride: number };
}

/** What lies elsewhere takes no place of the arena: of no bytes, and never alive. */
function lifetimeOf({ bytes, from, to, stateOffset }: Buffer): Lifetime {
  return stateOffset === undefined ? { bytes, from, to } : { bytes: 0, from: -1, to: -1 };
}

/** Only the interpreter computes with texts. */
function hasTexts({ inputs, outputs }: GraphNode): boolean {
  return [...inputs, ...outputs].some(({ type }) => type.dataType === "string");
}

function valueBytes({ type }: Value): number {
  if (type.dataType === "string") return 0;
  return elementCount(type.shape) * slotBytes(type.dataType);
}

/** The last node that uses each value; the end of the graph for its outputs. */
function lastUses({ nodes, outputs }: Graph): ReadonlyMap<Value, number> {
  const last = new Map<Value, number>();
  for (const [step, { inputs }] of nodes.entries()) for (const input of inputs) last.set(input, step);
  for (const { value } of outputs) last.set(value, nodes.length);
  return last;
}

/** Elements in their own order. */
export function asTheyAre(source: Literal): PackedWeights {
  const { dataType, shape } = source;
  const View = elementTypes[dataType].array as Float64ArrayConstructor;
  return {
    source,
    layout: "plain",
    bytes: elementCount(shape) * slotBytes(dataType),
    unpack: (packed) => new View(packed.slice().buffer),
  };
}
