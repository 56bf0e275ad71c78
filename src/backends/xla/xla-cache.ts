/** Keys and values of one sequence, in the memory of a PJRT device. */
import { at, required } from "../../contract/checked.ts";
import { elementCount, type Tensor, type TensorMap, zeros } from "../../contract/tensor.ts";
import { elementTypes } from "../../engine/ir/element-types.ts";
import { byteSize, type TensorType } from "../../engine/ir/tensor-type.ts";
import { emitCacheCopy } from "../../engine/codegen/stablehlo/index.ts";
import { type DecoderCache, type PastInput, pastType } from "../../engine/compilation.ts";
import type { DeviceTensor, HostTensor } from "./pjrt/device-tensor.ts";
import type { XlaServices } from "./xla-services.ts";

/** A cache of fixed capacity: one tensor for each state. Programs take its tensors and give new ones in the same memory. */
export class XlaCache implements DecoderCache {
  readonly capacity: number;
  readonly #states: readonly PastInput[];
  readonly #services: XlaServices;
  readonly #onRelease: () => void;
  #tensors: readonly DeviceTensor[];

  constructor(states: readonly PastInput[], capacity: number, services: XlaServices, onRelease: () => void) {
    this.capacity = capacity;
    this.#states = states;
    this.#services = services;
    this.#onRelease = onRelease;
    this.#tensors = this.#types.map((type) => this.#upload(type, zeroBytes(type)));
  }

  /** Bytes on the device. */
  get bytes(): number {
    return this.#types.reduce((sum, type) => sum + byteSize(type), 0);
  }

  /** The tensor of each state. */
  get tensors(): readonly DeviceTensor[] {
    return this.#tensors;
  }

  /** Replaces the tensors by others, in which a run has written; the old ones were donated to the run. */
  replace(tensors: readonly DeviceTensor[]): void {
    for (const tensor of this.#tensors) tensor.dispose();
    this.#tensors = tensors;
  }

  /** Nothing to do: the tensors hold zeros at first, and then finite rows that attention masks. */
  clear(): void {}

  copyFrom(other: DecoderCache): void {
    if (!(other instanceof XlaCache)) throw new TypeError("the cache is not on a PJRT device");
    const program = this.#services.compileText(emitCacheCopy(other.#types, this.#types));
    try {
      this.replace(program.run(other.#tensors));
    } finally {
      program.dispose();
    }
  }

  read(count: number): TensorMap {
    const named = this.#states.map((state, index): [string, Tensor] => {
      const whole = at(this.#tensors, index).read();
      const type = pastType(state, count);
      const part = zeros(state.info.dataType, type.shape);
      copyPositions(whole, { type, data: part.data as HostTensor["data"] }, state.axis, count);
      return [state.info.name, part];
    });
    return Object.fromEntries(named);
  }

  write(tensors: TensorMap, count: number): void {
    const written = this.#states.map((state, index) => {
      const given = required(tensors[state.info.name], `the state "${state.info.name}"`);
      const type = at(this.#types, index);
      const whole = { type, data: zeroBytes(type) };
      copyPositions({ type: pastType(state, count), data: given.data as HostTensor["data"] }, whole, state.axis, count);
      return this.#upload(type, whole.data);
    });
    this.replace(written);
  }

  release(): void {
    this.replace([]);
    this.#onRelease();
  }

  get #types(): readonly TensorType[] {
    return this.#states.map((state) => pastType(state, this.capacity));
  }

  #upload(type: TensorType, data: HostTensor["data"]): DeviceTensor {
    return this.#services.client.upload({ type, data });
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
