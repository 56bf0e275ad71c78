/** What the kinds of models have in common: how a model is run to be tested, and how to be measured. */
import type { Runtime } from "../../api/runtime.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { Unit } from "../../measurements/index.ts";

/** Names of the kinds of models. "encoder": a model of texts whose files do not say what its outputs are for. */
export type KindName =
  | "classifier"
  | "embedding"
  | "encoder"
  | "encoder-decoder"
  | "language"
  | "masked-language"
  | "multi-vector"
  | "question-answering"
  | "reranker"
  | "sparse-embedding"
  | "tensors"
  | "token-classifier";

/** A loaded model, and the runtime that loaded it. */
export interface Subject {
  readonly runtime: Runtime;
  readonly handle: ModelHandle;
  readonly signal?: AbortSignal | undefined;
}

/** An output of a test as numbers. Targets are compared output by output. */
export interface Output {
  /** What the numbers are, for people: "the vector of text 2". */
  readonly name: string;
  readonly values: Float32Array;
}

/** A test of one model on several targets. */
export interface KindTest {
  /** Runs the inputs of the test one after the other. All targets get the same inputs: those that the first target accepts. */
  alone(subject: Subject): Promise<readonly Output[]>;
  /** The same inputs in one call, where the kind has such a call, and what that proves: "batch equals one by one". */
  readonly together?: { readonly name: string; run(subject: Subject): Promise<readonly Output[]> };
}

/** Tokens per second of one generation. */
export interface TokenRates {
  /** Tokens of the prompt, or of the source text that an encoder reads, until the first logits are there. */
  readonly promptTokensPerSecond: number;
  /** Tokens behind it, one in each call. */
  readonly decodeTokensPerSecond: number;
}

/** What a model is measured with. */
export interface Workload {
  /** Number of inputs of `many`. */
  readonly count: number;
  /** Runs one input. Resolves with the rates of a language model. */
  one(): Promise<TokenRates | undefined>;
  /** Runs many inputs at once. Resolves with their number of tokens, 0 for tensors. */
  many(): Promise<number>;
}

/** Options of a workload. */
export interface WorkloadOptions {
  /** Number of inputs of the call with many. Default: that of the kind. */
  readonly count?: number | undefined;
  /** Maximum size of one batch of texts in tokens, padding included. Default: that of the tasks. */
  readonly batchTokens?: number | undefined;
}

/** One kind of models. */
export interface ModelKind {
  readonly name: KindName;
  /** What one input of a measurement is. */
  readonly unit: Unit;
  /** Settings of `tuneModel` that change something for this kind. */
  readonly knobs: readonly ("threads" | "replicas" | "batchTokens")[];
  startTest(): KindTest;
  workload(subject: Subject, options: WorkloadOptions): Promise<Workload>;
}
