/** Keys and values of one sequence, in the memory of a PJRT device. */
import { InferyardError } from "../../contract/errors.ts";
import { byteSize, type TensorType } from "../../engine/ir/tensor-type.ts";
import { type DecoderCache, type PastInput, pastType } from "../../engine/compilation.ts";
import type { DeviceTensor } from "./pjrt/device-tensor.ts";
import type { XlaServices } from "./xla-services.ts";

/** A cache of fixed capacity: one tensor for each state. Programs take its tensors and give new ones in the same memory. */
export class XlaCache implements DecoderCache {
  readonly capacity: number;
  /** The keys and values of each layer, by name. */
  readonly states: readonly PastInput[];
  readonly #types: readonly TensorType[];
  readonly #services: XlaServices;
  readonly #onRelease: () => void;
  #tensors: readonly DeviceTensor[];
  /** Why the tensors are lost. */
  #loss: unknown;

  /** The cache holds zeros. Throws RUN_FAILED or OUT_OF_MEMORY if the device has no room. */
  constructor(states: readonly PastInput[], capacity: number, services: XlaServices, onRelease: () => void) {
    this.capacity = capacity;
    this.states = states;
    this.#types = states.map((state) => pastType(state, capacity));
    this.#services = services;
    this.#onRelease = onRelease;
    this.#tensors = this.#uploadZeros();
  }

  /** Bytes on the device. */
  get bytes(): number {
    return this.#types.reduce((sum, type) => sum + byteSize(type), 0);
  }

  /** The tensor of each state. Throws RUN_FAILED if they were lost. */
  get tensors(): readonly DeviceTensor[] {
    if (this.#loss === undefined) return this.#tensors;
    const message = "a run on the device failed, and with it the keys and values of this sequence were lost";
    throw new InferyardError("RUN_FAILED", message, {
      cause: this.#loss,
      remedy: "truncate the sequence to 0 tokens and append its tokens again",
    });
  }

  /** Replaces the tensors by others, in which a run has written; the old ones were donated to the run. */
  replace(tensors: readonly DeviceTensor[]): void {
    for (const tensor of this.#tensors) tensor.dispose();
    this.#tensors = tensors;
  }

  /** Frees the tensors, which were donated to a run that failed: every later use throws. */
  lose(reason: unknown): void {
    this.#loss ??= reason;
    this.replace([]);
  }

  /** Does nothing: programs ignore rows after the given number of tokens. */
  clear(): void {}

  copyFrom(other: DecoderCache): void {
    if (!(other instanceof XlaCache)) throw new TypeError("the cache is not on a PJRT device");
    const { tensors } = other;
    this.replace(this.#services.copyProgram(other.#types, this.#types).run(tensors));
  }

  release(): void {
    this.replace([]);
    this.#onRelease();
  }

  /** Copies zeros for each state to the device: all of them, or none if one fails. */
  #uploadZeros(): readonly DeviceTensor[] {
    const uploaded: DeviceTensor[] = [];
    try {
      for (const type of this.#types) uploaded.push(this.#services.client.upload({ type, data: new Uint8Array(byteSize(type)) }));
      return uploaded;
    } catch (error) {
      for (const tensor of uploaded) tensor.dispose();
      throw error;
    }
  }
}
