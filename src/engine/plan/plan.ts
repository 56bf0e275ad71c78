/** Memory planning: turns a graph into a list of kernel calls and interpreted operations whose operands are offsets into one memory. Plain data. */
import { at, required } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { blockKernelId, familyKernelId } from "../../kernels/kernel-ids.ts";
import { elementCount } from "../../contract/tensor.ts";
import { type Kernel, type KernelCall, readPaddingBytes } from "../codegen/wasm/index.ts";
import type { TraceBudget } from "../build/trace-budget.ts";
import type { Graph, GraphNode, NamedValue, Value } from "../ir/graph.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import type { QuantizedBlocks } from "../ir/lazy-storage.ts";
import { storageIdentity, type Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { type AppendedState, appendedStates } from "./appended-states.ts";
import { type ArenaLayout, assignOffsets, type Lifetime } from "./arena-layout.ts";
import { valuesStoredAsBytes } from "./byte-layout.ts";
import { arenaLifetime, canOverwrite, getLastUse, getTypeInBlock, type PlannedBuffer, valueBytes } from "./planned-buffers.ts";
import { lowerAppend } from "../lower/movement.ts";
import { type KernelFunction, getKernelFunctions } from "../lower/kernel-functions.ts";
import { lowerBySequence } from "../lower/lower-by-sequence.ts";
import { lowerNode } from "../lower/lower-node.ts";
import type { BlockKernel, HostKernel, LoweredNode, Operand, PackedWeights, LoweringContext } from "../lower/lowered-node.ts";
import { type DraftStep, hasStrings } from "./draft-steps.ts";
import { PreparedTemporaries } from "./prepared-temporaries.ts";
import { layOutStates } from "./state-layout.ts";
import { unpacked } from "./unpacked-weights.ts";

/**
 * Where a tensor or temporary is stored. `arena` offsets are bytes from the start of the arena, which may move between runs. `state` offsets are
 * bytes from the start of one of the blocks that the caller of a run supplies, `block` its index. `weights` are packed constants plus a byte offset into them. Strings are not in
 * engine memory: `strings` is an index into a list of string tensors.
 */
export type BufferRef =
  | { readonly region: "arena"; readonly offset: number }
  | { readonly region: "state"; readonly offset: number; readonly block: number }
  | { readonly region: "strings"; readonly index: number }
  | { readonly region: "weights"; readonly weights: PackedWeights; readonly byteOffset: number };

/** A tensor with known type and location. */
export interface TensorRef {
  /** Element type and shape. */
  readonly type: TensorType;
  /** Where its elements are stored. */
  readonly buffer: BufferRef;
}

/** One step of a plan: a call of a generated kernel (a `Kernel`, or only what calls it), or an operation that the interpreter computes on the same memory. */
export type PlanStep<K extends KernelCall = Kernel> =
  | {
      readonly kind: "kernel";
      /** Id under which calls are counted. */
      readonly id: string;
      readonly kernel: K;
      /** Operands in the order of `kernel.parameters`, without the scratch parameter. */
      readonly operands: readonly BufferRef[];
      /** Scratch memory of the kernel; undefined when it needs none. */
      readonly scratch: Scratch | undefined;
    }
  | {
      readonly kind: "host";
      /** Id under which calls are counted. */
      readonly id: string;
      readonly host: HostKernel;
      /** In the order of `host.operandBytes`. */
      readonly operands: readonly BufferRef[];
    }
  | {
      readonly kind: "interpret";
      readonly operation: Operation;
      readonly inputs: readonly (TensorRef | Literal)[];
      readonly outputs: readonly TensorRef[];
    };

/** Scratch memory of one kernel call. Thread t uses the `stride` bytes from `offset + t * stride` on. */
export interface Scratch {
  /** Bytes from the start of the arena. */
  readonly offset: number;
  /** Bytes per thread. */
  readonly stride: number;
}

/** Everything that a run of a graph needs except the memory itself: steps, kernels, packed weights, and the offsets of all buffers. */
export interface Plan {
  /** Executed in this order. */
  readonly steps: readonly PlanStep[];
  /** The kernels of all kernel steps, with repetitions. */
  readonly kernels: readonly Kernel[];
  /** The functions that the kernels compute, each once. */
  readonly functions: readonly KernelFunction[];
  /** Names of the functions that would have been used and are excluded. */
  readonly excluded: readonly string[];
  /** The packed constants that the steps read, each source and layout once. */
  readonly weights: readonly PackedWeights[];
  /** The entries of `weights` that only this plan uses; an executable releases them when it is disposed. */
  readonly ownWeights: readonly PackedWeights[];
  /** Constants that only this plan uses. They are copied to these arena offsets before each run. */
  readonly constants: readonly { readonly literal: Literal; readonly offset: number }[];
  /** Size of the arena in bytes. */
  readonly arenaBytes: number;
  /** Size in bytes of each state block that a run is given, laid out by `layOutStates`; 0 without states. */
  readonly stateBytes: number;
  /** The graph's inputs, except states and sources. */
  readonly inputs: readonly (TensorRef & { readonly name: string })[];
  /** The graph's outputs, in order. Constants are given as literals. */
  readonly outputs: readonly { readonly name: string; readonly source: TensorRef | Literal }[];
}

/** Properties of the model and the machine that a plan depends on. */
export interface PlanSettings {
  /** Whether a constant belongs to the model. Packed constants of the model are shared by all its plans. */
  isModelConstant(literal: Literal): boolean;
  /** Whether the machine has an 8-bit dot product. If true, quantized activations are stored as bytes. Default: false. */
  readonly hasByteDot?: boolean;
  /** See `LoweringContext.hasWideVectors`. Default: false. */
  readonly hasWideVectors?: boolean;
  /** Threads that may compute one call in parallel: each gets its own scratch memory. Default: 1. */
  readonly threads?: number;
  /** Names of the inputs that are states (see `AppendedState`). Default: none. */
  readonly states?: readonly string[];
  /** Number of state blocks of a run: 1, or the size of axis 0 of all states (the batch) if each sequence has a block of its own. Default: 1. */
  readonly stateBlocks?: number;
  /**
   * Names of inputs that are not copied for each run: they are read from further blocks, laid out by `layOutStates` in this order, one for each state block and
   * behind these. Default: none.
   */
  readonly sources?: readonly string[];
  /** Whether the kernel function with this name must not be used; the interpreter computes its operations. Default: all are used. */
  readonly isExcluded?: (name: string) => boolean;
  /** Selects the kernel for quantized weights; undefined: the interpreter computes the product. Default: generated code. */
  readonly blockKernelFor?: (blocks: QuantizedBlocks) => BlockKernel | undefined;
  /** Limits the time that planning takes. Default: unlimited. */
  readonly budget?: TraceBudget;
  /** Assigns the buffers offsets in the arena. Default: buffers whose lifetimes do not overlap share bytes, see `assignOffsets`. */
  readonly assignOffsets?: (buffers: readonly Lifetime[], padding: number, onBuffer: () => void) => ArenaLayout;
}

/**
 * Plans a graph: chooses kernels for its nodes, assigns every tensor and temporary a buffer, reuses buffers whose lifetimes do not overlap, and writes
 * in place where a kernel allows it. Throws MODEL_UNSUPPORTED when a state is used otherwise than by appending or appending is excluded, when states in
 * several blocks are read by an operation that mixes the sequences of a batch, and when `budget` is exceeded.
 */
export function planGraph(graph: Graph, settings: PlanSettings): Plan {
  return new Planner(graph, settings).plan();
}

/** Alignment of each thread's scratch memory in bytes, so that threads do not share cache lines. */
const scratchAlignment = 64;

class Planner {
  readonly #graph: Graph;
  readonly #settings: PlanSettings;
  readonly #buffers: PlannedBuffer[] = [];
  readonly #bufferOf = new Map<Value, number>();
  readonly #stringSlots = new Map<Value, number>();
  readonly #weights = new Map<object, Map<string, PackedWeights>>();
  readonly #lastUse: ReadonlyMap<Value, number>;
  readonly #states: readonly AppendedState[];
  #byteLayoutValues: ReadonlySet<Value> = new Set();
  readonly #functions = new Map<string, KernelFunction>();
  readonly #excluded = new Set<string>();
  readonly #prepared = new PreparedTemporaries(this.#buffers, (bytes, step) => this.#addBuffer(bytes, step));

  constructor(graph: Graph, settings: PlanSettings) {
    this.#graph = graph;
    this.#settings = settings;
    this.#lastUse = getLastUse(graph);
    this.#states = appendedStates(graph, settings.states ?? []);
    if (settings.hasByteDot === true)
      this.#byteLayoutValues = valuesStoredAsBytes(graph, this.#loweringContext([]), (...node) => this.#isExcluded(...node));
  }

  /** Whether a lowered node needs a function that must not be used. */
  #isExcluded(node: GraphNode, lowered: LoweredNode): boolean {
    const excluded = getKernelFunctions(node, lowered).filter(({ name }) => this.#settings.isExcluded?.(name) === true);
    for (const { name } of excluded) this.#excluded.add(name);
    return excluded.length > 0;
  }

  plan(): Plan {
    const { nodes, outputs } = this.#graph;
    const { sources = [], stateBlocks = 1, budget } = this.#settings;
    const stateBytes = this.#addToBlocks(
      this.#states.map(({ appended }) => appended),
      0,
    );
    const held = sources.map((name) => required(this.#graph.inputs.find((input) => input.name === name)?.value, name));
    this.#addToBlocks(held, stateBlocks);
    const elsewhere = new Set([...held, ...this.#states.map(({ past }) => past)]);
    const inputs = this.#graph.inputs.filter(({ value }) => !elsewhere.has(value));
    for (const { value } of inputs) this.#assign(value, this.#addBuffer(valueBytes(value), 0));
    const drafts = nodes.flatMap((node, step): readonly DraftStep[] => {
      budget?.checkTime();
      return this.#draftStep(node, step);
    });
    for (const { value } of outputs) this.#extendLifetime(value, nodes.length);
    const assign = this.#settings.assignOffsets ?? assignOffsets;
    const { offsets, bytes } = assign(this.#buffers.map(arenaLifetime), readPaddingBytes, () => budget?.checkTime());
    const locate = (operand: Operand, temporaries: readonly number[]): BufferRef => {
      if (operand.kind === "packed") return { region: "weights", weights: this.#sharedWeights(operand.weights), byteOffset: 0 };
      if (operand.kind === "temporary") {
        const start = at(offsets, at(temporaries, operand.index));
        return { region: "arena", offset: start + (operand.byteOffset ?? 0) };
      }
      const { constant, type } = operand.value;
      if (type.dataType === "string") return { region: "strings", index: this.#getStringSlot(operand.value) };
      if (constant !== undefined && this.#settings.isModelConstant(constant)) {
        return { region: "weights", weights: this.#sharedWeights(unpacked(constant)), byteOffset: operand.byteOffset };
      }
      const index = required(this.#bufferOf.get(operand.value), "the buffer of a kernel operand");
      const { stateOffset, firstBlock = 0 } = at(this.#buffers, index);
      if (stateOffset !== undefined)
        return { region: "state", offset: stateOffset + operand.byteOffset, block: firstBlock + (operand.block ?? 0) };
      return { region: "arena", offset: at(offsets, index) + operand.byteOffset };
    };
    const tensorRef = (value: Value): TensorRef => ({
      type: value.type,
      buffer: locate({ kind: "tensor", value, byteOffset: 0 }, []),
    });
    const source = (value: Value): TensorRef | Literal => value.constant ?? tensorRef(value);
    const steps = drafts.map(({ node, call, temporaries, scratch }): PlanStep => {
      if (call === undefined) {
        return {
          kind: "interpret",
          operation: node.operation,
          inputs: node.inputs.map(source),
          outputs: node.outputs.map(tensorRef),
        };
      }
      const operands = call.operands.map((operand) => locate(operand, temporaries));
      if ("host" in call) return { kind: "host", id: call.id, host: call.host, operands };
      const ownScratch = scratch && { offset: at(offsets, scratch.buffer), stride: scratch.stride };
      return {
        kind: "kernel",
        id: call.id ?? familyKernelId(call.kernel.family),
        kernel: call.kernel,
        operands,
        scratch: ownScratch,
      };
    });
    const weights = [...this.#weights.values()].flatMap((layouts) => [...layouts.values()]);
    const named = ({ name, value }: NamedValue): TensorRef & { readonly name: string } => ({ name, ...tensorRef(value) });
    return {
      steps,
      kernels: steps.flatMap((step) => (step.kind === "kernel" ? [step.kernel] : [])),
      functions: [...this.#functions.values()],
      excluded: [...this.#excluded],
      weights,
      // Literals with lazy storage outlive every plan, and may have released their elements after packing.
      ownWeights: weights.filter(
        ({ source: literal }) => literal.storage === undefined && !this.#settings.isModelConstant(literal),
      ),
      constants: this.#buffers.flatMap(({ constant }, index) =>
        constant === undefined ? [] : [{ literal: constant, offset: at(offsets, index) }],
      ),
      arenaBytes: bytes,
      stateBytes,
      inputs: inputs.map(named),
      outputs: outputs.map(({ name, value }) => ({ name, source: source(value) })),
    };
  }

  /** The calls of one node with the buffers they need. Nodes whose outputs have no elements need no calls. */
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
      this.#assign(y, required(this.#bufferOf.get(x), "the buffer of a reshaped value"));
      return [];
    }
    const state = this.#states.find(({ appended }) => appended === y);
    const lowered = empty ? { calls: [] } : this.#lower(node, state);
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
    const { calls, temporaries } = this.#prepared.assign(lowered, step);
    return calls.map((call) => {
      const scratchBytes = "kernel" in call ? call.kernel.scratchBytes : 0;
      if (scratchBytes === 0) return { node, call, temporaries };
      const stride = Math.ceil((scratchBytes + readPaddingBytes) / scratchAlignment) * scratchAlignment;
      const buffer = this.#addBuffer(stride * (this.#settings.threads ?? 1), step);
      return { node, call, temporaries, scratch: { buffer, stride } };
    });
  }

  /** Lowers a node to kernels that are not excluded; undefined when the interpreter must compute it. */
  #lower(node: GraphNode, state: AppendedState | undefined): LoweredNode | undefined {
    const lower = (each: GraphNode): LoweredNode | undefined => {
      if (state === undefined) return lowerNode(each, this.#loweringContext(node.outputs));
      return lowerAppend({ ...each, operation: state.append.operation });
    };
    const { stateBlocks = 1 } = this.#settings;
    const usesBlocks = stateBlocks > 1 && [...node.inputs, ...node.outputs].some((value) => this.#isState(value));
    const lowered = usesBlocks ? lowerBySequence(node, stateBlocks, (value) => this.#isState(value), lower) : lower(node);
    if (usesBlocks && lowered === undefined)
      throw new InferyardError("MODEL_UNSUPPORTED", `the operation ${node.operation.kind} mixes the states of several sequences`);
    if (lowered === undefined) return undefined;
    if (!this.#isExcluded(node, lowered))
      for (const each of getKernelFunctions(node, lowered)) this.#functions.set(each.name, each);
    else if (state === undefined) return undefined;
    else {
      const wrong = getKernelFunctions(node, lowered).find(({ name }) => this.#excluded.has(name))?.name;
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `a state cannot be appended to: the kernel ${wrong} is wrong on this machine`,
      );
    }
    return lowered;
  }

  /** Lays values out in blocks outside of the arena, one for each sequence, and returns the bytes of one. `firstBlock`: index of the first sequence's block. */
  #addToBlocks(values: readonly Value[], firstBlock: number): number {
    const { offsets, bytes } = layOutStates(values.map((value) => getTypeInBlock(value, this.#settings.stateBlocks)));
    for (const [index, value] of values.entries()) {
      const place = { stateOffset: at(offsets, index), firstBlock };
      this.#buffers.push({ bytes: valueBytes(value), ...place, from: 0, to: Number.POSITIVE_INFINITY, lastUse: 0 });
      this.#assign(value, this.#buffers.length - 1);
    }
    return bytes;
  }

  /** Whether the value lies in a block of a sequence: a state, a source, or a reshape of one. */
  #isState(value: Value): boolean {
    const index = this.#bufferOf.get(value);
    return index !== undefined && at(this.#buffers, index).stateOffset !== undefined;
  }

  #loweringContext(outputs: readonly Value[]): LoweringContext {
    const isAmong = (values: { has(value: Value): boolean }, value: Value | undefined): boolean =>
      value !== undefined && values.has(value);
    return {
      isOutputUsed: (output) => isAmong(this.#lastUse, outputs[output]),
      hasWideVectors: this.#settings.hasWideVectors === true,
      hasByteLayout: (value) => isAmong(this.#byteLayoutValues, value),
      blockKernelFor: this.#settings.blockKernelFor ?? (({ type }) => ({ id: blockKernelId(type), kind: "generated" })),
    };
  }

  /** Whether the output may overwrite the input's buffer. */
  #canReuse(input: Value, output: Value, step: number): boolean {
    const index = this.#bufferOf.get(input);
    const buffer = index === undefined ? undefined : this.#buffers[index];
    return buffer !== undefined && input.constant === undefined && canOverwrite(buffer, input, output, step);
  }

  #addBuffer(bytes: number, step: number): number {
    this.#buffers.push({ bytes, from: step, to: step, lastUse: step });
    return this.#buffers.length - 1;
  }

  /** Assigns a value to the buffer with this index. Several values may share a buffer. */
  #assign(value: Value, index: number): void {
    this.#bufferOf.set(value, index);
    const buffer = at(this.#buffers, index);
    buffer.lastUse = Math.max(buffer.lastUse, this.#lastUse.get(value) ?? 0); // an unused value has no last use
  }

  /** Extends the lifetime of the buffer of `value` to `step`. Allocates a buffer for constants of this plan at their first use. */
  #extendLifetime(value: Value, step: number): void {
    const { constant } = value;
    if (constant?.dataType === "string") return;
    if (constant !== undefined && !this.#bufferOf.has(value) && !this.#settings.isModelConstant(constant)) {
      const index = this.#addBuffer(valueBytes(value), 0);
      this.#bufferOf.set(value, index);
      Object.assign(at(this.#buffers, index), { constant, to: Number.POSITIVE_INFINITY });
    }
    const index = this.#bufferOf.get(value);
    if (index === undefined) return;
    const buffer = at(this.#buffers, index);
    buffer.to = Math.max(buffer.to, step);
  }

  #getStringSlot(value: Value): number {
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
