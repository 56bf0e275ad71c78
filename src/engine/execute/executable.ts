/** A plan that runs: its kernels compiled, its weights in place. */
import { InferyardError } from "../../errors.ts";
import { elementCount, type Tensor, type TensorData, type TensorMap } from "../../tensor.ts";
import { type KernelCall, kernelCall } from "../codegen/wasm/index.ts";
import { elementTypes } from "../ir/element-types.ts";
import { byteSize, type TensorType } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import type { BufferRef, Plan, PlanStep, TensorRef } from "../plan/plan.ts";
import type { PackedWeights } from "../lower/lowered-node.ts";
import type { EngineMemory } from "../memory/engine-memory.ts";
import { evaluateStep } from "./evaluate-step.ts";

/** Computes one call of a kernel, on one thread or on several, and gives its status. Its counts come before the offsets; the last offset is that of scratch memory, if it takes any. */
export type RunKernel = (kernel: KernelCall, offsets: readonly number[], scratchStride: number) => number;

/** Where the movable regions of a run start. */
interface Bases {
  readonly arena: number;
  readonly state: number;
}

/** One thing to do in a run. */
type Action = (bases: Bases) => void;

export class Executable {
  /** Without what is done with: kernels that are compiled, weights that are packed, steps that are actions. */
  readonly #plan: Pick<Plan, "arenaBytes" | "constants" | "inputs" | "outputs" | "stateBytes">;
  /** Steps of a run, and how many of them the interpreter computes. */
  readonly steps: { readonly all: number; readonly interpreted: number };
  readonly #memory: EngineMemory;
  readonly #ownWeights = new Set<PackedWeights>();
  readonly #actions: readonly Action[];
  /** By their places; those of the run. */
  readonly #strings: TensorData[] = [];
  #state = 0;

  constructor(plan: Plan, memory: EngineMemory, run: RunKernel) {
    const { steps, arenaBytes, constants, inputs, outputs, stateBytes } = plan;
    this.#plan = { arenaBytes, constants, inputs, outputs, stateBytes };
    this.steps = { all: steps.length, interpreted: steps.filter(({ kind }) => kind === "interpret").length };
    this.#memory = memory;
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

  /** Bytes of the block of states that each run is given. */
  get stateBytes(): number {
    return this.#plan.stateBytes;
  }

  get arenaBytes(): number {
    return this.#plan.arenaBytes;
  }

  /** What it holds beside the engine's memory, which its constants are copied to. */
  get bytes(): number {
    return this.#plan.constants.reduce((sum, { literal }) => sum + byteSize(literal), 0);
  }

  /** Puts the inputs in place. Another program may have used the arena since the last run. `state` is where the block of states starts. */
  writeInputs(inputs: TensorMap, state: number = 0): void {
    this.#memory.reserveArena(this.#plan.arenaBytes);
    this.#state = state;
    this.#strings.length = 0;
    const bases = this.#bases();
    for (const { literal, offset } of this.#plan.constants) copyTo(this.#view(literal, bases.arena + offset), literal.data);
    for (const { name, type, buffer } of this.#plan.inputs) {
      const tensor = inputs[name];
      if (tensor !== undefined) this.#write(tensor.data, { type, buffer }, bases);
    }
  }

  /** Runs steps from `first` on until `deadline` (of performance.now()), and gives the next one. All are done when that is `steps.all`. */
  runSteps(first: number, deadline: number): number {
    const bases = this.#bases();
    let step = first;
    for (const action of this.#actions.slice(first)) {
      action(bases);
      step += 1;
      if (performance.now() >= deadline) break;
    }
    return step;
  }

  /** Copies of the outputs. */
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

  /** Lets go what is this program's own. It may not run again. */
  dispose(): void {
    for (const weights of this.#ownWeights) this.#memory.releaseWeights(weights);
    this.#ownWeights.clear();
  }

  #action(step: PlanStep, run: RunKernel): Action {
    if (step.kind === "interpret") return this.#interpretAction(step);
    const { places, scratch } = step;
    const kernel = kernelCall(step.kernel);
    const located = places.map((place) => this.#offset(place, { arena: 0, state: 0 }));
    const fixed = [...kernel.dynamicSizes, ...located];
    const regions = [...kernel.dynamicSizes.map(() => undefined), ...places.map(({ region }) => region)];
    return (bases) => {
      const offsets = fixed.map((offset, index) => {
        const region = regions[index];
        return region === "arena" || region === "state" ? offset + bases[region] : offset;
      });
      if (scratch !== undefined) offsets.push(scratch.offset + bases.arena);
      if (run(kernel, offsets, scratch?.stride ?? 0) !== 0) throw kernelRefusal(kernel.family);
    };
  }

  #interpretAction({ operation, inputs, outputs }: Extract<PlanStep, { readonly kind: "interpret" }>): Action {
    // Held elements are asked for once and not in each run.
    const operands = inputs.map((input) => {
      if ("buffer" in input) return input;
      const { dataType, shape, data } = input;
      return { dataType, shape, data };
    });
    return (bases) => {
      const literals = operands.map((input) => ("buffer" in input ? this.#read(input, bases) : input));
      const results = evaluateStep(operation, literals);
      for (const [index, { type, buffer }] of outputs.entries()) {
        const result = results[index];
        if (result !== undefined) this.#write(result.data, { type, buffer }, bases);
      }
    };
  }

  #weightsOffset(weights: PackedWeights): number {
    return this.#memory.pack(weights, !this.#ownWeights.has(weights));
  }

  #bases(): Bases {
    return { arena: this.#memory.arenaStart, state: this.#state };
  }

  #offset(place: BufferRef, bases: Bases): number {
    if (place.region === "texts") throw new Error("texts lie in no memory");
    return place.region === "weights"
      ? this.#weightsOffset(place.weights) + place.byteOffset
      : bases[place.region] + place.offset;
  }

  /** A view of the tensor in memory, valid until the memory grows. */
  #read({ type, buffer }: TensorRef, bases: Bases): Literal {
    if (buffer.region === "texts") return { ...type, data: this.#strings[buffer.index] ?? [] };
    return { ...type, data: this.#view(type, this.#offset(buffer, bases)) };
  }

  #write(data: TensorData, { type, buffer }: TensorRef, bases: Bases): void {
    if (buffer.region === "texts") this.#strings[buffer.index] = data;
    else copyTo(this.#view(type, this.#offset(buffer, bases)), data);
  }

  #view({ dataType, shape }: TensorType, offset: number): TensorData {
    const View = elementTypes[dataType].array as Float64ArrayConstructor;
    return new View(this.#memory.memory.buffer as ArrayBuffer, offset, elementCount(shape));
  }
}

function copyTo(view: TensorData, data: TensorData): void {
  (view as Uint8Array).set(data as Uint8Array);
}

function kernelRefusal(family: string): InferyardError {
  return new InferyardError(
    "INPUT_INVALID",
    /^(gather|scatter)/.test(family) ? "an index lies outside of its axis" : `the kernel "${family}" refused its input`,
    {
      remedy: "check the inputs: token ids of another tokenizer, or a text longer than the model takes",
    },
  );
}
