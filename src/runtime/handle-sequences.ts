/** The language model of a handle. A sequence stays on the instance on which it was created, even if the handle's model is replaced by another instance. */
import type {
  AttentionHead,
  DecodeOptions,
  DecodeStep,
  LanguageModel,
  LanguageModelLimits,
  Library,
  ModelBase,
  SequenceId,
  SequenceOptions,
} from "../contract/backend.ts";
import { at, omitUndefined } from "../contract/checked.ts";
import { invalidInput, unsupportedModel } from "../contract/errors.ts";
import type { HostedLanguageModel } from "../hosts/host.ts";
import { SequenceTable } from "../contract/sequence-table.ts";
import type { HeldLanguageModel } from "./residency/resident-model.ts";

/** A sequence, and the hold on its instance. */
interface HeldSequence extends Omit<HeldLanguageModel, "loaded"> {
  readonly id: SequenceId;
  /** Its tokens, and those that the encoder read: it is computed again from them where the engine saves no sequences. */
  readonly tokens: number[];
  readonly source: readonly number[] | undefined;
  /** Whether the encoder read features, which are not kept: such a sequence cannot be computed again. */
  readonly hasFeatures: boolean;
}

/** What a sequence was computed from. */
type SequenceContent = Pick<HeldSequence, "tokens" | "source" | "hasFeatures">;

/** The language model of a handle, which saves the sequences of every engine. */
export type HandleLanguageModel = Omit<LanguageModel, "dispose"> &
  Required<Pick<LanguageModel, "saveSequence" | "restoreSequence">>;

/** Gives the sequences of a handle numbers of their own, and holds the instance of each until it is released. */
export class HandleSequences implements HandleLanguageModel {
  readonly kind = "language";
  readonly #hold: () => HeldLanguageModel;
  readonly #sequences = new SequenceTable<HeldSequence>();

  /** `hold`: holds the current instance. */
  constructor(hold: () => HeldLanguageModel) {
    this.#hold = hold;
  }

  get limits(): LanguageModelLimits {
    return this.#current(({ limits }) => limits);
  }

  get library(): Library {
    return this.#current(({ library }) => library);
  }

  get memory(): ModelBase["memory"] {
    return this.#current(({ memory }) => memory);
  }

  async evidence(): Promise<readonly string[]> {
    const { model, release } = this.#hold();
    return model.evidence().finally(release);
  }

  createSequence(options?: SequenceOptions): Promise<SequenceId> {
    const content = { tokens: [], source: options?.source, hasFeatures: options?.features !== undefined };
    return this.#add(this.#hold(), content, (model) => model.createSequence(options));
  }

  async decode(steps: readonly DecodeStep[], options?: DecodeOptions): Promise<readonly Float32Array[]> {
    const held = steps.map(({ sequence }) => this.#sequences.get(sequence));
    const models = [...new Set(held.map(({ model }) => model))];
    if (models.length === 0) {
      const { model, release } = this.#hold();
      return model.decode([], options).finally(release);
    }
    const rows = new Map<DecodeStep, Float32Array>();
    await Promise.all(
      models.map(async (model) => {
        const own = steps
          .map((step, index) => ({ step, sequence: at(held, index) }))
          .filter((each) => each.sequence.model === model);
        const there = own.map(({ step, sequence: { id } }) => ({ ...step, sequence: id }));
        const logits = await model.decode(there, options);
        for (const [index, { step, sequence }] of own.entries()) {
          rows.set(step, at(logits, index));
          sequence.tokens.push(...step.tokens);
        }
      }),
    );
    return steps.map((step) => rows.get(step) ?? new Float32Array());
  }

  async forkSequence(sequence: SequenceId): Promise<SequenceId> {
    const { model, id, holdAgain, tokens, source, hasFeatures } = this.#sequences.get(sequence);
    const content = { tokens: [...tokens], source, hasFeatures };
    return this.#add({ model, release: holdAgain(), holdAgain }, content, () => model.forkSequence(id));
  }

  async truncateSequence(sequence: SequenceId, length: number): Promise<void> {
    const { model, id, tokens } = this.#sequences.get(sequence);
    await model.truncateSequence(id, length);
    tokens.length = length;
  }

  /** Throws MODEL_UNSUPPORTED if the engine does not report weights of attention. */
  async crossAttention(
    sequence: SequenceId,
    tokens: readonly number[],
    heads: readonly AttentionHead[],
    options?: DecodeOptions,
  ): Promise<Float32Array> {
    const { model, id } = this.#sequences.get(sequence);
    const weights = await model.crossAttention?.(id, tokens, heads, options);
    if (weights !== undefined) return weights;
    throw unsupportedModel(`${model.library.name} does not report the weights of the model's cross-attention`);
  }

  /** The bytes are the engine's, or the tokens where it saves no sequences. Throws MODEL_UNSUPPORTED there for a sequence whose encoder read features. */
  async saveSequence(sequence: SequenceId): Promise<Uint8Array> {
    const { model, id, tokens, source, hasFeatures } = this.#sequences.get(sequence);
    if (hasFeatures && model.saveSequence === undefined)
      throw unsupportedModel("a sequence whose encoder read features is not saved: its features are not kept");
    return (await model.saveSequence?.(id)) ?? new TextEncoder().encode(JSON.stringify({ ...savedHeader, tokens, source }));
  }

  /** The engine restores the sequence, or computes its tokens again where it saves none. Throws INPUT_INVALID for bytes that are no saved sequence. */
  async restoreSequence(bytes: Uint8Array): Promise<SequenceId> {
    const held = this.#hold();
    const restore = held.model.restoreSequence?.bind(held.model);
    if (restore !== undefined)
      return this.#add(held, { tokens: [], source: undefined, hasFeatures: false }, () => restore(bytes));
    held.release();
    const { tokens, source } = parseSaved(bytes);
    const sequence = await this.createSequence(omitUndefined({ source }));
    try {
      if (tokens.length > 0) await this.decode([{ sequence, tokens, logits: 0 }]);
      return sequence;
    } catch (error) {
      await this.releaseSequence(sequence);
      throw error;
    }
  }

  async releaseSequence(sequence: SequenceId): Promise<void> {
    const { model, id, release } = this.#sequences.release(sequence);
    await model.releaseSequence(id).finally(release);
  }

  /** Frees all sequences that were not released. */
  releaseAll(): void {
    for (const { model, id, release } of this.#sequences.values()) {
      void model
        .releaseSequence(id)
        .catch(() => {}) // the model was unloaded, and its sequences with it
        .finally(release);
    }
    this.#sequences.clear();
  }

  async #add(
    held: Omit<HeldLanguageModel, "loaded">,
    content: SequenceContent,
    create: (model: HostedLanguageModel) => Promise<SequenceId>,
  ): Promise<SequenceId> {
    try {
      const id = await create(held.model);
      return this.#sequences.add({ ...held, ...content, id });
    } catch (error) {
      held.release();
      throw error;
    }
  }

  #current<Value>(read: (model: HostedLanguageModel) => Value): Value {
    const { model, release } = this.#hold();
    release();
    return read(model);
  }
}

const savedHeader = { format: "inferyard-tokens-1" } as const;

function parseSaved(bytes: Uint8Array): Omit<SequenceContent, "hasFeatures"> {
  const isTokens = (value: unknown): boolean => Array.isArray(value) && value.every((token) => Number.isSafeInteger(token));
  try {
    const saved = JSON.parse(new TextDecoder().decode(bytes)) as HeldSequence & typeof savedHeader;
    const { format, tokens, source } = saved;
    if (format === savedHeader.format && isTokens(tokens) && (source === undefined || isTokens(source))) return saved;
  } catch {
    // no JSON
  }
  throw invalidInput("the bytes are of no saved sequence of this model", "restore what saveSequence returned");
}
