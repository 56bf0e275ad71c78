/** The language model of a handle. A sequence stays on the instance on which it was created, even if the handle's model is replaced by another instance. */
import type {
  DecodeOptions,
  DecodeStep,
  LanguageModel,
  LanguageModelLimits,
  Library,
  ModelBase,
  SequenceId,
  SequenceOptions,
} from "../contract/backend.ts";
import { at } from "../contract/checked.ts";
import type { HostedLanguageModel } from "../hosts/host.ts";
import { SequenceTable } from "../contract/sequence-table.ts";
import type { HeldLanguageModel } from "./residency/resident-model.ts";

/** A sequence, and the hold on its instance. */
interface HeldSequence extends Omit<HeldLanguageModel, "loaded"> {
  readonly id: SequenceId;
}

/** Gives the sequences of a handle numbers of their own, and holds the instance of each until it is released. */
export class HandleSequences implements Omit<LanguageModel, "dispose"> {
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
    return this.#add(this.#hold(), (model) => model.createSequence(options));
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
        const own = steps.filter((_, index) => held[index]?.model === model);
        const there = own.map((step) => ({ ...step, sequence: this.#sequences.get(step.sequence).id }));
        const logits = await model.decode(there, options);
        for (const [index, step] of own.entries()) rows.set(step, at(logits, index));
      }),
    );
    return steps.map((step) => rows.get(step) ?? new Float32Array());
  }

  async forkSequence(sequence: SequenceId): Promise<SequenceId> {
    const { model, id, holdAgain } = this.#sequences.get(sequence);
    return this.#add({ model, release: holdAgain(), holdAgain }, () => model.forkSequence(id));
  }

  async truncateSequence(sequence: SequenceId, length: number): Promise<void> {
    const { model, id } = this.#sequences.get(sequence);
    await model.truncateSequence(id, length);
  }

  async saveSequence(sequence: SequenceId): Promise<Uint8Array> {
    const { model, id } = this.#sequences.get(sequence);
    return model.saveSequence(id);
  }

  restoreSequence(bytes: Uint8Array): Promise<SequenceId> {
    return this.#add(this.#hold(), (model) => model.restoreSequence(bytes));
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
    create: (model: HostedLanguageModel) => Promise<SequenceId>,
  ): Promise<SequenceId> {
    try {
      const id = await create(held.model);
      return this.#sequences.add({ ...held, id });
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
