/** Windows that a model's encoder reads. One is kept from the detection of its language to the decoding of its text. */
import { omitUndefined } from "../../../contract/checked.ts";
import type { LanguageModel, SequenceId } from "../../../contract/language-model.ts";

/** A window and the sequence that reads it, which has no tokens between two uses. */
interface EncodedWindow {
  readonly features: Float32Array;
  readonly sequence: SequenceId;
}

/** Encodes the windows of one call, one at a time. */
export class WindowEncoder {
  readonly #model: Pick<LanguageModel, "createSequence" | "releaseSequence">;
  #last: EncodedWindow | undefined;

  constructor(model: Pick<LanguageModel, "createSequence" | "releaseSequence">) {
    this.#model = model;
  }

  /** Runs `work` with a sequence that has read a window, and releases it. `features`: [bins, frames] row by row. */
  async withWindow<Result>(
    features: Float32Array<ArrayBuffer>,
    signal: AbortSignal | undefined,
    work: (sequence: SequenceId) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.keepWindow(features, signal, work);
    } finally {
      await this.release();
    }
  }

  /**
   * The same, but the sequence is kept for the next call if that has the same features, which are not encoded again then. `work` leaves the sequence without
   * tokens.
   */
  async keepWindow<Result>(
    features: Float32Array<ArrayBuffer>,
    signal: AbortSignal | undefined,
    work: (sequence: SequenceId) => Promise<Result>,
  ): Promise<Result> {
    if (this.#last === undefined || !haveSameValues(this.#last.features, features)) {
      await this.release();
      // Its tensor may be moved to another thread.
      const kept = features.slice();
      this.#last = { features: kept, sequence: await this.#model.createSequence({ features, ...omitUndefined({ signal }) }) };
    }
    const { sequence } = this.#last;
    try {
      return await work(sequence);
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /** Releases the sequence of the last window. */
  async release(): Promise<void> {
    const last = this.#last;
    this.#last = undefined;
    if (last !== undefined) await this.#model.releaseSequence(last.sequence);
  }
}

function haveSameValues(one: Float32Array, other: Float32Array): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
