/** Interface of a kind of models: how a model is run for a test, and how for a measurement. */
import type { Runtime } from "../../api/runtime.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { Unit } from "../../speed-records/index.ts";

/** Names of the kinds of models. "encoder": a text model whose files state no task. */
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

/** A loaded model under test, and the runtime that loaded it. */
export interface Subject {
  readonly runtime: Runtime;
  readonly handle: ModelHandle;
  readonly signal?: AbortSignal | undefined;
}

/** An output of a test as numbers. Targets are compared output by output. */
export interface MeasuredOutput {
  /** Description of the numbers for messages, such as "the vector of text 2". */
  readonly name: string;
  readonly values: Float32Array;
}

/** A test of one model on several targets. */
export interface KindTest {
  /** Runs the inputs of the test one after the other. All targets get the inputs that the first target accepts. */
  alone(subject: Subject): Promise<readonly MeasuredOutput[]>;
  /** Runs the same inputs in one call; `name` is the property tested, such as "batch equals one by one". Absent for kinds without batched calls. */
  readonly together?: { readonly name: string; run(subject: Subject): Promise<readonly MeasuredOutput[]> };
}

/** Tokens per second of one generation. */
export interface TokenRates {
  /** Prefill speed: tokens of the prompt, or of the encoder's source text, per second until the first logits. */
  readonly promptTokensPerSecond: number;
  /** Decode speed: tokens after the prompt per second, one token per call. */
  readonly decodeTokensPerSecond: number;
}

/** The measured calls of a model. */
export interface Workload {
  /** Number of inputs of `many`. */
  readonly count: number;
  /** Runs one input. Resolves with token rates for a language model, otherwise with undefined. */
  one(): Promise<TokenRates | undefined>;
  /** Runs `count` inputs in one call. Resolves with their total number of tokens; 0 for tensors. */
  many(): Promise<number>;
}

/** Options of a workload. */
export interface WorkloadOptions {
  /** Number of inputs of the bulk call. Default: depends on the kind. */
  readonly count?: number | undefined;
  /** Maximum size of one batch of texts in tokens, padding included. Default: the default of the task. */
  readonly batchTokens?: number | undefined;
}

/** A kind of models. */
export interface MeasuredKind {
  readonly name: KindName;
  /** Unit in which inputs of a measurement are counted. */
  readonly unit: Unit;
  /** Settings that `tuneModel` varies for this kind. */
  readonly knobs: readonly ("threads" | "replicas" | "batchTokens")[];
  startTest(): KindTest;
  workload(subject: Subject, options: WorkloadOptions): Promise<Workload>;
}
