/**
 * A language model over models that take and return their cache as tensors: decoders that were exported with a cache, with or without an encoder. The
 * caches of a run are the inputs of the next one; they are copied only when sequences of different runs are computed together.
 */
import type {
  AttentionHead,
  DecodeOptions,
  DecodeStep,
  FeatureShape,
  KernelCount,
  LanguageModel,
  LanguageModelLimits,
  Library,
  ModelBase,
  SequenceId,
  SequenceOptions,
  TensorModel,
} from "../../contract/backend.ts";
import { InferyardError, throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { programsOfModels } from "../../contract/shapes/program-counts.ts";
import { addToList, at, omitUndefined, required } from "../../contract/checked.ts";
import { Mutex } from "../../concurrency/mutex.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import { countsOfModels } from "../../kernels/kernel-tally.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import { SequenceTable } from "../../contract/sequence-table.ts";
import { type CacheBlock, type CacheRow, blockBytes, emptyBlock, gatherRows, separateRow } from "./cache-block.ts";
import { checkLength, checkSourceKind, checkSteps, checkTokens, checkTruncation } from "./check-steps.ts";
import { checkHead, selectHeads } from "./cross-attention.ts";
import { type DecoderGraph, cacheBytesPerToken, decoderGraph } from "./decoder-graph.ts";
import { checkSource, encode, encodeFeatures } from "./encode-source.ts";
import { type RunRow, runInputs } from "./run-inputs.ts";

/** The models that a `TensorLanguageModel` consists of. It disposes of them. */
export interface LanguageModelParts {
  /** Decoder of all tokens, or of the first ones if there is `decoderWithPast`. */
  readonly decoder: TensorModel;
  /** Decoder of all tokens after the first run. */
  readonly decoderWithPast?: TensorModel | undefined;
  readonly encoder?: TensorModel | undefined;
  /** Maximum number of tokens of a sequence, if the model states one. */
  readonly contextLength?: number | undefined;
  /** Shape of the features that the encoder reads; undefined: it reads tokens. */
  readonly features?: FeatureShape | undefined;
}

/** A sequence. Replaced as a whole, so that a failed call changes nothing. */
interface Sequence extends CacheRow {
  /** All its tokens, of a model with a state: a state at an earlier token is computed from them. */
  readonly tokens?: readonly number[];
  /** The encoder's output for the sequence [1, source, hidden]. */
  readonly source: Tensor | undefined;
}

/** A step in progress: the current state of its sequence, and the logits. */
interface Progress {
  readonly step: DecodeStep;
  sequence: Sequence;
  done: number;
  readonly logits: Float32Array;
  /** Position in `step.tokens` of the first token whose logits are returned. */
  readonly firstLogits: number;
}

/** Maximum number of tokens of each sequence in one run, so that a call can be aborted and logits of a long prompt need little memory. */
const maxRunTokens = 256;
/** Name that Optimum gives to the weights of a layer's cross-attention [batch, heads, tokens, source]. */
const crossAttentionOutput = (layer: number | ""): string => `cross_attentions.${layer}`;
/** Largest difference that counts as equal, as a fraction of the spread of the logits. */
const tolerance = 1e-3;

/** A language model that passes its cache through the inputs and outputs of tensor models. */
export class TensorLanguageModel implements LanguageModel {
  readonly kind = "language";
  readonly limits: LanguageModelLimits;
  readonly library: Library;
  /** Present if one of its models counts kernels. */
  readonly kernelCounts?: () => Promise<readonly KernelCount[]>;
  /** Present if the decoder returns the weights of its cross-attention. */
  readonly crossAttention?: Required<LanguageModel>["crossAttention"];
  readonly #parts: LanguageModelParts;
  readonly #first: DecoderGraph;
  readonly #next: DecoderGraph;
  readonly #sequences = new SequenceTable<Sequence>();
  readonly #mutex = new Mutex();
  /** Whether rows may be padded on the left. Undefined until it is needed. */
  #isPaddable: boolean | undefined;
  #disposal: Promise<void> | undefined;

  /** Throws MODEL_UNSUPPORTED for models that take no cache, or are no decoders. */
  constructor(parts: LanguageModelParts) {
    const { decoder, decoderWithPast, encoder, contextLength, features } = parts;
    this.#parts = parts;
    this.#first = decoderGraph(decoder);
    this.#next = decoderWithPast === undefined ? this.#first : decoderGraph(decoderWithPast);
    this.library = decoder.library;
    if (this.#models.some((model) => model.kernelCounts !== undefined))
      this.kernelCounts = async () => (await countsOfModels(this.#models)) ?? [];
    if (this.#next.caches.length === 0) {
      throw unsupportedModel(
        "the model cannot decode tokens: it takes no cache of keys and values",
        "export it with its cache (Optimum: --task text-generation-with-past, text2text-generation-with-past)",
      );
    }
    const hasEncoder = this.#first.source !== undefined;
    if (hasEncoder !== (encoder !== undefined)) {
      const reason = hasEncoder
        ? "the decoder reads an encoder's output, and there is no encoder"
        : "there is an encoder, whose output the decoder does not read";
      throw unsupportedModel(reason, "keep the exporter's file names: encoder_model.onnx and decoder_model_merged.onnx");
    }
    const { vocabulary } = this.#first;
    this.limits = {
      vocabulary,
      cacheBytesPerToken: cacheBytesPerToken(this.#next),
      hasEncoder,
      ...omitUndefined({ contextLength, features }),
    };
    if (this.#first.outputs.has(crossAttentionOutput(0))) this.crossAttention = this.#crossAttention.bind(this);
  }

  get memory(): ModelBase["memory"] {
    const blocks = new Set(this.#sequences.values().map(({ block }) => block));
    const caches = [...blocks].reduce((sum, block) => sum + blockBytes(block), 0);
    const bytes = this.#models.reduce((sum, { memory }) => sum + memory.bytes, caches);
    return { bytes, measure: this.#parts.decoder.memory.measure };
  }

  get programs(): ModelBase["programs"] {
    return programsOfModels(this.#models);
  }

  async createSequence(options: SequenceOptions = {}): Promise<SequenceId> {
    const { source, signal } = options;
    checkSourceKind(options, this.limits);
    if (source !== undefined) checkSource(source, this.#first);
    return this.#exclusive(signal, async () => this.#sequences.add(this.#emptySequence(await this.#encode(options))));
  }

  async #encode({ source, features, signal }: SequenceOptions): Promise<Tensor | undefined> {
    const { encoder, features: shape } = this.#parts;
    if (encoder === undefined) return undefined;
    if (features !== undefined && shape !== undefined) return await encodeFeatures(encoder, features, shape, signal);
    return source === undefined ? undefined : await encode(encoder, source, signal);
  }

  /** See `LanguageModel.crossAttention`. One run of the decoder without a past, which returns the weights of whole layers. */
  async #crossAttention(
    id: SequenceId,
    tokens: readonly number[],
    heads: readonly AttentionHead[],
    { signal }: DecodeOptions = {},
  ): Promise<Float32Array> {
    checkTokens(tokens, this.limits.vocabulary);
    checkLength(tokens.length, this.limits.contextLength);
    const { outputs: known, caches } = this.#first;
    const layers = [...known].filter((name) => name.startsWith(crossAttentionOutput(""))).length;
    for (const head of heads)
      checkHead(head, layers, this.#parts.decoder.outputs.find(({ name }) => name === crossAttentionOutput(0))?.shape[1]);
    return await this.#exclusive(signal, async () => {
      const { source } = this.#sequences.get(id);
      const inputs = runInputs(this.#first, emptyBlock(caches, source?.shape[1] ?? 0), [{ tokens, length: 0, source }]);
      const outputs = [...new Set(heads.map(([layer]) => crossAttentionOutput(layer)))];
      const results = await this.#parts.decoder.run(inputs, { outputs, ...omitUndefined({ signal }) });
      const getLayer = (layer: number): Tensor => required(results[crossAttentionOutput(layer)], crossAttentionOutput(layer));
      return selectHeads(heads, getLayer, tokens.length);
    });
  }

  async decode(steps: readonly DecodeStep[], { signal }: DecodeOptions = {}): Promise<readonly Float32Array[]> {
    checkSteps(steps, this.limits.vocabulary);
    return this.#exclusive(signal, async () => {
      const all = steps.map((step) => this.#progress(step, this.#sequences.get(step.sequence)));
      const before = new Set(all.map(({ sequence: { block } }) => block));
      await this.#runAll(all, signal);
      for (const { step, sequence } of all) this.#sequences.set(step.sequence, sequence);
      this.#separateLeft(before);
      return all.map(({ logits }) => logits);
    });
  }

  /** Copies the rows of sequences that stay behind in blocks of several rows, so that such a block is freed. `blocks`: those that a call has extended. */
  #separateLeft(blocks: ReadonlySet<CacheBlock>): void {
    for (const [id, sequence] of this.#sequences.entries()) {
      if (sequence.block.rows === 1 || sequence.length === 0 || !blocks.has(sequence.block)) continue;
      this.#sequences.replace(id, { ...sequence, ...separateRow(this.#next.caches, sequence) });
    }
  }

  /** Computes all tokens of the steps, in runs. */
  async #runAll(all: readonly Progress[], signal: AbortSignal | undefined): Promise<void> {
    for (let open = all; open.length > 0; open = all.filter(({ step, done }) => done < step.tokens.length)) {
      for (const group of await this.#groups(open, signal)) {
        await this.#run(group, signal);
        await yieldToEventLoop();
        throwIfAborted(signal);
      }
    }
  }

  async forkSequence(sequence: SequenceId): Promise<SequenceId> {
    return this.#exclusive(undefined, async () => this.#sequences.add(this.#sequences.get(sequence)));
  }

  async truncateSequence(id: SequenceId, length: number): Promise<void> {
    return this.#exclusive(undefined, async () => {
      const sequence = this.#sequences.get(id);
      checkTruncation(sequence.length, length);
      this.#sequences.set(id, await this.#truncated(sequence, length));
    });
  }

  async releaseSequence(sequence: SequenceId): Promise<void> {
    return this.#exclusive(undefined, async () => void this.#sequences.release(sequence));
  }

  async evidence(): Promise<readonly string[]> {
    const all = await Promise.all(this.#models.map((model) => model.evidence()));
    return [...new Set(all.flat())];
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#mutex.runExclusive(async () => {
      this.#sequences.clear();
      await Promise.all(this.#models.map((model) => model.dispose()));
    });
    return this.#disposal;
  }

  get #models(): readonly TensorModel[] {
    const { decoder, decoderWithPast, encoder } = this.#parts;
    return [decoder, decoderWithPast, encoder].filter((model) => model !== undefined);
  }

  #emptySequence(source: Tensor | undefined): Sequence {
    const { caches, hasState } = this.#next;
    const block = emptyBlock(caches, source?.shape[1] ?? 0);
    return { block, row: 0, length: 0, removed: 0, source, ...(hasState ? { tokens: [] } : {}) };
  }

  /** The sequence without its tokens from `length` on. */
  async #truncated(sequence: Sequence, length: number): Promise<Sequence> {
    if (length === 0 || length === sequence.length) return length === 0 ? this.#emptySequence(sequence.source) : sequence;
    const { tokens } = sequence;
    if (tokens === undefined) return { ...sequence, removed: sequence.removed + sequence.length - length, length };
    const again = this.#progress(
      { sequence: 0, tokens: tokens.slice(0, length), logits: 0 },
      this.#emptySequence(sequence.source),
    );
    await this.#runAll([again], undefined);
    return again.sequence;
  }

  #progress(step: DecodeStep, sequence: Sequence): Progress {
    const { tokens, logits = 1 } = step;
    const { contextLength, vocabulary } = this.limits;
    checkLength(sequence.length + tokens.length, contextLength);
    return { step, sequence, done: 0, logits: new Float32Array(logits * vocabulary), firstLogits: tokens.length - logits };
  }

  /** Number of tokens of the next run of a step. */
  #runTokens({ step, sequence, done }: Progress): number {
    const remaining = step.tokens.length - done;
    if (sequence.length > 0) return Math.min(remaining, maxRunTokens, this.#next.maxTokens);
    return Math.min(remaining, this.#next.maxTokens < maxRunTokens ? remaining : maxRunTokens, this.#first.maxTokens);
  }

  /** Steps that can be computed in one run: with equally many tokens and equally long sources, and caches of one length unless rows may be padded. */
  async #groups(open: readonly Progress[], signal: AbortSignal | undefined): Promise<readonly (readonly Progress[])[]> {
    const key = (each: Progress): string =>
      `${this.#runTokens(each)} ${each.sequence.source?.shape[1] ?? 0} ${each.sequence.length === 0 ? "first" : "next"}`;
    const { rows: most = open.length } = this.#next;
    const groups = groupBy(open, key).flatMap((group) => chunks(group, most));
    const isUneven = groups.some((group) => group.some(({ sequence }) => sequence.length !== group[0]?.sequence.length));
    if (!isUneven || (await this.#mayPad(signal))) return groups;
    return groups.flatMap((group) => groupBy(group, ({ sequence }) => sequence.length));
  }

  async #run(group: readonly Progress[], signal: AbortSignal | undefined): Promise<void> {
    const count = this.#runTokens(at(group, 0));
    const rows = group.map(({ step, sequence, done }): RunRow & CacheRow => ({
      ...sequence,
      tokens: step.tokens.slice(done, done + count),
    }));
    const { block, logits } = await this.#forward(rows, signal);
    const { vocabulary } = this.limits;
    const returned = logits.shape.length === 2 ? 1 : (logits.shape[1] ?? 0);
    const values = toFloat32(logits);
    for (const [row, each] of group.entries()) {
      const { firstLogits, done } = each;
      const from = Math.max(firstLogits - done, 0);
      if (from < count) {
        if (from < count - returned) throw unsupportedModel(`the model returned the logits of ${returned} of ${count} positions`);
        const start = (row + 1) * returned * vocabulary - (count - from) * vocabulary;
        each.logits.set(values.subarray(start, (row + 1) * returned * vocabulary), (done + from - firstLogits) * vocabulary);
      }
      const { length, source, tokens } = each.sequence;
      const appended = tokens === undefined ? {} : { tokens: [...tokens, ...required(rows[row], "row").tokens] };
      each.sequence = { block, row, length: length + count, removed: 0, source, ...appended };
      each.done += count;
    }
  }

  /**
   * Runs the decoder on rows with equally many new tokens. Returns their extended caches, and the logits [rows, tokens, vocabulary]. A graph with a fixed
   * number of rows computes the first row again for each that is missing.
   */
  async #forward(
    given: readonly (RunRow & CacheRow)[],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly block: CacheBlock; readonly logits: Tensor }> {
    const { decoder, decoderWithPast = decoder } = this.#parts;
    const missing = Math.max(0, (this.#next.rows ?? 0) - given.length);
    const rows = [...given, ...Array.from({ length: missing }, () => at(given, 0))];
    const { caches } = this.#next;
    const before = gatherRows(caches, rows);
    const isFirst = before.positions === 0;
    const graph = isFirst ? this.#first : this.#next;
    const computed = caches.filter(({ of, present }) => graph.outputs.has(present) && (of !== "source" || isFirst));
    const outputs = ["logits", ...computed.map(({ present }) => present)];
    const results = await (isFirst ? decoder : decoderWithPast).run(runInputs(graph, before, rows), {
      outputs,
      ...omitUndefined({ signal }),
    });
    const after = computed.map(({ info, present }): [string, Tensor] => [info.name, required(results[present], present)]);
    const positions = before.positions + at(rows, 0).tokens.length;
    return {
      block: { tensors: { ...before.tensors, ...Object.fromEntries(after) }, rows: rows.length, positions },
      logits: required(results["logits"], "logits"),
    };
  }

  /**
   * Whether rows may be padded on the left: the model has a mask and takes positions, and obeys them. This is found out by comparing the logits of two
   * sequences of different lengths, computed together and alone: some models count the tokens of the mask, or take the index in the cache for the position.
   */
  async #mayPad(signal: AbortSignal | undefined): Promise<boolean> {
    const { mask, positions, vocabulary } = this.#next;
    if (mask === undefined || positions === undefined || this.limits.hasEncoder) return false;
    if (this.#isPaddable !== undefined) return this.#isPaddable;
    const probe = [Math.floor(vocabulary / 3), Math.floor((2 * vocabulary) / 3), 1 % vocabulary];
    const start: CacheRow = { block: emptyBlock(this.#next.caches, 0), row: 0, length: 0, removed: 0 };
    const run = async (
      tokens: readonly number[],
      ...from: readonly CacheRow[]
    ): Promise<{ row: CacheRow; logits: Float32Array }> => {
      const { block, logits } = await this.#forward(
        from.map((row) => ({ ...row, tokens, source: undefined })),
        signal,
      );
      return {
        row: { block, row: 0, length: at(from, 0).length + tokens.length, removed: 0 },
        logits: toFloat32(logits)
          .slice(0, tokens.length * vocabulary)
          .slice(-vocabulary),
      };
    };
    const { row: one } = await run(probe.slice(0, 1), start);
    const { row: three } = await run(probe, start);
    const { logits: alone } = await run(probe.slice(1, 2), one);
    const { logits: together } = await run(probe.slice(1, 2), one, three);
    const spread = alone.reduce((max, each) => Math.max(max, each)) - alone.reduce((min, each) => Math.min(min, each));
    const difference = alone.reduce((max, each, index) => Math.max(max, Math.abs(each - (together[index] ?? Number.NaN))), 0);
    this.#isPaddable = difference <= tolerance * spread;
    return this.#isPaddable;
  }

  async #exclusive<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    throwIfAborted(signal);
    this.#refuseDisposed();
    return this.#mutex.runExclusive(async () => {
      throwIfAborted(signal);
      this.#refuseDisposed();
      return work();
    });
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "the model was disposed");
  }
}

function chunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** The items in groups of equal keys, in the order in which the keys occur. */
function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => unknown): readonly (readonly Item[])[] {
  const groups = new Map<unknown, Item[]>();
  for (const item of items) addToList(groups, keyOf(item), item);
  return [...groups.values()];
}
