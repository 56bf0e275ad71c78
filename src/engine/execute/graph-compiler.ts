/** What a model needs of a compiler of its graphs: the compiler to WebAssembly (`Compiler`), and compilers of backends. */
import type { KernelCount, ProgramCounts } from "../../contract/backend.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import type { TraceBudget } from "../build/trace-budget.ts";
import type { ConstantFolder } from "../interpret/evaluate.ts";
import type { Graph } from "../ir/graph.ts";
import type { DecoderCache, DecoderProgram, SourceStates, StateSettings } from "./decode/decoder-engine.ts";
import type { PastInput } from "./decode/decoder-inputs.ts";
import type { DecoderSizes } from "./decode/decoder-sizes.ts";
import type { StepCounts } from "./segments/model-run.ts";
import type { YieldPolicy } from "./yield-policy.ts";

/** A graph that is ready to run. Runs of all graphs of one compiler come one after the other. */
export interface CompiledGraph {
  /** Steps of one run, and how many of them the interpreter computes. */
  readonly steps: StepCounts;
  /** Bytes of intermediate values of a run. */
  readonly arenaBytes: number;
  /** Bytes of the compiled graph itself, excluding the memory of its compiler. */
  readonly bytes: number;
  /** Runs the graph and returns copies of its outputs. `wanted` are the names of the outputs to return; undefined means all. */
  run(
    inputs: TensorMap,
    wanted: ReadonlySet<string> | undefined,
    options: { readonly yieldPolicy: YieldPolicy },
  ): Promise<TensorMap>;
  dispose(): void;
}

/** Compiles the graphs of one loaded model. */
export interface GraphCompiler {
  /** Evaluates operations whose operands are constants, once for all graphs of the model. */
  readonly fold: ConstantFolder;
  /** Whether several sequences in one run get the bits that each gets alone. Otherwise they are compared within a tolerance. */
  readonly isBatchExact: boolean;
  /** The sizes that programs of decoders are compiled for. */
  readonly decoderSizes: DecoderSizes;
  /** Bytes that all compiled graphs share: weights and memory of runs. */
  readonly bytes: number;
  /** How often each kernel has run; see `ModelBase.kernelCounts`. undefined: the compiler does not know its kernels. */
  readonly kernelCounts: readonly KernelCount[] | undefined;
  /** See `ModelBase.programs`. */
  readonly programs?: ProgramCounts | undefined;
  /** Compiles a graph. `budget` is the budget of its trace; its time limit includes compilation. */
  compile(graph: Graph, settings: { readonly budget: TraceBudget }): CompiledGraph;
  /** Compiles a graph that appends tokens to the caches of sequences, as `withLastLogits` returns it. */
  compileDecoder(graph: Graph, settings: StateSettings & { readonly budget: TraceBudget }): DecoderProgram;
  /** Creates a cache for `capacity` tokens. */
  createCache(states: readonly PastInput[], capacity: number): DecoderCache;
  /** See `DecoderEngine.releaseSource`. */
  releaseSource(source: SourceStates): void;
  /** Runs `work`, which traces or compiles, and returns its result. If it fails before the first graph is compiled, frees all folded constants. */
  attempt<Result>(work: () => Result): Result;
  /** Sets the branch path of the graphs traced next; see `ModelFolding.openBranch`. */
  openFoldingCache(branchPath: string): void;
  /** Ends the sharing of folding results: later results belong to the graph they are traced for. */
  closeFoldingCache(): void;
  /** Runs `work`. If `defers`, the graphs that it compiles are finished when they first run, where that saves time. */
  withDeferredKernels<Result>(defers: boolean, work: () => Result): Result;
  /** Prepares memory for runs whose intermediate values take this many bytes. */
  reserveArena(bytes: number): void;
  /** Compares results of the interpreter for this model's operations with known answers. Throws VERIFICATION_FAILED if they differ. */
  checkInterpreter(): Promise<void>;
  /** One sentence on a run of compiled graphs, such as "executable of 4 steps: 3 generated kernels, 1 interpreted". */
  describeRun(run: StepCounts & { readonly executables: number }): string;
  /** Facts about the compiled code, as sentences without a full stop. */
  describeCode(): readonly string[];
  dispose(): Promise<void>;
}
