/** A decoder on the engine, from an ONNX file or safetensors, as a language model of the backend contract. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type {
  AttentionHead,
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
import type { Tensor, TensorInfo, TensorMap } from "../../contract/tensor.ts";
import { alignedIdsInput, paddedSourceTokens, rotaryContext, type Sequences, sourceMaskName } from "../../engine/index.ts";
import { omitUndefined, required } from "../../contract/checked.ts";
import { contextLengthFor } from "../sequences/cache-estimate.ts";
import { checkLength, checkSourceKind, checkSteps, checkTokens } from "../sequences/check-steps.ts";
import { checkHead, selectHeads } from "../sequences/cross-attention.ts";
import { checkSource } from "../sequences/encode-source.ts";
import { engineEvidence, engineMemory, type GraphParts } from "./graph-model.ts";

/** Tokens whose cross-attention is read are padded to a multiple of this number. */
const alignedTokens = 32;

/** A language model whose decoder runs on the engine, with the caches of its sequences in the engine's memory. */
export class GraphLanguageModel implements LanguageModel {
  readonly kind = "language";
  readonly limits: LanguageModelLimits;
  readonly library: Library;
  /** Present if the compiler knows its kernels. */
  readonly kernelCounts?: () => Promise<readonly KernelCount[]>;
  /** Present if the encoder reads features: the words of a text are aligned with them. */
  readonly crossAttention?: Required<LanguageModel>["crossAttention"];
  readonly #parts: GraphParts;
  readonly #sequences: Sequences;
  #disposal: Promise<void> | undefined;

  private constructor(parts: GraphParts, sequences: Sequences, contextLength: number | undefined) {
    this.#parts = parts;
    this.#sequences = sequences;
    this.library = parts.library;
    if (parts.engine.kernelCounts !== undefined) this.kernelCounts = async () => parts.engine.kernelCounts ?? [];
    const features = parts.graph.encoder?.features;
    if (features !== undefined) this.crossAttention = this.#crossAttention.bind(this);
    this.limits = {
      vocabulary: sequences.vocabulary,
      cacheBytesPerToken: sequences.bytesPerToken,
      hasEncoder: parts.graph.encoder !== undefined,
      ...(features === undefined ? {} : { features: { bins: features.bins, frames: features.frames } }),
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
      graph: { inputs, encoder },
    } = parts;
    try {
      const sequences = await engine.sequences(inputs, {
        maxTokens: contextLength,
        cacheType,
        sourceTokens: encoder?.features?.positions,
        signal: options.signal,
      });
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

  async createSequence(options: SequenceOptions = {}): Promise<SequenceId> {
    this.#refuseDisposed();
    throwIfAborted(options.signal);
    const { encoder } = this.#parts.graph;
    checkSourceKind(options, this.limits);
    if (encoder === undefined) return await this.#sequences.create();
    const { features, source = [], signal } = options;
    if (features !== undefined && encoder.features !== undefined) {
      const { bins, frames, positions } = encoder.features;
      const states = await this.#encode(
        { input_features: { dataType: "float32", shape: [1, bins, frames], data: features } },
        signal,
      );
      return await this.#sequences.create({
        tokens: positions,
        tensors: { ...states, [sourceMaskName]: integers(positions, () => 1) },
      });
    }
    checkSource(source, { vocabulary: this.limits.vocabulary, sourceTokens: encoder.maxSourceTokens });
    const tokens = paddedSourceTokens(source.length);
    const mask = integers(tokens, (position) => (position < source.length ? 1 : 0));
    const ids = integers(tokens, (position) => source[position] ?? 0);
    const states = await this.#encode({ input_ids: ids, attention_mask: mask }, signal);
    return await this.#sequences.create({ tokens, tensors: { ...states, [sourceMaskName]: mask } });
  }

  async #encode(inputs: TensorMap, signal: AbortSignal | undefined): Promise<TensorMap> {
    const outputs = this.#parts.graph.encoder?.encoderOutputs.map(({ name }) => name) ?? [];
    return await this.#parts.engine.run(inputs, { outputs, ...omitUndefined({ signal }) });
  }

  /** See `LanguageModel.crossAttention`. The ids are padded behind their end, which no earlier token reads, so that few programs are compiled. */
  async #crossAttention(
    sequence: SequenceId,
    tokens: readonly number[],
    heads: readonly AttentionHead[],
    { signal }: DecodeOptions = {},
  ): Promise<Float32Array> {
    this.#refuseDisposed();
    checkTokens(tokens, this.limits.vocabulary);
    checkLength(tokens.length, this.limits.contextLength);
    const source = required(this.#sequences.getSource(sequence), "the source of the sequence");
    const { contextLength = Number.POSITIVE_INFINITY } = this.limits;
    const padded = Math.min(Math.ceil(tokens.length / alignedTokens) * alignedTokens, contextLength);
    const outputs = [...new Set(heads.map(([layer]) => `cross_attentions.${layer}`))];
    const { [sourceMaskName]: _mask, ...states } = source.tensors;
    checkHeads(heads, this.#parts.graph.encoder?.encoderOutputs ?? []);
    const ids = integers(padded, (position) => tokens[position] ?? 0);
    const weights = await this.#parts.engine.run(
      { [alignedIdsInput]: ids, ...states },
      { outputs, ...omitUndefined({ signal }) },
    );
    return selectHeads(heads, (layer) => required(weights[`cross_attentions.${layer}`], "the weights of a layer"), tokens.length);
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

/** An int64 tensor [1, length]. */
function integers(length: number, valueAt: (position: number) => number): Tensor {
  return { dataType: "int64", shape: [1, length], data: BigInt64Array.from({ length }, (_, at) => BigInt(valueAt(at))) };
}

/** Throws INPUT_INVALID for heads that the model does not have. `states`: the outputs of its encoder, two for each layer of the decoder. */
function checkHeads(heads: readonly AttentionHead[], states: readonly TensorInfo[]): void {
  const count = states[0]?.shape[1];
  for (const head of heads) checkHead(head, states.length / 2, count);
}
