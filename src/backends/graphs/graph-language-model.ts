/** A decoder on the engine, from an ONNX file or safetensors, as a language model of the backend contract. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type {
  DecodeOptions,
  DecodeStep,
  KernelCount,
  LanguageModel,
  LanguageModelFiles,
  LanguageModelLimits,
  Library,
  LoadOptions,
  ModelBase,
  SequenceId,
  SequenceOptions,
} from "../../contract/backend.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { paddedSourceTokens, rotaryContext, type Sequences, sourceMaskName } from "../../engine/index.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { contextLengthFor } from "../sequences/cache-estimate.ts";
import { checkHasSource, checkSteps } from "../sequences/check-steps.ts";
import { checkSource } from "../sequences/encode-source.ts";
import { engineEvidence, engineMemory, type GraphParts } from "./graph-model.ts";

/** A language model whose decoder runs on the engine, with the caches of its sequences in the engine's memory. */
export class GraphLanguageModel implements LanguageModel {
  readonly kind = "language";
  readonly limits: LanguageModelLimits;
  readonly library: Library;
  /** Present if the compiler knows its kernels. */
  readonly kernelCounts?: () => Promise<readonly KernelCount[]>;
  readonly #parts: GraphParts;
  readonly #sequences: Sequences;
  #disposal: Promise<void> | undefined;

  private constructor(parts: GraphParts, sequences: Sequences, contextLength: number | undefined) {
    this.#parts = parts;
    this.#sequences = sequences;
    this.library = parts.library;
    if (parts.engine.kernelCounts !== undefined) this.kernelCounts = async () => parts.engine.kernelCounts ?? [];
    this.limits = {
      vocabulary: sequences.vocabulary,
      cacheBytesPerToken: sequences.bytesPerToken,
      hasEncoder: parts.graph.encoder !== undefined,
      ...omitUndefined({ contextLength }),
    };
  }

  /**
   * Compiles the executable of one token. If it fails, the engine is disposed. Throws MODEL_UNSUPPORTED for a model that is no decoder with caches as
   * inputs.
   */
  static async create(
    parts: GraphParts,
    { config, format }: LanguageModelFiles,
    options: LoadOptions,
  ): Promise<GraphLanguageModel> {
    const contexts = [contextLengthFor(config, options), format === "onnx" ? undefined : rotaryContext(config)];
    const stated = contexts.filter((each) => each !== undefined);
    const contextLength = stated.length === 0 ? undefined : Math.min(...stated);
    const cacheType = options.cachePrecision === "fp16" ? "float16" : "float32";
    const {
      engine,
      graph: { inputs },
    } = parts;
    try {
      const sequences = await engine.sequences(inputs, { maxTokens: contextLength, cacheType, signal: options.signal });
      return new GraphLanguageModel(parts, sequences, contextLength);
    } catch (error) {
      await engine.dispose();
      throw error;
    }
  }

  get memory(): ModelBase["memory"] {
    return engineMemory(this.#parts);
  }

  get programs(): ModelBase["programs"] {
    return this.#parts.engine.programs;
  }

  async createSequence({ source, signal }: SequenceOptions = {}): Promise<SequenceId> {
    this.#refuseDisposed();
    throwIfAborted(signal);
    const {
      engine,
      graph: { encoder },
    } = this.#parts;
    checkHasSource(source, encoder !== undefined);
    if (encoder === undefined || source === undefined) return await this.#sequences.create();
    checkSource(source, { vocabulary: this.limits.vocabulary, sourceTokens: encoder.maxSourceTokens });
    const tokens = paddedSourceTokens(source.length);
    const integers = (valueAt: (position: number) => number): Tensor => {
      return {
        dataType: "int64",
        shape: [1, tokens],
        data: BigInt64Array.from({ length: tokens }, (_, at) => BigInt(valueAt(at))),
      };
    };
    const mask = integers((position) => (position < source.length ? 1 : 0));
    const outputs = encoder.encoderOutputs.map(({ name }) => name);
    const ids = integers((position) => source[position] ?? 0);
    const states = await engine.run({ input_ids: ids, attention_mask: mask }, { outputs, ...omitUndefined({ signal }) });
    return await this.#sequences.create({ tokens, tensors: { ...states, [sourceMaskName]: mask } });
  }

  async decode(steps: readonly DecodeStep[], { signal }: DecodeOptions = {}): Promise<readonly Float32Array[]> {
    this.#refuseDisposed();
    checkSteps(steps, this.limits.vocabulary);
    return await this.#sequences.decode(
      steps.map(({ logits = 1, ...step }) => ({ ...step, logits })),
      signal,
    );
  }

  async forkSequence(sequence: SequenceId): Promise<SequenceId> {
    this.#refuseDisposed();
    return await this.#sequences.fork(sequence);
  }

  async truncateSequence(sequence: SequenceId, length: number): Promise<void> {
    this.#refuseDisposed();
    await this.#sequences.truncate(sequence, length);
  }

  async releaseSequence(sequence: SequenceId): Promise<void> {
    this.#refuseDisposed();
    await this.#sequences.release(sequence);
  }

  async evidence(): Promise<readonly string[]> {
    return engineEvidence(this.#parts);
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#parts.engine.dispose();
    return this.#disposal;
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "the model was disposed");
  }
}
