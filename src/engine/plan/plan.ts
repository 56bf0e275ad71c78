/** Lays a graph out as a list of calls over one memory: which kernel, on which bytes, in which order. Plain data. */
import { elementCount } from "../../tensor.ts";
import { type Kernel, readPaddingBytes } from "../codegen/wasm/index.ts";
import { elementTypes } from "../ir/element-types.ts";
import type { TraceBudget } from "../build/trace-budget.ts";
import type { Graph, GraphNode, NamedValue, TensorType, Value } from "../ir/graph.ts";
import { storageIdentity, type Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { type AppendedState, appendedStates } from "./appended-states.ts";
import { assignOffsets, type Lifetime } from "./arena-layout.ts";
import { valuesWithByteLayout } from "../lower/quantized.ts";
import { lowerAppend, storageBytes } from "../lower/movement.ts";
import { lowerNode } from "../lower/lower-node.ts";
import type { Operand, PackedWeights, LoweringContext } from "../lower/lowered-node.ts";
import { layOutStates } from "./state-layout.ts";

/**
 * A place in memory. Those of the arena are bytes from its start, which may move between runs; those of the state are bytes from the start of a
 * block that the caller of a run names. Texts lie in no memory, but in a list of tensors.
 */
export type BufferRef =
  | { readonly region: "arena" | "state"; readonly offset: number }
  | { readonly region: "texts"; readonly index: number }
  | { readonly region: "weights"; readonly weights: PackedWeights; readonly byteOffset: number };

export interface TensorRef {
  readonly type: TensorType;
  readonly buffer: BufferRef;
}

export type PlanStep =
  | {
      readonly kind: "kernel";
      readonly kernel: Kernel;
      readonly places: readonly BufferRef[];
      readonly scratch: Scratch | undefined;
    }
  | {
      readonly kind: "interpret";
      readonly operation: Operation;
      readonly inputs: readonly (TensorRef | Literal)[];
      readonly outputs: readonly TensorRef[];
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
  readonly inputs: readonly (TensorRef & { readonly name: string })[];
  readonly outputs: readonly { readonly name: string; readonly source: TensorRef | Literal }[];
}

export interface PlanSettings {
  /** Whether a constant is one of the model itself, so that all its programs share it. */
  isModelConstant(literal: Literal): boolean;
  /** Whether the machine multiplies bytes at once, so that activations of 8 bits should lie as such. Default: false. */
  readonly hasByteDot?: boolean;
  /** Threads that may compute one call at once. Default: 1. */
  readonly threads?: number;
  /** Inputs that are states: see `AppendedState`. Default: none. */
  readonly states?: readonly string[];
  /** What is known of kernels by their keys; see `Surroundings`. Plans of one model share it. Default: nothing is known. */
  readonly emittable?: Map<string, boolean>;
  /** Checked for time while the plan is made. Default: it may take as long as it takes. */
  readonly budget?: TraceBudget;
}

export function planGraph(graph: Graph, settings: PlanSettings): Plan {
  return new Planner(graph, settings).plan();
}

/** Threads that write side by side share no line of the cache. */
const scratchAlignment = 64;

interface PlannedBuffer {
  readonly bytes: number;
  from: number;
  to: number;
  /** The last step that uses any value that lies here: a tensor and its reshapes share one buffer. */
  lastUse: number;
  constant?: Literal;
  /** It is a state: its place in the block of states. */
  readonly stateOffset?: number;
}

class Planner {
  readonly #graph: Graph;
  readonly #settings: PlanSettings;
  readonly #buffers: PlannedBuffer[] = [];
  readonly #bufferOf = new Map<Value, number>();
  readonly #stringSlots = new Map<Value, number>();
  readonly #weights = new Map<object, Map<string, PackedWeights>>();
  readonly #lastUse: ReadonlyMap<Value, number>;
  readonly #states: readonly AppendedState[];
  readonly #byteLayoutValues: ReadonlySet<Value>;
  readonly #emittable: Map<string, boolean>;

  constructor(graph: Graph, settings: PlanSettings) {
    this.#graph = graph;
    this.#settings = settings;
    this.#lastUse = lastUseOf(graph);
    this.#states = appendedStates(graph, settings.states ?? []);
    this.#byteLayoutValues = settings.hasByteDot === true ? valuesWithByteLayout(graph) : new Set();
    this.#emittable = settings.emittable ?? new Map<string, boolean>();
  }

  plan(): Plan {
    const { nodes, outputs } = this.#graph;
    const inputs = this.#graph.inputs.filter(({ value }) => this.#states.every(({ past }) => past !== value));
    const { offsets: stateOffsets, bytes: stateBytes } = layOutStates(this.#states.map(({ appended }) => appended.type));
    for (const [index, { appended }] of this.#states.entries()) {
      const [bytes, stateOffset] = [valueBytes(appended), stateOffsets[index] ?? 0];
      this.#buffers.push({ bytes, stateOffset, from: 0, to: Number.POSITIVE_INFINITY, lastUse: 0 });
      this.#assign(appended, this.#buffers.length - 1);
    }
    for (const { value } of inputs) this.#assign(value, this.#addBuffer(valueBytes(value), 0));
    const { budget } = this.#settings;
    const drafts = nodes.flatMap((node, step): readonly DraftStep[] => {
      budget?.checkTime();
      return this.#draftStep(node, step);
    });
    for (const { value } of outputs) this.#extendLifetime(value, nodes.length);
    const { offsets, bytes } = assignOffsets(this.#buffers.map(arenaLifetime), readPaddingBytes, () => budget?.checkTime());
    const place = (operand: Operand, temporaries: readonly number[]): BufferRef => {
      if (operand.kind === "packed") return { region: "weights", weights: this.#sharedWeights(operand.weights), byteOffset: 0 };
      if (operand.kind === "temporary") {
        const start = offsets[temporaries[operand.index] ?? 0] ?? 0;
        return { region: "arena", offset: start + (operand.byteOffset ?? 0) };
      }
      const { constant, type } = operand.value;
      if (type.dataType === "string") return { region: "texts", index: this.#stringSlotOf(operand.value) };
      if (constant !== undefined && this.#settings.isModelConstant(constant)) {
        return { region: "weights", weights: this.#sharedWeights(unpacked(constant)), byteOffset: operand.byteOffset };
      }
      const index = this.#bufferOf.get(operand.value) ?? -1;
      const stateOffset = this.#buffers[index]?.stateOffset;
      if (stateOffset !== undefined) return { region: "state", offset: stateOffset + operand.byteOffset };
      return { region: "arena", offset: (offsets[index] ?? 0) + operand.byteOffset };
    };
    const located = (value: Value): TensorRef => ({
      type: value.type,
      buffer: place({ kind: "tensor", value, byteOffset: 0 }, []),
    });
    const source = (value: Value): TensorRef | Literal => value.constant ?? located(value);
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
    const named = ({ name, value }: NamedValue): TensorRef & { readonly name: string } => ({ name, ...located(value) });
    return {
      steps,
      kernels: steps.flatMap((step) => (step.kind === "kernel" ? [step.kernel] : [])),
      weights,
      // What is held outlives every program, and may have let its elements go since they are packed.
      ownWeights: weights.filter(
        ({ source: literal }) => literal.storage === undefined && !this.#settings.isModelConstant(literal),
      ),
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
  #draftStep(node: GraphNode, step: number): readonly DraftStep[] {
    const empty = node.outputs.every(({ type }) => elementCount(type.shape) === 0);
    const [x] = node.inputs;
    const [y] = node.outputs;
    if (hasStrings(node)) {
      for (const output of node.outputs) this.#assign(output, this.#addBuffer(valueBytes(output), step));
      for (const value of [...node.inputs, ...node.outputs]) if (value.constant === undefined) this.#extendLifetime(value, step);
      return [{ node, temporaries: [] }];
    }
    if (node.operation.kind === "reshape" && x !== undefined && y !== undefined && x.constant === undefined) {
      this.#extendLifetime(x, this.#lastUse.get(y) ?? step);
      this.#assign(y, this.#bufferOf.get(x) ?? 0);
      return [];
    }
    const state = this.#states.find(({ appended }) => appended === y);
    const lowered = empty
      ? { calls: [] }
      : state === undefined
        ? lowerNode(node, this.#loweringContext(node))
        : lowerAppend(state.append);
    const isFree = (input: Value): boolean =>
      lowered?.requiresUniqueBuffer !== true ||
      node.inputs.filter((other) => this.#bufferOf.get(other) === this.#bufferOf.get(input)).length === 1;
    const reused = lowered?.inPlace?.find((input) => y !== undefined && isFree(input) && this.#canReuse(input, y, step));
    for (const output of state === undefined ? node.outputs : []) {
      const buffer = output === y && reused !== undefined ? this.#bufferOf.get(reused) : undefined;
      this.#assign(output, buffer ?? this.#addBuffer(valueBytes(output), step));
      this.#extendLifetime(output, this.#lastUse.get(output) ?? step);
    }
    for (const input of node.inputs) this.#extendLifetime(input, step);
    if (lowered === undefined) return [{ node, temporaries: [] }];
    const temporaries = (lowered.temporaries ?? []).map((bytes) => this.#addBuffer(bytes, step));
    return lowered.calls.map((call) => {
      const { scratchBytes } = call.kernel;
      if (scratchBytes === 0) return { node, call, temporaries };
      const stride = Math.ceil((scratchBytes + readPaddingBytes) / scratchAlignment) * scratchAlignment;
      const buffer = this.#addBuffer(stride * (this.#settings.threads ?? 1), step);
      return { node, call, temporaries, scratch: { buffer, stride } };
    });
  }

  #loweringContext({ outputs }: GraphNode): LoweringContext {
    const isAmong = (values: { has(value: Value): boolean }, value: Value | undefined): boolean =>
      value !== undefined && values.has(value);
    return {
      isOutputUsed: (output) => isAmong(this.#lastUse, outputs[output]),
      hasByteLayout: (value) => isAmong(this.#byteLayoutValues, value),
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
      buffer.lastUse <= step &&
      storageBytes(input.type.dataType) === storageBytes(output.type.dataType) &&
      valueBytes(input) === valueBytes(output) &&
      buffer.bytes === valueBytes(output)
    );
  }

  #addBuffer(bytes: number, step: number): number {
    this.#buffers.push({ bytes, from: step, to: step, lastUse: step });
    return this.#buffers.length - 1;
  }

  /** The value lies in this buffer from now on, perhaps with others. */
  #assign(value: Value, index: number): void {
    this.#bufferOf.set(value, index);
    const buffer = this.#buffers[index];
    if (buffer !== undefined) buffer.lastUse = Math.max(buffer.lastUse, this.#lastUse.get(value) ?? 0);
  }

  #extendLifetime(value: Value, step: number): void {
    const { constant } = value;
    if (constant?.dataType === "string") return;
    if (constant !== undefined && !this.#bufferOf.has(value) && !this.#settings.isModelConstant(constant)) {
      const index = this.#addBuffer(valueBytes(value), 0);
      this.#bufferOf.set(value, index);
      const buffer = this.#buffers[index];
      if (buffer !== undefined) Object.assign(buffer, { constant, to: Number.POSITIVE_INFINITY });
    }
    const index = this.#bufferOf.get(value);
    const buffer = index === undefined ? undefined : this.#buffers[index];
    if (buffer !== undefined) buffer.to = Math.max(buffer.to, step);
  }

  #stringSlotOf(value: Value): number {
    const index = this.#stringSlots.get(value) ?? this.#stringSlots.size;
    this.#stringSlots.set(value, index);
    return index;
  }

  #sharedWeights(weights: PackedWeights): PackedWeights {
    const layouts = this.#weights.get(storageIdentity(weights.source)) ?? new Map<string, PackedWeights>();
    this.#weights.set(storageIdentity(weights.source), layouts);
    const known = layouts.get(weights.layout);
    if (known !== undefined) return known;
    layouts.set(weights.layout, weights);
    return weights;
  }
}

interface DraftStep {
  readonly node: GraphNode;
  readonly call?: { readonly kernel: Kernel; readonly operands: readonly Operand[] };
  readonly temporaries: readonly number[];
  readonly scratch?: { readonly buffer: number; readonly stride: number };
}

/** What lies elsewhere takes no place of the arena: of no bytes, and never alive. */
function arenaLifetime({ bytes, from, to, stateOffset }: PlannedBuffer): Lifetime {
  return stateOffset === undefined ? { bytes, from, to } : { bytes: 0, from: -1, to: -1 };
}

/** Only the interpreter computes with texts. */
function hasStrings({ inputs, outputs }: GraphNode): boolean {
  return [...inputs, ...outputs].some(({ type }) => type.dataType === "string");
}

function valueBytes({ type }: Value): number {
  if (type.dataType === "string") return 0;
  return elementCount(type.shape) * storageBytes(type.dataType);
}

/** The last node that uses each value; the end of the graph for its outputs. */
function lastUseOf({ nodes, outputs }: Graph): ReadonlyMap<Value, number> {
  const last = new Map<Value, number>();
  for (const [step, { inputs }] of nodes.entries()) for (const input of inputs) last.set(input, step);
  for (const { value } of outputs) last.set(value, nodes.length);
  return last;
}

/** Elements in their own order. */
export function unpacked(source: Literal): PackedWeights {
  const { dataType, shape } = source;
  const View = elementTypes[dataType].array as Float64ArrayConstructor;
  return {
    source,
    layout: "plain",
    bytes: elementCount(shape) * storageBytes(dataType),
    unpack: (packed) => new View(packed.slice().buffer),
  };
}
