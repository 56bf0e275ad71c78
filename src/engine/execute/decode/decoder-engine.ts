/** What a decoder needs of the engine that computes it: caches of keys and values, and programs that append to them. */
import type { Tensor, TensorMap } from "../../../contract/tensor.ts";
import type { Graph, Value } from "../../ir/graph.ts";
import type { StepCounts } from "../segments/model-run.ts";
import type { DecodeSizes } from "./decode-graph.ts";
import type { CacheType, PastInput } from "./decoder-inputs.ts";
import type { DecoderSizes } from "./decoder-sizes.ts";

/** The keys and values of one sequence, with room for a fixed number of tokens. */
export interface DecoderCache {
  /** Number of token positions of the cache. */
  readonly capacity: number;
  /** Makes the positions `first` to `end` (exclusive) hold finite numbers: they are masked, but are read. */
  clear(first: number, end: number): void;
  /** Copies the rows of the first `count` tokens from another cache of the same model. */
  copyFrom(other: DecoderCache, count: number): void;
  /** Frees the cache. */
  release(): void;
}

/** States of one source that a decoder reads with every token. */
export interface SourceStates {
  /** Number of tokens, padding included. */
  readonly tokens: number;
  /** Tensors with batch size 1 by the names of `DecoderInputs.sources`. */
  readonly tensors: TensorMap;
}

/** The rows of one sequence in a run. */
export interface AppendedRows {
  /** The cache that is read and appended to. */
  readonly cache: DecoderCache;
  /** Tokens in the cache before the run. */
  readonly length: number;
  /** Number of new tokens, whose rows follow them. */
  readonly count: number;
  /** States of the sequence's source; undefined for decoders without one. */
  readonly source: SourceStates | undefined;
}

/** Options of one run of a decoder program. */
export interface AppendOptions {
  /** Whether the rows of the new tokens are kept; otherwise the caches hold as many tokens as before. */
  readonly keeps: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A compiled graph that appends a fixed number of tokens to the caches of a fixed number of sequences. */
export interface DecoderProgram {
  /** Steps of one run, and how many of them the interpreter computes. */
  readonly steps: StepCounts;
  /**
   * Runs the program and returns its logits [sequences, positions, classes]. There are at most as many `rows` as the program has sequences; `inputs` are for
   * all its sequences, and repeat the last row beyond the rows. If the run fails, each cache is unchanged, or throws RUN_FAILED when it is used again.
   */
  append(inputs: TensorMap, rows: readonly AppendedRows[], options: AppendOptions): Promise<Tensor>;
  dispose(): void;
}

/** How the states of a graph are stored, and the sizes that it was traced with. */
export interface StateSettings extends Pick<DecodeSizes, "capacity" | "size" | "batch"> {
  /** Names of the inputs of the graph that are stored in caches. */
  readonly states: readonly string[];
  /** Names of the inputs of the graph that are read of sources. */
  readonly sources: readonly string[];
  /** Element type in memory of states that the graph has in float32. */
  readonly stateType: CacheType;
}

/** The operations of a loaded model that its decoder uses. They are called only while the mutex of the model is held. */
export interface DecoderEngine {
  /** Whether several sequences in one run get the bits that each gets alone. */
  readonly isBatchExact: boolean;
  /** The sizes that programs are compiled for. */
  readonly sizes: DecoderSizes;
  /** Traces the model with inputs of these types. Throws MODEL_UNSUPPORTED when the graph depends on values. */
  trace(values: ReadonlyMap<string, Value>): Graph;
  /** Compiles a graph. */
  compile(graph: Graph, settings: StateSettings): DecoderProgram;
  /** Creates a cache for `capacity` tokens. */
  createCache(states: readonly PastInput[], capacity: number): DecoderCache;
  /** Frees the engine's states of a source that no sequence uses any longer. */
  releaseSource(source: SourceStates): void;
}
