/** Keys and values of one sequence, in the memory of a PJRT device. */
import { at, required } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { elementCount, type Tensor, type TensorMap, zeros } from "../../contract/tensor.ts";
import { elementTypes } from "../../engine/ir/element-types.ts";
import { byteSize, type TensorType } from "../../engine/ir/tensor-type.ts";
import { type DecoderCache, type PastInput, pastType } from "../../engine/compilation.ts";
import type { DeviceTensor, HostTensor } from "./pjrt/device-tensor.ts";
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
    this.#tensors = this.#upload(zeroBytes);
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

  /** Does nothing: programs ignore rows behind the given number of tokens. */
  clear(): void {}

  copyFrom(other: DecoderCache): void {
    if (!(other instanceof XlaCache)) throw new TypeError("the cache is not on a PJRT device");
    const { tensors } = other;
    this.replace(this.#services.copyProgram(other.#types, this.#types).run(tensors));
  }

  read(count: number): TensorMap {
    const { tensors } = this;
    const named = this.states.map((state, index): [string, Tensor] => {
      const whole = at(tensors, index).read();
      const type = pastType(state, count);
      const part = zeros(state.info.dataType, type.shape);
      copyPositions(whole, { type, data: part.data as HostTensor["data"] }, state.axis, count);
      return [state.info.name, part];
    });
    return Object.fromEntries(named);
  }

  write(tensors: TensorMap, count: number): void {
    const written = this.#upload((type, index) => {
      const { axis, info } = at(this.states, index);
      const given = required(tensors[info.name], `the state "${info.name}"`);
      const whole = { type, data: zeroBytes(type) };
      const part = { type: pastType(at(this.states, index), count), data: given.data as HostTensor["data"] };
      copyPositions(part, whole, axis, count);
      return whole.data;
    });
    this.replace(written);
  }

  release(): void {
    this.replace([]);
    this.#onRelease();
  }

  /** Copies a tensor for each state to the device: all of them, or none if one fails. */
  #upload(dataOf: (type: TensorType, index: number) => HostTensor["data"]): readonly DeviceTensor[] {
    const uploaded: DeviceTensor[] = [];
    try {
      for (const [index, type] of this.#types.entries())
        uploaded.push(this.#services.client.upload({ type, data: dataOf(type, index) }));
      return uploaded;
    } catch (error) {
      for (const tensor of uploaded) tensor.dispose();
      throw error;
    }
  }
}

function zeroBytes(type: TensorType): Uint8Array {
  return new Uint8Array(byteSize(type));
}

/** Copies the first `count` positions of an axis from one tensor to another, which differ in the size of that axis alone. */
function copyPositions(from: HostTensor, to: HostTensor, axis: number, count: number): void {
  const inner = elementCount(to.type.shape.slice(axis + 1)) * (elementTypes[to.type.dataType].bits / 8);
  const outer = elementCount(to.type.shape.slice(0, axis));
  const [source, target] = [from, to].map(
    ({ data }) => new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength),
  );
  const [read, written] = [from, to].map(({ type }) => at(type.shape, axis) * inner);
  for (let index = 0; index < outer; index += 1) {
    const start = index * (read ?? 0);
    target?.set(required(source, "the source").subarray(start, start + count * inner), index * (written ?? 0));
  }
}
