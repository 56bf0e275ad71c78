/** Executables: plans with compiled kernels and packed weights. */
import { at, required, omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { interpreterId } from "../../kernels/kernel-ids.ts";
import type { KernelTally } from "../../kernels/kernel-tally.ts";
import { elementCount, type Tensor, type TensorData, type TensorMap } from "../../contract/tensor.ts";
import { type KernelCall, kernelCall } from "../codegen/wasm/kernel.ts";
import { elementTypes } from "../ir/element-types.ts";
import { byteSize, type TensorType } from "../ir/tensor-type.ts";
import type { Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import type { BufferRef, Plan, PlanStep, TensorRef } from "../plan/plan.ts";
import type { PackedWeights } from "../lower/lowered-node.ts";
import type { EngineMemory } from "../memory/engine-memory.ts";
import type { CompiledGraph } from "./graph-compiler.ts";
import type { YieldPolicy } from "./yield-policy.ts";

/**
 * Runs one call of a kernel, on one or several threads, and returns its status. `offsets` holds the kernel's dynamic sizes, then its byte offsets; the
 * last one is the scratch offset for kernels that need scratch memory.
 */
export type RunKernel = (kernel: KernelCall, offsets: readonly number[], scratchStride: number) => number;

/** Byte offsets of the arena and of the state blocks, which may differ from run to run. */
interface Bases {
  readonly arena: number;
  readonly states: readonly number[];
}

/** A step as it is counted. `key` and `family` are those of its generated kernel. */
export interface CountedStep {
  readonly id: string;
  readonly key?: string;
  readonly family?: string;
}

/** Computes an operation on elements. */
type Evaluate = (operation: Operation, inputs: readonly Literal[]) => readonly Literal[];
/** Read once, since reading the global of Node.js calls a function. */
const clock = performance;

interface ExecutableOptions {
  readonly evaluate?: Evaluate;
  readonly tally?: KernelTally;
  readonly prepare?: (() => void) | undefined;
  readonly getId?: ((step: CountedStep) => string) | undefined;
}

/** The parts of a plan that an executable needs: kernels may be compiled already. */
export interface RunnablePlan extends Omit<Plan, "steps" | "kernels" | "functions" | "excluded"> {
  readonly steps: readonly PlanStep<KernelCall>[];
}

/** Executes one step of a run. */
type Action = (bases: Bases) => void;

/**
 * A plan that is ready to run: kernels compiled, weights packed in memory. Runs in three phases, `writeInputs`, `runSteps` and `readOutputs`, so that the
 * caller can yield between steps. Runs of executables over the same memory must not overlap.
 */
export class Executable implements CompiledGraph {
  /** The parts of the plan that runs still need; kernels and steps are dropped after construction. */
  readonly #plan: Pick<Plan, "arenaBytes" | "constants" | "inputs" | "outputs" | "stateBytes">;
  /** Number of steps of one run, and how many of them the interpreter computes. */
  readonly steps: { readonly all: number; readonly interpreted: number };
  readonly #memory: EngineMemory;
  readonly #ownWeights = new Set<PackedWeights>();
  readonly #actions: readonly Action[];
  /** Kernel id of each step, and how many steps each id has. */
  #kernelIds: readonly string[] = [];
  #callsPerRun: ReadonlyMap<string, number> = new Map();
  readonly #steps: readonly CountedStep[];
  readonly #getId: (step: CountedStep) => string;
  readonly #tally: KernelTally | undefined;
  #prepare: (() => void) | undefined;
  readonly #evaluate: Evaluate;
  /** String tensors of the current run, by the index in their buffer references. */
  readonly #strings: TensorData[] = [];
  #states: readonly number[] = [];
  #lastBases: Bases = { arena: -1, states: [] };

  /**
   * `tally` receives the steps that have run, by kernel id; default: they are not counted. `prepare` is called before the first run, and compiles kernels
   * that are not compiled yet; default: all are. `evaluate`: the interpreter; default: no step needs it. `getId`: the id under which a step is counted, once its kernel is compiled; default: the id that the plan states.
   */
  constructor(
    plan: RunnablePlan,
    memory: EngineMemory,
    run: RunKernel,
    { tally, prepare, evaluate = noInterpreter, getId = ({ id }) => id }: ExecutableOptions = {},
  ) {
    const { steps, arenaBytes, constants, inputs, outputs, stateBytes } = plan;
    this.#plan = { arenaBytes, constants, inputs, outputs, stateBytes };
    this.steps = { all: steps.length, interpreted: steps.filter(({ kind }) => kind === "interpret").length };
    this.#memory = memory;
    this.#tally = tally;
    this.#prepare = prepare;
    this.#evaluate = evaluate;
    this.#getId = getId;
    this.#steps = steps.map((step) =>
      step.kind === "interpret"
        ? { id: interpreterId }
        : { id: step.id, ...(step.kind === "host" ? {} : { key: step.kernel.key, family: step.kernel.family }) },
    );
    memory.reserve(plan.weights);
    try {
      for (const each of plan.ownWeights) {
        memory.retainWeights(each);
        this.#ownWeights.add(each);
      }
      for (const each of plan.weights) this.#weightsOffset(each);
    } catch (error) {
      this.dispose();
      throw error;
    }
    this.#actions = steps.map((step) => this.#action(step, run));
  }

  /**
   * Runs the plan and returns copies of its outputs. Between steps it yields to the event loop according to the policy. `wanted` are the names of the outputs
   * to return; undefined means all. `states` are the byte offsets of the state blocks.
   */
  async run(
    inputs: TensorMap,
    wanted: ReadonlySet<string> | undefined,
    { states, yieldPolicy }: { readonly states?: readonly number[]; readonly yieldPolicy: YieldPolicy },
  ): Promise<TensorMap> {
    this.#prepare?.();
    this.#prepare = undefined;
    this.writeInputs(inputs, states);
    const { all } = this.steps;
    for (let step = 0; step < all;) {
      step = this.runSteps(step, yieldPolicy.deadline);
      if (step < all) await yieldPolicy.yieldIfDue();
    }
    return this.readOutputs(wanted);
  }

  /** Size in bytes of each state block that the caller of a run supplies. */
  get stateBytes(): number {
    return this.#plan.stateBytes;
  }

  /** Size in bytes of the arena that a run needs. */
  get arenaBytes(): number {
    return this.#plan.arenaBytes;
  }

  /** Bytes held outside of the engine's memory: the constants that are copied into the arena before each run. */
  get bytes(): number {
    return this.#plan.constants.reduce((sum, { literal }) => sum + byteSize(literal), 0);
  }

  /**
   * Starts a run: enlarges the arena if necessary and writes constants and inputs to it. `states` are the byte offsets of the state blocks. Throws
   * TypeError if an input is missing.
   */
  writeInputs(inputs: TensorMap, states: readonly number[] = []): void {
    this.#memory.reserveArena(this.#plan.arenaBytes);
    this.#states = states;
    this.#strings.length = 0;
    const bases = this.#bases();
    for (const { literal, offset } of this.#plan.constants) copyTo(this.#view(literal, bases.arena + offset), literal.data);
    for (const { name, type, buffer } of this.#plan.inputs) {
      const tensor = required(inputs[name], `the input "${name}"`);
      this.#write(tensor.data, { type, buffer }, bases);
    }
  }

  /**
   * Runs steps from index `first` until `deadline`, in milliseconds of performance.now(). Returns the index of the next step; the run is complete
   * when it is `steps.all`.
   */
  runSteps(first: number, deadline: number): number {
    const bases = this.#bases();
    const actions = this.#actions;
    const isLimited = deadline < Number.POSITIVE_INFINITY;
    let step = first;
    try {
      while (step < actions.length) {
        at(actions, step)(bases);
        step += 1;
        if (isLimited && clock.now() >= deadline) break;
      }
    } finally {
      this.#count(first, step);
    }
    return step;
  }

  /** Counts the steps from `first` to before `end`. */
  #count(first: number, end: number): void {
    if (this.#tally === undefined) return;
    if (this.#kernelIds.length < this.#steps.length) {
      this.#kernelIds = this.#steps.map((each) => this.#getId(each));
      this.#callsPerRun = getCount(this.#kernelIds);
    }
    const perRun = this.#callsPerRun;
    const calls = first === 0 && end === this.steps.all ? perRun : getCount(this.#kernelIds.slice(first, end));
    for (const [id, count] of calls) this.#tally.add(id, count);
  }

  /** Ends a run and returns copies of the outputs in `names`; undefined means all outputs. */
  readOutputs(names: ReadonlySet<string> | undefined): TensorMap {
    const bases = this.#bases();
    const results: Record<string, Tensor> = {};
    for (const { name, source } of this.#plan.outputs) {
      if (names !== undefined && !names.has(name)) continue;
      const literal = "buffer" in source ? this.#read(source, bases) : source;
      results[name] = { dataType: literal.dataType, shape: literal.shape, data: (literal.data as Uint8Array).slice() } as Tensor;
    }
    return results;
  }

  /** Releases the weights that only this executable uses. The executable must not run afterwards. */
  dispose(): void {
    for (const weights of this.#ownWeights) this.#memory.releaseWeights(weights);
    this.#ownWeights.clear();
  }

  #action(step: PlanStep<KernelCall>, run: RunKernel): Action {
    if (step.kind === "interpret") return this.#interpretAction(step);
    if (step.kind === "host") return this.#hostAction(step);
    const { operands, scratch } = step;
    const kernel = kernelCall(step.kernel);
    const fixed = operands.map((operand) => ("offset" in operand ? operand.offset : this.#offset(operand, this.#bases())));
    const stride = scratch?.stride ?? 0;
    let known: Bases | undefined;
    let offsets: readonly number[] = [];
    return (bases) => {
      if (bases !== known) {
        known = bases;
        offsets = [
          ...kernel.dynamicSizes,
          ...operands.map((operand, index) => at(fixed, index) + getBase(operand, bases)),
          ...(scratch === undefined ? [] : [scratch.offset + bases.arena]),
        ];
      }
      if (run(kernel, offsets, stride) !== 0) throw kernelRefusal(kernel.family);
    };
  }

  #hostAction({ id, host, operands }: Extract<PlanStep, { readonly kind: "host" }>): Action {
    const fixed = operands.map((operand) => ("offset" in operand ? operand.offset : this.#offset(operand, this.#bases())));
    return (bases) => {
      const { buffer } = this.#memory.memory; // another one after the memory has grown
      const views = operands.map(
        (operand, index) => new Uint8Array(buffer, at(fixed, index) + getBase(operand, bases), at(host.operandBytes, index)),
      );
      try {
        host.run(views);
      } catch (error) {
        if (error instanceof RangeError) throw kernelRefusal("gather", error);
        throw new InferyardError("RUN_FAILED", `the kernel ${id} failed: ${getMessage(error)}`, { cause: error });
      }
    };
  }

  #interpretAction({ operation, inputs, outputs }: Extract<PlanStep, { readonly kind: "interpret" }>): Action {
    // Reading the elements here loads lazy storage once, instead of in each run.
    const operands = inputs.map((input) => {
      if ("buffer" in input) return input;
      const { dataType, shape, data } = input;
      return { dataType, shape, data };
    });
    return (bases) => {
      const literals = operands.map((input) => ("buffer" in input ? this.#read(input, bases) : input));
      const results = this.#evaluate(operation, literals);
      for (const [index, { type, buffer }] of outputs.entries()) {
        this.#write(required(results[index], `output ${index} of "${operation.kind}"`).data, { type, buffer }, bases);
      }
    };
  }

  #weightsOffset(weights: PackedWeights): number {
    return this.#memory.pack(weights, !this.#ownWeights.has(weights));
  }

  /** The same object as long as nothing has moved, so that steps keep the offsets that they have computed. */
  #bases(): Bases {
    const { arena, states } = this.#lastBases;
    const { arenaStart } = this.#memory;
    const isSame =
      arena === arenaStart &&
      states.length === this.#states.length &&
      states.every((offset, index) => offset === this.#states[index]);
    if (!isSame) this.#lastBases = { arena: arenaStart, states: [...this.#states] };
    return this.#lastBases;
  }

  #offset(ref: BufferRef, bases: Bases): number {
    if (ref.region === "strings") throw new TypeError("strings have no offset in engine memory");
    return ref.region === "weights" ? this.#weightsOffset(ref.weights) + ref.byteOffset : getBase(ref, bases) + ref.offset;
  }

  /** Returns a view of a tensor in engine memory. The view is valid until the memory grows. */
  #read({ type, buffer }: TensorRef, bases: Bases): Literal {
    if (buffer.region === "strings") return { ...type, data: required(this.#strings[buffer.index], "a string tensor") };
    return { ...type, data: this.#view(type, this.#offset(buffer, bases)) };
  }

  #write(data: TensorData, { type, buffer }: TensorRef, bases: Bases): void {
    if (buffer.region === "strings") this.#strings[buffer.index] = data;
    else copyTo(this.#view(type, this.#offset(buffer, bases)), data);
  }

  #view({ dataType, shape }: TensorType, offset: number): TensorData {
    const View = elementTypes[dataType].array as Float64ArrayConstructor;
    return new View(this.#memory.memory.buffer as ArrayBuffer, offset, elementCount(shape));
  }
}

function noInterpreter(): never {
  throw new InferyardError("CONTRACT_VIOLATION", "a step needs the interpreter, which its executable was not given");
}

function getCount(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** Where the region of a buffer begins in this run; 0 for packed weights, whose offsets do not change. */
function getBase(ref: BufferRef, { arena, states }: Bases): number {
  if (ref.region === "arena") return arena;
  return ref.region === "state" ? at(states, ref.block) : 0;
}

function copyTo(view: TensorData, data: TensorData): void {
  (view as Uint8Array).set(data as Uint8Array);
}

function kernelRefusal(family: string, cause?: unknown): InferyardError {
  return new InferyardError(
    "INPUT_INVALID",
    /^(gather|scatter)/.test(family) ? "an index lies outside of its axis" : `the kernel "${family}" rejected its input`,
    {
      ...omitUndefined({ cause }),
      remedy: "check the inputs: token ids of another tokenizer, or a text longer than the model takes",
    },
  );
}
