/** A graph compiled for a GPU: its kernels, the memory of its intermediate values, and its runs. */
import { at, required } from "../../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import type { DataType } from "../../../contract/tensor.ts";
import type { Graph, Value } from "../../../engine/ir/graph.ts";
import type { Literal } from "../../../engine/ir/literal.ts";
import { byteSize } from "../../../engine/ir/tensor-type.ts";
import { assignOffsets } from "../../../engine/plan/arena-layout.ts";
import type { DeviceBuffer, DeviceGraph } from "../../interface/program-backend.ts";
import type { CudaBuffer, CudaBuffers } from "./cuda-buffer.ts";
import type { CudaContext, CudaFunction, CudaModule } from "./cuda-driver.ts";
import type { CudaLibraries } from "./cuda-libraries.ts";
import type { Cublas } from "./cublas.ts";
import type { PrintedProgram } from "./print/print-graph.ts";
import type { DeviceStep } from "./print/program-text.ts";

/** What graphs of one device share. */
export interface CudaServices {
  readonly libraries: CudaLibraries;
  readonly context: CudaContext;
  readonly cublas: Cublas | undefined;
  readonly buffers: CudaBuffers;
  /** The buffer of a weight or another constant, uploaded once. */
  constantOn(literal: Literal): CudaBuffer;
}

/** Where the elements of a value are in a run. */
type Place =
  | { readonly kind: "input"; readonly name: string }
  | { readonly kind: "constant"; readonly buffer: CudaBuffer }
  | { readonly kind: "temporary"; readonly offset: number }
  | { readonly kind: "output"; readonly name: string };

/** A step with its kernel, and the memory of the arguments of its launches. */
interface PreparedStep {
  readonly step: DeviceStep;
  readonly kernel: CudaFunction;
  /** Addresses of the operands, filled in for each run. */
  readonly values: BigUint64Array;
  /** Addresses of the elements of `values`. */
  readonly parameters: BigUint64Array;
}

/** A graph on a GPU. */
export class CudaGraph implements DeviceGraph {
  readonly temporaryBytes: number;
  readonly #graph: Graph;
  readonly #services: CudaServices;
  readonly #module: CudaModule;
  readonly #arena: CudaBuffer;
  readonly #steps: readonly PreparedStep[];
  readonly #places: ReadonlyMap<Value, Place>;
  readonly #aliases: ReadonlyMap<Value, Value>;
  readonly #kernels: number;
  #isDisposed = false;

  /** Loads the kernels and takes memory for constants and intermediate values. Throws OUT_OF_MEMORY, and RUN_FAILED with the compiler's message. */
  constructor(graph: Graph, printed: PrintedProgram, services: CudaServices) {
    const { libraries, context, buffers } = services;
    this.#graph = graph;
    this.#services = services;
    this.#aliases = printed.aliases;
    this.#kernels = printed.kernels;
    const { places, bytes } = this.#plan(printed.steps);
    this.#places = places;
    this.temporaryBytes = bytes;
    this.#module = context.load(libraries.nvrtc.compile(printed.source, libraries.gpu.capability));
    try {
      const functions = new Map<string, CudaFunction>();
      this.#steps = printed.steps.map((step) => this.#prepare(step, functions));
      this.#arena = buffers.allocate({ dataType: "uint8", shape: [bytes] });
    } catch (error) {
      this.#module.unload();
      throw error;
    }
  }

  async run(inputs: ReadonlyMap<string, DeviceBuffer>, signal?: AbortSignal): Promise<ReadonlyMap<string, DeviceBuffer>> {
    if (this.#isDisposed) throw new InferyardError("DISPOSED", "the program was disposed");
    throwIfAborted(signal);
    const { buffers, context, cublas } = this.#services;
    const given = new Map([...inputs].map(([name, buffer]) => [name, buffers.own(buffer).address]));
    const results = new Map<string, CudaBuffer>();
    try {
      for (const { name, value } of this.#graph.outputs) {
        const { dataType, shape } = value.type;
        results.set(name, buffers.allocate({ dataType: dataType as DataType, shape }));
      }
      const addressOf = (value: Value): bigint => {
        const place = required(this.#places.get(this.#root(value)), "a value without memory");
        if (place.kind === "input") return required(given.get(place.name), place.name);
        if (place.kind === "constant") return place.buffer.address;
        return place.kind === "output"
          ? required(results.get(place.name), place.name).address
          : this.#arena.address + BigInt(place.offset);
      };
      context.use();
      for (const { step, kernel, values, parameters } of this.#steps) {
        if (step.kind === "product") {
          required(cublas, "cuBLAS").multiply(step, ({ value }) => addressOf(value));
          continue;
        }
        for (const [index, operand] of step.operands.entries()) values[index] = addressOf(operand);
        context.launch(kernel, step, parameters);
      }
      for (const { name, value } of this.#graph.outputs) {
        const to = required(results.get(name), name).address;
        const from = addressOf(value);
        if (from !== to) context.copy(to, from, byteSize(value.type));
      }
      return results;
    } catch (error) {
      for (const buffer of results.values()) buffers.free(buffer);
      throw error;
    }
  }

  evidence(): readonly string[] {
    const products = this.#steps.filter(({ step }) => step.kind === "product").length;
    const launches = this.#steps.length - products;
    return [
      `${this.#kernels} kernels of CUDA C in ${launches} launches, ${products} products by cuBLAS, ${this.temporaryBytes} bytes of intermediate values`,
    ];
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#services.buffers.free(this.#arena);
    this.#module.unload();
  }

  #root(value: Value): Value {
    return this.#aliases.get(value) ?? value;
  }

  /** Gives each value a place. Intermediate values share one block of memory where they are not needed at the same time. */
  #plan(steps: readonly DeviceStep[]): { readonly places: ReadonlyMap<Value, Place>; readonly bytes: number } {
    const { inputs, outputs } = this.#graph;
    const places = new Map<Value, Place>(inputs.map(({ name, value }) => [value, { kind: "input", name }]));
    const used = new Map<Value, { from: number; to: number }>();
    for (const [index, step] of steps.entries()) {
      const operands = step.kind === "launch" ? step.operands : [step.a.value, step.b.value, step.result.value];
      for (const operand of operands) {
        const life = used.get(this.#root(operand));
        if (life === undefined) used.set(this.#root(operand), { from: index, to: index });
        else life.to = index;
      }
    }
    const constants = [...used.keys(), ...outputs.map(({ value }) => this.#root(value))];
    for (const value of constants)
      if (value.constant !== undefined && !places.has(value))
        places.set(value, { kind: "constant", buffer: this.#services.constantOn(value.constant) });
    for (const { name, value } of outputs) {
      const root = this.#root(value);
      if (!places.has(root)) places.set(root, { kind: "output", name });
    }
    const temporaries = [...used].filter(([value]) => !places.has(value));
    const layout = assignOffsets(
      temporaries.map(([value, life]) => ({ bytes: byteSize(value.type), ...life })),
      0,
    );
    for (const [index, [value]] of temporaries.entries())
      places.set(value, { kind: "temporary", offset: at(layout.offsets, index) });
    return { places, bytes: layout.bytes };
  }

  #prepare(step: DeviceStep, functions: Map<string, CudaFunction>): PreparedStep {
    if (step.kind === "product") return { step, kernel: 0n, values: new BigUint64Array(), parameters: new BigUint64Array() };
    const kernel = functions.get(step.kernel) ?? this.#module.find(step.kernel);
    functions.set(step.kernel, kernel);
    const values = new BigUint64Array(step.operands.length);
    const first = values.length === 0 ? 0n : this.#services.libraries.ffi.getAddress(values);
    const parameters = BigUint64Array.from(step.operands, (_, index) => first + BigInt(index * 8));
    return { step, kernel, values, parameters };
  }
}
