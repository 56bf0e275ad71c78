/** Compiles the graphs of one loaded model with XLA, through a PJRT plugin. */
import { required } from "../../contract/checked.ts";
import type { ProgramCounts } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import type { Graph } from "../../engine/ir/graph.ts";
import type { ConstantFolder } from "../../engine/interpret/evaluate.ts";
import { emitDecoder, emitGraph } from "../../engine/codegen/stablehlo/index.ts";
import { detectWasmFeatures, KernelChecks } from "../../engine/index.ts";
import {
  coarseSizes,
  type DecoderCache,
  type DecoderProgram,
  type DecoderSizes,
  type GraphCompiler,
  ModelFolding,
  runPasses,
  type OptimizationLevel,
  type PastInput,
  type SourceStates,
  type StateSettings,
  type StepCounts,
  type TraceBudget,
} from "../../engine/compilation.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import type { HostTensor } from "./pjrt/device-tensor.ts";
import type { ProgramLoader } from "./program-cache/program-loader.ts";
import { CopyPrograms } from "./copy-programs.ts";
import { DeviceConstants } from "./device-constants.ts";
import { DeviceTensors } from "./device-tensors.ts";
import type { CompileText, XlaServices } from "./xla-services.ts";
import { XlaCache } from "./xla-cache.ts";
import { XlaDecoderProgram } from "./xla-decoder-program.ts";
import { XlaGraph } from "./xla-graph.ts";

/** The compiler of one loaded model. Weights are copied to the device at their first use, and are shared by the programs for all shapes. */
export class XlaCompiler implements GraphCompiler {
  readonly isBatchExact = false;
  readonly decoderSizes: DecoderSizes = coarseSizes;
  readonly kernelCounts: undefined = undefined;
  /** Whether results depend on padding: ranges of dynamic quantization are taken over all elements, padding included. */
  dependsOnPadding: boolean = false;
  readonly #folding: ModelFolding;
  /** Known answers of the interpreter, which folds constants. No kernel of WebAssembly is checked. */
  readonly #checks = new KernelChecks(detectWasmFeatures());
  readonly #services: XlaServices;
  readonly #level: OptimizationLevel;
  readonly #constants: DeviceConstants;
  /** What decoders read of sources, by name: it stays on the device until the source is released. */
  readonly #sources = new DeviceTensors();
  readonly #copies: CopyPrograms;
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
    const compileText: CompileText = (program) => programs.load(program);
    this.#constants = new DeviceConstants(client, this.#folding);
    this.#copies = new CopyPrograms(compileText);
    this.#services = {
      client,
      compileText,
      constantOn: (...constant) => this.#constants.getTensor(...constant),
      sourceOn: (source, name, type) =>
        this.#sources.get(source, name, () => {
          const { data } = required(source.tensors[name], name);
          return client.upload({ type, data: data as HostTensor["data"] });
        }),
      copyProgram: (...types) => this.#copies.programFor(...types),
    };
  }

  get bytes(): number {
    const caches = [...this.#caches].reduce((sum, { bytes }) => sum + bytes, 0);
    return this.#constants.bytes + this.#sources.bytes + caches;
  }

  get programs(): ProgramCounts {
    return this.#programs.counts;
  }

  get fold(): ConstantFolder {
    return this.#folding.fold;
  }

  compile(graph: Graph, { budget }: { readonly budget: TraceBudget }): XlaGraph {
    const optimized = this.#optimize(graph, budget);
    const program = emitGraph(optimized);
    budget.checkTime();
    this.#folding.keep();
    return new XlaGraph(optimized, program, this.#services);
  }

  compileDecoder(graph: Graph, settings: StateSettings & { readonly budget: TraceBudget }): DecoderProgram {
    const { budget, states, sources, stateType, batch } = settings;
    const optimized = this.#optimize(graph, budget);
    if (batch > 1 && quantizesDynamically(optimized))
      throw new InferyardError("MODEL_UNSUPPORTED", "ranges of dynamic quantization are taken over all sequences of a batch");
    const program = emitDecoder(optimized, { names: states, sources, dataType: stateType });
    budget.checkTime();
    this.#folding.keep();
    return new XlaDecoderProgram(optimized, program, {
      services: this.#services,
      newCache: (like) => this.#newCache(like.states, like.capacity),
    });
  }

  createCache(states: readonly PastInput[], capacity: number): DecoderCache {
    return this.#newCache(states, capacity);
  }

  releaseSource(source: SourceStates): void {
    this.#sources.release(source);
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

  /** Does nothing: the plugin allocates the memory of a run. */
  reserveArena(): void {}

  async checkInterpreter(): Promise<void> {
    await this.#checks.checkInterpreter(this.#folding.takeEvaluated(), []);
  }

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
    for (const part of [this.#copies, this.#sources, this.#constants]) part.dispose();
    this.#services.client.dispose();
  }

  #optimize(graph: Graph, budget: TraceBudget): Graph {
    const optimized = runPasses(graph, { level: this.#level, fold: this.fold, budget });
    if (quantizesDynamically(optimized)) this.dependsOnPadding = true;
    return optimized;
  }

  #newCache(states: readonly PastInput[], capacity: number): XlaCache {
    const cache = new XlaCache(states, capacity, this.#services, () => this.#caches.delete(cache));
    this.#caches.add(cache);
    return cache;
  }
}

/** Whether a graph takes ranges over all elements of its activations. */
function quantizesDynamically({ nodes }: Graph): boolean {
  return nodes.some(({ operation }) => operation.kind === "quantization-range");
}
