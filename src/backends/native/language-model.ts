/** A decoder on the engine, from an ONNX file or safetensors, as a language model of the backend contract. */
import { InferyardError, throwIfAborted } from "../../backend.ts";
import type {
  DecodeOptions,
  DecodeStep,
  LanguageModel,
  LanguageModelLimits,
  Library,
  ModelBase,
  SequenceId,
  SequenceOptions,
} from "../../backend.ts";
import type { Sequences } from "../../engine/index.ts";
import { checkSteps } from "../sequences/check-steps.ts";
import { readSequence, writeSequence } from "../sequences/sequence-bytes.ts";
import { engineEvidence, engineMemory, type GraphParts } from "./graph-model.ts";

/** A language model whose decoder runs on the engine, with the caches of its sequences in the engine's memory. */
export class NativeLanguageModel implements LanguageModel {
  readonly kind = "language";
  readonly limits: LanguageModelLimits;
  readonly library: Library;
  readonly #parts: GraphParts;
  readonly #sequences: Sequences;
  #disposal: Promise<void> | undefined;

  private constructor(parts: GraphParts, sequences: Sequences, contextLength: number | undefined) {
    this.#parts = parts;
    this.#sequences = sequences;
    this.library = parts.library;
    this.limits = {
      vocabulary: sequences.vocabulary,
      cacheBytesPerToken: sequences.bytesPerToken,
      hasEncoder: false,
      ...(contextLength === undefined ? {} : { contextLength }),
    };
  }

  /**
   * Compiles the executable of one token. `contextLength`: maximum number of tokens of a sequence, if the model states one. If it fails, the engine is
   * disposed. Throws MODEL_UNSUPPORTED for a model that is no decoder with caches as inputs.
   */
  static async create(
    parts: GraphParts,
    contextLength: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<NativeLanguageModel> {
    const { engine, inputs } = parts;
    try {
      const sequences = await engine.sequences(inputs, { maxTokens: contextLength, signal });
      return new NativeLanguageModel(parts, sequences, contextLength);
    } catch (error) {
      await engine.dispose();
      throw error;
    }
  }

  get memory(): ModelBase["memory"] {
    return engineMemory(this.#parts);
  }

  async createSequence({ source, signal }: SequenceOptions = {}): Promise<SequenceId> {
    this.#refuseDisposed();
    throwIfAborted(signal);
    if (source !== undefined)
      throw new InferyardError("INPUT_INVALID", "this model has no encoder, so there is nothing to read a source text");
    return await this.#sequences.create();
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

  async saveSequence(sequence: SequenceId): Promise<Uint8Array> {
    this.#refuseDisposed();
    return writeSequence({ ...(await this.#sequences.save(sequence)), source: undefined });
  }

  async restoreSequence(bytes: Uint8Array): Promise<SequenceId> {
    this.#refuseDisposed();
    const cached = this.#sequences.states.map(({ info, axis, batchAxis = -1 }) => ({
      info,
      batchAxis,
      tokenAxis: axis,
      of: "tokens" as const,
    }));
    const { length, tensors } = readSequence(bytes, cached, false);
    return await this.#sequences.restore(length, tensors);
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
