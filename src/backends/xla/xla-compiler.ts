/** Compiles the graphs of one loaded model with XLA, through a PJRT plugin. */
import type { ProgramCounts } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { storageIdentity } from "../../engine/ir/literal.ts";
import { byteSize, describeType, type TensorType } from "../../engine/ir/tensor-type.ts";
import type { Graph } from "../../engine/ir/graph.ts";
import type { ConstantFolder } from "../../engine/interpret/evaluate.ts";
import { emitDecoder, emitGraph } from "../../engine/codegen/stablehlo/index.ts";
import {
  type CompiledGraph,
  type DecoderCache,
  type DecoderProgram,
  type GraphCompiler,
  ModelFolding,
  optimize,
  type OptimizationLevel,
  type PastInput,
  type StateSettings,
  type StepCounts,
  type TraceBudget,
} from "../../engine/compilation.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import type { DeviceTensor } from "./pjrt/device-tensor.ts";
import type { ProgramLoader } from "./program-cache/program-loader.ts";
import type { XlaServices } from "./xla-services.ts";
import { XlaCache } from "./xla-cache.ts";
import { XlaDecoderProgram } from "./xla-decoder-program.ts";
import { XlaGraph } from "./xla-graph.ts";

/** The compiler of one loaded model. Weights are copied to the device at their first use, and are shared by the programs for all shapes. */
export class XlaCompiler implements GraphCompiler {
  readonly isBatchExact = false;
  readonly kernelCounts: undefined = undefined;
  /** Whether results depend on padding: ranges of dynamic quantization are taken over all elements, padding included. */
  dependsOnPadding: boolean = false;
  readonly #folding: ModelFolding;
  readonly #services: XlaServices;
  readonly #level: OptimizationLevel;
  /** Weights on the device, by the identity of their storage and by their type. */
  readonly #constants = new Map<object, Map<string, DeviceTensor>>();
  readonly #caches = new Set<XlaCache>();
  readonly #name: string;
  readonly #programs: ProgramLoader;

  /** `name`: the device as it is named in the evidence. */
  constructor(
    weights: readonly Literal[],
    {
      client,
      programs,
      level,
      name,
    }: {
      readonly client: PjrtClient;
      readonly programs: ProgramLoader;
      readonly level: OptimizationLevel;
      readonly name: string;
    },
  ) {
    this.#folding = new ModelFolding(weights);
    this.#level = level;
    this.#name = name;
    this.#programs = programs;
    this.#services = {
      client,
      compileText: (program) => programs.load(program),
      constantOn: (...constant) => this.#constantOn(...constant),
    };
  }

  get bytes(): number {
    const tensors = [...this.#constants.values()].flatMap((byType) => [...byType.values()]);
    const caches = [...this.#caches].reduce((sum, { bytes }) => sum + bytes, 0);
    return tensors.reduce((sum, { type }) => sum + byteSize(type), caches);
  }

  get programs(): ProgramCounts {
    return this.#programs.counts;
  }

  get fold(): ConstantFolder {
    return this.#folding.fold;
  }

  compile(graph: Graph, { budget }: { readonly budget: TraceBudget }): CompiledGraph {
    const optimized = this.#optimize(graph, budget);
    const program = emitGraph(optimized);
    budget.checkTime();
    this.#folding.keep();
    return new XlaGraph(optimized, program, this.#services);
  }

  compileDecoder(graph: Graph, settings: StateSettings & { readonly budget: TraceBudget }): DecoderProgram {
    const { budget, states, stateType } = settings;
    const optimized = this.#optimize(graph, budget);
    const program = emitDecoder(optimized, { names: states, dataType: stateType });
    budget.checkTime();
    this.#folding.keep();
    return new XlaDecoderProgram(optimized, program, this.#services);
  }

  createCache(states: readonly PastInput[], capacity: number): DecoderCache {
    const cache = new XlaCache(states, capacity, this.#services, () => this.#caches.delete(cache));
    this.#caches.add(cache);
    return cache;
  }

  openFoldingCache(branchPath: string): void {
    this.#folding.openBranch(branchPath);
  }

  closeFoldingCache(): void {
    this.#folding.close();
  }

  attempt<Result>(work: () => Result): Result {
    return this.#folding.attempt(work);
  }

  /** Programs are always compiled when they first run. */
  withDeferredKernels<Result>(_defers: boolean, work: () => Result): Result {
    return work();
  }

  /** The plugin allocates what a run needs. */
  reserveArena(): void {}

  /** Constants are folded by the interpreter, whose answers the backend `native` holds against known ones at its probe. */
  async checkInterpreter(): Promise<void> {}

  describeRun({ all, interpreted, executables }: StepCounts & { readonly executables: number }): string {
    const programs = executables === 1 ? "1 program" : `${executables} programs`;
    const beside = interpreted === 0 ? "" : `, and ${interpreted} operations interpreted`;
    return `${programs} of ${all - interpreted} operations on ${this.#name}${beside}`;
  }

  describeCode(): readonly string[] {
    return this.#programs.describe();
  }

  async dispose(): Promise<void> {
    for (const cache of this.#caches) cache.release();
    for (const byType of this.#constants.values()) for (const tensor of byType.values()) tensor.dispose();
    this.#constants.clear();
    this.#services.client.dispose();
  }

  #optimize(graph: Graph, budget: TraceBudget): Graph {
    const optimized = optimize(graph, { level: this.#level, fold: this.fold, budget });
    if (optimized.nodes.some(({ operation }) => operation.kind === "quantization-range")) this.dependsOnPadding = true;
    return optimized;
  }

  #constantOn(literal: Literal, type: TensorType, own: Set<DeviceTensor>): DeviceTensor {
    const upload = (): DeviceTensor => {
      const { data } = literal;
      if (!ArrayBuffer.isView(data)) throw new InferyardError("MODEL_UNSUPPORTED", "XLA has no tensors of strings");
      return this.#services.client.upload({ type, data });
    };
    if (!this.#folding.cache.isModelConstant(literal)) {
      const tensor = upload();
      own.add(tensor);
      return tensor;
    }
    const identity = storageIdentity(literal);
    const byType = this.#constants.get(identity) ?? new Map<string, DeviceTensor>();
    this.#constants.set(identity, byType);
    const key = describeType(type);
    const known = byType.get(key);
    if (known !== undefined) return known;
    const tensor = upload();
    byType.set(key, tensor);
    // The device has the elements now; who needs them again reads them back.
    literal.storage?.release({ materialize: () => tensor.read().data as Uint8Array });
    return tensor;
  }
}
