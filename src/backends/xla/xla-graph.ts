/** Graphs compiled by XLA. */
import { at, required } from "../../contract/checked.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import type { Graph, Value } from "../../engine/ir/graph.ts";
import { byteSize, type TensorType } from "../../engine/ir/tensor-type.ts";
import type { ProgramArgument, StableHloProgram } from "../../engine/codegen/stablehlo/index.ts";
import type { CompiledGraph, StepCounts, YieldPolicy } from "../../engine/compilation.ts";
import type { DeviceProgram } from "./pjrt/device-program.ts";
import type { DeviceTensor, HostTensor } from "./pjrt/device-tensor.ts";
import type { XlaServices } from "./xla-services.ts";

/** A program with the constants that it takes as arguments. XLA compiles it at its first run. */
export class LazyProgram {
  readonly #text: StableHloProgram;
  readonly #services: XlaServices;
  /** Constants of this program alone. */
  readonly #own = new Set<DeviceTensor>();
  #constants: readonly (DeviceTensor | undefined)[] | undefined;
  #compiled: DeviceProgram | undefined;

  constructor(text: StableHloProgram, services: XlaServices) {
    this.#text = text;
    this.#services = services;
  }

  /** The arguments and results of the program. */
  get text(): StableHloProgram {
    return this.#text;
  }

  /** Bytes of the constants of this program alone, and of its code. */
  get bytes(): number {
    const own = [...this.#own].reduce((sum, { type }) => sum + byteSize(type), 0);
    return own + (this.#compiled?.memory?.codeBytes ?? 0);
  }

  /** Bytes of intermediate values of a run, as the compiler states them; undefined before the first run. */
  get temporaryBytes(): number | undefined {
    return this.#compiled?.memory?.temporaryBytes;
  }

  /** Runs the program with tensors that `argumentOf` returns for its arguments that are no constants; see `prepare` and `DeviceProgram.run`. */
  run(argumentOf: (argument: ProgramArgument) => DeviceTensor): readonly DeviceTensor[] {
    return this.prepare(argumentOf)();
  }

  /**
   * Returns a run of the program with tensors that `argumentOf` returns for its arguments that are no constants. Until it is called, none of them is given
   * away. Throws RUN_FAILED if the plugin fails to compile the program.
   */
  prepare(argumentOf: (argument: ProgramArgument) => DeviceTensor): () => readonly DeviceTensor[] {
    const compiled = (this.#compiled ??= this.#services.compileText(this.#text));
    const constants = (this.#constants ??= this.#uploadConstants());
    const given = this.#text.arguments.map((argument, index) => constants[index] ?? argumentOf(argument));
    return () => compiled.run(given);
  }

  /** The constants on the device, in the order of the arguments. If one does not fit, the program keeps none. */
  #uploadConstants(): readonly (DeviceTensor | undefined)[] {
    try {
      return this.#text.arguments.map((argument) =>
        argument.kind === "constant" ? this.#services.constantOn(argument, this.#own) : undefined,
      );
    } catch (error) {
      this.#freeOwn();
      throw error;
    }
  }

  #freeOwn(): void {
    for (const tensor of this.#own) tensor.dispose();
    this.#own.clear();
  }

  dispose(): void {
    this.#freeOwn();
    this.#compiled?.dispose();
  }
}

/** A graph as a program of XLA. */
export class XlaGraph implements CompiledGraph {
  readonly steps: StepCounts;
  readonly #program: LazyProgram;
  readonly #services: XlaServices;
  readonly #liveBytes: number;

  constructor(graph: Graph, program: StableHloProgram, services: XlaServices) {
    this.steps = { all: graph.nodes.length, interpreted: 0 };
    this.#program = new LazyProgram(program, services);
    this.#services = services;
    this.#liveBytes = peakBytes(graph);
  }

  get arenaBytes(): number {
    return this.#program.temporaryBytes ?? this.#liveBytes;
  }

  get bytes(): number {
    return this.#program.bytes;
  }

  async run(
    inputs: TensorMap,
    wanted: ReadonlySet<string> | undefined,
    { yieldPolicy }: { readonly yieldPolicy: YieldPolicy },
  ): Promise<TensorMap> {
    throwIfAborted(yieldPolicy.signal);
    const used = new Set<DeviceTensor>();
    try {
      const results = this.#program.run((argument) => {
        if (argument.kind !== "input") throw new TypeError(`a ${argument.kind} is no argument of a graph`);
        const tensor = uploadTensor(this.#services, required(inputs[argument.name], argument.name), argument.type);
        used.add(tensor);
        return tensor;
      });
      for (const tensor of results) used.add(tensor);
      const named = this.#program.text.results.flatMap(({ name }, index): [string, Tensor][] =>
        wanted?.has(name) === false ? [] : [[name, readXlaTensor(at(results, index))]],
      );
      return Object.fromEntries(named);
    } finally {
      for (const tensor of used) tensor.dispose();
    }
  }

  /** The program of the graph. XLA compiles it at the first run. */
  get text(): StableHloProgram {
    return this.#program.text;
  }

  /** Runs the graph with tensors of its device, which stay as they are, and returns its outputs by name, which the caller disposes of. */
  runOnDevice(inputs: ReadonlyMap<string, DeviceTensor>): ReadonlyMap<string, DeviceTensor> {
    const results = this.#program.run((argument) => {
      if (argument.kind !== "input") throw new TypeError(`a ${argument.kind} is no argument of a graph`);
      return required(inputs.get(argument.name), argument.name);
    });
    return new Map(this.#program.text.results.map(({ name }, index) => [name, at(results, index)]));
  }

  dispose(): void {
    this.#program.dispose();
  }
}

/** Copies a tensor of a run to the device. */
export function uploadTensor({ client }: XlaServices, { data }: Tensor, type: TensorType): DeviceTensor {
  return client.upload({ type, data: data as HostTensor["data"] });
}

/** Copies a result to JavaScript memory. */
export function readXlaTensor(tensor: DeviceTensor): Tensor {
  const { type, data } = tensor.read();
  return { dataType: type.dataType, shape: type.shape, data } as Tensor;
}

/** Bytes of the values that are needed at one time, at most, when nodes run in order. XLA, which fuses operations, usually needs less. */
function peakBytes({ nodes, outputs }: Graph): number {
  const lastUse = new Map<Value, number>();
  for (const [index, { inputs }] of nodes.entries()) for (const value of inputs) lastUse.set(value, index);
  for (const { value } of outputs) lastUse.set(value, nodes.length);
  const freedAfter = new Map<number, number>();
  let [live, peak] = [0, 0];
  for (const [index, node] of nodes.entries()) {
    for (const value of node.outputs) {
      const bytes = byteSize(value.type);
      const end = lastUse.get(value) ?? index;
      live += bytes;
      freedAfter.set(end, (freedAfter.get(end) ?? 0) + bytes);
    }
    peak = Math.max(peak, live);
    live -= freedAfter.get(index) ?? 0;
  }
  return peak;
}
